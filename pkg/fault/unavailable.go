package fault

import "net/http"

// Reason says in a word why the platform could not take a request: meta.reason of a 503.
type Reason string

// The reasons, see [Reasons] for their meanings.
const (
	DatabaseUnavailable Reason = "database_unavailable"
	DatabaseTimeout     Reason = "database_timeout"
	DatabaseFull        Reason = "database_full"
	Serialization       Reason = "serialization"
	PoolExhausted       Reason = "pool_exhausted"
	OutboxFull          Reason = "outbox_full"
	KafkaFull           Reason = "kafka_full"
	QueueFull           Reason = "queue_full"
	Overloaded          Reason = "overloaded"
	TooManyConnections  Reason = "too_many_connections"
	ShuttingDown        Reason = "shutting_down"
)

// ReasonDoc explains a reason to clients and operators.
type ReasonDoc struct {
	Reason  Reason
	Meaning string
}

// Reasons lists every reason that a 503 may give.
func Reasons() []ReasonDoc {
	return []ReasonDoc{
		{DatabaseUnavailable, "The database cannot be reached, is starting or is stopping."},
		{DatabaseTimeout, "The database did not answer in time."},
		{DatabaseFull, "The database is out of disk space, or near it."},
		{Serialization, "Other requests kept changing the same records at the same time."},
		{PoolExhausted, "All connections to the database are in use."},
		{OutboxFull, "Too many events wait to be published."},
		{KafkaFull, "The message brokers are near the end of their disk space."},
		{QueueFull, "Too many documents of this company wait to be stored."},
		{Overloaded, "This process is working on as many requests as it may."},
		{TooManyConnections, "This process has as many open connections as it may."},
		{ShuttingDown, "This process is shutting down; another one will take the request."},
	}
}

// Unavailable is a 503 with its reason; retryAfter is in seconds. Nothing else makes a 503.
func Unavailable(reason Reason, retryAfter int, message string) *Error {
	e := New(http.StatusServiceUnavailable, "SERVICE_UNAVAILABLE", message).With("reason", reason)
	e.RetryAfter = retryAfter
	return e
}

// Reason is why a 503 was answered; "" for every other fault.
func (e *Error) Reason() Reason {
	reason, _ := e.Meta["reason"].(Reason)
	return reason
}
