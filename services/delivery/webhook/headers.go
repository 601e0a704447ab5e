// Package webhook implements the format of webhook requests: the envelope, its headers and signatures, and the event
// patterns and filters of subscriptions. The format is documented for receivers in docs/webhooks.md. Sending, retrying
// and storing are up to the dispatcher.
//
// [Envelope.Freeze] makes the bytes that are stored, signed and sent, each time the same. A [Signer] signs a request, [Verify] checks one as receivers
// do. [ParseEventPattern] and [CompileFilter] read what a subscription asks for, and [Terms.Decide] says whether it gets an event. A [Message]
// is a delivery on its way through Kafka.
package webhook

// Names of the request headers, in Go's canonical form.
const (
	HeaderEvent             = "X-Svc-Event"              // event name
	HeaderDeliveryID        = "X-Svc-Delivery-Id"        // constant over the attempts of one delivery
	HeaderWebhookID         = "X-Svc-Webhook-Id"         // subscription id
	HeaderAttempt           = "X-Svc-Attempt"            // number of the attempt, from 1
	HeaderSignature         = "X-Svc-Signature"          // sha256=<hex> of the body, keyed with the whole secret string
	HeaderSignaturePrevious = "X-Svc-Signature-Previous" // the same, keyed with the previous secret during a rotation
	HeaderEventID           = "X-Svc-Event-Id"           // the same for all subscriptions, attempts and redeliveries
	HeaderTimestamp         = "X-Svc-Timestamp"          // unix seconds of the attempt

	// Headers of the Standard Webhooks specification.
	HeaderStandardID        = "Webhook-Id"        // delivery id
	HeaderStandardTimestamp = "Webhook-Timestamp" // unix seconds of the attempt
	HeaderStandardSignature = "Webhook-Signature" // v1,<base64> of id.timestamp.body, keyed with the decoded secret
)

// UserAgent is the User-Agent of every webhook request.
const UserAgent = "svc-webhooks/1.0"

// ContentType is the type of every webhook body.
const ContentType = "application/json"
