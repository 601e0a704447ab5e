package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/egress"
	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/list"
	"github.com/tradegrid/tradegrid/pkg/outbox"
	"github.com/tradegrid/tradegrid/pkg/record"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/webhook"
	"github.com/tradegrid/tradegrid/pkg/wire"
	"github.com/tradegrid/tradegrid/topics"
)

// MaxSubscriptions is how many subscriptions a company may have.
const MaxSubscriptions = 20

// States of a subscription. A paused one collects deliveries until it is resumed or their time is over; a disabled one,
// which the platform took out of service after days of failures, collects none.
const (
	statusActive   = "active"
	statusPaused   = "paused"
	statusDisabled = "disabled"
)

// Subscription sends the events that it names to a receiver (specification, section 6).
type Subscription struct {
	ID               uuid.UUID    `json:"id" format:"uuid"`
	CompanyID        tenant.ID    `json:"companyId" format:"uuid"`
	Name             *string      `json:"name" nullable:"true"`
	URL              string       `json:"url"`
	Events           []string     `json:"events" doc:"names, prefixes such as order.*, or *"`
	Filter           *wire.Object `json:"filter" nullable:"true" doc:"dot paths into the envelope and the values that must stand there"`
	IsActive         bool         `json:"isActive"`
	Status           string       `json:"status" enum:"active,paused,disabled"`
	DisabledReason   *string      `json:"disabledReason" nullable:"true"`
	ExcludeOwnEvents bool         `json:"excludeOwnEvents"`
	SecretHint       string       `json:"secretHint" doc:"last 4 characters of the secret"`
	LastSuccessAt    *wire.Time   `json:"lastSuccessAt" nullable:"true"`
	LastFailureAt    *wire.Time   `json:"lastFailureAt" nullable:"true"`
	CreatedByID      uuid.UUID    `json:"createdById" format:"uuid"`
	record.Meta

	secret     string
	oldSecret  *string    // valid beside secret until oldUntil
	oldUntil   *wire.Time //
	readScopes []string   // what the receiver may see: the scopes of the token that made the subscription
	enabledAt  *wire.Time // last return to service after it was disabled
}

// RecordID is the last segment of the subscription's address.
func (s Subscription) RecordID() string { return s.ID.String() }

// SubscriptionWithSecret is the answer to creation and rotation, the only ones that show the secret.
type SubscriptionWithSecret struct {
	Subscription
	Secret string `json:"secret" doc:"key of the signatures; it is not shown again"`
}

func (s Subscription) withSecret() SubscriptionWithSecret {
	return SubscriptionWithSecret{Subscription: s, Secret: s.secret}
}

// SubscriptionInput is the body of a new subscription.
type SubscriptionInput struct {
	URL              string       `json:"url" minLength:"1" maxLength:"2048" doc:"https://…"`
	Events           []string     `json:"events" minItems:"1" maxItems:"100" doc:"names, prefixes such as order.*, or *"`
	Filter           *wire.Object `json:"filter,omitempty" nullable:"true"`
	Name             *string      `json:"name,omitempty" nullable:"true" minLength:"1" maxLength:"255"`
	IsActive         bool         `json:"isActive,omitempty" default:"true"`
	ExcludeOwnEvents bool         `json:"excludeOwnEvents,omitempty" doc:"leave out what the token that makes the subscription causes"`
}

// SubscriptionPatch is the body of a change: what is absent stays.
type SubscriptionPatch struct {
	URL              wire.Optional[string]      `json:"url,omitzero" minLength:"1" maxLength:"2048"`
	Events           wire.Optional[[]string]    `json:"events,omitzero" minItems:"1" maxItems:"100"`
	Filter           wire.Optional[wire.Object] `json:"filter,omitzero" nullable:"true"`
	Name             wire.Optional[string]      `json:"name,omitzero" nullable:"true" minLength:"1" maxLength:"255"`
	IsActive         wire.Optional[bool]        `json:"isActive,omitzero" doc:"false pauses; true resumes, also after the platform has disabled the subscription"`
	ExcludeOwnEvents wire.Optional[bool]        `json:"excludeOwnEvents,omitzero"`
}

// Subscriptions lists the subscriptions of a company.
func (s *Service) Subscriptions(ctx context.Context, company tenant.ID, p list.Params, sort string) (*list.Page[Subscription], error) {
	q, err := list.New(subscriptionList, company, p, sort)
	if err != nil {
		return nil, err
	}
	q.Search("lower(COALESCE(name, '') || ' ' || url)")
	return list.Fetch(ctx, s.db, q, subscriptionTargets)
}

