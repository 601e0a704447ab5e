package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// subscriptionVersion is what of a subscription decided, at some time, which events it got.
type subscriptionVersion struct {
	SubscriptionID uuid.UUID
	CreatedByID    uuid.UUID
	Version        int64
	Status         string
	Events         []string
	Filter         *string // JSON
	ExcludeOwn     bool
	ReadScopes     []string
}

func (s *Subscription) version() subscriptionVersion {
	v := subscriptionVersion{s.ID, s.CreatedByID, s.Version, s.Status, s.Events, nil, s.ExcludeOwnEvents, s.ReadScopes}
	if s.Filter != nil {
		text := string(*s.Filter)
		v.Filter = &text
	}
	return v
}

// terms compiles what decides.
func (v *subscriptionVersion) terms() (webhook.Terms, error) {
	t := webhook.Terms{Events: patternsOf(v.Events), Scopes: access.Scopes(v.ReadScopes), ExcludeOwn: v.ExcludeOwn, CreatedBy: v.CreatedByID}
	if v.Filter != nil {
		var wrong []webhook.FilterFault
		if t.Filter, wrong = webhook.CompileFilter([]byte(*v.Filter)); len(wrong) > 0 {
			return t, fmt.Errorf("filter of subscription %s: %s", v.SubscriptionID, wrong[0].Message)
		}
	}
	return t, nil
}

// miss describes the condition that keeps an event from the subscription.
func (v *subscriptionVersion) miss(filter *webhook.Filter, doc *webhook.Doc) (*FilterMiss, error) {
	m, _ := filter.Miss(doc)
	var wanted map[string]json.RawMessage
	if err := json.Unmarshal([]byte(*v.Filter), &wanted); err != nil {
		return nil, fmt.Errorf("filter of subscription %s: %w", v.SubscriptionID, err)
	}
	found, err := json.Marshal(m.Found)
	if err != nil {
		return nil, fmt.Errorf("value at %s: %w", m.Key, err)
	}
	miss := &FilterMiss{Key: m.Key, Wanted: wanted[m.Key], Found: found, Missing: !m.There, tooLong: len(found) > maxFound}
	if miss.tooLong {
		miss.Found = []byte("null")
	}
	return miss, nil
}

// maxVersions is how many versions of a subscription are kept.
const maxVersions = 100

const webhookSubscriptionVersions = db.Table("webhook_subscription_versions")

const sqlSelectVersionsAt = `SELECT v.subscription_id, w.created_by_id, v.version, v.status, v.events, v.filter, v.exclude_own_events, v.read_scopes
FROM webhook_subscriptions AS w CROSS JOIN LATERAL (
 SELECT subscription_id, version, status, events, filter::TEXT AS filter, exclude_own_events, read_scopes FROM webhook_subscription_versions
 WHERE company_id = w.company_id AND subscription_id = w.id AND valid_from <= $3
 ORDER BY company_id DESC, subscription_id DESC, version DESC LIMIT 1) AS v
WHERE w.company_id = $1 AND w.id = ANY($2::UUID[])`

var (
	sqlInsertVersion = webhookSubscriptionVersions.Insert(`(company_id, subscription_id, version, valid_from, status, events, filter, exclude_own_events, read_scopes)
SELECT company_id, id, version, updated_at, status, events, filter, exclude_own_events, read_scopes FROM webhook_subscriptions WHERE company_id = $1 AND id = $2
ON CONFLICT (company_id, subscription_id, version) DO NOTHING`).Reading(webhookSubscriptions)
	sqlDeleteVersions = webhookSubscriptionVersions.Delete(`WHERE company_id = $1 AND subscription_id = $2 AND version <= $3`)
)

// keepVersion notes what a subscription is after a change, or forgets what it was when it is deleted.
func keepVersion(tx *db.Tx, sub Subscription, deleted bool) {
	if deleted {
		tx.Queue(sqlDeleteVersions, sub.CompanyID, sub.ID, sub.Version)
		return
	}
	tx.Queue(sqlInsertVersion, sub.CompanyID, sub.ID)
	if old := sub.Version - maxVersions; old > 0 {
		tx.Queue(sqlDeleteVersions, sub.CompanyID, sub.ID, old)
	}
}

// selectVersionsAt reads what subscriptions were at a time; those of which that is not recorded are left out.
func selectVersionsAt(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID, at time.Time) (map[uuid.UUID]*subscriptionVersion, error) {
	all, err := db.Collect(ctx, q, "select versions of subscriptions", pgx.RowToAddrOfStructByPos[subscriptionVersion], sqlSelectVersionsAt, company, ids, at)
	if err != nil {
		return nil, err
	}
	found := make(map[uuid.UUID]*subscriptionVersion, len(all))
	for _, v := range all {
		found[v.SubscriptionID] = v
	}
	return found, nil
}

// sqlSelectOfEvent reads, for each subscription, the delivery of an event that tells what became of it. The deliveries of one
// event lie together: their ids begin with its time.
const sqlSelectOfEvent = `SELECT ` + deliveryColumns + ` FROM unnest($2::UUID[]) AS u(s) CROSS JOIN LATERAL (
 SELECT ` + deliveryColumns + ` FROM deliveries WHERE company_id = $1 AND subscription_id = u.s AND id BETWEEN $3 AND $4 AND event_id = $5
 ORDER BY state = 2 DESC, state < 2 DESC, redelivery_no DESC LIMIT 1) AS d`

func (s *Service) selectOfEvent(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID, event uuid.UUID) (map[uuid.UUID]*DeliveryRecord, error) {
	from, to := idsOf(event)
	all, err := s.collectDeliveries(ctx, q, company, sqlSelectOfEvent, company, ids, from, to, event)
	if err != nil {
		return nil, err
	}
	found := make(map[uuid.UUID]*DeliveryRecord, len(all))
	for i := range all {
		found[all[i].SubscriptionID] = &all[i]
	}
	return found, nil
}

// idsOf are the bounds of the ids of an event's deliveries.
func idsOf(event uuid.UUID) (from, to uuid.UUID) {
	to = uuid.Max
	copy(from[:6], event[:6])
	copy(to[:6], event[:6])
	return from, to
}
