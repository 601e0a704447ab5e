package operations

import (
	"bytes"
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
)

// Delivery is a delivery and whose it is.
type Delivery struct {
	CompanyID tenant.ID `json:"companyId"`
	webhooks.DeliveryRecord
}

// DeliveryFilter selects deliveries of all companies, or of one.
type DeliveryFilter struct {
	webhooks.DeliveryQuery // without its limit

	Company *tenant.ID // nil = all
	Limit   int
}

// deliveriesPage is how many deliveries of a company are read at once.
const deliveriesPage = 200

// FindDeliveries returns the deliveries of the newest events, and whether there are older ones, behind the id of the last as cursor.
// It asks each company that has subscriptions. With an error, it returns what was found until then.
func (p *Platform) FindDeliveries(ctx context.Context, f DeliveryFilter) (found []Delivery, more bool, err error) {
	found = []Delivery{}
	err = p.eachSubscribed(ctx, f.Company, func(company tenant.ID) error {
		some, err := p.deliveriesOf(ctx, company, f)
		found = append(found, some...)
		slices.SortFunc(found, func(x, y Delivery) int { return bytes.Compare(y.ID[:], x.ID[:]) })
		found = found[:min(len(found), f.Limit+1)]
		return err
	})
	if len(found) > f.Limit {
		return found[:f.Limit], true, err
	}
	return found, false, err
}

func (p *Platform) eachSubscribed(ctx context.Context, one *tenant.ID, do func(tenant.ID) error) error {
	if one != nil {
		return do(*one)
	}
	for after := (tenant.ID{}); ; {
		ids, err := p.cfg.Deliveries.Subscribed(ctx, after)
		if err != nil || len(ids) == 0 {
			return err
		}
		for _, id := range ids {
			if err := do(id); err != nil {
				return err
			}
		}
		after = ids[len(ids)-1]
	}
}

// deliveriesOf reads the newest deliveries of a company, page by page, and one more than the limit.
func (p *Platform) deliveriesOf(ctx context.Context, company tenant.ID, f DeliveryFilter) (found []Delivery, err error) {
	q := f.DeliveryQuery
	q.PageLimit = list.PageLimit{Limit: min(f.Limit+1, deliveriesPage)}
	for len(found) <= f.Limit {
		page, err := p.cfg.Deliveries.CompanyDeliveries(ctx, access.System(company), q)
		if err != nil {
			return found, err
		}
		for _, d := range page.Items {
			found = append(found, Delivery{company, d})
		}
		if page.NextCursor == nil {
			break
		}
		q.Cursor = *page.NextCursor
	}
	return found, nil
}

// Receivers lists the subscriptions of a company by name.
func (p *Platform) Receivers(ctx context.Context, company tenant.ID) ([]webhooks.Subscription, error) {
	page, err := p.cfg.Deliveries.Subscriptions(ctx, access.System(company), webhooks.SubscriptionFilter{Params: list.Params{PageSize: access.MaxSubscriptions}, Sort: "name"})
	if err != nil {
		return nil, err
	}
	return page.Items, nil
}

// ReceiversOf reads what the subscriptions of deliveries are called, by their ids; those that were deleted are left out.
func (p *Platform) ReceiversOf(ctx context.Context, of []Delivery) (map[uuid.UUID]webhooks.Subscription, error) {
	var keys []webhook.SubscriptionKey
	for _, d := range of {
		if key := (webhook.SubscriptionKey{Company: d.CompanyID, ID: d.SubscriptionID}); !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return p.cfg.Deliveries.SubscriptionsOf(ctx, keys)
}
