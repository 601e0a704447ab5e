package receiver_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/services/dev/receiver"
)

func TestStatusForAFewTimes(t *testing.T) {
	t.Parallel()
	f := setup(t, receiver.Config{})
	body := f.body("order.created", "o")
	require.Equal(t, 204, f.call("POST", "/behaviour/a", `{"mode":"status","status":503,"times":2,"retryAfter":7}`, nil))
	for range 2 {
		res, _ := f.post("/hook/a", "d", body)
		require.Equal(t, 503, res.StatusCode)
		require.Equal(t, "7", res.Header.Get("Retry-After"))
	}
	res, _ := f.post("/hook/a", "d", body)
	require.Equal(t, 200, res.StatusCode)
	report := f.hooks.Report("a")
	require.Equal(t, map[string]uint64{"503": 2, "200": 1}, report.ByStatus)
	require.EqualValues(t, 1, report.Unique)
	require.Zero(t, report.Duplicates, "a repeat after a failure is no duplicate")
	require.EqualValues(t, 3, report.Verified)

	require.Equal(t, 401, f.call("POST", "/hook/a", "{}", nil))
	require.Equal(t, 204, f.call("POST", "/behaviour/a", `{"mode":"status","status":401}`, nil))
	f.post("/hook/a", "d-401", body)
	var d receiver.Delivery
	require.Equal(t, 200, f.call("GET", "/wait/a?after=4&timeout=1s", "", &d), "a told 401 still arrived")
	require.Equal(t, "d-401", d.ID)
}

func TestProbability(t *testing.T) {
	t.Parallel()
	f := setup(t, receiver.Config{Behaviour: receiver.Behaviour{Mode: receiver.ModeStatus, Probability: 0.5}})
	for i := range 200 {
		f.post("/hook/a", fmt.Sprint(i), []byte("{}"))
	}
	byStatus := f.hooks.Report("a").ByStatus
	require.Greater(t, byStatus["500"], uint64(50))
	require.Greater(t, byStatus["200"], uint64(50))
}

func TestRedirectIsNotFollowedByItself(t *testing.T) {
	t.Parallel()
	f := setup(t, receiver.Config{Behaviour: receiver.Behaviour{Mode: receiver.ModeRedirect}})
	res, _ := f.post("/hook/a", "d", []byte("{}"))
	require.Equal(t, 307, res.StatusCode)
	require.Equal(t, "/hook/a-redirected", res.Header.Get("Location"))
	require.Zero(t, f.hooks.Report("a").Unique)
}

func TestHugeBody(t *testing.T) {
	t.Parallel()
	f := setup(t, receiver.Config{Behaviour: receiver.Behaviour{Mode: receiver.ModeHuge, Bytes: 100_001}})
	res, text := f.post("/hook/a", "d", []byte("{}"))
	require.Equal(t, 200, res.StatusCode)
	require.Len(t, text, 100_001)
}

func TestCloseDropsTheConnection(t *testing.T) {
	t.Parallel()
	f := setup(t, receiver.Config{Behaviour: receiver.Behaviour{Mode: receiver.ModeClose}})
	_, err := f.client.Do(f.request(t.Context(), "/hook/a", "d", []byte("{}")))
	require.ErrorIs(t, err, io.EOF)
	require.Equal(t, map[string]uint64{"close": 1}, f.hooks.Report("a").ByStatus)
}

func TestDelay(t *testing.T) {
	t.Parallel()
	f := setup(t, receiver.Config{Behaviour: receiver.Behaviour{Mode: receiver.ModeOK, DelayMs: 30}})
	began := time.Now()
	res, _ := f.post("/hook/a", "d", []byte("{}"))
	require.Equal(t, 200, res.StatusCode)
	require.GreaterOrEqual(t, time.Since(began), 30*time.Millisecond)
}

// hang sends a request that hangs and returns where its error will arrive.
func (f *testKit) hang(ctx context.Context, path string) chan error {
	name := strings.TrimPrefix(path, "/hook/")
	before := f.hooks.Report(name).ByStatus["hang"]
	failed := make(chan error, 1)
	req := f.request(ctx, path, "d", []byte("{}"))
	go func() {
		res, err := f.client.Do(req)
		if err == nil {
			res.Body.Close()
		}
		failed <- err
	}()
	require.Eventually(f.t, func() bool { return f.hooks.Report(name).ByStatus["hang"] == before+1 }, time.Minute, time.Millisecond)
	select {
	case err := <-failed:
		f.t.Fatalf("the request did not hang: %v", err)
	default:
	}
	return failed
}

