package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/delivery/egress"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/topics"
)

// Subscriptions lists the subscriptions of a company.
func (s *Service) Subscriptions(ctx context.Context, by access.Caller, f SubscriptionFilter) (*list.Page[Subscription], error) {
	q, err := items.Query(by.Company, f)
	if err != nil {
		return nil, err
	}
	q.Search("lower(COALESCE(name, '') || ' ' || url)")
	page, err := items.Fetch(ctx, s.cfg.DB, q)
	if err != nil {
		return nil, err
	}
	subs := make([]*Subscription, len(page.Items))
	for i := range page.Items {
		subs[i] = &page.Items[i]
		subs[i].show()
	}
	return page, s.showHealth(ctx, s.cfg.DB, by.Company, subs...)
}

// Subscription reads one subscription.
func (s *Service) Subscription(ctx context.Context, by access.Caller, id uuid.UUID) (Subscription, error) {
	sub, err := table.Get(ctx, s.cfg.DB, by.Company, id)
	if err != nil {
		return sub, err
	}
	sub.show()
	return sub, s.showHealth(ctx, s.cfg.DB, by.Company, &sub)
}

// CreateSubscription adds a subscription. One more than the plan allows is 409 WEBHOOK_LIMIT_REACHED; one with the URL and the events
// of another is 409 WEBHOOK_SUBSCRIPTION_EXISTS.
func (s *Service) CreateSubscription(ctx context.Context, tx *db.Tx, by access.Caller, in SubscriptionInput) (SubscriptionWithSecret, error) {
	if err := s.check(&in); err != nil {
		return SubscriptionWithSecret{}, err
	}
	sub := Subscription{SubscriptionFields: in.SubscriptionFields, Status: statusPaused, Collects: true, CreatedByID: by.Actor, ReadScopes: readScopes(by)}
	sub.Key = record.Key{ID: tx.NewID(), CompanyID: by.Company}
	if in.IsActive {
		sub.Status = statusActive
	}
	if err := lockCompany(ctx, tx, by.Company); err != nil {
		return SubscriptionWithSecret{}, err
	}
	if err := checkAgainstOthers(ctx, tx, by, sub, true); err != nil {
		return SubscriptionWithSecret{}, err
	}
	if err := s.setHeaders(&sub, in.Headers); err != nil {
		return SubscriptionWithSecret{}, err
	}
	if err := s.setCertificate(&sub, in.ClientCertificate, in.ClientKey); err != nil {
		return SubscriptionWithSecret{}, err
	}
	if err := sub.needsTLS(); err != nil {
		return SubscriptionWithSecret{}, err
	}
	text, err := s.newSecret(&sub)
	if err != nil {
		return SubscriptionWithSecret{}, err
	}
	if sub, err = table.Create(ctx, tx, by, sub); err != nil {
		return SubscriptionWithSecret{}, err
	}
	sub.show()
	sub.Health.Status = healthUnknown
	return SubscriptionWithSecret{sub, text}, announce(ctx, tx, sub, "created")
}

// UpdateSubscription changes a subscription. Its receiver keeps seeing what the token that made it could read, so sending
// that elsewhere, or choosing what is sent, takes a token that can read as much. No new URL gets the headers of the old one.
func (s *Service) UpdateSubscription(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in record.Patch[SubscriptionInput]) (Subscription, error) {
	if err := s.checkPatch(&in); err != nil {
		return Subscription{}, err
	}
	if err := lockCompany(ctx, tx, by.Company); err != nil {
		return Subscription{}, err
	}
	if in.Sent(&in.Value.Ordered) && !in.Value.Ordered {
		s.cfg.Deliveries.Unhold(tx, webhook.SubscriptionKey{Company: by.Company, ID: id}) // first, see DeleteSubscription
	}
	version := int64(0)
	sub, err := table.Change(ctx, tx, by, id, func(before Subscription, v *Subscription) error {
		version = before.Version
		changed := SubscriptionInput{SubscriptionFields: v.SubscriptionFields}
		in.Apply(&changed)
		v.SubscriptionFields = changed.SubscriptionFields
		if in.Sent(&in.Value.IsActive) {
			v.setActive(in.Value.IsActive, jsontype.At(tx.Now()))
		}
		moved, chosen := v.URL != before.URL, !slices.Equal(v.Events, before.Events)
		if moved || chosen || !record.Same(v.Filter, before.Filter) {
			if err := mayRead(by, before, "change its url, events or filter"); err != nil {
				return err
			}
		}
		switch {
		case in.Sent(&in.Value.Headers):
			if err := s.setHeaders(v, changed.Headers); err != nil {
				return err
			}
		case moved && v.StoredHeaders != "":
			return apierr.InvalidField("headers", apierr.Required, "a new url does not get the headers of the old one: send them again with it, or {} for none")
		}
		if in.Sent(&in.Value.ClientCertificate) || in.Sent(&in.Value.ClientKey) {
			if err := s.setCertificate(v, changed.ClientCertificate, changed.ClientKey); err != nil {
				return err
			}
		}
		if err := v.needsTLS(); err != nil {
			return err
		}
		if moved || chosen {
			return checkAgainstOthers(ctx, tx, by, *v, false)
		}
		return nil
	})
	if err != nil {
		return sub, err
	}
	sub.show()
	if err := s.showHealth(ctx, tx, by.Company, &sub); err != nil || sub.Version == version {
		return sub, err
	}
	return sub, announce(ctx, tx, sub, "updated")
}

