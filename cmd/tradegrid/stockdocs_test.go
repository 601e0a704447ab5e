package main

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/services/roles"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

// stockModel is what two warehouses hold, and the documents about them, each with one line.
type stockModel struct {
	*outlet

	annex, supplier string
	qty             map[[2]string]int // by warehouse and product
	documents       []*stockDocument
}

type stockDocument struct {
	kind, id, line, state, product string
	qty, expected, counted         int // what the line says, and of a count what was recorded
	recorded                       bool
}

// stockMoves are the states that the commands of each kind of document lead to.
var stockMoves = map[string]map[string]map[string]string{ //nolint:gochecknoglobals // a constant table
	"transfers": {
		"send": {"draft": "sent"}, "receive": {"sent": "received"}, "cancel": {"draft": "cancelled", "sent": "cancelled"},
	},
	"write-offs":       {"cancel": {"posted": "cancelled"}},
	"supplier-returns": {"cancel": {"posted": "cancelled"}},
	"receipts":         {"cancel": {"posted": "cancelled"}},
	"counts":           {"post": {"counting": "posted"}, "cancel": {"counting": "cancelled"}, "record": {"counting": "counting"}},
}

func newStockModel(t *testing.T) *stockModel {
	t.Helper()
	m := &stockModel{outlet: newOutlet(t), qty: map[[2]string]int{}}
	_, err := roles.ChangeWith(t.Context(), m.Node.DB, "test", m.company, m.Node.Company.CreateBranch, company.BranchFields{Name: "Annex"})
	require.NoError(t, err)
	m.annex = m.OK(t, "POST", "/warehouse/warehouses", `{"name":"Annex"}`).ID(t)
	m.supplier = m.OK(t, "POST", "/warehouse/suppliers", `{"name":"Mill"}`).ID(t)
	return m
}

func (m *stockModel) move(warehouse string, d *stockDocument, qty int) {
	m.qty[[2]string{warehouse, d.product}] += qty
}

// create makes a document. Goods of an open count are refused.
func (m *stockModel) create(t *testing.T, rt *rapid.T) {
	d := &stockDocument{
		kind: rapid.SampledFrom([]string{"transfers", "transfers", "write-offs", "supplier-returns", "receipts", "counts", "counts"}).Draw(rt, "kind"), state: "posted",
		product: rapid.SampledFrom(m.products).Draw(rt, "product"), qty: rapid.IntRange(1, 5).Draw(rt, "qty"),
	}
	line := fmt.Sprintf(`"items":[{"productId":%q,"qty":%d}]`, d.product, d.qty)
	want := 201
	switch d.kind {
	case "transfers":
		d.state, line = "draft", line+`,"toWarehouseId":"`+m.annex+`"`
	case "write-offs":
		line += `,"reason":"lost"`
	case "supplier-returns":
		line += `,"supplierId":"` + m.supplier + `"`
	case "receipts":
		line += `,"warehouseId":"` + m.depot + `"`
	case "counts":
		d.state, line = "counting", fmt.Sprintf(`"items":[{"productId":%q}]`, d.product)
		if slices.ContainsFunc(m.documents, func(o *stockDocument) bool { return o.state == "counting" && o.product == d.product }) {
			want = 409
		}
	}
	r := m.Do(t, "POST", "/warehouse/"+d.kind, "{"+line+"}")
	require.Equal(rt, want, r.Status, r.Raw)
	if want != 201 {
		return
	}
	d.id, d.line = r.ID(t), r.Body["lines"].([]any)[0].(map[string]any)["id"].(string)
	m.documents = append(m.documents, d)
	if d.state == "posted" {
		m.move(m.depot, d, map[bool]int{true: 1, false: -1}[d.kind == "receipts"]*d.qty)
	}
}

// command runs a command of a document, now and then twice at once: one of the two is refused, unless it may be repeated.
func (m *stockModel) command(t *testing.T, rt *rapid.T) {
	d := rapid.SampledFrom(m.documents).Draw(rt, "document")
	var names []string
	for name := range stockMoves[d.kind] {
		names = append(names, name)
	}
	slices.Sort(names)
	name := rapid.SampledFrom(names).Draw(rt, "command")
	next, allowed := stockMoves[d.kind][name][d.state]
	n := rapid.IntRange(0, 6).Draw(rt, "n")
	body := map[string]string{
		"receive": fmt.Sprintf(`{"items":[{"lineId":%q,"qty":%d}]}`, d.line, n), "record": fmt.Sprintf(`{"items":[{"lineId":%q,"qty":%d}]}`, d.line, n),
	}[name]
	if d.kind == "receipts" && allowed && m.qty[[2]string{m.depot, d.product}] < d.qty {
		allowed = false // what is consumed cannot be taken back
	}
	times := rapid.IntRange(1, 2).Draw(rt, "times")
	statuses := make(chan int, times)
	var wg sync.WaitGroup
	for range times {
		wg.Go(func() { statuses <- m.Do(t, "POST", "/warehouse/"+d.kind+"/"+d.id+"/"+name, body).Status })
	}
	wg.Wait()
	close(statuses)
	done := 0
	for status := range statuses {
		if status == 200 {
			done++
			continue
		}
		require.Equal(rt, 409, status)
	}
	want := map[bool]int{true: 1}[allowed]
	if allowed && name == "record" {
		want = times
	}
	require.Equal(rt, want, done, "%s of a document of %s that is %s", name, d.kind, d.state)
	if allowed {
		m.apply(d, name, n)
		d.state = next
	}
}

