package orders_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The sums are those of all orders that the list would show on all its pages, whatever page is asked for.
func TestOrdersAreAddedUp(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	place := func(body string) string { return s.Do(t, "POST", "/orders", body).OK(201)["id"].(string) }
	place(`{"items":[{"kind":"custom","name":"Bell","unitPrice":900}],"deliveryCost":100,"prepaidAmount":300,"customerName":"Ada"}`)
	place(`{"items":[{"kind":"custom","name":"Bell","unitPrice":900,"qty":2}],"customerName":"Ada"}`)
	over := place(`{"items":[{"kind":"custom","name":"Bell","unitPrice":50}],"customerName":"Ben"}`)
	s.Do(t, "POST", "/orders/"+over+"/status/cancelled", `{}`).OK(200)
	sums := func(query string) map[string]any { return s.Do(t, "GET", "/orders/sums"+query, nil).OK(200) }
	require.Equal(t, map[string]any{"count": 3.0, "total": 2750.0, "payable": 2850.0, "paid": 300.0, "amountDue": 2550.0}, sums(""))
	require.Equal(t, map[string]any{"count": 2.0, "total": 2700.0, "payable": 2800.0, "paid": 300.0, "amountDue": 2500.0}, sums("?status=new&pageSize=1&page=2&sort=total"))
	require.Equal(t, map[string]any{"count": 2.0, "total": 2700.0, "payable": 2800.0, "paid": 300.0, "amountDue": 2500.0}, sums("?search=ada"))
	require.Equal(t, map[string]any{"count": 0.0, "total": 0.0, "payable": 0.0, "paid": 0.0, "amountDue": 0.0}, sums("?status=ready"))
	s.Do(t, "GET", "/orders/sums?status=lost", nil).Fault(400, "VALIDATION_ERROR")
}
