package webhook

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// RequestedDelivery is a delivery that somebody asked for: a test message, or one that is sent again.
type RequestedDelivery struct {
	Subscription SubscriptionKey
	ID           uuid.UUID
	EventID      uuid.UUID
	Event        string
	CreatedAt    time.Time // due at once
	ExpiresAt    time.Time
	IsTest       bool
	RedeliveryOf *uuid.UUID
	RedeliveryNo int
	Payload      []byte // only where the event log has no body
}

// DueDelivery is a delivery whose next attempt is due.
type DueDelivery struct {
	Attempts int       // made so far
	Entity   uuid.UUID // its record, if its subscription is ordered; the nil UUID otherwise
}

// DeliveryID returns the id of the delivery of an event to a subscription. It is deterministic, so that duplicates are
// recognized, and has the layout of a UUIDv7 with the time of the event id, so that ids sort by age. redelivery is 0 for
// the original delivery and increases with each manual redelivery.
func DeliveryID(event, subscription uuid.UUID, redelivery int) uuid.UUID {
	var in [40]byte
	copy(in[:], event[:])
	copy(in[16:], subscription[:])
	binary.BigEndian.PutUint64(in[32:], uint64(redelivery))
	sum := sha256.Sum256(in[:])
	var id uuid.UUID
	copy(id[:6], event[:6])
	copy(id[6:], sum[:10])
	id[6] = id[6]&0x0f | 0x70
	id[8] = id[8]&0x3f | 0x80
	return id
}

// State is how far a delivery is, by its number in the database.
type State int16

// The states of a delivery. One below [StateSuccess] is open: it may change.
const (
	StatePending State = iota
	StateDelivering
	StateSuccess
	StateFailed
)

// States are all states, by their numbers.
var States = [...]State{StatePending, StateDelivering, StateSuccess, StateFailed}

// String is the name that the API uses.
func (s State) String() string {
	return [...]string{"pending", "delivering", "success", "failed"}[s]
}

// Open reports whether the delivery is not over.
func (s State) Open() bool { return s < StateSuccess }

// Errors of deliveries that are over without an answer.
const (
	Skipped             = string(FailedSkipped)
	Expired             = "ttl expired"
	SubscriptionDeleted = "subscription deleted"
)

// Policy is how often a delivery is attempted, and how long deliveries and events are kept. All processes of a platform need the
// same one: some make deliveries, others attempt them, and others show them and read the event log. Its fields are settings, whose
// defaults stand here alone; [github.com/tradegrid/tradegrid/pkg/kit/config.Defaults] returns them.
type Policy struct {
	MaxAttempts    int           `help:"Maximum number of attempts per delivery." default:"7" same:"platform"`
	DeliveryTTL    time.Duration `name:"delivery-ttl" help:"Lifetime of a delivery." default:"22h" same:"platform"`
	EventRetention time.Duration `help:"How long the event log keeps an event, for GET /events and redelivery." default:"720h" same:"platform"`
}

// minEventRetention is the shortest time that readers of the event log have to fetch an event.
const minEventRetention = time.Hour

// Check validates the policy. Its zero value is invalid, so that whoever needs one cannot do without.
func (p Policy) Check() error {
	var errs []error
	if p.MaxAttempts <= 0 {
		errs = append(errs, fmt.Errorf("--max-attempts %d: must be above 0, such as 7", p.MaxAttempts))
	}
	if p.DeliveryTTL <= 0 {
		errs = append(errs, fmt.Errorf("--delivery-ttl %s: must be above 0, such as 22h", p.DeliveryTTL))
	}
	if p.EventRetention < minEventRetention {
		errs = append(errs, fmt.Errorf("--event-retention %s: must be at least 1h", p.EventRetention))
	}
	return errors.Join(errs...)
}
