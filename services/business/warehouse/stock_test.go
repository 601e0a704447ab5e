package warehouse_test

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/trade"
	"github.com/tradegrid/tradegrid/services/business/warehouse"
)

type products map[trade.StockKey]trade.StockProduct

func (p products) StockProducts(context.Context, db.Querier, tenant.ID, []trade.StockKey) (map[trade.StockKey]trade.StockProduct, error) {
	return p, nil
}

// kit is a company with one warehouse and three products.
type kit struct {
	t    testing.TB
	d    *db.DB
	s    *warehouse.Service
	by   access.Caller
	p    products
	id   uuid.UUID
	keys []trade.StockKey
}

func setup(t testing.TB, d *db.DB, policy string) *kit {
	t.Helper()
	p := products{}
	for range 3 {
		p[trade.StockKey{Product: uuid.New()}] = trade.StockProduct{Name: "Thing", SKU: "T", HasStock: true}
	}
	principal := &access.Principal{Company: tenant.NewID(), Actor: uuid.New(), Settings: access.Settings{StockPolicy: policy}}
	w := &kit{t: t, d: d, p: p, s: warehouse.New(warehouse.Config{DB: d, Products: p}), by: access.Caller{Principal: principal}}
	w.keys = slices.SortedFunc(maps.Keys(p), func(a, b trade.StockKey) int { return bytes.Compare(a.Product[:], b.Product[:]) })
	require.NoError(t, w.tx(func(ctx context.Context, tx *db.Tx) error {
		w.s.CreateDefault(tx, principal.Company, uuid.New(), "Depot")
		id, found, err := w.s.FindWarehouse(ctx, tx, principal.Company, nil)
		require.True(t, found || err != nil)
		w.id = id
		return err
	}))
	return w
}

func (w *kit) tx(change func(ctx context.Context, tx *db.Tx) error) error {
	return w.d.RunTx(context.Background(), "test", change)
}

const sqlSelectLevels = `SELECT qty, reserved, (SELECT COALESCE(sum(m.delta), 0)::DECIMAL(18,3) FROM stock_movements m WHERE m.company_id = $1 AND m.product_id = $2)
FROM stocks WHERE company_id = $1 AND product_id = $2`

// level is what is stored of a product; movements must add up to its quantity.
func (w *kit) level(t require.TestingT, k trade.StockKey) (qty, reserved money.Qty) {
	var moved money.Qty
	err := w.d.QueryRow(context.Background(), sqlSelectLevels, w.by.Company, k.Product).Scan(&qty, &reserved, &moved)
	if !db.IsNoRows(err) {
		require.NoError(t, err)
	}
	require.Equal(t, qty, moved, "the quantity is the sum of the movements")
	return qty, reserved
}

// TestStockFollowsTheModel checks that what is stored is the sum of what was asked for, and that a company that
// blocks stock never reserves more than it has; see docs/reference/rules.md#stock-policy.
func TestStockFollowsTheModel(t *testing.T) {
	t.Parallel()
	dbtest.Open(t)
	d, err := db.Open(t.Context(), db.Config{URL: dbtest.URL(t), MaxConns: 4, Inject: db.Chaos(0.1, 9)})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	rapid.Check(t, func(rt *rapid.T) {
		w := setup(t, d, rapid.SampledFrom([]string{access.StockAllowNegative, access.StockBlock}).Draw(rt, "policy"))
		qty, reserved := map[trade.StockKey]money.Qty{}, map[trade.StockKey]money.Qty{}
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			if rapid.Bool().Draw(rt, "set") {
				k, target := rapid.SampledFrom(w.keys).Draw(rt, "key"), rapid.Int64Range(-5, 20).Draw(rt, "target")
				require.NoError(rt, w.set(k, target))
				qty[k] = money.Units(target)
				continue
			}
			w.change(rt, qty, reserved)
		}
		for _, k := range w.keys {
			gotQty, gotReserved := w.level(rt, k)
			require.Equal(rt, qty[k], gotQty)
			require.Equal(rt, reserved[k], gotReserved)
		}
	})
}

func (w *kit) set(k trade.StockKey, target int64) error {
	return w.tx(func(ctx context.Context, tx *db.Tx) error {
		_, err := w.s.SetStock(ctx, tx, w.by, warehouse.Adjustment{ProductID: k.Product, VariantID: k.VariantID(), WarehouseID: w.id, TargetQty: &target, Reason: "count"})
		return err
	})
}