// Subscription reads one subscription.
func (s *Service) Subscription(ctx context.Context, company tenant.ID, id uuid.UUID) (Subscription, error) {
	return selectSubscription(ctx, s.db, company, id)
}

// CreateSubscription adds a subscription. The company's 21st is 409 WEBHOOK_LIMIT_REACHED; one with the URL and the events
// of another is 409 WEBHOOK_SUBSCRIPTION_EXISTS.
func (s *Service) CreateSubscription(ctx context.Context, tx *db.Tx, by access.Caller, in SubscriptionInput) (SubscriptionWithSecret, error) {
	sub := Subscription{
		ID: record.NewID(), CompanyID: by.Company, Name: in.Name, URL: in.URL, IsActive: in.IsActive, Status: statusPaused,
		ExcludeOwnEvents: in.ExcludeOwnEvents, CreatedByID: by.Actor, Meta: record.New(s.now()),
		readScopes: readScopes(by),
	}
	if in.IsActive {
		sub.Status = statusActive
	}
	var faults fault.Fields
	s.checkURL(&faults, in.URL)
	sub.Events = texts(s.checkPatterns(&faults, "events", in.Events))
	sub.Filter = checkFilter(&faults, in.Filter)
	if err := faults.Err(); err != nil {
		return SubscriptionWithSecret{}, err
	}
	if err := lockCompany(ctx, tx, by.Company); err != nil {
		return SubscriptionWithSecret{}, err
	}
	if err := checkAgainstOthers(ctx, tx, sub, true); err != nil {
		return SubscriptionWithSecret{}, err
	}
	sub.setSecret(webhook.NewSecret())
	insertSubscription(tx, sub)
	return sub.withSecret(), announce(ctx, tx, sub, "created")
}

// UpdateSubscription changes a subscription. Its receiver keeps seeing what the token that made it could read, so sending
// that elsewhere takes a token that can read as much.
func (s *Service) UpdateSubscription(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in SubscriptionPatch) (Subscription, error) {
	var faults fault.Fields
	if in.URL.Set {
		s.checkURL(&faults, in.URL.Value)
	}
	patterns := s.checkPatterns(&faults, "events", in.Events.Value)
	filter := checkFilter(&faults, in.Filter.Ptr())
	if err := faults.Err(); err != nil {
		return Subscription{}, err
	}
	if err := lockCompany(ctx, tx, by.Company); err != nil {
		return Subscription{}, err
	}
	sub, err := lockSubscription(ctx, tx, by.Company, id)
	if err != nil {
		return Subscription{}, err
	}
	if err := by.Expect(sub.Version); err != nil {
		return Subscription{}, err
	}
	old, now := sub, s.now()
	changes := in.apply(&sub, texts(patterns), filter, now)
	if len(changes) == 0 {
		return old, nil
	}
	if sub.URL != old.URL {
		if err := mayRedirect(by, sub); err != nil {
			return Subscription{}, err
		}
	}
	if sub.URL != old.URL || !slices.Equal(sub.Events, old.Events) {
		if err := checkAgainstOthers(ctx, tx, sub, false); err != nil {
			return Subscription{}, err
		}
	}
	sub.Touch(now)
	updateSubscription(tx, sub)
	return sub, announce(ctx, tx, sub, "updated")
}

func (p SubscriptionPatch) apply(s *Subscription, events []string, filter *wire.Object, now time.Time) record.Changes {
	var ch record.Changes
	ch.If(wire.Apply(&s.URL, p.URL), "url")
	ch.If(wire.ApplyNullable(&s.Name, p.Name), "name")
	ch.If(wire.Apply(&s.ExcludeOwnEvents, p.ExcludeOwnEvents), "excludeOwnEvents")
	if p.Filter.Set {
		canonical := wire.Optional[wire.Object]{Set: true, Null: filter == nil}
		if filter != nil {
			canonical.Value = *filter
		}
		ch.If(wire.ApplyNullable(&s.Filter, canonical), "filter")
	}
	if p.Events.Set && !slices.Equal(events, s.Events) {
		s.Events = events
		ch.If(true, "events")
	}
	if wire.Apply(&s.IsActive, p.IsActive) {
		s.setActive(p.IsActive.Value, now)
		ch.If(true, "isActive")
	}
	return ch
}

// setActive resumes or pauses.
func (s *Subscription) setActive(active bool, now time.Time) {
	if !active {
		s.Status = statusPaused
		return
	}
	if s.Status == statusDisabled {
		at := wire.At(now)
		s.enabledAt = &at
	}
	s.Status, s.DisabledReason = statusActive, nil
}

