package webhook

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
