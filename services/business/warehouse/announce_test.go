package warehouse_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/trade"
	"github.com/tradegrid/tradegrid/services/business/warehouse"
)

const availableChanged = "stock.available_changed"

func (s *shop) announce() {
	s.t.Helper()
	require.NoError(s.t, warehouse.NewAnnouncer(s.s, slog.New(slog.DiscardHandler)).Announce(s.t.Context(), func() bool { return true }))
}

func (s *shop) row(product string, qty, reserved int64) trade.StockDelta {
	return trade.StockDelta{Warehouse: uuid.MustParse(s.main), StockKey: trade.StockKey{Product: uuid.MustParse(product)}, Qty: units(qty), Reserved: units(reserved)}
}

func (s *shop) reserve(product string, n int64) {
	s.t.Helper()
	s.tx(func(_ context.Context, tx *db.Tx) error {
		s.s.Reserve(tx, s.caller(), []trade.StockDelta{s.row(product, 0, n)})
		return nil
	})
}

// A sync learns of reserves: by one event for all that happened since the last, and by updatedSince.
func TestReservesAreTold(t *testing.T) {
	t.Parallel()
	s := openOn(t, dbtest.OpenNew(t))
	bolt := s.product("Bolt")
	s.adjust(bolt, 10).OK(201)
	s.announce()
	told := s.events(availableChanged)
	require.Len(t, told, 1)
	require.Equal(t, 10.0, told[0]["available"])
	seen := s.list("/warehouse/stocks")[0]

	for range 3 {
		s.reserve(bolt, 2)
	}
	require.Len(t, s.events(availableChanged), 1, "documents only mark the row")
	s.announce()
	s.announce()
	told = s.events(availableChanged)
	require.Len(t, told, 2, "one event for all of them")
	now := s.list("/warehouse/stocks")[0]
	require.Equal(t, now, told[1], "the event has the record")
	require.Equal(t, 4.0, told[1]["available"])
	require.Greater(t, now["version"], seen["version"])
	require.Greater(t, now["updatedAt"], seen["updatedAt"])
	require.Equal(t, []map[string]any{now}, s.list("/warehouse/stocks", "updatedSince", now["updatedAt"].(string)))

	s.reserve(bolt, 1)
	s.reserve(bolt, -1)
	s.announce()
	require.Len(t, s.events(availableChanged), 2, "as much is available as before")
	again := s.list("/warehouse/stocks", "updatedSince", now["updatedAt"].(string))
	require.Greater(t, again[0]["version"], now["version"])
	require.Greater(t, again[0]["updatedAt"], now["updatedAt"], "its version was changed")
	s.announce()
	require.Equal(t, again, s.list("/warehouse/stocks"))

	s.adjust(bolt, 4).OK(201)
	s.announce()
	require.Equal(t, -2.0, s.events(availableChanged)[2]["available"])
}

// Rows are locked for a short time each: orders of a company do not wait until the rows of all companies are told.
func TestStockIsToldInParts(t *testing.T) {
	t.Parallel()
	s := openOn(t, dbtest.OpenNew(t))
	for i := range 45 {
		s.adjust(s.product(fmt.Sprint("Bolt ", i)), 1).OK(201)
	}
	s.announce()
	together := map[any]int{}
	for _, told := range s.events(availableChanged) {
		together[told["updatedAt"]]++ // the time of the transaction
	}
	require.Len(t, together, 3)
	for at, rows := range together {
		require.LessOrEqual(t, rows, 20, at)
	}
}

