// Package webhook is what a webhook request looks like to its sender and to its receiver: the envelope
// and its frozen bytes, the headers and signatures, the names and filters that a subscription matches.
// Receivers read about them in docs/webhooks.md. Sending, retrying and storing are left to the dispatcher.
package webhook

// Names of the request headers, in Go's canonical form.
const (
	HeaderEvent             = "X-Svc-Event"              // event name
	HeaderDeliveryID        = "X-Svc-Delivery-Id"        // constant over the attempts of one delivery
	HeaderWebhookID         = "X-Svc-Webhook-Id"         // subscription id
	HeaderAttempt           = "X-Svc-Attempt"            // number of the attempt, from 1
	HeaderSignature         = "X-Svc-Signature"          // sha256=<hex> of the body, keyed with the whole secret string
	HeaderSignaturePrevious = "X-Svc-Signature-Previous" // the same with the secret that is being replaced
	HeaderEventID           = "X-Svc-Event-Id"           // the same for all subscriptions, attempts and redeliveries
	HeaderTimestamp         = "X-Svc-Timestamp"          // unix seconds of the attempt

	// The trio of the Standard Webhooks convention.
	HeaderStandardID        = "Webhook-Id"        // delivery id
	HeaderStandardTimestamp = "Webhook-Timestamp" // unix seconds of the attempt
	HeaderStandardSignature = "Webhook-Signature" // v1,<base64> of id.timestamp.body, keyed with the decoded secret
)

// UserAgent is what every webhook request names as its sender.
const UserAgent = "svc-webhooks/1.0"

// ContentType is the type of every webhook body.
const ContentType = "application/json"
