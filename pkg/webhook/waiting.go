package webhook

import "time"

// Waiting is what an open delivery waits for; see docs/reference/events.md#explain. The sender stores it with each result that
// leaves a delivery open; NULL there is [WaitsForSender].
type Waiting string

// What deliveries wait for.
const (
	WaitsForSender    Waiting = "sender"             // on its way: nothing keeps it
	WaitsForAnswer    Waiting = "answer"             // an attempt is under way
	WaitsForRetry     Waiting = "retry"              // the delay after a failed attempt
	WaitsAsAsked      Waiting = "retry_after"        // the receiver asked to wait
	WaitsForCircuit   Waiting = "circuit_open"       // the receiver failed too often in a row and rests
	WaitsForReturn    Waiting = "receiver_down"      // all attempts fail: the last one is kept for the receiver's return
	WaitsForQueue     Waiting = "queue_full"         // the receiver takes less than it is sent
	WaitsForRate      Waiting = "rate"               // the subscription's own requests a second
	WaitsForTurn      Waiting = "record"             // an earlier delivery of the same record
	WaitsForHost      Waiting = "host_limit"         // requests to the host, of all companies
	WaitsForHostShare Waiting = "host_share"         // the company's requests to the host
	WaitsForCompany   Waiting = "company_limit"      // the company's requests to all its receivers
	WaitsForCapacity  Waiting = "sender_limit"       // requests of the sending process
	WaitsForResume    Waiting = "paused"             // the subscription is paused or disabled
	WaitsForKey       Waiting = "secret_unavailable" // the platform cannot decrypt the secret
	WaitsForSweeper   Waiting = "sweeper"            // its turn to be sent again, within seconds
	WaitsForRouter    Waiting = "router"             // the event is not routed yet
)

// SlowAfter is how long an attempt may take before its receiver counts as slow, even when it succeeds.
const SlowAfter = time.Second
