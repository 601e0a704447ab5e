package outbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/kit/embedded"
	"github.com/tradegrid/tradegrid/pkg/kit/failpoint"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/topics"
)

func TestRelayPublishesWithAllHeaders(t *testing.T) {
	t.Parallel()
	g := setup(t)
	c, record := company(), uuid.New()
	m := message(record, 3, nowMicro())
	g.append(c, m)
	stop := g.run(g.relay("a", func(r *Relay) {
		r.cfg.Stamp = Stamp{Header: "length", SQL: `CAST(length(CAST(x.company_id AS TEXT)) AS INT8)`}
		r.scans = scanStatements(r.cfg.Stamp)
	}))
	g.drained()
	stop()
	got := g.records(topics.Events)
	require.Len(t, got, 1)
	rec := got[0].rec
	require.Equal(t, strconv.Itoa(len(c.String())), header(rec, "length"), "the stamp")
	require.Equal(t, c.String(), string(rec.Key))
	require.Equal(t, m.Payload, rec.Value)
	require.Equal(t, m.ID.String(), header(rec, "ce_id"))
	require.Equal(t, "order.updated", header(rec, "ce_type"))
	require.Equal(t, "tradegrid", header(rec, "ce_source"))
	require.Equal(t, c.String(), header(rec, "companyid"))
	require.Equal(t, "order", header(rec, "agg_type"))
	require.Equal(t, record.String(), header(rec, "agg_id"))
	require.Equal(t, "3", header(rec, "version"))
	require.Equal(t, "1", header(rec, "schema"))
	entry, err := LogEvent(t.Context(), g.db, c, m.ID)
	require.NoError(t, err)
	require.Equal(t, m.Payload, entry.Body)
	require.Equal(t, int64(1), entry.Seq)
	require.True(t, entry.OccurredAt.Equal(m.CreatedAt))
}

func TestRelayFindsWhatIsCommittedLate(t *testing.T) {
	t.Parallel()
	g := setup(t)
	c, slow, fast := company(), uuid.New(), uuid.New()
	g.run(g.relay("a"))
	// A transaction takes its position first and commits last.
	open, commit := make(chan struct{}), make(chan struct{})
	finish := sync.OnceFunc(func() { close(commit) })
	t.Cleanup(finish)
	done := make(chan error, 1)
	late := message(slow, 1, nowMicro())
	go func() {
		done <- g.db.RunTx(t.Context(), "test.late", func(ctx context.Context, tx *db.Tx) error {
			if err := errors.Join(Append(ctx, tx, c, late), tx.Flush(ctx)); err != nil {
				return err
			}
			close(open)
			<-commit
			return nil
		})
	}()
	<-open
	messages, want := history(fast, 1, 50)
	for _, m := range messages {
		g.append(c, m)
	}
	g.drained()
	require.Equal(t, int64(50), g.ends(topics.Events))
	finish()
	require.NoError(t, <-done)
	g.drained()
	all := g.records(topics.Events)
	first, _ := versions(all, fast)
	require.Equal(t, want, first)
	first, _ = versions(all, slow)
	require.Equal(t, []string{"1"}, first)
	require.Len(t, g.logged(c), 51)
}

func TestRelayFindsWhatIsBehindItsLookback(t *testing.T) {
	t.Parallel()
	g := setup(t)
	c, record := company(), uuid.New()
	g.run(g.relay("a"))
	g.append(c, message(record, 1, nowMicro()))
	g.drained()
	g.append(c, message(record, 2, nowMicro()-time.Hour.Microseconds()))
	g.drained()
	require.Equal(t, []string{"1", "2"}, g.logged(c))
}

// A relay that freezes before or after sending, until its leases have expired, repeats what its successor
// has published, but causes no other harm.
func TestFrozenRelayOnlyRepeats(t *testing.T) {
	t.Parallel()
	for _, place := range []failpoint.Point{beforeProduce, afterAck, beforeSettle} {
		t.Run(string(place), func(t *testing.T) {
			t.Parallel()
			g := setup(t)
			c, record := company(), uuid.New()
			before, _ := history(record, 1, 20)
			g.append(c, before...)
			var frozen atomic.Bool
			froze, thaw := make(chan struct{}), make(chan struct{})
			freeze := func(context.Context) error {
				if frozen.CompareAndSwap(false, true) {
					close(froze)
					<-thaw
				}
				return nil
			}
			zombie := g.relay("zombie", func(r *Relay) {
				r.cfg.inject = failpoint.On(points{beforeRenew: unless(&frozen), place: freeze})
			})
			stop := g.run(zombie)
			<-froze
			g.run(g.relay("successor"))
			_, want := history(record, 1, 40)
			after, _ := history(record, 21, 40)
			g.append(c, after...)
			g.drained()
			close(thaw)
			stop()
			first, repeated := versions(g.records(topics.Events), record)
			require.Equal(t, want, first)
			require.GreaterOrEqual(t, repeated, 20)
			if place != beforeSettle { // while it is frozen there, it publishes on, as long as its lease holds
				require.Equal(t, 20, repeated)
			}
			require.LessOrEqual(t, repeated, 40, "each row once")
			require.Equal(t, want, g.logged(c))
		})
	}
}

func TestRelayThatFailsBetweenAckAndDeleteRepeats(t *testing.T) {
	t.Parallel()
	g := setup(t)
	c, record := company(), uuid.New()
	messages, want := history(record, 1, 10)
	g.append(c, messages...)
	var failures atomic.Int32
	g.run(g.relay("a", func(r *Relay) {
		r.cfg.inject = failpoint.On(points{afterAck: func(context.Context) error {
			if failures.Add(1) <= 2 {
				return errors.New("the database is gone")
			}
			return nil
		}})
	}))
	g.drained()
	first, repeated := versions(g.records(topics.Events), record)
	require.Equal(t, want, first)
	require.Equal(t, 20, repeated)
	require.Equal(t, want, g.logged(c))
}

