package roles_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// entries are the entries of the statement of a client, the first one first. The statement adds up to the balance of the client.
func (c customers) entries(t *testing.T, client string) (all []map[string]any) {
	t.Helper()
	st := c.OK(t, "GET", "/clients/"+client+"/statement?order=asc", "").Body
	balance := st["openingBalance"].(float64)
	require.Zero(t, balance)
	for _, it := range st["items"].([]any) {
		e := it.(map[string]any)
		balance += e["paid"].(float64) - e["charged"].(float64)
		require.Equal(t, balance, e["balance"])
		all = append(all, e)
	}
	require.Equal(t, st["closingBalance"], balance)
	require.Equal(t, balance, c.OK(t, "GET", "/clients/"+client, "").Body["balance"])
	return all
}

// Whatever happens to orders and sales of a client is in its statement, which has the balance of the client after each step.
func TestStatementHasWhatDocumentsDo(t *testing.T) {
	t.Parallel()
	c := newCustomers(t)
	n := map[string]int{}
	// step requires the entries that a step has added: kind, charged and paid of each.
	step := func(client, what string, want ...any) (added []map[string]any) {
		t.Helper()
		all := c.entries(t, client)
		var got []any
		for _, e := range all[n[client]:] {
			added, got = append(added, e), append(got, e["kind"], int(e["charged"].(float64)), int(e["paid"].(float64)))
		}
		n[client] = len(all)
		require.Equal(t, want, got, what)
		return added
	}
	const line = `"items":[{"kind":"custom","name":"Work","unitPrice":1000,"qty":3}]`
	order := c.OK(t, "POST", "/orders", `{"customerId":"`+c.ann+`","prepaidAmount":500,"deliveryCost":100,`+line+`}`)
	at := "/orders/" + order.ID(t)
	added := step(c.ann, "a payment with the order", "payment", 0, 500)
	require.Equal(t, []any{order.Body["id"], order.Body["number"], nil}, []any{added[0]["orderId"], added[0]["number"], added[0]["saleId"]})
	c.OK(t, "GET", at+"/payments/"+added[0]["paymentId"].(string), "")
	payment := c.OK(t, "POST", at+"/payments", `{"amount":2000,"method":"card"}`).ID(t)
	require.Equal(t, payment, step(c.ann, "a payment", "payment", 0, 2000)[0]["paymentId"])
	c.OK(t, "POST", at+"/payments/"+payment+"/refund", `{"amount":300}`)
	step(c.ann, "a refund", "refund", 0, -300)
	c.OK(t, "PATCH", at, `{"prepaidAmount":2500}`)
	step(c.ann, "a payment by a change", "payment", 0, 300)
	c.OK(t, "PATCH", at, `{"customerId":"`+c.bo+`","prepaidAmount":2400}`)
	step(c.ann, "the order went to another client", "reassignment", 0, -2500)
	step(c.bo, "and its payments with it", "reassignment", 0, 2500, "refund", 0, -100)
	c.OK(t, "PATCH", at, `{"customerId":null}`)
	step(c.bo, "to nobody", "reassignment", 0, -2400)
	c.OK(t, "PATCH", at, `{"customerId":"`+c.ann+`"}`)
	step(c.ann, "and back", "reassignment", 0, 2400)
	c.OK(t, "POST", at+"/status/confirmed", "")
	c.OK(t, "POST", at+"/status/ready", "")
	step(c.ann, "nothing is charged before")
	c.OK(t, "POST", at+"/status/completed", "")
	step(c.ann, "the completed order", "order", 3100, 0)
	item := c.OK(t, "GET", at, "").Body["lines"].([]any)[0].(map[string]any)["id"].(string)
	back := c.OK(t, "POST", at+"/returns", `{"items":[{"orderLineId":"`+item+`","qty":1}],"refunds":[{"paymentId":"`+payment+`","amount":400}]}`).ID(t)
	added = step(c.ann, "a return with its refund", "return", -1000, 0, "refund", 0, -400)
	require.Equal(t, []any{back, back}, []any{added[0]["returnId"], added[1]["returnId"]})
	c.OK(t, "POST", at+"/returns/"+back+"/cancel", "")
	step(c.ann, "the return was cancelled", "return_cancelled", 1000, 0)

	sale := c.OK(t, "POST", "/sales", `{"shiftId":"`+c.shift+`","paymentMethod":"cash","customerId":"`+c.ann+`",`+line+`}`)
	added = step(c.ann, "a sale is paid at once", "sale", 3000, 3000)
	require.Equal(t, []any{sale.Body["id"], sale.Body["number"], nil}, []any{added[0]["saleId"], added[0]["number"], added[0]["orderId"]})
	c.OK(t, "POST", "/sales/"+sale.ID(t)+"/refund", "")
	step(c.ann, "its refund", "sale_refund", -3000, -3000)
}
