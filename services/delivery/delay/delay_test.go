package delay

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/services/delivery/dispatchtest"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/topics"
)

// runDelayTiers starts a dispatcher's delay tiers; they need no database.
func runDelayTiers(k *dispatchtest.Kit, tiers []topics.DelayTier, window int) (stop func()) {
	k.T.Helper()
	d, err := New(Config{Kafka: k.Kafka, Tiers: tiers, window: window, retry: 20 * time.Millisecond})
	require.NoError(k.T, err)
	return k.Run(d.Run)
}

func delayed(sub uuid.UUID, n int, notBefore time.Time) *webhook.Message {
	return &webhook.Message{
		Company: [16]byte{1}, DeliveryID: uuid.New(), SubscriptionID: sub, Event: "order.created", EventID: uuid.New(), Attempt: 2,
		NotBefore: notBefore, ExpiresAt: time.Now().Add(time.Hour), Postponements: 1, Body: fmt.Appendf(nil, `{"n":%d}`, n),
	}
}

// Jitter disturbs the order of due times within a line; each record leaves when it is due, whatever its place.
func TestDelayTopicHandsOnWhenDue(t *testing.T) {
	t.Parallel()
	const total = 200
	k := dispatchtest.New(t, nil)
	tier := topics.DelayTier{Topic: topics.DelayTiers()[0].Topic, Delay: time.Second}
	arrived := k.Collect(topics.Deliveries)
	runDelayTiers(k, []topics.DelayTier{tier}, 0)
	sub := uuid.New()
	k.Produce(delayed(sub, -1, time.Now()).Record(tier.Topic))
	k.Await(arrived, 1) // the line has its partitions
	begin := time.Now()
	records := make([]*kgo.Record, total)
	for i := range records {
		records[i] = delayed(sub, i, begin.Add(500*time.Millisecond+rand.N(time.Second))).Record(tier.Topic)
	}
	k.Produce(records...)
	inOrder, before := 0, time.Time{}
	for _, r := range k.Await(arrived, 1+total)[1:] {
		m := k.Decode(r)
		require.False(t, r.Timestamp.Before(m.NotBefore), "handed on %v early", m.NotBefore.Sub(r.Timestamp))
		if !m.NotBefore.Before(before) {
			inOrder++
		}
		before = m.NotBefore
		require.Equal(t, 2, m.Attempt)
		require.Equal(t, sub.String(), string(r.Key))
	}
	require.Greater(t, inOrder, total*3/4, "half would be by chance, if all left in the order of their arrival")
}

func TestDelayTopicWithoutTimeWaitsForItsDelay(t *testing.T) {
	t.Parallel()
	k := dispatchtest.New(t, nil)
	tier := topics.DelayTier{Topic: topics.DelayTiers()[1].Topic, Delay: 400 * time.Millisecond}
	arrived := k.Collect(topics.Deliveries)
	runDelayTiers(k, []topics.DelayTier{tier}, 0)
	begin := time.Now()
	k.Produce(delayed(uuid.New(), 0, time.Time{}).Record(tier.Topic))
	r := k.Await(arrived, 1)[0]
	require.GreaterOrEqual(t, r.Timestamp.Sub(begin.Truncate(time.Millisecond)), tier.Delay)
}

// A record far in the future must not hold back others of its partition, and the window bounds the memory.
func TestDelayTopicWithFullWindowKeepsMoving(t *testing.T) {
	t.Parallel()
	const total = 400
	k := dispatchtest.New(t, nil)
	tier := topics.DelayTiers()[0]
	arrived := k.Collect(topics.Deliveries)
	runDelayTiers(k, []topics.DelayTier{tier}, 50)
	sub, begin := uuid.New(), time.Now()
	records := make([]*kgo.Record, total)
	for i := range records {
		records[i] = delayed(sub, i, begin.Add(200*time.Millisecond)).Record(tier.Topic)
	}
	k.Produce(records...)
	k.Await(arrived, total)
	require.Len(t, arrived(), total)
}