// DeleteSubscription removes a subscription; its open deliveries fail.
func (s *Service) DeleteSubscription(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) error {
	sub, err := selectSubscription(ctx, tx, by.Company, id)
	if err != nil {
		return err
	}
	if err := by.Expect(sub.Version); err != nil {
		return err
	}
	// Deliveries first, then the subscription: the order in which the dispatcher locks them.
	failOpenDeliveries(tx, sub, s.now())
	deleteSubscription(tx, sub)
	sub.Touch(s.now())
	return announce(ctx, tx, sub, "deleted")
}

// RotateSecret gives a subscription a new secret. For the overlap, 0 to 72 hours, requests are signed with the old one too.
func (s *Service) RotateSecret(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, overlapHours int) (SubscriptionWithSecret, error) {
	sub, err := lockSubscription(ctx, tx, by.Company, id)
	if err != nil {
		return SubscriptionWithSecret{}, err
	}
	if err := by.Expect(sub.Version); err != nil {
		return SubscriptionWithSecret{}, err
	}
	now := s.now()
	sub.oldSecret, sub.oldUntil = nil, nil
	if overlapHours > 0 {
		old, until := sub.secret, wire.At(now.Add(time.Duration(overlapHours)*time.Hour))
		sub.oldSecret, sub.oldUntil = &old, &until
	}
	sub.setSecret(webhook.NewSecret())
	sub.Touch(now)
	updateSubscription(tx, sub)
	return sub.withSecret(), announce(ctx, tx, sub, "updated")
}

func (s *Subscription) setSecret(secret string) {
	s.secret, s.SecretHint = secret, webhook.SecretHint(secret)
}

func (s *Service) checkURL(faults *fault.Fields, url string) {
	if err := egress.CheckURL(url, s.insecure); err != nil {
		faults.Add("url", fault.Format, "%s", err.Error())
	}
}

// checkAgainstOthers compares a new or changed subscription with the others of the company. The caller has locked the company.
func checkAgainstOthers(ctx context.Context, tx *db.Tx, sub Subscription, isNew bool) error {
	others, err := selectTargets(ctx, tx, sub.CompanyID)
	if err != nil {
		return err
	}
	for _, o := range others {
		if o.ID != sub.ID && o.URL == sub.URL && sameSet(o.Events, sub.Events) {
			return fault.StateConflict("WEBHOOK_SUBSCRIPTION_EXISTS",
				"subscription %s has the same url and events: change that one, or name other events", o.ID).With("subscriptionId", o.ID)
		}
	}
	if isNew && len(others) >= MaxSubscriptions {
		return fault.StateConflict("WEBHOOK_LIMIT_REACHED",
			"a company has at most %d subscriptions: delete one that is no longer used", MaxSubscriptions).With("limit", MaxSubscriptions)
	}
	return nil
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
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

// mayRedirect keeps a token from sending to a place of its choice what it may not read itself.
func mayRedirect(by access.Caller, sub Subscription) error {
	var missing []string
	for _, scope := range sub.readScopes {
		resource, _, _ := strings.Cut(scope, ":")
		if !by.Allows(resource, false) {
			missing = append(missing, scope)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fault.New(http.StatusForbidden, "AUTH_API_SCOPE_INSUFFICIENT",
		"the subscription sends what this token may not read: change its url with a token that has "+strings.Join(missing, ", ")).
		With("scopes", missing)
}

func texts(patterns []webhook.EventPattern) []string {
	list := make([]string, len(patterns))
	for i, p := range patterns {
		list[i] = string(p)
	}
	return list
}

// announce tells the dispatchers that what they know of the subscription is old.
func announce(ctx context.Context, tx *db.Tx, sub Subscription, change string) error {
	payload, err := json.Marshal(map[string]any{"companyId": sub.CompanyID, "id": sub.ID, "deleted": change == "deleted"})
	if err != nil {
		return fmt.Errorf("announce subscription %s: %w", sub.ID, err)
	}
	return outbox.Append(ctx, tx, sub.CompanyID, outbox.Message{
		ID: record.NewID(), Topic: topics.Subscriptions, Key: webhook.SubscriptionKey{Company: sub.CompanyID, ID: sub.ID}.String(),
		Name: "webhook.subscription." + change, AggType: "webhook_subscription", AggID: sub.ID,
		Version: sub.Version, Pos: sub.EvPos, Payload: payload, CreatedAt: sub.UpdatedAt.Std(),
	})
}
