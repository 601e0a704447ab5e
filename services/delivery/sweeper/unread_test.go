package sweeper

import (
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/delivery/delay"
	"github.com/tradegrid/tradegrid/services/delivery/dispatchtest"
	"github.com/tradegrid/tradegrid/services/delivery/egress"
	"github.com/tradegrid/tradegrid/services/delivery/sender"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/topics"
)

// outage is a time in which nobody reads the deliveries, as the sweeper sees it.
type outage struct {
	*dispatchtest.Kit
	adm     *kadm.Client
	sweeper *Sweeper
	sub     uuid.UUID
	hook    *dispatchtest.Receiver
	now     time.Time
}

func newOutage(t *testing.T) *outage {
	t.Helper()
	o := &outage{Kit: dispatchtest.New(t, dbtest.OpenNew(t)), now: time.Now()}
	o.adm = kadm.NewClient(o.Client)
	o.hook = dispatchtest.NewReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	o.sub, _ = o.Subscribe(o.hook.URL)
	o.restart()
	return o
}

func (o *outage) restart() {
	o.sweeper = newSweeper(o.Kit, "a", nil)
	o.sweeper.now = func() time.Time { return o.now }
}

// deliveries makes open deliveries whose bodies the sweeper can read.
func (o *outage) deliveries(n int) []*webhook.Message {
	o.T.Helper()
	messages := o.Messages(o.sub, n)
	o.Exec(`UPDATE deliveries SET payload = $2 WHERE company_id = $1`, o.Company, []byte(`{"event":"order.created"}`))
	return messages
}

// records counts what was ever written to the topic.
func (o *outage) records(topic string) (n int) {
	o.T.Helper()
	ends, err := o.adm.ListEndOffsets(o.T.Context(), topic)
	require.NoError(o.T, err)
	ends.Each(func(l kadm.ListedOffset) { n += int(l.Offset) })
	return n
}

// passes lets an hour and a half go by, and returns how many deliveries the sweeper injected meanwhile.
func (o *outage) passes() (injected int) {
	o.T.Helper()
	before := o.records(topics.Deliveries)
	for range 6 {
		o.now = o.now.Add(15 * time.Minute)
		_, err := o.sweeper.pass(o.T.Context())
		require.NoError(o.T, err)
	}
	return o.records(topics.Deliveries) - before
}

// read commits as a group that has read the topic, up to so many records before the end.
func (o *outage) read(group, topic string, but int64) {
	o.T.Helper()
	ends, err := o.adm.ListEndOffsets(o.T.Context(), topic)
	require.NoError(o.T, err)
	commits := kadm.Offsets{}
	ends.Each(func(l kadm.ListedOffset) { commits.AddOffset(l.Topic, l.Partition, max(l.Offset-but, 0), -1) })
	require.NoError(o.T, o.adm.CommitAllOffsets(o.T.Context(), group, commits))
}

// back runs senders and delay topics until everything is delivered.
func (o *outage) back() {
	o.T.Helper()
	s := sender.New(sender.Config{Client: o.Kafka, Retry: sender.RetryConfig{MaxAttempts: dispatchtest.Policy().MaxAttempts}, Egress: egress.Config{Settings: egress.Settings{AllowInsecure: true}, AllowPrivate: true}}, o.DB, o.Client, sender.NewReceiverCache(o.DB, time.Second, o.Keys, slog.New(slog.DiscardHandler)))
	o.Run(s.Run)
	d, err := delay.New(delay.Config{Kafka: o.Kafka})
	require.NoError(o.T, err)
	o.Run(d.Run)
	o.Eventually(func() bool { return o.Deliveries("state <> 2") == 0 }, "everything is delivered")
}

// While nobody reads, time alone does not multiply the records of open deliveries, in whatever topic they wait.
func TestAnOutageDoesNotMultiplyRecords(t *testing.T) {
	t.Parallel()
	o := newOutage(t)
	messages := o.deliveries(60)
	retried, direct := messages[:20], messages[20:]
	tier := topics.DelayTiers()[0]
	for _, m := range retried { // as after a failed attempt
		m.Attempt, m.NotBefore = 2, o.now.Add(tier.Delay)
		o.Produce(m.Record(tier.Topic))
		o.Exec(`UPDATE deliveries SET attempt = 1, next_attempt_at = $3, updated_at = $4, waiting_for = 'retry' WHERE company_id = $1 AND id = $2`, o.Company, m.DeliveryID, m.NotBefore, o.now)
	}
	o.Send(direct...)
	require.Zero(t, o.passes())

	// Senders have read all that they had, so only the delay topic holds records of open deliveries.
	o.read(topics.Senders, topics.Deliveries, 0)
	require.Equal(t, len(direct), o.passes(), "what was read and is still open was lost: injected once, and unread since")
	o.read(topics.Senders, topics.Deliveries, 0)
	o.read(topics.Delays, tier.Topic, 1)
	require.Equal(t, len(direct), o.passes(), "the line has not been read up to its last record")

	o.read(topics.Delays, tier.Topic, 0)
	o.read(topics.Senders, topics.Deliveries, 0)
	require.Equal(t, len(messages), o.passes(), "no topic holds records any more")
	require.Zero(t, o.passes())
	o.back()
	require.Len(t, o.hook.Requests(), len(messages), "repeats were recognised")
}

// A delivery that never had a record, or lost it, is injected once while nobody reads, and so again whenever Kafka is emptied.
func TestLostRecordsAreInjectedOnce(t *testing.T) {
	t.Parallel()
	o := newOutage(t)
	const open = 50
	o.deliveries(open)
	require.Equal(t, open, o.passes(), "there is nothing unread")

	ends, err := o.adm.ListEndOffsets(t.Context(), topics.Deliveries)
	require.NoError(t, err)
	_, err = o.adm.DeleteRecords(t.Context(), ends.Offsets())
	require.NoError(t, err)
	require.Equal(t, open, o.passes(), "the topic was emptied")

	o.read(topics.Senders, topics.Deliveries, 0)
	commits, err := o.adm.FetchOffsets(t.Context(), topics.Senders)
	require.NoError(t, err)
	_, err = o.adm.DeleteTopics(t.Context(), topics.Deliveries)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		_, err := kafka.Apply(t.Context(), o.adm, topics.Local(), 1)
		return err == nil
	}, time.Minute, 10*time.Millisecond)
	beyond := kadm.Offsets{}
	commits.Each(func(c kadm.OffsetResponse) { beyond.AddOffset(c.Topic, c.Partition, c.At+1000, -1) })
	require.NoError(t, o.adm.CommitAllOffsets(t.Context(), topics.Senders, beyond))
	o.restart() // its client would take a while to find the topic of this name
	require.Equal(t, open, o.passes(), "the topic was made anew, and the commits are those of the one before")
	o.back()
}
