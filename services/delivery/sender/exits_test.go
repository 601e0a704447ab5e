package sender

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/delivery/dispatchtest"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// line is the connection of one client to the brokers, which a test cuts.
type line struct {
	mu    sync.Mutex
	down  bool
	conns []net.Conn
}

func (l *line) dial(ctx context.Context, network, address string) (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down {
		return nil, errors.New("the line is cut")
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err == nil {
		l.conns = append(l.conns, conn)
	}
	return conn, err
}

func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = true
	for _, c := range l.conns {
		_ = c.Close()
	}
	l.conns = nil
}

func (l *line) mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = false
}

// outageKit is a kit whose sender loses its brokers: what it produces fails while out is cut, and its partitions stop while in is.
type outageKit struct {
	*kit
	in, out *line
}

func newOutageKit(t *testing.T, configure func(*Config)) *outageKit {
	t.Helper()
	k := &outageKit{kit: &kit{Kit: dispatchtest.New(t, dbtest.Open(t))}, in: &line{}, out: &line{}}
	k.cache = k.receivers()
	producer, err := kafka.NewClient(k.Kafka, kgo.Dialer(k.out.dial), kgo.RecordDeliveryTimeout(time.Second),
		kgo.DisableIdempotentWrite()) // otherwise a request under way when the line is cut is tried until it is mended
	require.NoError(t, err)
	t.Cleanup(producer.Close)
	cfg := quickConfig(k.Kafka)
	cfg.Client.Session = time.Second
	cfg.Egress.Timeout = time.Minute // receivers answer when a test tells them to, also on a busy machine
	cfg.opts = []kgo.Opt{kgo.Dialer(k.in.dial)}
	configure(&cfg)
	k.sender = New(cfg, k.DB, producer, k.cache)
	k.stop = k.Run(k.sender.Run)
	return k
}

// outage has the partitions stop while the sender cannot produce, and ends when all that was under way has been dropped.
func (k *outageKit) outage() {
	k.in.cut()
	k.Eventually(func() bool {
		k.sender.mu.Lock()
		defer k.sender.mu.Unlock()
		return len(k.sender.assignments) == 0
	}, "the partitions are lost")
	k.Eventually(func() bool {
		k.sender.seen.mu.Lock()
		defer k.sender.seen.mu.Unlock()
		return len(k.sender.seen.open) == 0 && k.sender.client.BufferedProduceRecords() == 0
	}, "what was under way has ended")
	k.out.mend()
	k.in.mend()
}

// Whichever way a job ends that stored nothing, the same process makes its attempt when it gets the record again.
func TestAnAttemptThatStoredNothingIsMadeAgain(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]exit{
		"the retry is not produced":                                             {attempt: 1, requests: 1, end: webhook.StateSuccess},
		"the dead letter is not produced":                                       {attempt: 7, requests: 1, end: webhook.StateSuccess},
		"its time is over, and the dead letter is not produced":                 {attempt: 2, expired: true, end: webhook.StateFailed},
		"the circuit breaker refuses it, and the postponed one is not produced": {attempt: 1, open: true, end: webhook.StateSuccess},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testExit(t, test)
		})
	}
}

// exit is a way in which a job ends during an outage.
type exit struct {
	attempt  int
	expired  bool
	open     bool // the circuit breaker of its receiver
	requests int  // of the job
	end      webhook.State
}

func testExit(t *testing.T, test exit) {
	k := newOutageKit(t, func(c *Config) {
		if test.open {
			c.Breaker = BreakerConfig{Failures: 1, Open: time.Second, MaxOpen: time.Second}
		}
	})
	k.ForwardDelayed()
	receiver := dispatchtest.NewReceiver(t, dispatchtest.Status(http.StatusBadGateway))
	sub, _ := k.Subscribe(receiver.URL)
	messages := k.Messages(sub, 2)
	if test.open {
		k.Send(messages[1])
		k.Eventually(func() bool { return k.Row(messages[1].DeliveryID).Attempt >= 1 }, "the receiver has failed")
	}
	m := messages[0]
	if m.Attempt = test.attempt; test.expired {
		m.ExpiresAt = time.Now()
	}
	k.out.cut()
	k.Send(m)
	k.Eventually(func() bool { return k.sender.client.BufferedProduceRecords() > 0 }, "the sender tries to produce")
	receiver.Answer(dispatchtest.Status(http.StatusOK))
	k.outage()
	k.AwaitState(m.DeliveryID, test.end)
	requests := 0
	for _, r := range receiver.Requests() {
		if r.ID == m.DeliveryID.String() {
			requests++
		}
	}
	if test.end == webhook.StateSuccess {
		test.requests++
	}
	require.Equal(t, test.requests, requests)
}

// A record that is read again while the attempt of an earlier assignment is under way waits for what becomes of that.
func TestARepeatWaitsForTheAttemptOfAnEarlierAssignment(t *testing.T) {
	t.Parallel()
	s, id := newSeen(10), uuid.New()
	earlier, later := &assignment{}, &assignment{}
	read := func(attempt int, from *assignment) *job {
		return &job{msg: &webhook.Message{DeliveryID: id, Attempt: attempt}, from: from}
	}
	lost := read(3, earlier)
	require.Equal(t, claimed, s.claim(lost))
	require.Equal(t, repeated, s.claim(read(3, earlier)), "the first is in front of it")
	again := read(3, later)
	require.Equal(t, undecided, s.claim(again))
	repeats := s.release(lost)
	require.Len(t, repeats, 1)
	require.NotSame(t, again, repeats[0], "the scheduler still has that one")
	require.Same(t, again.msg, repeats[0].msg)
	require.Empty(t, s.release(lost))

	require.Equal(t, claimed, s.claim(repeats[0]))
	require.Equal(t, undecided, s.claim(read(2, earlier)))
	require.Len(t, s.settle(repeats[0]), 1)
	require.Equal(t, repeated, s.claim(read(3, &assignment{})), "it is stored")
	require.True(t, s.follows(read(4, later)))

	retry := read(4, later)
	require.Equal(t, claimed, s.claim(retry))
	require.Equal(t, undecided, s.claim(read(4, earlier)))
	require.Equal(t, claimed, s.claim(read(5, later)), "the retry of an attempt whose result is not stored yet")
	require.Empty(t, s.settle(retry), "its repeats wait for the one that followed")
	require.Equal(t, undecided, s.claim(read(4, earlier)))
}
