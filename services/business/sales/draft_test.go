package sales_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// A cart that is put aside is a note: what it names need not be there, and nothing is taken from stock. It is gone after 7 days.
func TestSalesArePutAside(t *testing.T) {
	t.Parallel()
	now := time.Now().UTC()
	var mu sync.Mutex
	k := openOn(t, dbtest.Open(t).WithClock(func() time.Time { mu.Lock(); defer mu.Unlock(); return now }))
	body := `{"name":" Noon ","sale":{"items":[{"refId":"` + k.nail.String() + `","qty":1000000},{"kind":"custom","name":"Bag","unitPrice":10,"qty":1.5,"discountPercent":5}],"discountPercent":10,"customerId":"0192d3a5-6f0e-7c1a-9b1e-2f6d8a4c1e55"}}`
	made := k.Do(t, "POST", "/sale-drafts", body).OK(201)
	id, _ := made["id"].(string)
	require.Equal(t, "Noon", made["name"])
	sale, _ := made["sale"].(map[string]any)
	require.Equal(t, []any{10.0, "0192d3a5-6f0e-7c1a-9b1e-2f6d8a4c1e55"}, []any{sale["discountPercent"], sale["customerId"]})
	require.Equal(t, made, k.Do(t, "GET", "/sale-drafts/"+id, nil).OK(200))
	require.Len(t, k.Do(t, "GET", "/sale-drafts", nil).OK(200)["items"], 1)

	require.Equal(t, map[string]string{"name": "REQUIRED", "sale": "REQUIRED"}, k.Do(t, "POST", "/sale-drafts", `{}`).Fields())
	require.Equal(t, map[string]string{"sale.items[0].name": "REQUIRED", "sale.items[0].unitPrice": "REQUIRED"},
		k.Do(t, "POST", "/sale-drafts", `{"name":"x","sale":{"items":[{"kind":"custom"}]}}`).Fields())
	require.Equal(t, map[string]string{"sale.items": "MIN"}, k.Do(t, "POST", "/sale-drafts", `{"name":"x","sale":{"items":[]}}`).Fields())

	k.Do(t, "DELETE", "/sale-drafts/"+id, nil).OK(204)
	k.Do(t, "DELETE", "/sale-drafts/"+id, nil).Fault(404, "SALE_DRAFT_NOT_FOUND")
	id, _ = k.Do(t, "POST", "/sale-drafts", body).OK(201)["id"].(string)
	mu.Lock()
	now = now.Add(7*24*time.Hour + time.Minute)
	mu.Unlock()
	for _, method := range []string{"GET", "DELETE"} {
		k.Do(t, method, "/sale-drafts/"+id, nil).Fault(404, "SALE_DRAFT_NOT_FOUND")
	}
	require.Empty(t, k.Do(t, "GET", "/sale-drafts", nil).OK(200)["items"])
}

func TestNumberOfDraftsIsBounded(t *testing.T) {
	t.Parallel()
	k := open(t)
	for i := range 200 {
		k.Do(t, "POST", "/sale-drafts", fmt.Sprintf(`{"name":"%d","sale":{"items":[{"kind":"custom","name":"Bag","unitPrice":10}]}}`, i)).OK(201)
	}
	k.Do(t, "POST", "/sale-drafts", `{"name":"x","sale":{"items":[{"kind":"custom","name":"Bag","unitPrice":10}]}}`).Fault(409, "SALE_DRAFT_LIMIT_REACHED")
}

// Drafts are bounded by bytes: each, and all of a company.
func TestBytesOfDraftsAreBounded(t *testing.T) {
	t.Parallel()
	k := open(t)
	draft := func(lines int) string {
		line := `{"kind":"custom","name":"` + strings.Repeat("b", 255) + `","unitPrice":10}`
		return `{"name":"x","sale":{"items":[` + line + strings.Repeat(","+line, lines-1) + `]}}`
	}
	require.Equal(t, map[string]string{"sale": "MAX"}, k.Do(t, "POST", "/sale-drafts", draft(230)).Fields())
	made := 0
	for ; made < 200; made++ {
		r := k.Do(t, "POST", "/sale-drafts", draft(190))
		if r.Status != 201 {
			r.Fault(409, "SALE_DRAFTS_TOO_LARGE")
			break
		}
	}
	require.Less(t, made, 110)
	require.Greater(t, made, 60)
	k.Do(t, "POST", "/sale-drafts", draft(1)).OK(201)
}
