package orders_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
)

const sqlSelectStored = `SELECT concat_ws(' ', o.note, o.total, o.prepaid_amount, o.lines_count, o.external_id, o.search_text LIKE o.number || ' %',
    (SELECT string_agg(concat_ws(' ', l.sort_order, l.name, l.qty, l.reserved_qty, l.total, l.note), ', ' ORDER BY l.sort_order) FROM order_lines l WHERE l.company_id = $1 AND l.order_id = o.id),
    (SELECT string_agg(p.delta::TEXT, ', ') FROM order_payments p WHERE p.company_id = $1 AND p.order_id = o.id),
    (SELECT string_agg(concat_ws(' ', b.event, b.agg_version, b.pos = o.ev_pos), ', ') FROM outbox b WHERE b.company_id = $1 AND b.agg_id = o.id))
FROM orders o WHERE o.company_id = $1 ORDER BY o.note`

const sqlCountAnswers = `SELECT count(*) FROM idempotency_keys WHERE company_id = $1 AND state = 1 AND status = 201`

const sqlSelectStockVersion = `SELECT version FROM stocks WHERE company_id = $1 AND product_id = $2`

// Orders that share a transaction leave the same rows as orders that are placed one after the other, and one that is refused
// does not keep the others from being stored.
func TestAGroupIsTheSameAsItsOrders(t *testing.T) {
	t.Parallel()
	const placed = 65 // the first goes alone; the others are more than a statement has rows
	single, group := open(t, nil), open(t, nil)
	place := func(s *kit, i int) int {
		pair := i / 2 // two orders are equal
		items := []any{map[string]any{"refId": s.wood, "qty": pair%5 + 1, "note": fmt.Sprint("line ", pair)}, map[string]any{"refId": s.bolt, "qty": 2}}
		body := s.body("note", fmt.Sprintf("order %02d", pair), "items", items[:pair%2+1], "customerId", s.bea, "prepaidAmount", pair%3*100)
		if pair%10 == 3 {
			body["externalId"] = fmt.Sprint("X-", pair) // so the second one is refused
		}
		return s.Do(t, "POST", "/orders", body, apitest.Header{"X-Idempotency-Key", uuid.NewString()}).Status
	}
	count := func(statuses []int) map[int]int {
		n := map[int]int{}
		for _, status := range statuses {
			n[status]++
		}
		return n
	}
	one, all := make([]int, placed), make([]int, placed)
	for i := range placed {
		one[i] = place(single, i)
	}
	var wg sync.WaitGroup
	for i := range placed {
		wg.Go(func() { all[i] = place(group, i) })
	}
	wg.Wait()
	require.Equal(t, map[int]int{http.StatusCreated: placed - 3, http.StatusConflict: 3}, count(one))
	require.Equal(t, count(one), count(all))
	require.Equal(t, single.stored(), group.stored())
	require.Equal(t, [2]int64{placed - 3, placed - 3}, group.counts(), "numbers have no gaps")
	for _, product := range []string{"wood", "bolt"} {
		id := map[string][2]uuid.UUID{"wood": {single.wood, group.wood}, "bolt": {single.bolt, group.bolt}}[product]
		require.Equal(t, single.stock(id[0]), group.stock(id[1]), product)
	}
	require.Equal(t, single.balance(single.bea), group.balance(group.bea))
	var version int64
	require.NoError(t, group.d.QueryRow(context.Background(), sqlSelectStockVersion, group.Principal.Company, group.wood).Scan(&version))
	require.Less(t, version, int64(placed)/2, "orders that are stored together change the stock once")
}

// stored are the orders with what belongs to them, and how many answers are kept.
func (s *kit) stored() (rows []string) {
	s.t.Helper()
	found, err := s.d.Query(context.Background(), sqlSelectStored, s.Principal.Company)
	require.NoError(s.t, err)
	rows, err = pgx.CollectRows(found, pgx.RowTo[string])
	require.NoError(s.t, err)
	var answers int
	require.NoError(s.t, s.d.QueryRow(context.Background(), sqlCountAnswers, s.Principal.Company).Scan(&answers))
	return append(rows, fmt.Sprint(answers, " answers"))
}