// apply is what a command does to the warehouses.
func (m *stockModel) apply(d *stockDocument, name string, n int) {
	switch d.kind + " " + name {
	case "transfers send":
		m.move(m.depot, d, -d.qty)
	case "transfers receive":
		m.move(m.annex, d, n)
	case "transfers cancel":
		if d.state == "sent" {
			m.move(m.depot, d, d.qty)
		}
	case "write-offs cancel", "supplier-returns cancel":
		m.move(m.depot, d, d.qty)
	case "receipts cancel":
		m.move(m.depot, d, -d.qty)
	case "counts record":
		d.expected, d.counted, d.recorded = m.qty[[2]string{m.depot, d.product}], n, true
	case "counts post":
		if d.recorded {
			m.move(m.depot, d, d.counted-d.expected)
		}
	}
}

// Whatever documents about stock do, in whatever order and however often, stock is what the model says: docs/reference/rules.md#stock.
func TestDocumentsAboutStockFollowTheModel(t *testing.T) {
	t.Parallel()
	m := newStockModel(t)
	rapid.Check(t, func(rt *rapid.T) {
		for range rapid.IntRange(1, 6).Draw(rt, "steps") {
			switch step := rapid.IntRange(0, 5).Draw(rt, "step"); {
			case step == 0:
				p, delta := rapid.SampledFrom(m.products).Draw(rt, "product"), rapid.IntRange(-9, 9).Draw(rt, "delta")
				m.OK(t, "POST", "/warehouse/stocks/adjust", fmt.Sprintf(`{"productId":%q,"warehouseId":%q,"delta":%d,"reason":"count"}`, p, m.depot, delta))
				m.qty[[2]string{m.depot, p}] += delta
			case step < 3 || len(m.documents) == 0:
				m.create(t, rt)
			default:
				m.command(t, rt)
			}
		}
		got := map[[2]string]int{}
		for _, row := range rowsOf(m.OK(t, "GET", "/warehouse/stocks", "")) {
			got[[2]string{row["warehouseId"].(string), row["productId"].(string)}] = int(row["qty"].(float64))
		}
		for at, qty := range m.qty {
			require.Equal(rt, qty, got[at])
		}
	})
	found, err := m.Node.StockReconciler(nil).Check(t.Context(), m.company)
	require.NoError(t, err)
	require.Empty(t, found, "each quantity is the sum of its movements")
}

// Documents of the same goods at once, which come in different orders, neither wait for each other in a circle nor lose a piece.
func TestDocumentsAboutStockDoNotDeadlock(t *testing.T) {
	t.Parallel()
	m := newStockModel(t)
	const n = 12
	both := func(i int) string {
		p := slices.Clone(m.products)
		if i%2 == 1 {
			slices.Reverse(p)
		}
		return fmt.Sprintf(`"items":[{"productId":%q,"qty":1},{"productId":%q,"qty":1}]`, p[0], p[1])
	}
	there, back := make([]string, n), make([]string, n)
	for i := range n {
		there[i] = m.OK(t, "POST", "/warehouse/transfers", `{"toWarehouseId":"`+m.annex+`",`+both(i)+`}`).ID(t)
		back[i] = m.OK(t, "POST", "/warehouse/transfers", `{"warehouseId":"`+m.annex+`","toWarehouseId":"`+m.depot+`",`+both(i+1)+`}`).ID(t)
	}
	answers := make(chan *rolestest.Reply, 8*n)
	var wg sync.WaitGroup
	for i := range n {
		for _, id := range []string{there[i], back[i]} {
			wg.Go(func() {
				answers <- m.Do(t, "POST", "/warehouse/transfers/"+id+"/send", "")
				answers <- m.Do(t, "POST", "/warehouse/transfers/"+id+"/receive", "")
			})
		}
		wg.Go(func() { answers <- m.Do(t, "POST", "/warehouse/write-offs", `{"reason":"lost",`+both(i)+`}`) })
		wg.Go(func() {
			answers <- m.Do(t, "POST", "/warehouse/receipts", `{"warehouseId":"`+m.annex+`",`+both(i)+`}`)
		})
	}
	wg.Wait()
	close(answers)
	for got := range answers {
		require.Less(t, got.Status, 300, got.Raw)
	}
	for _, row := range rowsOf(m.OK(t, "GET", "/warehouse/stocks", "")) {
		require.InDelta(t, map[string]float64{m.depot: -n, m.annex: n}[row["warehouseId"].(string)], row["qty"], 0)
	}
	found, err := m.Node.StockReconciler(nil).Check(t.Context(), m.company)
	require.NoError(t, err)
	require.Empty(t, found)
}
