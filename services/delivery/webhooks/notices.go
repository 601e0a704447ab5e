package webhooks

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/ownermail"
)

// tellDisabled raises webhook.disabled and tells the owners.
func (s *Service) tellDisabled(ctx context.Context, tx *db.Tx, sub Subscription) error {
	err := outbox.Raise(ctx, tx, sub.CompanyID, outbox.Event{
		Name: disabled.Name, Type: "webhook_subscription", ID: sub.ID, Meta: sub.Meta, Data: disabled.Data(&sub),
	})
	if err != nil {
		return err
	}
	_, err = ownermail.Add(ctx, tx, sub.CompanyID, s.cfg.Owners, ownermail.Notice{
		Kind: disabled.Name, Record: sub.ID, Since: sub.UpdatedAt.Std(),
		Subject: "Webhook disabled: " + sub.label(),
		Text: fmt.Sprintf(`The webhook subscription %s was disabled, because its receiver failed: %s.

It collects no more events. Those of the meantime are kept in the event log.

Once the receiver works again, set isActive of the subscription to true, and send the missed events again by a replay.

Subscription: %s`, sub.label(), *sub.DisabledReason, sub.ID),
	})
	return err
}

// label names a subscription for people: by its name, and by the host of its URL, the rest of which may be secret.
func (s *Subscription) label() string {
	host := "its receiver"
	if u, err := url.Parse(s.URL); err == nil {
		host = u.Host
	}
	if s.Name == nil {
		return "to " + host
	}
	return fmt.Sprintf("%q to %s", *s.Name, host)
}

// tellFailingAfter is how long a receiver fails before its owners are told.
const tellFailingAfter = time.Hour

const kindFailing = "webhook.failing"

// sqlSelectFailing finds, in all companies, receivers that fail and whose owners have not been told of this outage.
var sqlSelectFailing = `SELECT w.company_id, w.id, w.failing_since FROM webhook_subscriptions AS w
JOIN companies AS c ON c.id = w.company_id AND c.status = 'active'
WHERE w.failing_since IS NOT NULL AND w.failing_since <= $1 AND w.status = 'active'
AND ` + ownermail.Untold(kindFailing, "w.company_id", "w.id", "w.failing_since") + ` LIMIT 200`

type failing struct {
	Company tenant.ID
	ID      uuid.UUID
	Since   time.Time
}

// TellFailing tells owners of receivers that have failed for an hour, once for each outage.
func (s *Service) TellFailing(ctx context.Context) error {
	for ctx.Err() == nil {
		found, err := db.Collect(ctx, s.cfg.DB, "find failing receivers", pgx.RowToStructByPos[failing], sqlSelectFailing, s.cfg.DB.Now().Add(-tellFailingAfter))
		if err != nil {
			return err
		}
		for _, f := range found {
			if err := s.tellFailing(ctx, f); err != nil {
				return fmt.Errorf("tell owners of subscription %s: %w", f.ID, err)
			}
		}
		if len(found) == 0 {
			break
		}
	}
	return ctx.Err()
}

func (s *Service) tellFailing(ctx context.Context, f failing) error {
	return s.cfg.DB.RunTx(ctx, "webhook.tell_failing", func(ctx context.Context, tx *db.Tx) error {
		sub, err := table.Get(ctx, tx, f.Company, f.ID)
		if err != nil || sub.FailingSince == nil || sub.Status != statusActive {
			return err // it is back, or was disabled, which is told, too
		}
		_, err = ownermail.Add(ctx, tx, f.Company, s.cfg.Owners, ownermail.Notice{
			Kind: kindFailing, Record: f.ID, Since: sub.FailingSince.Std(),
			Subject: "Webhook failing: " + sub.label(),
			Text: fmt.Sprintf(`The receiver of the webhook subscription %s has failed since %s.

Deliveries are tried again. If the receiver fails for days, or answers 410 to everything for one, the subscription is disabled.

GET /webhooks/subscriptions/%s shows the last error in health.

Subscription: %s`, sub.label(), sub.FailingSince.Std().UTC().Format(time.RFC1123), f.ID, f.ID),
		})
		return err
	})
}
