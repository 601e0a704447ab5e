package sender

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/delivery/dispatchtest"
	"github.com/tradegrid/tradegrid/services/delivery/store"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/topics"
)

// orderedMessages are deliveries of changes of one record to an ordered subscription, with their rows.
func orderedMessages(k *kit, sub uuid.UUID, n int) []*webhook.Message {
	k.T.Helper()
	k.Set(sub, "ordered = true")
	messages, record := k.Messages(sub, n), uuid.New()
	for i, m := range messages {
		m.Entity = record
		k.Exec(`UPDATE deliveries SET entity_id = $3, entity_version = $4, payload = $5 WHERE company_id = $1 AND id = $2`, k.Company, m.DeliveryID, record, i+1, m.Body)
	}
	return messages
}

// The sender itself sends what waited for a delivery that is over; no sweeper runs here.
func TestSenderPassesTheTurnOfARecord(t *testing.T) {
	t.Parallel()
	k := newKit(t, dbtest.OpenNew(t), nil)
	k.ForwardDelayed()
	var mu sync.Mutex
	failures := 2
	var order []string
	second, look := "", make(chan struct{})
	receiver := dispatchtest.NewReceiver(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(webhook.HeaderDeliveryID) == second {
			<-look
		}
		mu.Lock()
		defer mu.Unlock()
		if failures > 0 {
			failures--
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		order = append(order, r.Header.Get(webhook.HeaderDeliveryID))
	})
	sub, _ := k.Subscribe(receiver.URL)
	messages := orderedMessages(k, sub, 5)
	second = messages[1].DeliveryID.String()
	k.Send(messages...)
	k.Eventually(func() bool {
		return k.Row(messages[1].DeliveryID).Next != nil && k.InState(sub, webhook.StateSuccess) == 1
	}, "its row says that it is on its way, so the sweeper leaves it alone")
	close(look)
	k.Eventually(func() bool { return k.InState(sub, webhook.StateSuccess) == 5 }, "all arrive")
	mu.Lock()
	defer mu.Unlock()
	for i, m := range messages {
		require.Equal(t, m.DeliveryID.String(), order[i])
	}
	for _, m := range messages[1:] {
		require.EqualValues(t, 1, k.Row(m.DeliveryID).Attempt, "to wait uses no attempt")
	}
}

// A delivery that was skipped is not sent any more, also when its retry was on its way.
func TestSkippedDeliveryIsNotSent(t *testing.T) {
	t.Parallel()
	k := newKit(t, dbtest.OpenNew(t), nil)
	receiver := dispatchtest.NewReceiver(t, dispatchtest.Status(http.StatusBadGateway))
	sub, _ := k.Subscribe(receiver.URL)
	m := orderedMessages(k, sub, 1)[0]
	k.Send(m)
	k.Eventually(func() bool { return k.Row(m.DeliveryID).Attempt == 1 }, "the first attempt fails")
	require.NoError(t, k.DB.RunTx(t.Context(), "test.skip", func(_ context.Context, tx *db.Tx) error {
		store.Deliveries{}.Skip(tx, webhook.SubscriptionKey{Company: k.Company, ID: sub}, m.DeliveryID, tx.Now())
		return nil
	}))
	again := *m
	again.Attempt = 2
	after := k.Messages(sub, 1)[0]
	k.Send(&again, after)
	k.Eventually(func() bool { return k.Row(after.DeliveryID).Attempt == 1 }, "what comes behind it is sent")
	for _, r := range receiver.Requests()[1:] {
		require.NotEqual(t, m.DeliveryID.String(), r.ID)
	}
	require.Equal(t, webhook.StateFailed, k.Row(m.DeliveryID).State)
}

// heldKit is a kit with an ordered subscription whose receiver does not answer a delivery of a record until it is told to. All but
// the first are held.
type heldKit struct {
	*outageKit
	messages []*webhook.Message
	answer   func()
}

func newHeldKit(t *testing.T, n, unanswered int) *heldKit {
	t.Helper()
	k := &heldKit{outageKit: newOutageKit(t, func(*Config) {})}
	k.ForwardDelayed()
	id, wait := "", make(chan struct{})
	k.answer = sync.OnceFunc(func() { close(wait) })
	receiver := dispatchtest.NewReceiver(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get(webhook.HeaderDeliveryID) == id {
			<-wait
		}
	})
	t.Cleanup(k.answer) // before the receiver closes
	sub, _ := k.Subscribe(receiver.URL)
	k.messages = orderedMessages(k.kit, sub, n)
	id = k.messages[unanswered].DeliveryID.String()
	for _, m := range k.messages[1:] {
		k.hold(m)
	}
	k.Send(k.messages[0])
	k.Eventually(func() bool { return len(receiver.Requests()) == unanswered+1 }, "it is under way")
	return k
}

