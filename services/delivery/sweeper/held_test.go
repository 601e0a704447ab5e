package sweeper

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/delivery/dispatchtest"
)

// Deliveries to an ordered subscription come free in any order. One that is older than those of the last pass has not been held
// again, so its receiver does not count as one that takes little.
func TestSweeperSendsWhatWasHeldAtOnce(t *testing.T) {
	t.Parallel()
	const n = 10
	k := dispatchtest.New(t, dbtest.OpenNew(t))
	sub := k.Subscription()
	held := func(record uuid.UUID, version int, r row) uuid.UUID {
		r.sub = sub
		id := insert(k, r)
		k.Exec(`UPDATE deliveries SET entity_id = $3, entity_version = $4, waiting_for = CASE WHEN next_attempt_at IS NULL THEN 'record' END
WHERE company_id = $1 AND id = $2`, k.Company, id, record, version)
		return id
	}
	var first, before []uuid.UUID
	for range n {
		record := uuid.New()
		before = append(before, held(record, 2, row{held: true, updated: time.Hour}))
		first = append(first, held(record, 1, row{due: -time.Hour})) // in Kafka
	}
	for range n {
		first = append(first, held(uuid.New(), 1, row{held: true, updated: time.Minute}))
	}
	s := newSweeper(k, "a", func(c *Config) { c.probe = 2 })
	pass := func() (held int) {
		t.Helper()
		_, err := s.pass(t.Context())
		require.NoError(t, err)
		return k.Deliveries("state = 0 AND next_attempt_at IS NULL")
	}
	require.Equal(t, n, pass())
	k.Exec(`UPDATE deliveries SET state = 2, next_attempt_at = NULL, completed_at = now() WHERE company_id = $1 AND id = ANY($2)`, k.Company, first)
	require.Zero(t, pass())
	require.Equal(t, len(before), k.Deliveries("state = 0"))
}

// quickSender holds a delivery again before the sweeper has noted that it sent it.
type quickSender struct{ *dispatchtest.Kit }

// ProduceSync implements producer.
func (s quickSender) ProduceSync(context.Context, ...*kgo.Record) kgo.ProduceResults {
	s.Exec(`UPDATE deliveries SET waiting_for = 'queue', updated_at = $2 WHERE company_id = $1`, s.Company, time.Now().UTC())
	return nil
}

func TestSweeperDoesNotOverwriteWhatASenderHolds(t *testing.T) {
	t.Parallel()
	k := dispatchtest.New(t, dbtest.OpenNew(t))
	id := insert(k, row{sub: k.Subscription(), held: true, updated: time.Minute})
	s := newSweeper(k, "a", nil)
	s.out = quickSender{k}
	_, err := s.pass(t.Context())
	require.NoError(t, err)
	require.Nil(t, k.Row(id).Next, "it would be looked for when it is overdue in Kafka, where it is not")
}
