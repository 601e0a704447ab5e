package apierr

import "net/http"

// Reason says why a request could not be processed: meta.reason of a 503. See
// docs/reference/errors.md#unavailability.
type Reason string

// Reasons of a 503; [Reasons] documents them.
const (
	DatabaseUnavailable  Reason = "database_unavailable"
	DatabaseTimeout      Reason = "database_timeout"
	DatabaseFull         Reason = "database_full"
	Serialization        Reason = "serialization"
	PoolExhausted        Reason = "pool_exhausted"
	OutboxFull           Reason = "outbox_full"
	KafkaFull            Reason = "kafka_full"
	QueueFull            Reason = "queue_full"
	Overloaded           Reason = "overloaded"
	FileStoreUnavailable Reason = "file_store_unavailable"
	TooManyConnections   Reason = "too_many_connections"
	ShuttingDown         Reason = "shutting_down"
)

// ReasonDoc explains a reason to clients and operators.
type ReasonDoc struct {
	Reason  Reason
	Meaning string
}

// Reasons returns the documentation of every reason.
func Reasons() []ReasonDoc {
	return []ReasonDoc{
		{DatabaseUnavailable, "The database cannot be reached, is starting or is stopping."},
		{DatabaseTimeout, "The database did not respond in time."},
		{DatabaseFull, "The database is out of disk space, or nearly so."},
		{Serialization, "Concurrent requests kept changing the same records."},
		{PoolExhausted, "All connections to the database are in use."},
		{OutboxFull, "Too many events are waiting to be published."},
		{KafkaFull, "The message brokers are nearly out of disk space."},
		{QueueFull, "Too many records of this company are waiting to be stored."},
		{Overloaded, "This process has reached its limit of concurrent requests, or of the bytes of large responses, uploads and images, of all companies or of this one."},
		{FileStoreUnavailable, "The store of files does not answer."},
		{TooManyConnections, "This process has reached its limit of open connections."},
		{ShuttingDown, "This process is shutting down; other processes accept requests."},
	}
}

// Unavailable returns a 503 with its reason; retryAfter is in seconds. Every 503 is created here or by [TooExpensive].
func Unavailable(reason Reason, retryAfter int, message string) *Error {
	e := New(http.StatusServiceUnavailable, "SERVICE_UNAVAILABLE", message).With("reason", reason)
	e.RetryAfter = retryAfter
	return e
}

// TooExpensive returns the 503 for a read that would take too much of the database.
func TooExpensive(code string, retryAfter int, message string) *Error {
	e := New(http.StatusServiceUnavailable, code, message)
	e.RetryAfter = retryAfter
	return e
}

// Reason returns the reason of a 503, or "" for every other error.
func (e *Error) Reason() Reason {
	reason, _ := e.Meta["reason"].(Reason)
	return reason
}