// change reserves or takes out several products at once, some of them in two entries.
func (w *kit) change(rt *rapid.T, qty, reserved map[trade.StockKey]money.Qty) {
	out, apart := rapid.Bool().Draw(rt, "out"), rapid.Bool().Draw(rt, "apart")
	deltas := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) trade.StockDelta {
		d := trade.StockDelta{Warehouse: w.id, StockKey: rapid.SampledFrom(w.keys).Draw(rt, "key")}
		if n := money.Qty(rapid.Int64Range(1, 9000).Draw(rt, "n")); out {
			d.Qty = -n
		} else {
			d.Reserved = n
		}
		return d
	}), 1, 5).Draw(rt, "deltas")
	sums := map[trade.StockKey]money.Qty{}
	for _, d := range deltas {
		sums[d.StockKey] += d.Reserved - d.Qty
	}
	enough := true
	for k, n := range sums {
		enough = enough && qty[k]-reserved[k] >= n
	}
	err := w.tx(func(ctx context.Context, tx *db.Tx) error {
		if out {
			return w.s.Move(ctx, tx, w.by, trade.StockDocument{Movement: "sale", Type: "sale", ID: uuid.New(), Number: 1}, deltas)
		}
		n := len(deltas) // of one document, or of a document each
		if apart {
			n = 1
		}
		for some := range slices.Chunk(deltas, n) {
			w.s.Reserve(tx, w.by, some)
		}
		return nil
	})
	if w.by.Settings.BlocksStock() && !enough {
		require.True(rt, apierr.Is(err, "STOCK_INSUFFICIENT"), "%v", err)
		return
	}
	require.NoError(rt, err)
	for _, d := range deltas {
		qty[d.StockKey] += d.Qty
		reserved[d.StockKey] += d.Reserved
	}
}

const sqlSelectVersions = `SELECT product_id, version FROM stocks WHERE company_id = $1`

// Documents of several companies in one transaction reserve by one statement, which changes each row once.
func TestReservationsOfOneTransaction(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	shops := []*kit{setup(t, d, access.StockAllowNegative), setup(t, d, access.StockAllowNegative), setup(t, d, access.StockBlock)}
	for _, k := range shops[2].keys {
		require.NoError(t, shops[2].set(k, 100))
	}
	for round := range 2 {
		require.NoError(t, shops[0].tx(func(_ context.Context, tx *db.Tx) error {
			for i := range 9 {
				w := shops[i/3] // a company after the other, as in group commits
				w.s.Reserve(tx, w.by, []trade.StockDelta{
					{Warehouse: w.id, StockKey: w.keys[i%3], Reserved: money.Units(1)}, {Warehouse: w.id, StockKey: w.keys[0], Reserved: money.Units(2)},
				})
			}
			return nil
		}))
		for i, w := range shops {
			versions, err := db.Map[uuid.UUID, int64](t.Context(), d, "select versions", sqlSelectVersions, w.by.Company)
			require.NoError(t, err)
			for j, k := range w.keys {
				_, reserved := w.level(t, k)
				require.Equal(t, money.Units([]int64{7, 1, 1}[j]*int64(round+1)), reserved)
				if i < 2 {
					require.EqualValues(t, round+1, versions[k.Product], "one change of each row per transaction")
				}
			}
		}
	}
}

func TestBlockedStockIsNeverReservedTwice(t *testing.T) {
	t.Parallel()
	w := setup(t, dbtest.Open(t), access.StockBlock)
	for _, k := range w.keys {
		require.NoError(t, w.set(k, 5))
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for i := range 20 {
		wg.Go(func() {
			var deltas []trade.StockDelta
			for j := range w.keys {
				deltas = append(deltas, trade.StockDelta{Warehouse: w.id, StockKey: w.keys[(i+j)%3], Reserved: money.Units(1)})
			}
			err := w.tx(func(_ context.Context, tx *db.Tx) error {
				w.s.Reserve(tx, w.by, deltas)
				return nil
			})
			if err == nil {
				mu.Lock()
				defer mu.Unlock()
				done++
				return
			}
			f, ok := apierr.As(err)
			if ok && f.Code == "STOCK_INSUFFICIENT" {
				if lines, _ := f.Meta["lines"].([]map[string]any); len(lines) != 3 {
					t.Errorf("meta.lines names %d of 3 lines", len(lines))
				}
			}
		})
	}
	wg.Wait()
	require.LessOrEqual(t, done, 5)
	for _, k := range w.keys {
		_, reserved := w.level(t, k)
		require.Equal(t, money.Units(int64(done)), reserved)
	}
}