func TestDelayTopicSurvivesItsOwner(t *testing.T) {
	t.Parallel()
	const total = 300
	k := dispatchtest.New(t, nil)
	tiers := topics.DelayTiers()[:2]
	arrived := k.Collect(topics.Deliveries)
	stop := runDelayTiers(k, tiers, 0)
	begin := time.Now()
	records := make([]*kgo.Record, total)
	for i := range records {
		records[i] = delayed(uuid.New(), i, begin.Add(rand.N(2*time.Second))).Record(tiers[i%2].Topic)
	}
	k.Produce(records...)
	k.Await(arrived, total/4)
	stop()
	runDelayTiers(k, tiers, 0)
	require.Eventually(t, func() bool {
		got := map[uuid.UUID]bool{}
		for _, r := range arrived() {
			got[k.Decode(r).DeliveryID] = true
		}
		return len(got) == total
	}, time.Minute, 5*time.Millisecond)
	// What left out of turn, before an older record of its partition, leaves once more; the sender knows it by its attempt.
	require.Less(t, len(arrived()), 2*total)
}

func TestDelayTopicDeadLettersWhatHasNoTime(t *testing.T) {
	t.Parallel()
	k := dispatchtest.New(t, nil)
	tier := topics.DelayTiers()[0]
	arrived, dead := k.Collect(topics.Deliveries), k.Collect(topics.DeliveriesDead)
	runDelayTiers(k, []topics.DelayTier{tier}, 0)
	sub := uuid.New()
	broken := delayed(sub, 0, time.Now()).Record(tier.Topic)
	dispatchtest.SetHeader(broken, "not_before", "soon")
	k.Produce(broken, delayed(sub, 1, time.Now()).Record(tier.Topic))
	k.Await(arrived, 1)
	k.Await(dead, 1)
}

// What waits long in one partition, more than its window holds, holds back neither another partition nor another topic.
func TestFullWindowHoldsBackNoOther(t *testing.T) {
	t.Parallel()
	const window, each = 20, 15 // each < window: only the partition of the long waits is full
	k := dispatchtest.New(t, nil)
	tiers := topics.DelayTiers()[:2]
	arrived := k.Collect(topics.Deliveries)
	full := uuid.New()
	long := []*kgo.Record{delayed(full, 0, time.Now()).Record(tiers[0].Topic)}
	for i := range 10 * window {
		long = append(long, delayed(full, i, time.Now().Add(time.Hour)).Record(tiers[0].Topic))
	}
	k.Produce(long...)
	runDelayTiers(k, tiers, window)
	k.Await(arrived, 1) // the forwarder has its partitions

	due := time.Now().Add(time.Second)
	beyond := delayed(full, 0, time.Now())
	k.Produce(beyond.Record(tiers[0].Topic))
	var soon []*kgo.Record
	for i := range each {
		soon = append(soon, delayed(uuid.New(), i, due).Record(tiers[0].Topic), delayed(full, i, due).Record(tiers[1].Topic))
	}
	k.Produce(soon...)
	free := map[uuid.UUID]string{} // topic of each delivery that is not held back
	for _, r := range soon {
		if r.Topic != long[0].Topic || r.Partition != long[0].Partition {
			free[k.Decode(r).DeliveryID] = r.Topic
		}
	}
	require.Greater(t, len(free), each, "some are in other partitions of the topic")
	for _, r := range k.Await(arrived, 1+len(free))[1:] {
		m := k.Decode(r)
		require.NotEqual(t, beyond.DeliveryID, m.DeliveryID, "the window is not full")
		require.Contains(t, free, m.DeliveryID)
		require.False(t, r.Timestamp.Before(m.NotBefore))
	}
}

// A partition that was paused joins the next fetch, so an empty one must not last long compared with the delay.
func TestFetchesOfShortDelaysAreShort(t *testing.T) {
	t.Parallel()
	for line, wait := range map[time.Duration]time.Duration{
		time.Millisecond: 500 * time.Millisecond, 5 * time.Second: time.Second, 20 * time.Second: 4 * time.Second, time.Hour: 5 * time.Second,
	} {
		require.Equal(t, wait, fetchWait(line), "%s", line)
	}
}
