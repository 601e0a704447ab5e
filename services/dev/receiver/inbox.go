package receiver

import (
	"crypto/sha256"
	"encoding/json"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

const (
	keepDeliveries = 10_000 // per name, without their bodies
	keepBodies     = 1_000  // per name
	keepKinds      = 1_000  // distinct event names with their own count
)

// Delivery is one received request.
type Delivery struct {
	Seq         uint64          `json:"seq"` // 1, 2, … per receiver since start or reset
	ID          string          `json:"id"`  // delivery id
	Event       string          `json:"event"`
	EventID     string          `json:"eventId"`
	WebhookID   string          `json:"webhookId"`
	Attempt     int             `json:"attempt"`
	CompanyID   string          `json:"companyId"`
	DataID      string          `json:"dataId"` // data.id of the envelope, empty if it is not a string
	OccurredAt  string          `json:"occurredAt"`
	ReceivedAt  time.Time       `json:"receivedAt"`
	Verified    bool            `json:"verified"`
	Error       string          `json:"error,omitempty"` // why the signature was rejected
	Duplicate   bool            `json:"duplicate"`       // an earlier request with this id was accepted with 2xx
	Outcome     string          `json:"outcome"`         // response status, or hang, drip, close
	Traceparent string          `json:"traceparent,omitempty"`
	Body        json.RawMessage `json:"body"` // null once there are 1 000 newer ones; a string if it is not JSON

	raw []byte
}

// inbox is one named receiver. Its lock is held only while maps and counters are updated.
type inbox struct {
	mu        sync.Mutex
	verifier  *webhook.Verifier // nil: signatures are not checked
	behaviour *active
	counts    counts
	ring      []Delivery // the delivery seq is at index (seq-1) % keepDeliveries
	accepted  idSet
	ledgers   map[string]*ledger // by event name
	waiters   map[*waiter]struct{}
}

// waiter is one long poll; found is buffered for the delivery that ends it.
type waiter struct {
	match func(*Delivery) bool
	found chan Delivery
}

func newInbox(verifier *webhook.Verifier, b Behaviour, maxIDs int) *inbox {
	in := &inbox{verifier: verifier, waiters: map[*waiter]struct{}{}, accepted: idSet{limit: maxIDs}}
	in.setBehaviour(b)
	return in
}

// setBehaviour replaces the behaviour and releases requests that hang in the old one. The caller holds mu
// or has exclusive access.
func (in *inbox) setBehaviour(b Behaviour) {
	if in.behaviour != nil {
		close(in.behaviour.end)
	}
	in.behaviour = &active{Behaviour: b, left: b.Times, end: make(chan struct{})}
}

// choose decides whether the behaviour applies to this request; the caller holds mu.
func (in *inbox) choose() *active {
	a := in.behaviour
	good := &active{Behaviour: Behaviour{Mode: ModeOK}, end: a.end}
	if a.Mode == "" || a.Mode == ModeOK && a.DelayMs == 0 {
		return good
	}
	if a.Probability > 0 && rand.Float64() >= a.Probability {
		return good
	}
	if a.Times > 0 {
		if a.left == 0 {
			return good
		}
		a.left--
	}
	return a
}

// record counts and stores a delivery. It returns how to respond, or nil if the signature was rejected.
func (in *inbox) record(d *Delivery, checked bool, latency time.Duration) *active {
	in.mu.Lock()
	defer in.mu.Unlock()
	var a *active
	if checked && !d.Verified {
		d.Outcome = "401"
	} else {
		a = in.choose()
		d.Outcome = a.outcome()
		accepted := a.status() >= 200 && a.status() < 300
		d.Duplicate = in.accepted.has(d.ID)
		if accepted && !d.Duplicate {
			in.accepted.add(d.ID)
			in.counts.latency.add(latency)
			in.counts.unique++
			if l := in.ledgers[d.Event]; l != nil {
				l.arrive(d.DataID)
			}
		}
	}
	in.counts.add(d, checked)
	in.keep(d)
	for w := range in.waiters {
		if a != nil && w.match(d) {
			w.found <- *d
			delete(in.waiters, w)
		}
	}
	return a
}

func (in *inbox) keep(d *Delivery) {
	d.Seq = in.counts.received
	if len(in.ring) < keepDeliveries {
		in.ring = append(in.ring, *d)
	} else {
		in.ring[(d.Seq-1)%keepDeliveries] = *d
	}
	if d.Seq > keepBodies {
		in.ring[(d.Seq-1-keepBodies)%keepDeliveries].raw = nil
	}
}

// recent lists up to limit stored deliveries that match, newest first.
func (in *inbox) recent(limit int, match func(*Delivery) bool) []Delivery {
	in.mu.Lock()
	defer in.mu.Unlock()
	found := []Delivery{}
	for seq, n := in.counts.received, 0; n < len(in.ring) && len(found) < limit; seq, n = seq-1, n+1 {
		if d := &in.ring[(seq-1)%keepDeliveries]; match(d) {
			found = append(found, *d)
		}
	}
	return found
}

// first returns the oldest stored delivery that matches, or registers a waiter for the next one.
func (in *inbox) first(match func(*Delivery) bool) (Delivery, *waiter) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for seq := in.counts.received - uint64(len(in.ring)) + 1; seq <= in.counts.received; seq++ {
		if d := &in.ring[(seq-1)%keepDeliveries]; d.Error == "" && match(d) {
			return *d, nil
		}
	}
	w := &waiter{match: match, found: make(chan Delivery, 1)}
	in.waiters[w] = struct{}{}
	return Delivery{}, w
}

func (in *inbox) forget(w *waiter) {
	in.mu.Lock()
	defer in.mu.Unlock()
	delete(in.waiters, w)
}

// reset deletes deliveries, counts and promises, and restores the behaviour b; secret and waiters are kept.
func (in *inbox) reset(b Behaviour) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.counts, in.ring, in.ledgers = counts{}, nil, nil
	in.accepted = idSet{limit: in.accepted.limit}
	in.setBehaviour(b)
}

// idSet stores the latest limit/2 to limit ids, in two generations.
type idSet struct {
	limit int
	young map[[16]byte]struct{}
	old   map[[16]byte]struct{}
}

func (s *idSet) has(id string) bool {
	k := idKey(id)
	if _, ok := s.young[k]; ok {
		return true
	}
	_, ok := s.old[k]
	return ok
}

func (s *idSet) add(id string) {
	if s.young == nil || len(s.young) >= s.limit/2 {
		s.old, s.young = s.young, map[[16]byte]struct{}{}
	}
	s.young[idKey(id)] = struct{}{}
}

// idKey returns uuids unchanged and hashes anything else.
func idKey(id string) [16]byte {
	if u, err := uuid.Parse(id); err == nil && len(id) == 36 {
		return u
	}
	sum := sha256.Sum256([]byte(id))
	return [16]byte(sum[:16])
}
