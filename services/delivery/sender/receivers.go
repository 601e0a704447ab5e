package sender

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/url"
	"slices"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/kit/secret"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/delivery/store"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/topics"
)

// receiver is what the sender needs of a subscription. It is immutable.
type receiver struct {
	URL    *url.URL
	Paused bool // paused, disabled or inactive

	Ordered bool          // the deliveries of a record wait for each other
	Pace    time.Duration // least time between the starts of two requests; 0 = none

	Breaker store.Breaker // as its last owner left it

	headers       map[string][]string // that the subscription adds, by canonical name
	chain         string              // of the client certificate, in PEM; empty = none
	clientKey     string              // of chain, in PEM
	signer        *webhook.Signer
	overlapSigner *webhook.Signer // signs with the previous secret, too
	overlapUntil  time.Time
	faulty        error // why no request can be made
	sealed        error // why a secret cannot be opened now; deliveries wait until it can
}

// newReceiver prepares a subscription for sending. An invalid URL or secret becomes the error of its attempts, so that the
// owner sees it in the history.
func newReceiver(rawURL, secret, previous string, previousUntil time.Time) *receiver {
	r := &receiver{overlapUntil: previousUntil}
	if r.URL, r.faulty = url.Parse(rawURL); r.faulty != nil {
		r.URL = &url.URL{}
	}
	var err error
	if r.signer, err = webhook.NewSigner(secret, ""); err != nil {
		r.faulty = errors.Join(r.faulty, err)
	}
	if previous != "" {
		if r.overlapSigner, err = webhook.NewSigner(secret, previous); err != nil {
			r.faulty = errors.Join(r.faulty, err)
		}
	}
	return r
}

// signerAt is the signer for an attempt at the time given.
func (r *receiver) signerAt(now time.Time) *webhook.Signer {
	if r.overlapSigner != nil && now.Before(r.overlapUntil) {
		return r.overlapSigner
	}
	return r.signer
}

// ReceiverCache caches subscriptions and reads many in one query.
type ReceiverCache struct {
	db   db.Querier
	ttl  time.Duration
	keys *secret.Keys
	log  *slog.Logger

	mu      sync.Mutex
	entries *lru.Cache[webhook.SubscriptionKey, *receiverEntry]
	wanted  []*receiverEntry
	aging   map[webhook.SubscriptionKey]*receiverEntry // used in the second half of their time; read with those that are wanted
	loading bool
	loaded  time.Time // when a query ended last; only load uses it
}

// receiverEntry is one subscription; it is read when done is closed.
type receiverEntry struct {
	key      webhook.SubscriptionKey
	done     chan struct{}
	receiver *receiver
	err      error
	loadedAt time.Time      // zero before
	instead  *receiverEntry // the one that is used until this one is read; nil = callers wait for this one
}

const maxReceivers = 100_000

// maxAging bounds the entries that are read ahead of their expiry, because another one has expired: the deliveries of a hundred
// receivers would otherwise pay for a query each, one receiver after the other.
const maxAging = 200

// NewReceiverCache makes a cache whose entries are used for at most ttl; 5 s when zero. The keys decrypt the secrets.
func NewReceiverCache(q db.Querier, ttl time.Duration, keys *secret.Keys, log *slog.Logger) *ReceiverCache {
	entries, err := lru.New[webhook.SubscriptionKey, *receiverEntry](maxReceivers)
	if err != nil {
		panic(err) // the size is a constant above zero
	}
	return &ReceiverCache{db: q, ttl: cmp.Or(ttl, 5*time.Second), keys: keys, log: log, entries: entries, aging: map[webhook.SubscriptionKey]*receiverEntry{}}
}

// invalidate removes a subscription.
func (c *ReceiverCache) invalidate(key webhook.SubscriptionKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries.Remove(key)
}

