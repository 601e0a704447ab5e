package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/api/loadshed"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

// crowded has batches whose items are made once release is closed, within 32 MiB for all companies and 8 for one.
func crowded(t *testing.T) (f *kit, making *atomic.Int64, release func()) {
	t.Helper()
	f, a := setupBatch(t, func(cfg *httpapi.Config) {
		cfg.Bodies = loadshed.New(loadshed.Config{Limits: loadshed.Limits{RequestBytes: 32 << 20}}).Requests()
	})
	f.token("other", func(p *access.Principal) { p.Company = tenant.NewID() })
	making = new(atomic.Int64)
	until := make(chan struct{})
	a.step = func(ctx context.Context, _ string) error {
		making.Add(1)
		select {
		case <-until:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	release = sync.OnceFunc(func() { close(until) })
	t.Cleanup(release)
	return f, making, release
}

// largeBatch is a batch of 3 MiB, which takes more than 6 MiB.
func (f *kit) largeBatch(token, sku string) response {
	body := fmt.Sprintf(`{"items":[{"op":"create","body":{"sku":%q,"size":1,"more":%q}}]}`, sku, strings.Repeat("x", 3<<20))
	return f.do(request{method: "POST", path: "/articles/batch", token: token, body: body, headers: map[string]string{"X-Idempotency-Key": uuid.NewString()}})
}

// A company may send as many large batches at once as it likes: one is made, the others are refused before anything is done, and
// nobody else notices.
func TestLargeRequestsOfACompanyLeaveRoomForOthers(t *testing.T) {
	t.Parallel()
	f, making, release := crowded(t)
	const batches = 12
	answers := make(chan response, batches)
	for i := range batches {
		go func() { answers <- f.largeBatch("all", fmt.Sprint("A", i)) }()
	}
	for range batches - 1 {
		requireOverloaded(t, <-answers)
	}
	require.Eventually(t, func() bool { return making.Load() == 1 }, time.Minute, time.Millisecond)
	require.Zero(t, f.stored())
	for range 20 {
		f.do(request{method: "POST", path: "/things", token: "other", body: `{"name":"x"}`}).is(t, 201, "")
		f.do(request{method: "GET", path: "/things/big?size=10", token: "other"}).is(t, 200, "")
		f.post(`{"name":"its own small ones, too"}`).is(t, 201, "")
	}
	theirs := make(chan response)
	go func() { theirs <- f.largeBatch("other", "B") }()
	require.Eventually(t, func() bool { return making.Load() == 2 }, time.Minute, time.Millisecond)
	release()
	require.Equal(t, []string{"201"}, (<-answers).results(t))
	require.Equal(t, []string{"201"}, (<-theirs).results(t))
	require.Equal(t, []string{"201"}, f.largeBatch("all", "A").results(t), "its bytes are free again")
}

// What there is no room for is refused before it is sent.
func TestLargeRequestsAreRefusedBeforeTheyAreRead(t *testing.T) {
	t.Parallel()
	f, making, release := crowded(t)
	first := make(chan response)
	go func() { first <- f.largeBatch("all", "A") }()
	require.Eventually(t, func() bool { return making.Load() == 1 }, time.Minute, time.Millisecond)
	address := f.listen()
	for _, length := range []string{"Content-Length: 5000000", "Transfer-Encoding: chunked"} {
		c := dial(t, address)
		c.send("%s\r\n", head("POST", "/articles/batch", "all", length))
		requireOverloaded(t, c.answer())
	}
	c := dial(t, address)
	c.send("%s\r\n", head("POST", "/articles/batch", "other", "Content-Length: 5000000"))
	require.NoError(t, c.SetReadDeadline(time.Now().Add(10*time.Millisecond)))
	_, err := c.r.ReadByte()
	require.ErrorContains(t, err, "timeout", "it waits for the body")
	require.NoError(t, c.Close())
	release()
	require.Equal(t, []string{"201"}, (<-first).results(t))
	require.Eventually(t, func() bool { return f.largeBatch("other", "B").StatusCode == http.StatusOK }, time.Minute, time.Millisecond, "the bytes of a request that never came are free")
}

// A client that sends its whole request before it reads gets the response, although its line is slow.
func TestRefusedClientsMaySendSlowly(t *testing.T) {
	t.Parallel()
	f, making, release := crowded(t)
	first := make(chan response)
	go func() { first <- f.largeBatch("all", "A") }()
	require.Eventually(t, func() bool { return making.Load() == 1 }, time.Minute, time.Millisecond)
	c := dial(t, f.listen())
	c.send("%s\r\n", head("POST", "/articles/batch", "all", "Content-Length: 5000000"))
	for range 40 {
		time.Sleep(100 * time.Millisecond) // the line of the client
		c.send("%s", strings.Repeat("x", 16<<10))
	}
	requireOverloaded(t, c.answer())
	release()
	require.Equal(t, []string{"201"}, (<-first).results(t))
}

// A batch of large items is made in many small transactions, with a pause after each as long as it took; small items share one.
func TestLargeItemsAreMadeInSmallTransactions(t *testing.T) {
	t.Parallel()
	const work = 20 * time.Millisecond // of an item
	for size, stored := range map[int]int64{10: 0, 200 << 10: 8} {
		f, a := setupBatch(t)
		var changes []string
		for i := range 10 {
			changes = append(changes, fmt.Sprintf(`{"op":"create","body":{"sku":%q,"size":1,"more":%q}}`, fmt.Sprint(i), strings.Repeat("x", size)))
		}
		var before atomic.Int64 // items that are stored when the last one is made
		var paused atomic.Int64
		var last time.Time
		a.step = func(_ context.Context, sku string) error {
			if i := int(sku[0] - '0'); i > 0 && i%2 == 0 && time.Since(last) >= 2*work {
				paused.Add(1)
			}
			if sku == "9" {
				before.Store(int64(f.stored()))
			}
			time.Sleep(work)
			last = time.Now()
			return nil
		}
		f.batch(items(changes...)).is(t, 200, "")
		require.Equal(t, stored, before.Load())
		if stored > 0 {
			require.EqualValues(t, 4, paused.Load(), "after each transaction of two items but the last")
		}
	}
}

// Transactions and reads of a request take the connections of its company's share.
func TestRequestsWorkForTheirCompany(t *testing.T) {
	t.Parallel()
	f := setup(t)
	var of tenant.ID
	f.enter = func(ctx context.Context, _ int) { of = tenant.Of(ctx) }
	f.post(`{"name":"x"}`).is(t, 201, "")
	require.Equal(t, f.company, of)
}
