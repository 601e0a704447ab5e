package requests

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi/transport"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/quota"
)

func principal() *access.Principal {
	return &access.Principal{Company: tenant.NewID(), TokenID: uuid.New(), TokenName: "test"}
}

func served(status int, body string) func() httpapi.Served {
	return func() httpapi.Served {
		s := httpapi.Served{At: time.Now(), ID: uuid.Must(uuid.NewV7()), Method: "POST", Target: "/things", Status: status, Body: []byte(body)}
		if status >= 400 {
			s.Refusal = transport.Refusal{Code: "X", Body: []byte(`{}`)}
		}
		return s
	}
}

// In each second the first requests of a token are all kept, and of the others one in a hundred, which stands for those before.
func TestSampling(t *testing.T) {
	t.Parallel()
	l := NewLog(LogConfig{Log: slog.New(slog.DiscardHandler)})
	of, other := window{uuid.New(), false}, window{uuid.New(), false}
	count := func(of window, second int64, n int, above bool) (keptNow int, stand int64) {
		for range n {
			if r := l.sample(of, second, above); r > 0 {
				keptNow, stand = keptNow+1, stand+r
			}
		}
		return keptNow, stand
	}
	keptNow, stand := count(of, 1, 1000, false)
	require.Equal(t, 5+9, keptNow)
	require.Equal(t, int64(5+900), stand)
	keptNow, stand = count(of, 2, 1, false)
	require.Equal(t, 1, keptNow)
	require.Equal(t, int64(95+1), stand, "the next one stands for those that were skipped")
	keptNow, _ = count(other, 1, 5, false)
	require.Equal(t, 5, keptNow, "a token hides nothing of another")
	keptNow, _ = count(window{of.token, true}, 1, 5, false)
	require.Equal(t, 5, keptNow, "what succeeds hides no refusal")
	keptNow, _ = count(other, 3, 250, true)
	require.Equal(t, 2, keptNow, "above the quota")
	require.Len(t, l.tokens, 3)
	l.forgetIdle(2 + idleAfter)
	require.Len(t, l.tokens, 2, "idle tokens take no memory")
	all := 0
	for range 1000 {
		keptNow, _ = count(window{uuid.New(), false}, 4, 1, false)
		all += keptNow
	}
	require.Equal(t, 100, all, "all tokens together")
}

// All refusals that were paid for are kept whole, but the queue has bounds, for all companies and for each.
func TestQueueIsBounded(t *testing.T) {
	t.Parallel()
	l := NewLog(LogConfig{Log: slog.New(slog.DiscardHandler)})
	before := countDropped(t)
	one := principal()
	body := `"` + strings.Repeat("x", 30<<10) + `"`
	for range 100 {
		l.Record(one, 409, true, served(409, body))
	}
	require.Less(t, len(l.queue), 100)
	require.Greater(t, len(l.queue), 20)
	require.LessOrEqual(t, l.bytes, maxShare)
	mine := len(l.queue)
	l.Record(principal(), 409, true, served(409, body))
	require.Len(t, l.queue, mine+1, "another company has its own share")
	for range 20 {
		p := principal()
		for range 100 {
			l.Record(p, 409, true, served(409, body))
		}
	}
	require.LessOrEqual(t, l.bytes, maxQueue)
	require.Greater(t, l.bytes, maxQueue*9/10)
	require.GreaterOrEqual(t, countDropped(t)-before, float64(100-mine))
	l.written(len(l.queue), false)
	require.Zero(t, l.bytes)
	require.Empty(t, l.share)
}

// A company above its quota still leaves a trace of what it does, without bodies.
func TestAboveTheQuota(t *testing.T) {
	t.Parallel()
	l := NewLog(LogConfig{Quota: fullQuota(t), Log: slog.New(slog.DiscardHandler)})
	p := principal()
	l.cfg.Quota.Add(p.Company, 1000, time.Now())
	for range 250 {
		l.Record(p, 409, true, served(409, `{"name":"x"}`))
	}
	require.Len(t, l.queue, 2)
	require.Nil(t, l.queue[1].body)
	require.Nil(t, l.queue[1].refusal)
	require.Equal(t, int64(oneIn), l.queue[1].Represents)
}

func fullQuota(t *testing.T) *quota.Meter {
	t.Helper()
	return quota.New(quota.Config{Kind: QuotaKind, Limit: 1000})
}

func countDropped(t *testing.T) float64 {
	t.Helper()
	var m dto.Metric
	require.NoError(t, dropped.WithLabelValues(droppedQueue).Write(&m))
	return m.GetCounter().GetValue()
}