// DeleteSubscription removes a subscription; its open deliveries fail.
func (s *Service) DeleteSubscription(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) error {
	sub, err := table.Get(ctx, tx, by.Company, id)
	if err != nil {
		return err
	}
	if err := by.Expect(sub.Version); err != nil {
		return err
	}
	// Deliveries first, then the subscription: the order in which the dispatcher locks them.
	s.cfg.Deliveries.FailOpen(tx, webhook.SubscriptionKey{Company: by.Company, ID: id}, tx.Now())
	if err := table.Remove(ctx, tx, by, sub); err != nil {
		return err
	}
	sub.Touch(tx.Now())
	return announce(ctx, tx, sub, "deleted")
}

// RotateSecretInput is the body of a rotation; it may be left out.
type RotateSecretInput struct {
	OverlapHours int `json:"overlapHours,omitempty" minimum:"0" maximum:"72" doc:"how long requests are signed with the old secret too"`
}

// RotateSecret gives a subscription a new secret. For the overlap, 0 to 72 hours, requests are signed with the old one too.
// Whoever holds the secret can forge what the subscription carries, so the caller must be able to read it.
func (s *Service) RotateSecret(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in *RotateSecretInput) (SubscriptionWithSecret, error) {
	var text string
	sub, err := table.Change(ctx, tx, by, id, func(before Subscription, v *Subscription) (err error) {
		if err := mayRead(by, before, "rotate its secret"); err != nil {
			return err
		}
		v.PreviousSecret, v.PreviousUntil = nil, nil
		if in != nil && in.OverlapHours > 0 {
			old, err := before.StoredSecret.Reseal(s.cfg.Keys, before.CompanyID, before.ID)
			if err != nil {
				return err
			}
			until := jsontype.At(tx.Now().Add(time.Duration(in.OverlapHours) * time.Hour))
			v.PreviousSecret, v.PreviousUntil = &old, &until
		}
		text, err = s.newSecret(v)
		return err
	})
	if err != nil {
		return SubscriptionWithSecret{}, err
	}
	sub.show()
	if err := s.showHealth(ctx, tx, by.Company, &sub); err != nil {
		return SubscriptionWithSecret{}, err
	}
	return SubscriptionWithSecret{sub, text}, announce(ctx, tx, sub, "updated")
}

// newSecret makes a secret and puts it, sealed, into the subscription.
func (s *Service) newSecret(sub *Subscription) (text string, err error) {
	text = webhook.NewSecret()
	sub.StoredSecret, err = webhook.SealSecret(s.cfg.Keys, sub.CompanyID, sub.ID, text)
	return text, err
}

// check checks what a client sends and brings it into its normal form.
func (s *Service) check(in *SubscriptionInput) error {
	var faults apierr.Fields
	s.checkURL(&faults, in.URL)
	patterns := s.checkPatterns(&faults, in.Events)
	in.Events = texts(patterns)
	in.Filter = s.checkFilter(&faults, in.Filter, patterns)
	in.Headers = checkHeaders(&faults, in.Headers)
	in.ClientCertificate = s.checkCertificate(&faults, in.ClientCertificate, in.ClientKey)
	return faults.Err()
}

func (s *Service) checkPatch(in *record.Patch[SubscriptionInput]) error {
	var faults apierr.Fields
	if in.Sent(&in.Value.URL) {
		s.checkURL(&faults, in.Value.URL)
	}
	patterns := s.checkPatterns(&faults, in.Value.Events)
	in.Value.Events = texts(patterns)
	in.Value.Filter = s.checkFilter(&faults, in.Value.Filter, patterns)
	in.Value.Headers = checkHeaders(&faults, in.Value.Headers)
	in.Value.ClientCertificate = s.checkCertificate(&faults, in.Value.ClientCertificate, in.Value.ClientKey)
	return faults.Err()
}

