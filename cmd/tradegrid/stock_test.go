package main

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/warehouse"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

// outlet is a company with two products and its default warehouse.
type outlet struct {
	rolestest.Client

	company  tenant.ID
	depot    string
	products []string
}

func newOutlet(t *testing.T) *outlet {
	t.Helper()
	n := rolestest.NewNode(dbtest.Open(t), rolestest.Alone())
	s := &outlet{}
	s.Client, s.company = n.Owner(t)
	s.depot = rowsOf(s.OK(t, "GET", "/warehouse/warehouses", ""))[0]["id"].(string)
	for _, name := range []string{"Nail", "Screw"} {
		s.products = append(s.products, s.OK(t, "POST", "/catalog/products", `{"name":"`+name+`","price":100,"hasStock":true}`).ID(t))
	}
	return s
}

func rowsOf(r *rolestest.Reply) (all []map[string]any) {
	items, _ := r.Body["items"].([]any)
	for _, item := range items {
		all = append(all, item.(map[string]any))
	}
	return all
}

func (s *outlet) adjust(t *testing.T, product string, target int) *rolestest.Reply {
	t.Helper()
	return s.Do(t, "POST", "/warehouse/stocks/adjust", fmt.Sprintf(`{"productId":%q,"warehouseId":%q,"targetQty":%d,"reason":"count"}`, product, s.depot, target))
}

func (s *outlet) order(t *testing.T, quantities map[string]int) *rolestest.Reply {
	t.Helper()
	return s.Do(t, "POST", "/orders", `{"items":`+linesOf("refId", quantities)+`}`)
}

func (s *outlet) receive(t *testing.T, quantities map[string]int) *rolestest.Reply {
	t.Helper()
	return s.Do(t, "POST", "/warehouse/receipts", `{"warehouseId":"`+s.depot+`","items":`+linesOf("productId", quantities)+`}`)
}

func linesOf(field string, quantities map[string]int) string {
	text := "["
	for i, p := range slices.Sorted(maps.Keys(quantities)) {
		if i > 0 {
			text += ","
		}
		text += fmt.Sprintf(`{%q:%q,"qty":%d}`, field, p, quantities[p])
	}
	return text + "]"
}

// levels are the quantities and reserves of the products.
func (s *outlet) levels(t *testing.T) (qty, reserved map[string]int) {
	t.Helper()
	qty, reserved = map[string]int{}, map[string]int{}
	for _, row := range rowsOf(s.OK(t, "GET", "/warehouse/stocks", "")) {
		p := row["productId"].(string)
		qty[p], reserved[p] = int(row["qty"].(float64)), int(row["reserved"].(float64))
	}
	return qty, reserved
}

// consistent requires that stock is the sum of its parts, and that the movements of each product form a chain without a hole.
func (s *outlet) consistent(t *testing.T) {
	t.Helper()
	found, err := s.Node.StockReconciler(nil).Check(t.Context(), s.company)
	require.NoError(t, err)
	require.Empty(t, found)
	qty, _ := s.levels(t)
	for _, p := range s.products {
		degree := map[float64]int{0: 1}
		for query := ""; ; {
			page := s.OK(t, "GET", "/warehouse/movements?pageSize=200&productId="+p+query, "")
			for _, m := range rowsOf(page) {
				require.InDelta(t, m["qtyBefore"].(float64)+m["delta"].(float64), m["qtyAfter"], 0)
				degree[m["qtyBefore"].(float64)]--
				degree[m["qtyAfter"].(float64)]++
			}
			next, more := page.Body["nextCursor"].(string)
			if !more {
				break
			}
			query = "&cursor=" + next
		}
		degree[float64(qty[p])]--
		for at, n := range degree {
			require.Zero(t, n, "the chain has a hole at %v", at)
		}
	}
}

// document is an order or a receipt of the model.
type document struct {
	id         string
	quantities map[string]int
	state      string
}

