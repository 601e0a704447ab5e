package sender

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDecide(t *testing.T) {
	t.Parallel()
	c := RetryConfig{MaxAttempts: 7, Jitter: -1}
	c.setDefaults()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		in   retryInput
		want decision
	}{
		"200":                     {retryInput{cause: answered, attempt: 1, status: 200}, decision{outcome: success}},
		"299 on the last":         {retryInput{cause: answered, attempt: 7, status: 299}, decision{outcome: success}},
		"199 is not a success":    {retryInput{cause: answered, attempt: 1, status: 199}, decision{outcome: retry, wait: 5 * time.Second}},
		"302":                     {retryInput{cause: answered, attempt: 1, status: 302}, decision{outcome: retry, wait: 5 * time.Second}},
		"410 is retried":          {retryInput{cause: answered, attempt: 2, status: 410}, decision{outcome: retry, wait: 20 * time.Second}},
		"no answer":               {retryInput{cause: unanswered, attempt: 6}, decision{outcome: retry, wait: 5120 * time.Second}},
		"seventh":                 {retryInput{cause: unanswered, attempt: 7}, decision{outcome: deadLetter}},
		"seventh answer":          {retryInput{cause: answered, attempt: 7, status: 500}, decision{outcome: deadLetter}},
		"Retry-After longer":      {retryInput{cause: answered, attempt: 1, status: 429, retryAfter: "120"}, decision{outcome: retry, wait: 2 * time.Minute, asked: true}},
		"Retry-After shorter":     {retryInput{cause: answered, attempt: 3, status: 503, retryAfter: "1"}, decision{outcome: retry, wait: 80 * time.Second}},
		"Retry-After capped":      {retryInput{cause: answered, attempt: 1, status: 503, retryAfter: "999999999999"}, decision{outcome: retry, wait: 20480 * time.Second, asked: true}},
		"Retry-After on 500":      {retryInput{cause: answered, attempt: 1, status: 500, retryAfter: "120"}, decision{outcome: retry, wait: 5 * time.Second}},
		"Retry-After as a date":   {retryInput{cause: answered, attempt: 1, status: 503, retryAfter: now.Add(time.Hour).Format(http.TimeFormat)}, decision{outcome: retry, wait: time.Hour, asked: true}},
		"Retry-After in the past": {retryInput{cause: answered, attempt: 1, status: 503, retryAfter: now.Add(-time.Hour).Format(http.TimeFormat)}, decision{outcome: retry, wait: 5 * time.Second}},
		"Retry-After negative":    {retryInput{cause: answered, attempt: 1, status: 503, retryAfter: "-5"}, decision{outcome: retry, wait: 5 * time.Second}},
		"cooldown":                {retryInput{cause: breakerOpen, attempt: 7, cooldownEnds: now.Add(time.Minute)}, decision{outcome: postpone, wait: time.Minute}},
		"cooldown nearly over":    {retryInput{cause: breakerOpen, attempt: 1, cooldownEnds: now.Add(time.Second)}, decision{outcome: postpone, wait: 5 * time.Second}},
		"probe under way":         {retryInput{cause: breakerOpen, attempt: 1}, decision{outcome: postpone, wait: 5 * time.Second}},
		"queue full":              {retryInput{cause: queueFull, attempt: 1, postponements: 3}, decision{outcome: postpone, wait: 5 * time.Second}},
		"waited, too often":       {retryInput{cause: waitedInQueue, attempt: 1, postponements: 4}, decision{outcome: holdInDatabase, wait: 5 * time.Second}},
		"paused":                  {retryInput{cause: paused, attempt: 3}, decision{outcome: holdInDatabase}},
		"expired":                 {retryInput{cause: expired, attempt: 3}, decision{outcome: deadLetter, reason: "ttl expired"}},
		"deleted":                 {retryInput{cause: deleted, attempt: 1}, decision{outcome: deadLetter, reason: "subscription deleted"}},
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
	c := RetryConfig{MaxAttempts: 7}
	c.setDefaults()
	want, total := 5*time.Second, time.Duration(0)
	for attempt := 1; attempt < 7; attempt++ {
		for range 200 {
			wait, _ := c.delay(retryInput{attempt: attempt})
			require.GreaterOrEqual(t, wait, want)
			require.LessOrEqual(t, wait, want+want/10)
			require.Equal(t, c.Tiers[attempt-1].Topic, c.delayTopic(wait))
		}
		total += want
		want *= 4
	}
	require.Equal(t, 6825*time.Second, total)
	require.Equal(t, "webhook.delay.5s", c.delayTopic(0))
	require.Equal(t, "webhook.delay.20480s", c.delayTopic(100*time.Hour))
}