// A document that stays at a row of one company does not keep what changed of others from being told.
func TestCompaniesDoNotWaitForEachOthersStock(t *testing.T) {
	t.Parallel()
	busy := openOn(t, dbtest.OpenNew(t))
	hot := busy.product("Hot")
	busy.adjust(hot, 10).OK(201)
	shops := []*shop{busy}
	for range 2 { // whose ids are greater
		s := openOn(t, busy.d)
		s.adjust(s.product("Cold"), 3).OK(201)
		shops = append(shops, s)
	}
	announce := func() error {
		return warehouse.NewAnnouncer(busy.s, slog.New(slog.DiscardHandler)).Announce(t.Context(), func() bool { return true })
	}
	busy.tx(func(ctx context.Context, tx *db.Tx) error {
		busy.s.Reserve(tx, busy.caller(), []trade.StockDelta{busy.row(hot, 0, 2)})
		if err := tx.Flush(ctx); err != nil {
			return err
		}
		require.ErrorIs(t, announce(), db.ErrLocked)
		return nil
	})
	require.Empty(t, busy.events(availableChanged))
	for _, s := range shops[1:] {
		require.Len(t, s.events(availableChanged), 1)
	}
	require.NoError(t, announce())
	for _, s := range shops {
		require.Len(t, s.events(availableChanged), 1)
	}
	require.Equal(t, 8.0, busy.events(availableChanged)[0]["available"])
}

// Whatever happens at the same time, and however often announcers die, the last event of a row has what is available.
func TestTheLastChangeIsAlwaysTold(t *testing.T) {
	t.Parallel()
	s := openOn(t, dbtest.OpenNew(t))
	var products []string
	for _, name := range []string{"Bolt", "Nut", "Washer"} {
		products = append(products, s.product(name))
	}
	dying, err := db.Open(t.Context(), db.Config{URL: s.d.Pool().Config().ConnString(), MaxConns: 4, Inject: db.Chaos(0.3, 0)})
	require.NoError(t, err)
	t.Cleanup(dying.Close)
	announcer := warehouse.NewAnnouncer(warehouse.New(warehouse.Config{DB: dying, Products: s.goods}), slog.New(slog.DiscardHandler))
	var writers, announcers sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		announcers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					_ = announcer.Announce(t.Context(), func() bool { return true }) // the next goes on
				}
			}
		})
	}
	for range 4 {
		writers.Go(func() {
			for range 30 {
				deltas := []trade.StockDelta{s.row(products[rand.N(3)], 0, rand.Int64N(5)-2), s.row(products[rand.N(3)], 0, rand.Int64N(5)-2)}
				err := s.d.RunTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
					if rand.N(3) > 0 {
						s.s.Reserve(tx, s.caller(), deltas)
						return nil
					}
					deltas[0].Qty = deltas[0].Reserved + units(1)
					return s.s.Move(ctx, tx, s.caller(), trade.StockDocument{Movement: trade.MovementReceipt}, deltas[:1])
				}, db.ReadCommitted())
				if err != nil {
					t.Errorf("change: %v", err)
				}
			}
		})
	}
	writers.Wait()
	close(done)
	announcers.Wait()
	s.announce()
	last := map[any]any{}
	for _, e := range s.events(availableChanged) {
		last[e["id"]] = e["available"]
	}
	for _, st := range s.list("/warehouse/stocks") {
		require.Equal(t, st["available"], last[st["id"]], st["productName"])
	}
	var waiting int
	require.NoError(t, s.d.QueryRow(t.Context(), `SELECT count(*) FROM stock_changes WHERE company_id = $1`, s.Principal.Company).Scan(&waiting))
	require.Zero(t, waiting)
}

// A client that asks whether a product with its stock has changed learns of reserves, too.
func TestConditionalReadOfAProductWithStock(t *testing.T) {
	t.Parallel()
	s := open(t)
	bolt := s.product("Bolt")
	s.adjust(bolt, 10).OK(201)
	path := "/catalog/products/" + bolt
	read := func(query, etag string) *apitest.Response {
		return s.Do(t, "GET", path+query, nil, apitest.Header{"If-None-Match", etag})
	}
	plain, etag := read("", `"x"`).Header.Get("ETag"), read("?include=stock", `"x"`).Header.Get("ETag")
	require.Equal(t, `"1"`, plain)
	read("?include=stock", etag).OK(304)
	s.reserve(bolt, 3)
	changed := read("?include=stock", etag)
	require.Equal(t, 7.0, changed.OK(200)["stockAvailable"])
	read("?include=stock", changed.Header.Get("ETag")).OK(304)
	read("", plain).OK(304)
	read("", changed.Header.Get("ETag")).OK(200)
	s.Do(t, "PATCH", path, `{"name":"Long bolt"}`, apitest.Header{"If-Match", changed.Header.Get("ETag")}).OK(200)
}
