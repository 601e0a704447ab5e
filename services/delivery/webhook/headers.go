// Package webhook implements the format of webhook requests: the envelope, its headers and signatures, and the event
// patterns and filters of subscriptions. The format is documented for receivers in docs/webhooks.md. Sending, retrying
// and storing are up to the dispatcher.
//
// [Envelope.Freeze] makes the bytes that are stored, signed and sent, each time the same. A [Signer] signs a request, [Verify] checks one as receivers
// do. [ParseEventPattern] and [CompileFilter] read what a subscription asks for, and [Terms.Decide] says whether it gets an event. A [Message]
// is a delivery on its way through Kafka.
package webhook

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/secret"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

// MaskedHeader is shown in place of the value of an extra header.
const MaskedHeader = "[redacted]"

// Headers that belong to HTTP, to proxies or to the platform: no subscription sets them.
var (
	reservedHeaders = []string{
		"Accept-Encoding", "Connection", "Cookie", "Expect", "Forwarded", "Host", "Keep-Alive", "Te", "Trailer",
		"Transfer-Encoding", "Upgrade", "User-Agent", "Via", "Traceparent", "Tracestate", "Baggage",
	}
	reservedPrefixes = []string{"Content-", "Proxy-", "Webhook-", "X-Forwarded-", "X-Svc-"}
)

// ReservedHeader reports whether a header, in Go's canonical form, cannot be an extra header.
func ReservedHeader(name string) bool {
	return slices.Contains(reservedHeaders, name) ||
		slices.ContainsFunc(reservedPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// StoredHeaders are the extra headers of a subscription as their column holds them: sealed and followed by their names; empty
// without any. Clients see the names.
type StoredHeaders string

const namesSeparator = "," // neither in a name nor in what is sealed

// SealHeaders encrypts the extra headers of a subscription. Their names must be in Go's canonical form.
func SealHeaders(keys *secret.Keys, company tenant.ID, subscription uuid.UUID, headers map[string]string) (StoredHeaders, error) {
	if len(headers) == 0 {
		return "", nil
	}
	text, err := json.Marshal(headers)
	if err != nil {
		return "", fmt.Errorf("encode headers: %w", err)
	}
	sealed, err := keys.Seal(text, headersContext(company, subscription))
	if err != nil {
		return "", err
	}
	names := slices.Sorted(maps.Keys(headers))
	return StoredHeaders(sealed + namesSeparator + strings.Join(names, namesSeparator)), nil
}

// Open gives the headers themselves.
func (s StoredHeaders) Open(keys *secret.Keys, company tenant.ID, subscription uuid.UUID) (map[string]string, error) {
	if s == "" {
		return nil, nil
	}
	sealed, _, _ := strings.Cut(string(s), namesSeparator)
	text, err := keys.Open(sealed, headersContext(company, subscription))
	if err != nil {
		return nil, err
	}
	var headers map[string]string
	if err := json.Unmarshal(text, &headers); err != nil {
		return nil, fmt.Errorf("decode headers: %w", err)
	}
	return headers, nil
}

// Reseal brings the headers under the first key of the ring. What is there already stays as it is.
func (s StoredHeaders) Reseal(keys *secret.Keys, company tenant.ID, subscription uuid.UUID) (StoredHeaders, error) {
	if s == "" {
		return "", nil
	}
	sealed, names, _ := strings.Cut(string(s), namesSeparator)
	sealed, _, err := keys.Rewrap(sealed, headersContext(company, subscription))
	if err != nil {
		return s, err
	}
	return StoredHeaders(sealed + namesSeparator + names), nil
}

// MarshalJSON shows the names.
func (s StoredHeaders) MarshalJSON() ([]byte, error) {
	masked := map[string]string{}
	if _, names, some := strings.Cut(string(s), namesSeparator); some {
		for name := range strings.SplitSeq(names, namesSeparator) {
			masked[name] = MaskedHeader
		}
	}
	return json.Marshal(masked)
}

// Schema implements [huma.SchemaProvider].
func (StoredHeaders) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: &huma.Schema{Type: huma.TypeString}}
}

// headersContext binds what is sealed to its subscription.
func headersContext(company tenant.ID, subscription uuid.UUID) string {
	return "webhook headers " + company.String() + "/" + subscription.String()
}

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