// hold stores a delivery as one that waits for its turn.
func (k *outageKit) hold(m *webhook.Message) {
	k.Exec(`UPDATE deliveries SET next_attempt_at = NULL, waiting_for = 'record' WHERE company_id = $1 AND id = $2`, k.Company, m.DeliveryID)
}

func (k *heldKit) allArrive() {
	k.Eventually(func() bool { return k.InState(k.messages[0].SubscriptionID, webhook.StateSuccess) == len(k.messages) }, "all arrive, without a sweeper")
}

// Brokers that are away for longer than a try are no reason to leave a record to the sweeper.
func TestATurnIsPassedOnOnceBrokersAreBack(t *testing.T) {
	t.Parallel()
	k := newHeldKit(t, 2, 0)
	k.out.cut()
	k.answer()
	k.Eventually(func() bool { return k.sender.client.BufferedProduceRecords() > 0 }, "the next is to be produced")
	k.Eventually(func() bool { return k.sender.client.BufferedProduceRecords() == 0 }, "and fails")
	k.out.mend()
	k.allArrive()
}

// A partition that leaves while a delivery is under way does not keep the turn.
func TestATurnIsPassedOnAlthoughItsPartitionStops(t *testing.T) {
	t.Parallel()
	k := newHeldKit(t, 2, 0)
	k.in.cut()
	k.Eventually(func() bool {
		k.sender.mu.Lock()
		defer k.sender.mu.Unlock()
		return len(k.sender.assignments) == 0
	}, "the partitions are lost")
	k.answer()
	k.AwaitState(k.messages[0].DeliveryID, webhook.StateSuccess)
	k.in.mend()
	k.allArrive()
}

// A process that dies after it has stored the end of a delivery leaves the turn to the one that reads the record again.
func TestATurnIsPassedOnByWhoReadsTheRecordAgain(t *testing.T) {
	t.Parallel()
	k := newOutageKit(t, func(*Config) {})
	receiver := dispatchtest.NewReceiver(t, dispatchtest.Status(http.StatusOK))
	sub, _ := k.Subscribe(receiver.URL)
	messages := orderedMessages(k.kit, sub, 2)
	k.Exec(`UPDATE deliveries SET state = 2, attempt = 1, next_attempt_at = NULL, completed_at = now() WHERE company_id = $1 AND id = $2`, k.Company, messages[0].DeliveryID)
	k.hold(messages[1])
	k.Send(messages[0])
	k.AwaitState(messages[1].DeliveryID, webhook.StateSuccess)
}

// A delivery finds out itself when the one that it is about to wait for ends before that is stored.
func TestATurnThatComesBeforeADeliveryIsHeldIsNotLost(t *testing.T) {
	t.Parallel()
	k := newKit(t, dbtest.OpenNew(t), func(c *Config) { c.Results.Linger = time.Hour })
	receiver := dispatchtest.NewReceiver(t, dispatchtest.Status(http.StatusOK))
	sub, _ := k.Subscribe(receiver.URL)
	messages := orderedMessages(k, sub, 2)
	k.Send(messages[1])
	k.Eventually(func() bool {
		k.sender.results.mu.Lock()
		defer k.sender.results.mu.Unlock()
		return len(k.sender.results.queue) == 1
	}, "it is about to be held")
	k.Exec(`UPDATE deliveries SET state = 2, attempt = 1, next_attempt_at = NULL, completed_at = now() WHERE company_id = $1 AND id = $2`, k.Company, messages[0].DeliveryID)
	k.Eventually(func() bool {
		signal(k.sender.results.full)
		return k.Row(messages[1].DeliveryID).State == webhook.StateSuccess
	}, "sent, without a sweeper")
}

// What waits for a delivery that has arrived is sent together: behind a backlog, one after the other would wait for all of it each time.
func TestWhatARecordHoldsIsSentTogether(t *testing.T) {
	t.Parallel()
	k := newHeldKit(t, maxPassed+3, 1)
	sent := k.Collect(topics.Deliveries)
	k.Await(sent, 3) // more, if the machine is quick enough for the receiver to count as quick
	require.Equal(t, 1, k.InState(k.messages[0].SubscriptionID, webhook.StateSuccess))
	k.answer()
	k.allArrive()
	for i, r := range sent() {
		require.Equal(t, k.messages[i].DeliveryID, k.Decode(r).DeliveryID)
	}
}
