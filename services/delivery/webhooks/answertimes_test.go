package webhooks_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
)

// The times of answers are those of deliveries that were taken, of one receiver, and the newest alone.
func TestAnswerTimes(t *testing.T) {
	t.Parallel()
	r := setup(t)
	service, by := r.service()
	sub, other := uuid.MustParse(r.subscribe()), uuid.New()
	read := func() webhooks.AnswerTimes {
		t.Helper()
		got, err := service.AnswerTimes(t.Context(), by, sub)
		require.NoError(t, err)
		return got
	}
	require.Zero(t, read())
	insert := func(sub uuid.UUID, state, from, to int) {
		t.Helper()
		_, err := r.db.Exec(t.Context(), `INSERT INTO deliveries (company_id, subscription_id, id, event_id, event, state, attempt, expires_at, is_test, created_at, updated_at, duration_ms)
SELECT $1, $2, ('01a20000-0000-7000-8000-' || lpad(($3::INT2 * 100000 + ms)::TEXT, 12, '0'))::UUID, gen_random_uuid(), 'order.created', $3, 1, $6, false, $6, $6, ms FROM generate_series($4::INT, $5::INT) AS ms`,
			r.company(), sub, state, from, to, time.Now())
		require.NoError(t, err)
	}
	insert(sub, 2, 1, 200)
	insert(other, 2, 5000, 5100)
	require.Equal(t, webhooks.AnswerTimes{Of: 200, Median: 100 * time.Millisecond, Slowest: 198 * time.Millisecond}, read())
	insert(sub, 3, 9000, 9009) // failed
	require.Equal(t, 200, read().Of)
	insert(sub, 3, 10_000, 10_989)
	require.Zero(t, read(), "none of the last 1 000 was taken")
}