func (s *Service) checkURL(faults *apierr.Fields, url string) {
	if err := egress.CheckURL(url, s.cfg.AllowInsecure); err != nil {
		faults.Add("url", apierr.Format, "%s", err.Error())
	}
}

func texts(patterns []webhook.EventPattern) []string {
	all := make([]string, len(patterns))
	for i, p := range patterns {
		all[i] = string(p)
	}
	return all
}

const webhookCompanies = db.Table("webhook_companies")

var sqlLockCompany = webhookCompanies.Insert(`(company_id, changes) VALUES ($1, 1)
ON CONFLICT (company_id) DO UPDATE SET changes = webhook_companies.changes + 1`)

// lockCompany makes changes of the set of a company's subscriptions follow each other.
func lockCompany(ctx context.Context, tx *db.Tx, company tenant.ID) error {
	if err := tx.LockInProcess(ctx, "subscriptions", company); err != nil {
		return err
	}
	if _, err := tx.Write(ctx, sqlLockCompany, company); err != nil {
		return fmt.Errorf("lock subscriptions of company: %w", err)
	}
	return nil
}

// target is what no two subscriptions of a company share.
type target struct {
	ID     uuid.UUID
	URL    string
	Events []string
}

const sqlSelectTargets = `SELECT id, url, events FROM webhook_subscriptions WHERE company_id = $1`

// checkAgainstOthers compares a new or changed subscription with the others of the company. The caller has locked the company.
func checkAgainstOthers(ctx context.Context, tx *db.Tx, by access.Caller, sub Subscription, isNew bool) error {
	others, err := db.Collect(ctx, tx, "select subscriptions of company", pgx.RowToStructByPos[target], sqlSelectTargets, sub.CompanyID)
	if err != nil {
		return err
	}
	for _, o := range others {
		if o.ID != sub.ID && o.URL == sub.URL && sameSet(o.Events, sub.Events) {
			return apierr.StateConflict("WEBHOOK_SUBSCRIPTION_EXISTS",
				"subscription %s has the same url and events: change that one, or name other events", o.ID).With("subscriptionId", o.ID)
		}
	}
	if isNew && len(others) >= by.Subscriptions {
		return apierr.StateConflict("WEBHOOK_LIMIT_REACHED",
			"a company with the plan %s has at most %d subscriptions: delete one that is no longer used, or ask the operators of the platform for another plan",
			by.Plan, by.Subscriptions).With("limit", by.Subscriptions).With("plan", by.Plan)
	}
	return nil
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// announce invalidates the dispatchers' cached subscription, and notes what it is now.
func announce(ctx context.Context, tx *db.Tx, sub Subscription, change string) error {
	keepVersion(tx, sub, change == "deleted")
	return notify(ctx, tx, sub, change)
}

// notify tells the dispatchers that something about a subscription has changed.
func notify(ctx context.Context, tx *db.Tx, sub Subscription, change string) error {
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

var sqlDisable = webhookSubscriptions.Update(`SET status = 'disabled', disabled_reason = $3, version = version + 1, ev_pos = GREATEST(ev_pos + 1, $4), updated_at = $5
WHERE company_id = $1 AND id = $2 AND status = 'active' AND COALESCE(last_success_at, created_at) < $6 AND COALESCE(enabled_at, created_at) < $6`)

// Disable takes a subscription out of service whose receiver fails, unless it had a success or was enabled since the
// moment given. Its events stay in the event log, and its owners are told. It reports whether it did.
func (s *Service) Disable(ctx context.Context, company tenant.ID, id uuid.UUID, reason string, since time.Time) (disabled bool, err error) {
	err = s.cfg.DB.RunTx(ctx, "sweeper.disable", func(ctx context.Context, tx *db.Tx) error {
		now := tx.Now()
		tag, err := tx.Write(ctx, sqlDisable, company, id, reason, now.UnixMicro(), now, since)
		if disabled = err == nil && tag.RowsAffected() == 1; !disabled {
			return err
		}
		sub, err := table.Get(ctx, tx, company, id)
		if err != nil {
			return err
		}
		if err := announce(ctx, tx, sub, "disabled"); err != nil {
			return err
		}
		return s.tellDisabled(ctx, tx, sub)
	})
	if err != nil {
		return false, fmt.Errorf("disable subscription %s: %w", id, err)
	}
	return disabled, nil
}
