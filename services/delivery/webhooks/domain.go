package webhooks

import (
	"time"

	"github.com/tradegrid/tradegrid/pkg/api/domain"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/cleanup"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

const deliveries = db.Table("deliveries")

// The event log has a scope of its own: it shows more than webhooks.
var (
	group    = httpapi.Group{Tag: "Webhooks", About: "Subscriptions, which deliver events to receivers, and their deliveries.", Scope: "webhooks", Component: "core"}
	logGroup = httpapi.Group{Tag: "Events", About: "The log of events, for clients that poll it.", Scope: "events", Component: "core"}
)

// Domain is what the domain declares of itself.
func Domain() domain.Domain {
	return domain.Domain{
		Name:   "webhooks",
		Events: event.Declare(group.Component, group.Scope, tested, disabled),
		Errors: []apierr.Doc{
			{Status: 409, Code: "WEBHOOK_SUBSCRIPTION_EXISTS", Advice: "There is a subscription with this url and these events."},
			{Status: 409, Code: "WEBHOOK_LIMIT_REACHED", Advice: "The plan of the company, in meta.plan, allows no more subscriptions than meta.limit. Delete one that is no longer used, or ask the operators of the platform for another plan."},
			{Status: 409, Code: "WEBHOOK_NOT_ORDERED", Advice: "The subscription is not ordered: its deliveries do not wait for each other, and none can be skipped."},
			{Status: 409, Code: "WEBHOOK_DELIVERY_OVER", Advice: "The delivery has arrived or failed. Nothing waits for it."},
			{Status: 409, Code: "WEBHOOK_DELIVERY_BLOCKED", Advice: "The delivery waits for what no request can hurry; meta.waitingFor says what: an earlier delivery of its record, a subscription that is paused or disabled, or a key of the operators."},
			{Status: 409, Code: "WEBHOOK_NOTHING_WAITS", Advice: "No delivery waits for the receiver, so there is none to ask it with. Send a test."},
			{Status: 410, Code: "EVENTS_CURSOR_EXPIRED", Advice: "The cursor points before the oldest event that is kept, or was issued before the platform was restored from a backup. Get a cursor with start=now, re-read the resources, then go on from that cursor."},
		},
		Scopes:   []access.Resource{{Name: "webhooks"}, {Name: "events", ReadOnly: true}},
		Entities: []string{"WEBHOOK_SUBSCRIPTION", "WEBHOOK_DELIVERY", "EVENT"},
		Tables:   []resource.Described{table},
		Lists:    []domain.Statements{items},
		Cleanup:  []cleanup.Job{deliveriesExpire},
		Samples: []domain.Sample{{
			Entity: "WEBHOOK_SUBSCRIPTION", Path: "/webhooks/subscriptions", Change: `{"filter":null,"isActive":false,"name":null}`,
			Create: `{"url":"https://example.com/hook","events":["*"],"filter":{"data.channel":["phone",null]},"name":"Accounting"}`,
		}},
	}
}

// Deliveries have no time to live of their own: an index on their age would cost more at each delivery than this scan
// once an hour.
var deliveriesExpire = cleanup.Job{
	Keep: 30 * 24 * time.Hour, Every: time.Hour,
	Delete: deliveries.Delete(`WHERE (company_id, subscription_id, id) IN (SELECT company_id, subscription_id, id FROM deliveries WHERE created_at < $1 AND state >= 2 LIMIT 1000)`),
}
