package orders_test

import (
	"context"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
)

func TestOneKeyMakesOneOrder(t *testing.T) {
	t.Parallel()
	open(t, nil)
	s := open(t, chaotic(t, 0.1))
	key := apitest.Header{"X-Idempotency-Key", uuid.NewString()}
	bodies := make(chan string, 12)
	var wg sync.WaitGroup
	for range cap(bodies) {
		wg.Go(func() {
			for {
				res := s.Do(t, "POST", "/orders", s.body(), key)
				if res.Status == 201 {
					bodies <- string(res.Body)
					return
				}
				if res.Status != 503 {
					res.Fault(409, "IDEMPOTENCY_IN_FLIGHT")
				}
			}
		})
	}
	wg.Wait()
	first := <-bodies
	for range cap(bodies) - 1 {
		require.Equal(t, first, <-bodies)
	}
	require.Equal(t, [2]int64{1, 1}, s.counts())
	require.Equal(t, []string{"order.created"}, s.events())
	require.Equal(t, "0/3", s.stock(s.wood))
	s.Do(t, "POST", "/orders", s.body("note", "other"), key).Fault(422, "IDEMPOTENCY_KEY_REUSED")
}

const sqlSelectPositions = `SELECT agg_id, agg_version, event FROM outbox WHERE company_id = $1 AND agg_type = 'order' ORDER BY agg_id, pos`

// TestManyAtOnceUnderChaos lets many callers work on the orders of one company while transactions fail.
func TestManyAtOnceUnderChaos(t *testing.T) {
	t.Parallel()
	open(t, nil)
	s := open(t, chaotic(t, 0.2))
	var wg sync.WaitGroup
	var mu sync.Mutex
	var made []string
	for i := range 12 {
		wg.Go(func() {
			for range 6 {
				res := s.Do(t, "POST", "/orders", s.body("customerId", s.ann, "prepaidAmount", 100), apitest.Header{"X-Idempotency-Key", uuid.NewString()})
				if res.Status != 201 {
					res.Fault(503, "SERVICE_UNAVAILABLE")
					continue
				}
				id := res.OK(201)["id"].(string)
				mu.Lock()
				made = append(made, id)
				other := made[i%len(made)]
				mu.Unlock()
				s.patch(other, map[string]any{"items": []any{map[string]any{"refId": s.wood, "qty": i + 1}, map[string]any{"refId": s.bolt, "qty": 2}}})
				s.move(id, "cancelled")
			}
		})
	}
	wg.Wait()
	require.Equal(t, [2]int64{int64(len(made)), int64(len(made))}, s.counts())
	s.checkSums()
	s.checkEvents()
}

const sqlSumReserved = `SELECT COALESCE(sum(l.reserved_qty), 0)::TEXT, (SELECT COALESCE(sum(s.reserved), 0)::TEXT FROM stocks s WHERE s.company_id = $1 AND s.product_id = $2)
FROM order_lines l WHERE l.company_id = $1 AND l.ref_id = $2`

const sqlSumPayments = `SELECT COALESCE(sum(delta), 0)::BIGINT, (SELECT COALESCE(sum(o.prepaid_amount), 0)::BIGINT FROM orders o WHERE o.company_id = $1)
FROM order_payments WHERE company_id = $1`

func (s *kit) checkSums() {
	s.t.Helper()
	for _, product := range []uuid.UUID{s.wood, s.bolt} {
		var lines, stock string
		require.NoError(s.t, s.d.QueryRow(context.Background(), sqlSumReserved, s.Principal.Company, product).Scan(&lines, &stock))
		require.InDelta(s.t, asThousandths(lines), asThousandths(stock), 0)
	}
	var ledger, prepaid int64
	require.NoError(s.t, s.d.QueryRow(context.Background(), sqlSumPayments, s.Principal.Company).Scan(&ledger, &prepaid))
	require.Equal(s.t, prepaid, ledger)
	require.Equal(s.t, prepaid, s.balance(s.ann))
}

// checkEvents requires that each version of an order was announced once, in order.
func (s *kit) checkEvents() {
	s.t.Helper()
	rows, err := s.d.Query(context.Background(), sqlSelectPositions, s.Principal.Company)
	require.NoError(s.t, err)
	versions := map[uuid.UUID]int64{}
	var id uuid.UUID
	var version int64
	var name string
	_, err = pgx.ForEachRow(rows, []any{&id, &version, &name}, func() error {
		if name == "order.cancelled" { // it shares the version of the move before it
			require.Equal(s.t, versions[id], version)
			return nil
		}
		versions[id]++
		require.Equal(s.t, versions[id], version, name)
		return nil
	})
	require.NoError(s.t, err)
	for id, v := range versions {
		require.EqualValues(s.t, v, s.Do(s.t, "GET", "/orders/"+id.String(), nil).OK(200)["version"])
	}
}
