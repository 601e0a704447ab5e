package receipts_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/warehouse"
)

func TestOneKeyMakesOneReceipt(t *testing.T) {
	t.Parallel()
	s := open(t)
	key := apitest.Header{"X-Idempotency-Key", uuid.NewString()}
	first := s.Do(t, "POST", "/warehouse/receipts", s.body(), key).OK(201)
	again := s.Do(t, "POST", "/warehouse/receipts", s.body(), key)
	require.Equal(t, first, again.OK(201))
	require.Equal(t, "true", again.Header.Get("X-Idempotent-Replayed"))
	cancel := apitest.Header{"X-Idempotency-Key", uuid.NewString()}
	c := s.cancel(first["id"], cancel).OK(200)
	require.Equal(t, c, s.cancel(first["id"], cancel).OK(200))
	require.Equal(t, "0", s.qty(t, s.nail))
	require.Len(t, s.events("warehouse.receipt.created"), 1)
	require.Len(t, s.events("warehouse.receipt.cancelled"), 1)
}

// elsewhere is the same company at another process.
func (s *kit) elsewhere() *kit {
	s.t.Helper()
	d, err := db.Open(s.t.Context(), db.Config{URL: dbtest.URL(s.t), MaxConns: 4})
	require.NoError(s.t, err)
	s.t.Cleanup(d.Close)
	other := *s
	other.stock = warehouse.New(warehouse.Config{DB: d, Products: s.n})
	other.server = apitest.New(s.t, d, other.service(d).Register, other.stock.Register)
	other.Client = other.server.Caller(s.Principal.Company)
	return &other
}

func TestParallelCancels(t *testing.T) {
	t.Parallel()
	s := open(t)
	there := s.elsewhere()
	r := s.post().OK(201)
	s.post().OK(201)
	codes := make(chan string, 12)
	var wg sync.WaitGroup
	for i := range cap(codes) {
		wg.Go(func() {
			res := []*kit{s, there}[i%2].cancel(r["id"])
			if res.Status == 200 {
				codes <- "ok"
				return
			}
			res.Fault(409, "RECEIPT_ALREADY_CANCELLED")
			codes <- "cancelled already"
		})
	}
	wg.Wait()
	count := map[string]int{}
	for range cap(codes) {
		count[<-codes]++
	}
	require.Equal(t, map[string]int{"ok": 1, "cancelled already": 11}, count)
	require.Equal(t, "3", s.qty(t, s.nail))
	require.Len(t, s.events("warehouse.receipt.cancelled"), 1)
}

// Receipts of the same goods at once get all numbers without a gap, and none is refused.
func TestParallelReceipts(t *testing.T) {
	t.Parallel()
	s := open(t)
	there := s.elsewhere()
	const n = 60
	numbers := make([]float64, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			lines := s.items(object{"productId": s.nail, "qty": 1}, object{"productId": s.wood, "qty": 2}, object{"productId": s.set, "qty": 1})
			if i%2 == 0 {
				slices.Reverse(lines)
			}
			numbers[i] = []*kit{s, there}[i%2].post("items", lines).OK(201)["number"].(float64)
		})
	}
	wg.Wait()
	slices.Sort(numbers)
	for i, number := range numbers {
		require.InDelta(t, i+1, number, 0)
	}
	require.Equal(t, []string{"300", "270"}, []string{s.qty(t, s.nail), s.qty(t, s.wood)})
}
