package roles_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

// From the rate in the directory to the report: a company adds taxes to its prices, changes the rate, and refunds.
func TestTaxesFromTheRateToTheReport(t *testing.T) {
	t.Parallel()
	n := rolestest.NewNode(dbtest.Open(t), rolestest.Alone())
	owner, id := n.Owner(t)
	me := n.Operator(rolestest.WriterToken).In(id)
	require.Equal(t, map[string]string{"taxMode": "ENUM", "taxRounding": "ENUM"}, faultsOf(t, me.Do(t, "PATCH", "", `{"taxMode":"x","taxRounding":"x"}`)))
	me.OK(t, "PATCH", "", `{"taxMode":"added","taxRounding":"document"}`)
	require.Subset(t, owner.OK(t, "GET", "/company", "").Body, map[string]any{"taxMode": "added", "taxRounding": "document"})

	rate := owner.OK(t, "POST", "/catalog/tax-rates", `{"name":"Standard","percent":20}`).ID(t)
	owner.Do(t, "POST", "/catalog/products", `{"name":"Saw","price":100,"taxRateId":"`+id.String()+`"}`).Refused(t, 404, "TAX_RATE_NOT_FOUND", "unknown")
	product := owner.OK(t, "POST", "/catalog/products", `{"name":"Saw","price":333,"taxRateId":"`+rate+`"}`).ID(t)
	service := owner.OK(t, "POST", "/catalog/services", `{"name":"Cut","price":333,"taxRateId":"`+rate+`"}`).ID(t)
	items := fmt.Sprintf(`"items":[{"refId":%q},{"kind":"service","refId":%q},{"kind":"custom","name":"Bag","unitPrice":10},{"kind":"custom","name":"Box","unitPrice":100,"taxRateId":%q}]`, product, service, rate)
	order := owner.OK(t, "POST", "/orders", "{"+items+"}").Body
	// 766 are taxed with 153.2, and 10 are not.
	require.Equal(t, []any{776.0, 153.0, 929.0}, []any{order["subtotal"], order["taxAmount"], order["total"]})
	owner.OK(t, "PATCH", "/catalog/tax-rates/"+rate, `{"percent":10,"isActive":false}`)
	owner.Do(t, "POST", "/orders", "{"+items+"}").Refused(t, 404, "TAX_RATE_NOT_FOUND", "a line cannot name it any more")
	require.Equal(t, order["total"], owner.OK(t, "PATCH", "/orders/"+order["id"].(string), "{"+items+"}").Body["total"], "the order keeps it")

	shift := owner.OK(t, "POST", "/shifts/open", `{"openingCash":0}`).ID(t)
	sale := owner.OK(t, "POST", "/sales", `{"shiftId":"`+shift+`","paymentMethod":"cash","items":[{"refId":"`+product+`","qty":3}]}`).Body
	require.Equal(t, []any{100.0, 1099.0}, []any{sale["taxAmount"], sale["total"]}, "a product keeps its rate, with the percentage of now")
	line := sale["lines"].([]any)[0].(map[string]any)["id"].(string)
	refund := owner.OK(t, "POST", "/sales/"+sale["id"].(string)+"/refund", `{"items":[{"saleLineId":"`+line+`","qty":1}]}`).Body
	require.Equal(t, []any{33.0, 366.0}, []any{refund["taxAmount"], refund["total"]})

	days := fmt.Sprintf("&from=%s&to=%s", time.Now().AddDate(0, 0, -2).Format(time.DateOnly), time.Now().AddDate(0, 0, 2).Format(time.DateOnly))
	rows := owner.OK(t, "GET", "/reports/orders?groupBy=tax"+days, "").Body["rows"].([]any)
	require.Len(t, rows, 2)
	require.Subset(t, rows[0], map[string]any{"taxRateId": nil, "taxRate": nil, "total": 10.0, "taxAmount": 0.0})
	require.Subset(t, rows[1], map[string]any{"taxRateId": rate, "taxRate": 20.0, "total": 919.0, "taxAmount": 153.0, "ordersCount": 1.0})
	rows = owner.OK(t, "GET", "/reports/sales?groupBy=tax"+days, "").Body["rows"].([]any)
	require.Subset(t, rows[0], map[string]any{"taxRateId": rate, "taxRate": 10.0, "netTotal": 733.0, "taxAmount": 67.0})
}