// get returns nil without an error when there is no such subscription.
func (c *ReceiverCache) get(ctx context.Context, key webhook.SubscriptionKey) (*receiver, error) {
	e := c.entry(key) //nolint:contextcheck // one load serves many callers
	select {
	case <-e.done:
	default:
		select {
		case <-e.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return e.receiver, e.err
}

// entry returns a current entry, or a new one that is about to be read.
func (c *ReceiverCache) entry(key webhook.SubscriptionKey) *receiverEntry {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries.Get(key); ok && (e.loadedAt.IsZero() || time.Since(e.loadedAt) < c.ttl) {
		if !e.loadedAt.IsZero() && time.Since(e.loadedAt) > c.ttl/2 && len(c.aging) < maxAging {
			c.aging[key] = e
		}
		return e
	}
	e := &receiverEntry{key: key, done: make(chan struct{})}
	c.entries.Add(key, e)
	c.wanted = append(c.wanted, e)
	if !c.loading {
		c.loading = true
		go c.load()
	}
	return e
}

// loadPause is the time between two queries. A receiver that is asked for after a while is read at once; when many are, those
// that come meanwhile are read together.
const loadPause = 2 * time.Millisecond

// load reads wanted entries until there are none. Those that are added during a query form the next one.
func (c *ReceiverCache) load() {
	for {
		if left := loadPause - time.Since(c.loaded); left > 0 {
			<-time.After(left)
		}
		c.mu.Lock()
		batch := c.wanted[:min(len(c.wanted), 500)]
		c.wanted = c.wanted[len(batch):]
		if len(batch) == 0 {
			c.loading, c.wanted = false, nil
			c.mu.Unlock()
			return
		}
		batch = c.withAging(batch)
		c.mu.Unlock()
		// Many callers wait for one query: none of them may cancel it.
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		found, err := c.loadReceivers(ctx, batch)
		cancel()
		c.loaded = time.Now()
		c.keep(batch, found, err)
	}
}

// withAging appends to what is wanted what expires soon. The caller holds mu.
func (c *ReceiverCache) withAging(wanted []*receiverEntry) []*receiverEntry {
	batch := slices.Clone(wanted)
	for key, e := range c.aging {
		if current, ok := c.entries.Peek(key); ok && current == e {
			batch = append(batch, &receiverEntry{key: key, done: make(chan struct{}), instead: e})
		}
	}
	clear(c.aging)
	return batch
}

func (c *ReceiverCache) keep(batch []*receiverEntry, found map[webhook.SubscriptionKey]*receiver, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range batch {
		e.receiver, e.err, e.loadedAt = found[e.key], err, time.Now()
		kept, ok := c.entries.Peek(e.key)
		switch {
		case err != nil && ok && kept == e:
			c.entries.Remove(e.key)
		case err == nil && ok && kept == e.instead: // it has not been invalidated meanwhile
			c.entries.Add(e.key, e)
		}
		e.instead = nil
		close(e.done)
	}
}

func (c *ReceiverCache) loadReceivers(ctx context.Context, batch []*receiverEntry) (map[webhook.SubscriptionKey]*receiver, error) {
	keys := make([]webhook.SubscriptionKey, len(batch))
	for i, e := range batch {
		keys[i] = e.key
	}
	rows, err := store.SelectReceivers(ctx, c.db, keys)
	if err != nil {
		return nil, err
	}
	found := make(map[webhook.SubscriptionKey]*receiver, len(rows))
	for _, row := range rows {
		r := c.open(row)
		r.Paused, r.Breaker = !row.Active, row.Breaker
		found[row.Key] = r
	}
	return found, nil
}

// open prepares a subscription whose secrets are encrypted. A missing key is for the operators to provide; until then the
// deliveries wait.
func (c *ReceiverCache) open(row store.Receiver) *receiver {
	until, old, err2 := record.OrZero(row.PreviousUntil), "", error(nil)
	if row.PreviousSecret != nil && time.Now().Before(until) {
		old, err2 = row.PreviousSecret.Open(c.keys, row.Key.Company, row.Key.ID)
	}
	current, err := row.Secret.Open(c.keys, row.Key.Company, row.Key.ID)
	headers, err3 := row.Headers.Open(c.keys, row.Key.Company, row.Key.ID)
	key, err4 := row.ClientKey.Open(c.keys, row.Key.Company, row.Key.ID)
	if err = errors.Join(err, err2, err3, err4); err != nil {
		c.log.Error("webhook secret not decrypted, deliveries wait", "company_id", row.Key.Company, "subscription_id", row.Key.ID, "error", err)
	}
	r := newReceiver(row.URL, current, old, until)
	r.chain, r.clientKey = row.Certificate, key
	r.Ordered, r.headers = row.Ordered, make(map[string][]string, len(headers))
	for name, value := range headers {
		r.headers[name] = []string{value}
	}
	if row.MaxPerSecond != nil {
		r.Pace = (time.Second + time.Duration(*row.MaxPerSecond-1)) / time.Duration(*row.MaxPerSecond)
	}
	if err != nil {
		r.faulty, r.sealed = nil, err
	}
	return r
}

// Watch removes subscriptions whose change is announced, until ctx is done.
func (c *ReceiverCache) Watch(ctx context.Context, cfg kafka.Config) error {
	return kafka.Tail(ctx, cfg, nil, func(r *kgo.Record) {
		key, err := webhook.ParseSubscriptionKey(r.Key)
		if err != nil {
			if cfg.Log != nil {
				cfg.Log.WarnContext(ctx, "subscription change decode failed", "error", err)
			}
			return
		}
		c.invalidate(key)
	}, topics.Subscriptions)
}
