package dispatch

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDecide(t *testing.T) {
	t.Parallel()
	c := RetryConfig{Jitter: -1}
	c.setDefaults()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		in   situation
		want decision
	}{
		"200":                     {situation{finding: answered, attempt: 1, status: 200}, decision{verdict: success}},
		"299 on the last":         {situation{finding: answered, attempt: 7, status: 299}, decision{verdict: success}},
		"199 is not a success":    {situation{finding: answered, attempt: 1, status: 199}, decision{verdict: retry, wait: 5 * time.Second}},
		"302":                     {situation{finding: answered, attempt: 1, status: 302}, decision{verdict: retry, wait: 5 * time.Second}},
		"410 is retried":          {situation{finding: answered, attempt: 2, status: 410}, decision{verdict: retry, wait: 20 * time.Second}},
		"no answer":               {situation{finding: unanswered, attempt: 6}, decision{verdict: retry, wait: 5120 * time.Second}},
		"seventh":                 {situation{finding: unanswered, attempt: 7}, decision{verdict: dead}},
		"seventh answer":          {situation{finding: answered, attempt: 7, status: 500}, decision{verdict: dead}},
		"Retry-After longer":      {situation{finding: answered, attempt: 1, status: 429, retryAfter: "120"}, decision{verdict: retry, wait: 2 * time.Minute}},
		"Retry-After shorter":     {situation{finding: answered, attempt: 3, status: 503, retryAfter: "1"}, decision{verdict: retry, wait: 80 * time.Second}},
		"Retry-After capped":      {situation{finding: answered, attempt: 1, status: 503, retryAfter: "999999999999"}, decision{verdict: retry, wait: 20480 * time.Second}},
		"Retry-After on 500":      {situation{finding: answered, attempt: 1, status: 500, retryAfter: "120"}, decision{verdict: retry, wait: 5 * time.Second}},
		"Retry-After as a date":   {situation{finding: answered, attempt: 1, status: 503, retryAfter: now.Add(time.Hour).Format(http.TimeFormat)}, decision{verdict: retry, wait: time.Hour}},
		"Retry-After in the past": {situation{finding: answered, attempt: 1, status: 503, retryAfter: now.Add(-time.Hour).Format(http.TimeFormat)}, decision{verdict: retry, wait: 5 * time.Second}},
		"Retry-After negative":    {situation{finding: answered, attempt: 1, status: 503, retryAfter: "-5"}, decision{verdict: retry, wait: 5 * time.Second}},
		"rest":                    {situation{finding: breakerOpen, attempt: 7, restEnds: now.Add(time.Minute)}, decision{verdict: park, wait: time.Minute}},
		"rest nearly over":        {situation{finding: breakerOpen, attempt: 1, restEnds: now.Add(time.Second)}, decision{verdict: park, wait: 5 * time.Second}},
		"probe under way":         {situation{finding: breakerOpen, attempt: 1}, decision{verdict: park, wait: 5 * time.Second}},
		"lane full":               {situation{finding: laneFull, attempt: 1, parks: 3}, decision{verdict: park, wait: 5 * time.Second}},
		"waited, too often":       {situation{finding: laneWaited, attempt: 1, parks: 4}, decision{verdict: parkInStore, wait: 5 * time.Second}},
		"paused":                  {situation{finding: paused, attempt: 3}, decision{verdict: parkInStore}},
		"expired":                 {situation{finding: expired, attempt: 3}, decision{verdict: dead, reason: "ttl expired"}},
		"deleted":                 {situation{finding: deleted, attempt: 1}, decision{verdict: dead, reason: "subscription deleted"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.in.now = now
			require.Equal(t, test.want, c.decide(test.in))
		})
	}
}

func TestDelaysFollowTheSpecification(t *testing.T) {
	t.Parallel()
	var c RetryConfig
	c.setDefaults()
	require.Equal(t, 7, c.MaxAttempts)
	want, total := 5*time.Second, time.Duration(0)
	for attempt := 1; attempt < 7; attempt++ {
		for range 200 {
			wait := c.delay(situation{attempt: attempt})
			require.GreaterOrEqual(t, wait, want)
			require.LessOrEqual(t, wait, want+want/10)
			require.Equal(t, c.Lines[attempt-1].Topic, c.line(wait))
		}
		total += want
		want *= 4
	}
	require.Equal(t, 6825*time.Second, total)
	require.Equal(t, "webhook.delay.5s", c.line(0))
	require.Equal(t, "webhook.delay.20480s", c.line(100*time.Hour))
}