func TestRowsStayWhileKafkaIsDown(t *testing.T) {
	t.Parallel()
	g := setup(t)
	dir := t.TempDir()
	broker, err := embedded.StartKafka(embedded.KafkaConfig{Dir: dir})
	require.NoError(t, err)
	g.brokers = broker.Brokers()
	_, err = kafka.Apply(t.Context(), kadm.NewClient(g.client()), topics.Local(), 1)
	require.NoError(t, err)
	_, portText, err := net.SplitHostPort(g.brokers[0])
	require.NoError(t, err)
	port, err := strconv.Atoi(portText)
	require.NoError(t, err)

	c, record := company(), uuid.New()
	r := g.relay("a")
	g.run(r)
	g.append(c, message(record, 1, nowMicro()))
	g.drained()
	broker.Close()
	messages, want := history(record, 2, 200)
	g.append(c, messages...)
	require.Eventually(t, func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.parts[Bucket(c)].failures > 0
	}, eventually, 10*time.Millisecond)
	require.Equal(t, 199, g.count("outbox"))
	broker, err = embedded.StartKafka(embedded.KafkaConfig{Dir: dir, Port: port})
	require.NoError(t, err)
	t.Cleanup(broker.Close)
	g.drained()
	first, _ := versions(g.records(topics.Events), record)
	require.Equal(t, append([]string{"1"}, want...), first)
	require.Equal(t, first, g.logged(c))
}

// large is a payload of 8 kB that compresses to half of that.
func large() (payload []byte) {
	for len(payload) < 8000 {
		payload = fmt.Appendf(payload, "%x", uuid.New())
	}
	return payload
}

// refuseLarge makes a topic reject the payloads of large, and waits until the leaders of all its partitions know.
func (g *testKit) refuseLarge(topic string) {
	g.t.Helper()
	client := g.client(kgo.RecordPartitioner(kgo.ManualPartitioner()))
	admin, most := kadm.NewClient(client), "2000"
	_, err := admin.AlterTopicConfigs(g.t.Context(), []kadm.AlterConfig{{Op: kadm.SetConfig, Name: "max.message.bytes", Value: &most}}, topic)
	require.NoError(g.t, err)
	found, err := admin.ListTopics(g.t.Context(), topic)
	require.NoError(g.t, err)
	for partition := range found[topic].Partitions {
		require.Eventually(g.t, func() bool {
			err := client.ProduceSync(g.t.Context(), &kgo.Record{Topic: topic, Partition: partition, Value: large()}).FirstErr()
			return errors.Is(err, kerr.MessageTooLarge)
		}, eventually, 50*time.Millisecond)
	}
}

func TestPoisonMovesAsideAndTheRestGoesOn(t *testing.T) {
	t.Parallel()
	g := setup(t)
	g.refuseLarge(topics.Deliveries)
	c, record := company(), uuid.New()
	messages, _ := history(record, 1, 6)
	messages[1].Payload = make([]byte, 2<<20) // more than the client sends
	messages[2].Topic = "no such/topic name"  // not a legal name
	messages[3].Topic = topics.Deliveries     // refused by the broker
	messages[3].Payload = large()
	messages[4].Topic = topics.Deliveries
	g.append(c, messages...)
	g.run(g.relay("a"))
	g.drained()
	first, _ := versions(g.records(topics.Events), record)
	require.Equal(t, []string{"1", "6"}, first)
	first, _ = versions(g.records(topics.Deliveries), record)
	require.Equal(t, []string{"5"}, first)
	rows, err := g.db.Query(t.Context(), "SELECT agg_version, error FROM outbox_dead ORDER BY pos")
	require.NoError(t, err)
	var dead []int64
	for rows.Next() {
		var v int64
		var reason string
		require.NoError(t, rows.Scan(&v, &reason))
		require.NotEmpty(t, reason)
		dead = append(dead, v)
	}
	require.NoError(t, rows.Err())
	require.Equal(t, []int64{2, 3, 4}, dead)
}

func TestOtherTopicsAreNotLoggedAndEmptyIsATombstone(t *testing.T) {
	t.Parallel()
	g := setup(t)
	c := company()
	m := message(uuid.New(), 1, nowMicro())
	m.Topic, m.Key, m.Payload = topics.Subscriptions, c.String()+"/1", nil
	g.append(c, m)
	g.run(g.relay("a"))
	g.drained()
	got := g.records(topics.Subscriptions)
	require.Len(t, got, 1)
	require.Nil(t, got[0].rec.Value)
	require.Equal(t, c.String()+"/1", string(got[0].rec.Key))
	require.Empty(t, g.logged(c))
}

func TestMissingTopicKeepsTheRows(t *testing.T) {
	t.Parallel()
	g := setup(t)
	c := company()
	m := message(uuid.New(), 1, nowMicro())
	m.Topic = "not.made.yet"
	g.append(c, m)
	r := g.relay("a")
	g.run(r)
	require.Eventually(t, func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.parts[Bucket(c)].failures > 0
	}, eventually, 10*time.Millisecond)
	require.Equal(t, 1, g.count("outbox"))
	_, err := kadm.NewClient(g.client()).CreateTopic(t.Context(), 1, 1, nil, m.Topic)
	require.NoError(t, err)
	g.drained()
	require.Zero(t, g.count("outbox_dead"))
}
