package main

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

// A company fresh from the command line keeps stock, and blocks what it does not have: nothing else has to be set up.
func TestNewCompanyBlocksWhatIsNotInStock(t *testing.T) {
	t.Parallel()
	c := adminJSON[company.Company](t, "company", "create", "--name=Nordic Tools", "--plan=business", "--stock-policy=block")
	token := adminJSON[company.Issued](t, "token", "issue", "--company="+c.ID.String(), "--name=shop", "--scopes=*:write")
	n := rolestest.NewNode(dbtest.Open(t), rolestest.Alone())
	shop := n.Client(token.Text)
	product := shop.OK(t, "POST", "/catalog/products", `{"name":"Hammer","price":1900,"hasStock":true}`).ID(t)
	bundle := shop.OK(t, "POST", "/catalog/products", `{"name":"Tool set","price":4900,"isBundle":true,"costComponents":[{"label":"Hammer","productId":"`+product+`","qty":2,"unitCost":900}]}`).ID(t)
	order := func(id string) string { return `{"items":[{"refId":"` + id + `","qty":1}]}` }

	for name, id := range map[string]string{"product": product, "bundle": bundle} {
		meta := shop.Do(t, "POST", "/orders", order(id)).Refused(t, 409, "STOCK_INSUFFICIENT", name+" that is not in stock")
		lines, _ := meta["lines"].([]any)
		require.Len(t, lines, 1, name)
		require.Equal(t, product, lines[0].(map[string]any)["productId"], name)
	}

	require.NoError(t, n.DB.RunTx(t.Context(), "test.stock", func(ctx context.Context, tx *db.Tx) error {
		return n.SetStock(ctx, tx, c.ID, uuid.MustParse(product), 3, "count")
	}))
	got := shop.OK(t, "POST", "/orders", order(bundle))
	require.NotEmpty(t, got.Body["warehouseId"])
	line, _ := got.Body["lines"].([]any)[0].(map[string]any)
	require.EqualValues(t, 1, line["reservedQty"])
	shop.Do(t, "POST", "/orders", order(bundle)).Refused(t, 409, "STOCK_INSUFFICIENT", "two hammers of one that is left")
	shop.OK(t, "POST", "/orders", order(product))
	shop.Do(t, "POST", "/orders", order(product)).Refused(t, 409, "STOCK_INSUFFICIENT", "none is left")
}