func TestHangEnds(t *testing.T) {
	t.Parallel()
	f := setup(t, receiver.Config{Behaviour: receiver.Behaviour{Mode: receiver.ModeHang}})

	ctx, cancel := context.WithCancel(t.Context())
	failed := f.hang(ctx, "/hook/a")
	cancel()
	require.ErrorIs(t, <-failed, context.Canceled, "the client gave up")

	failed = f.hang(t.Context(), "/hook/a")
	require.Equal(t, 204, f.call("DELETE", "/behaviour/a", "", nil))
	require.ErrorIs(t, <-failed, io.EOF, "the behaviour was replaced")
	res, _ := f.post("/hook/a", "d", []byte("{}"))
	require.Equal(t, 200, res.StatusCode)

	require.Equal(t, 204, f.call("POST", "/behaviour/a", `{"mode":"hang"}`, nil))
	failed = f.hang(t.Context(), "/hook/a")
	f.hooks.Close()
	require.ErrorIs(t, <-failed, io.EOF, "the server stopped")
}

func TestDripIsNeverAWholeAnswer(t *testing.T) {
	t.Parallel()
	f := setup(t, receiver.Config{Behaviour: receiver.Behaviour{Mode: receiver.ModeDrip, DelayMs: 1}})
	res, err := f.client.Do(f.request(t.Context(), "/hook/a", "d", []byte("{}")))
	require.NoError(t, err)
	defer res.Body.Close()
	require.Equal(t, 200, res.StatusCode)
	reader := bufio.NewReader(res.Body)
	for range 5 {
		b, err := reader.ReadByte()
		require.NoError(t, err)
		require.Equal(t, byte('.'), b)
	}
	f.hooks.Close()
	_, err = io.Copy(io.Discard, reader)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

func TestParseBehaviour(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]receiver.Behaviour{
		"":     {},
		"hang": {Mode: receiver.ModeHang},
		"status,status=503,probability=0.1, times=3": {Mode: receiver.ModeStatus, Status: 503, Probability: 0.1, Times: 3},
		"redirect,location=http://127.0.0.1:1/x":     {Mode: receiver.ModeRedirect, Location: "http://127.0.0.1:1/x"},
		`{"mode":"drip","delayMs":5}`:                {Mode: receiver.ModeDrip, DelayMs: 5},
	} {
		got, err := receiver.ParseBehaviour(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got)
	}
	for text, want := range map[string]string{
		"explode":                             "must be one of ok, status",
		"status,code=503":                     "unknown field",
		"status,status":                       "behaviour must be a mode",
		"status,status=99,probability=2":      "status 99 must be between 200 and 599; probability 2",
		"redirect,status=200":                 "between 300 and 399",
		"ok,delayMs=-1":                       "delayMs -1",
		`{"mode":"ok","times":-1}`:            "must not be negative",
		`{"mode":"ok","delayMs":99999999999}`: "delayMs",
	} {
		_, err := receiver.ParseBehaviour(text)
		require.ErrorContains(t, err, want, text)
	}
	require.ErrorContains(t, receiver.Config{Secret: "x", Behaviour: receiver.Behaviour{Mode: "y"}}.Check(), "whsec_")
	require.Panics(t, func() { receiver.New(receiver.Config{Secret: "x"}) })
}

func TestQuantilesAreCloseToExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.SliceOfN(rapid.Int64Range(0, int64(30*time.Hour)), 1, 200).Draw(t, "ns")
		durations := make([]time.Duration, len(raw))
		for i, v := range raw {
			durations[i] = time.Duration(v)
		}
		q := rapid.SampledFrom([]float64{0.5, 0.95, 0.99, 1}).Draw(t, "q")
		got := receiver.Quantile(q, durations)
		slices.Sort(durations)
		rank := max(1, int(q*float64(len(durations))+0.5))
		exact := float64(durations[rank-1].Microseconds()) / 1000
		require.InDelta(t, exact, got, exact*0.04+0.11)
	})
}

func TestIdsAreForgottenOldestFirst(t *testing.T) {
	t.Parallel()
	ids := make([]string, 25)
	for i := range ids {
		ids[i] = fmt.Sprint("id-", i)
	}
	known := receiver.Remembered(10, ids)
	require.NotContains(t, known[20:], false)
	require.NotContains(t, known[:15], true)
}

func BenchmarkHook(b *testing.B) {
	secret := webhook.NewSecret()
	signer, err := webhook.NewSigner(secret, "")
	require.NoError(b, err)
	hooks := receiver.New(receiver.Config{Secret: secret})
	server := httptest.NewServer(hooks)
	defer server.Close()
	body := fmt.Appendf(nil, `{"event":"order.created","companyId":"c","occurredAt":"2026-11-20T09:30:00.000Z","data":{"id":"o","note":%q}}`, make([]byte, 150))
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			req, _ := http.NewRequest(http.MethodPost, server.URL+"/hook/bench", bytes.NewReader(body))
			signer.Sign(req.Header, webhook.Attempt{Event: "order.created", DeliveryID: fmt.Sprint(i), Number: 1, At: time.Now()}, body)
			res, err := client.Do(req)
			if err != nil {
				b.Error(err)
				return
			}
			_, _ = io.Copy(io.Discard, res.Body)
			res.Body.Close()
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "posts/s")
}
