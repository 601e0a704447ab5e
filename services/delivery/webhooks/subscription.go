package webhooks

import (
	"net/http"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

const webhookSubscriptions = db.Table("webhook_subscriptions")

// States of a subscription. A paused one collects deliveries until it is resumed or their time is over; a disabled one,
// which the platform took out of service after days of failures, collects none.
const (
	statusActive   = "active"
	statusPaused   = "paused"
	statusDisabled = "disabled"
)

// Subscription sends the events that it names to a receiver.
type Subscription struct {
	record.Key
	SubscriptionFields
	Status            string                `json:"status" enum:"active,paused,disabled"`
	DisabledReason    *string               `json:"disabledReason"`
	StoredHeaders     webhook.StoredHeaders `json:"headers" doc:"extra headers of the requests; their values are not shown"`
	StoredSecret      webhook.StoredSecret  `json:"secretHint" db:"secret" doc:"last 4 characters of the secret"`
	ClientCertificate *ClientCertificate    `json:"clientCertificate" db:"-"`
	LastSuccessAt     *jsontype.Time        `json:"lastSuccessAt" db:",insert" doc:"at most ten seconds behind while one success follows another"` // the dispatcher writes it, and the next
	LastFailureAt     *jsontype.Time        `json:"lastFailureAt" db:",insert" doc:"at most ten seconds behind while one failure follows another"`
	CreatedByID       uuid.UUID             `json:"createdById" format:"uuid" db:",insert"`
	Health            SubscriptionHealth    `json:"health" db:"-"`
	record.Meta

	Collects         bool                  `json:"-" db:"is_active,insert"` // always: the router makes deliveries for a paused subscription, too
	PreviousSecret   *webhook.StoredSecret `json:"-"`                       // valid beside StoredSecret until PreviousUntil
	PreviousUntil    *jsontype.Time        `json:"-"`
	CertificateChain string                `json:"-" db:"client_certificate"` // in PEM
	ClientKey        webhook.StoredKey     `json:"-"`
	ReadScopes       []string              `json:"-" db:",insert"` // what the receiver may see: the scopes of the token that made the subscription
	EnabledAt        *jsontype.Time        `json:"-"`              // last return to service after it was disabled

	// The sender writes these.
	BreakerOpens     int32          `json:"-" db:",insert"`
	BreakerOpenUntil *jsontype.Time `json:"-" db:",insert"`
	FailingSince     *jsontype.Time `json:"-" db:",insert"`
}

// SubscriptionInput is a subscription in a request.
type SubscriptionInput struct {
	SubscriptionFields
	Headers Headers `json:"headers" doc:"extra headers of each request to the receiver, replaced as a whole; values are stored encrypted and not shown again"`

	ClientCertificate *string `json:"clientCertificate" db:"-" maxLength:"16384" doc:"certificate with which the platform identifies itself to the receiver, then those of its issuers, in PEM; null = none"`
	ClientKey         *string `json:"clientKey" db:"-" maxLength:"8192" doc:"private key of clientCertificate, in PEM; stored encrypted and not shown again"`
}

// SubscriptionFields are what clients of the API set and what is stored unchanged.
type SubscriptionFields struct {
	URL              string           `json:"url" required:"true" minLength:"1" maxLength:"2048" pattern:"^[Hh][Tt][Tt][Pp][Ss]?://(([A-Za-z0-9._~-]|[^\\x00-\\x7f])+|\\[[0-9A-Fa-f:.]+\\])(:[0-9]{1,5})?(/([^\\x00-\\x20#%?\\x7f]|%[0-9A-Fa-f]{2})*)?(\\?[^\\x00-\\x20#\\x7f]*)?$" patternDescription:"a URL such as https://example.com/hook, without user, password and fragment" doc:"https://…"`
	Events           []string         `json:"events" required:"true" minItems:"1" maxItems:"100" maxLength:"100" pattern:"^(\\*|[a-z][a-z0-9_]*(\\.[a-z][a-z0-9_]*)*\\.\\*|[a-z][a-z0-9_]*(\\.[a-z][a-z0-9_]*)+)$" patternDescription:"an event name such as order.created, a prefix such as order.*, or *" doc:"names, prefixes such as order.*, or *"`
	Filter           *jsontype.Object `json:"filter" db:",text" doc:"dot paths into the envelope and the values that must stand there"`
	Name             *string          `json:"name" minLength:"1" maxLength:"255"`
	IsActive         bool             `json:"isActive" db:"-" default:"true" doc:"false pauses; true resumes, also after the platform has disabled the subscription"`
	AutoRedeliver    bool             `json:"autoRedeliver" default:"true" doc:"send what failed while the receiver was down again when it is back"`
	Ordered          bool             `json:"ordered" doc:"a delivery waits until the earlier ones of the same record are over; applies to events from a few seconds after the change"`
	MaxPerSecond     *int32           `json:"maxPerSecond" minimum:"1" maximum:"1000" doc:"requests a second at most; null = as many as the receiver takes"`
	ExcludeOwnEvents bool             `json:"excludeOwnEvents" doc:"leave out what the token that makes the subscription causes"`
}

// SubscriptionFilter selects and orders subscriptions.
type SubscriptionFilter struct {
	list.Params
	Sort string `query:"sort" enum:"createdAt,updatedAt,name,url"`
}

var (
	table = resource.Of[Subscription](webhookSubscriptions, "WEBHOOK_SUBSCRIPTION")
	items = list.Of[Subscription, SubscriptionFilter](webhookSubscriptions)
)

// show sets what follows from the columns.
func (s *Subscription) show() {
	s.IsActive = s.Status == statusActive
	s.showCertificate()
}

// setActive resumes or pauses. What stays paused or disabled keeps its status.
func (s *Subscription) setActive(active bool, now jsontype.Time) {
	switch {
	case active == (s.Status == statusActive):
	case !active:
		if s.Status != statusDisabled {
			s.Status = statusPaused
		}
	default:
		if s.Status == statusDisabled {
			s.EnabledAt = &now
		}
		s.Status, s.DisabledReason = statusActive, nil
	}
	s.show()
}

// SubscriptionWithSecret is the answer to creation and rotation, the only ones that show the secret.
type SubscriptionWithSecret struct {
	Subscription
	Secret string `json:"secret" doc:"key of the signatures; it is not shown again"`
}

// readScopes are what the caller may read, as scopes.
func readScopes(by access.Caller) []string {
	if by.Allows("*", false) {
		return []string{"*:read"}
	}
	scopes := []string{}
	for _, resource := range by.Scopes.Readable() {
		scopes = append(scopes, resource+":read")
	}
	return scopes
}

// mayRead keeps a token from what would let it see, or forge, what the subscription carries but the token may not read.
func mayRead(by access.Caller, sub Subscription, action string) error {
	return refuseWithout(by, "the subscription sends what this token may not read: "+action, sub.ReadScopes)
}

// refuseWithout refuses a caller who lacks one of the scopes.
func refuseWithout(by access.Caller, what string, scopes []string) error {
	var missing []string
	for _, scope := range scopes {
		resource, _, _ := strings.Cut(scope, ":")
		if !by.Allows(resource, false) {
			missing = append(missing, scope)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return apierr.New(http.StatusForbidden, "AUTH_API_SCOPE_INSUFFICIENT", what+" with a token that has "+strings.Join(missing, ", ")).
		With("scopes", missing)
}