// Whatever is adjusted, received, ordered, completed and cancelled, stock is what the model says: docs/reference/rules.md#stock.
func TestStockFollowsTheDocuments(t *testing.T) {
	t.Parallel()
	s := newOutlet(t)
	var orders, receipts []*document
	qty, reserved := map[string]int{}, map[string]int{}
	add := func(to, what map[string]int, sign int) {
		for p, n := range what {
			to[p] += sign * n
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		for range rapid.IntRange(1, 8).Draw(rt, "steps") {
			quantities := map[string]int{}
			for _, p := range s.products {
				if n := rapid.IntRange(0, 5).Draw(rt, "qty"); n > 0 || p == s.products[0] {
					quantities[p] = n + 1
				}
			}
			switch rapid.IntRange(0, 5).Draw(rt, "step") {
			case 0:
				p := rapid.SampledFrom(s.products).Draw(rt, "product")
				qty[p] = rapid.IntRange(-5, 40).Draw(rt, "target")
				require.Equal(rt, 201, s.adjust(t, p, qty[p]).Status)
			case 1:
				receipts = append(receipts, &document{id: s.receive(t, quantities).ID(t), quantities: quantities})
				add(qty, quantities, 1)
			case 2:
				orders = append(orders, &document{id: s.order(t, quantities).ID(t), quantities: quantities, state: "new"})
				add(reserved, quantities, 1)
			case 3:
				if len(receipts) == 0 {
					continue
				}
				r := rapid.SampledFrom(receipts).Draw(rt, "receipt")
				short := false
				for p, n := range r.quantities {
					short = short || qty[p] < n
				}
				got := s.Do(t, "POST", "/warehouse/receipts/"+r.id+"/cancel", "")
				switch {
				case r.state == "cancelled":
					require.Equal(rt, "RECEIPT_ALREADY_CANCELLED", got.Code())
				case short:
					require.Equal(rt, "RECEIPT_STOCK_CONSUMED", got.Code())
				default:
					require.Equal(rt, 200, got.Status, got.Raw)
					r.state = "cancelled"
					add(qty, r.quantities, -1)
				}
			default:
				if len(orders) == 0 {
					continue
				}
				o := rapid.SampledFrom(orders).Draw(rt, "order")
				next := rapid.SampledFrom([]string{"in_progress", "completed", "cancelled"}).Draw(rt, "next")
				if s.Do(t, "POST", "/orders/"+o.id+"/status/"+next, "").Status != 200 {
					continue
				}
				o.state = next
				if next != "in_progress" {
					add(reserved, o.quantities, -1)
				}
				if next == "completed" {
					add(qty, o.quantities, -1)
				}
			}
		}
		gotQty, gotReserved := s.levels(t)
		for _, p := range s.products {
			require.Equal(rt, []int{qty[p], reserved[p]}, []int{gotQty[p], gotReserved[p]})
		}
	})
	s.consistent(t)
}

// Many documents of one product at once: none is refused for that, and the sums are right.
func TestHotProduct(t *testing.T) {
	t.Parallel()
	s := newOutlet(t)
	hot := s.products[0]
	const n = 40
	ids := make([]string, n)
	for i := range ids {
		ids[i] = s.order(t, map[string]int{hot: 1, s.products[1]: 2}).ID(t)
		s.OK(t, "POST", "/orders/"+ids[i]+"/status/in_progress", "")
	}
	var wg sync.WaitGroup
	answers := make(chan *rolestest.Reply, 4*n)
	for _, id := range ids {
		wg.Go(func() { answers <- s.Do(t, "POST", "/orders/"+id+"/status/completed", "") })
		wg.Go(func() { answers <- s.order(t, map[string]int{hot: 3}) })
		wg.Go(func() { answers <- s.receive(t, map[string]int{hot: 2, s.products[1]: 1}) })
		wg.Go(func() { answers <- s.adjust(t, s.products[1], 7) })
	}
	wg.Wait()
	close(answers)
	for got := range answers {
		require.Less(t, got.Status, 300, got.Raw)
	}
	qty, reserved := s.levels(t)
	require.Equal(t, []int{2*n - n, 3 * n}, []int{qty[hot], reserved[hot]})
	s.consistent(t)
}

const (
	sqlSpoilStock  = `UPDATE stocks SET qty = qty + 2.5, reserved = reserved - 1 WHERE company_id = $1 AND product_id = $2`
	sqlForgetStock = `DELETE FROM stocks WHERE company_id = $1 AND product_id = $2`
)

// What the nightly check finds can be repaired from the command line.
func TestStockCheckAndRepair(t *testing.T) {
	t.Parallel()
	s := newOutlet(t)
	nail, screw := s.products[0], s.products[1]
	s.adjust(t, nail, 5)
	s.adjust(t, screw, 3)
	s.order(t, map[string]int{nail: 2, screw: 1})
	check := func(command string) []warehouse.Difference {
		return adminJSON[[]warehouse.Difference](t, "stock", command, "--company="+s.company.String())
	}
	require.Empty(t, check("check"))
	for sql, p := range map[string]string{sqlSpoilStock: nail, sqlForgetStock: screw} {
		_, err := s.Node.DB.Exec(t.Context(), sql, s.company, p)
		require.NoError(t, err)
	}
	text := func(all []warehouse.Difference) (lines []string) {
		for _, d := range all {
			require.Equal(t, s.depot, d.WarehouseID.String())
			require.Equal(t, uuid.Nil, d.VariantID)
			lines = append(lines, fmt.Sprint(map[string]string{nail: "nail", screw: "screw"}[d.ProductID.String()], " ", d.Field, " ", d.Stored, " ", d.Expected))
		}
		return lines
	}
	want := []string{"nail qty 7.5 5", "nail reserved 1 2", "screw qty 0 3", "screw reserved 0 1"}
	require.ElementsMatch(t, want, text(check("check")))
	require.ElementsMatch(t, want, text(check("repair")))
	require.Empty(t, check("check"))
	qty, reserved := s.levels(t)
	require.Equal(t, map[string]int{nail: 5, screw: 3}, qty)
	require.Equal(t, map[string]int{nail: 2, screw: 1}, reserved)
	s.consistent(t)

	found := 0
	require.NoError(t, s.Node.StockReconciler(nil).CheckAll(t.Context(), func() bool { found++; return found < 3 }))
	require.Positive(t, found, "companies are checked while this process is in charge")
	_, err := runAdmin(t, "stock", "check", "--company="+uuid.NewString())
	require.ErrorContains(t, err, "--company")
}
