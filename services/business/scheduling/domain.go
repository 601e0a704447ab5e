package scheduling

import (
	"github.com/tradegrid/tradegrid/pkg/api/domain"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/cleanup"
)

var group = httpapi.Group{Tag: "Scheduling", About: "Bookings, the resources that are booked, and their free times.", Scope: "scheduling", Component: "scheduling"}

// Domain declares the domain.
func Domain() domain.Domain {
	return domain.Domain{
		Name:       "scheduling",
		Scopes:     []access.Resource{{Name: "scheduling"}},
		Components: []access.Component{{Alias: "scheduling"}},
		Events:     event.Declare(group.Component, group.Scope, created, rescheduled, confirmed, completed, noShow, cancelled, reminder, statusChanged, exceptionCreated, exceptionUpdated, exceptionDeleted),
		Errors: []apierr.Doc{
			{Status: 409, Code: "BOOKING_SLOT_TAKEN", Advice: "The resource has no free place at this time. Choose another time or resource; GET /scheduling/bookings/slots lists what is free."},
			{Status: 409, Code: "BOOKING_OUTSIDE_WORKING_HOURS", Advice: "The resource does not work during the whole time of the booking. Choose a time within its working hours, in its time zone."},
			{Status: 409, Code: "BOOKING_IN_PAST", Advice: "A booking cannot begin more than five minutes ago. Choose a later time."},
			{Status: 409, Code: "BOOKING_STATUS_TRANSITION_INVALID", Advice: "The booking cannot change to this status from its current one; meta.allowed lists the allowed statuses."},
			{Status: 409, Code: "BOOKING_FINALIZED", Advice: "The booking has ended, so that its time, resource, service and headcount cannot be changed. Create another booking."},
			{Status: 409, Code: "RESOURCE_INACTIVE", Advice: "The resource cannot be booked while isActive is false. Activate it, or choose another."},
			{Status: 409, Code: "RESOURCE_SERVICE_MISMATCH", Advice: "The resource does not provide the service; meta.allowed lists those that it does. Choose one of them, or another resource."},
			{Status: 409, Code: "SCHEDULE_EXCEPTION_LIMIT_REACHED", Advice: "A company has at most 5 000 exceptions that have not ended. Delete some, or join those of adjoining days."},
			{Status: 409, Code: "HOLD_LIMIT_REACHED", Advice: "A token has at most 100 holds that have not expired, a company 1 000. Book or release them, or wait until they expire."},
			{Status: 409, Code: "VENUE_CAPACITY_EXCEEDED", Advice: "headcount exceeds the capacity of the resource; meta has both. Lower headcount, or choose another resource."},
		},
		Entities: []string{"RESOURCE", "BOOKING", "SCHEDULE_EXCEPTION", "HOLD"},
		Tables:   []resource.Described{resources, bookings, exceptions, holds},
		Lists:    []domain.Statements{resourceItems, bookingItems, exceptionItems, holdItems},
		Cleanup:  []cleanup.Job{holdsExpire},
		Samples: []domain.Sample{{
			Entity: "RESOURCE", Path: "/scheduling/resources", Change: `{"name":"Ann","description":null,"parallelBookings":2}`,
			Create: `{"type":"staff","name":"Ann Moss","description":"Mechanic for e-bikes","serviceIds":["SERVICE"],"capacity":2,"slotStepMinutes":15,"timeZone":"Europe/Berlin","color":"#112233",
				"workingHours":[{"weekday":1,"from":"09:00","to":"18:00"},{"weekday":2,"from":"00:00","to":"24:00"}]}`,
		}, {
			Entity: "SCHEDULE_EXCEPTION", Path: "/scheduling/exceptions", Change: `{"name":"Moss at the fair","hours":[]}`,
			Create: `{"name":"Christmas Eve","resourceId":"RESOURCE","dateFrom":"2040-12-24","dateTo":"2040-12-24","hours":[{"from":"09:00","to":"12:00"}]}`,
		}, {
			Entity: "HOLD", Path: "/scheduling/holds",
			Create: `{"resourceId":"RESOURCE","serviceId":"SERVICE","startAt":"2040-01-03T08:00:00+01:00","headcount":1,"holdMinutes":15}`,
		}, {
			Entity: "BOOKING", Path: "/scheduling/bookings", Change: `{"note":null,"durationMinutes":60}`,
			Create: `{"resourceId":"RESOURCE","serviceId":"SERVICE","startAt":"2040-01-03T10:00:00+01:00","customerName":"Bo Corvane","customerPhone":"+49 30 12345","customerEmail":"bo@example.com",
				"clientId":"CLIENT","headcount":1,"note":"Front brake squeaks","externalId":"web-1"}`,
		}},
	}
}
