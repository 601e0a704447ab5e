package scheduling

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

const schedulingResources = db.Table("scheduling_resources")

// Resource is something that can be booked: a person, a seat, a room or a machine. See docs/reference/rules.md#resources.
type Resource struct {
	record.Key
	ResourceFields
	record.Meta
}

// ResourceFields are the fields that API clients set.
type ResourceFields struct {
	Type                string         `json:"type" required:"true" enum:"staff,seat,unit,equipment"`
	Name                string         `json:"name" required:"true" minLength:"1" maxLength:"255" search:"text"`
	Description         *string        `json:"description" maxLength:"4000"`
	BranchID            *uuid.UUID     `json:"branchId" format:"uuid"`
	UserID              *uuid.UUID     `json:"userId" format:"uuid" doc:"the user behind a resource of type staff"`
	ServiceIDs          []uuid.UUID    `json:"serviceIds" format:"uuid" maxItems:"500" doc:"services that the resource provides; empty = any, or none with onlyListedServices"`
	OnlyListedServices  bool           `json:"onlyListedServices" doc:"true = no service but those of serviceIds, so that without any it is booked without a service; false = empty serviceIds mean any service"`
	Capacity            *int32         `json:"capacity" minimum:"1" maximum:"1000000" doc:"people; null = no limit"`
	ParallelBookings    int32          `json:"parallelBookings" minimum:"1" maximum:"1000" default:"1" doc:"bookings that may overlap at any instant"`
	SlotStepMinutes     int32          `json:"slotStepMinutes" minimum:"5" maximum:"1440" default:"30" doc:"duration of slots and bookings unless a service sets it"`
	BufferBeforeMinutes int32          `json:"bufferBeforeMinutes" minimum:"0" maximum:"480" doc:"kept free before each booking, unless its service has minutes of its own"`
	BufferAfterMinutes  int32          `json:"bufferAfterMinutes" minimum:"0" maximum:"480" doc:"kept free after each booking, unless its service has minutes of its own"`
	TimeZone            string         `json:"timeZone" minLength:"1" maxLength:"64" doc:"IANA name; default: that of the company"`
	WorkingHours        []WorkingHours `json:"workingHours" maxItems:"100" doc:"empty = every day from 09:00 to 21:00"`
	IsActive            bool           `json:"isActive" default:"true" doc:"false = cannot be booked"`
	Color               *string        `json:"color" pattern:"^#[0-9A-Fa-f]{6}$" patternDescription:"a HEX colour such as #1F6FEB" doc:"HEX"`
	PhotoFileID         *uuid.UUID     `json:"photoFileId" format:"uuid"`
	SortOrder           int32          `json:"sortOrder" minimum:"-1000000" maximum:"1000000"`
}

// ResourceFilter filters and sorts resources.
type ResourceFilter struct {
	list.Params
	Sort       string     `query:"sort" enum:"name,type,createdAt"`
	Type       []string   `query:"type" enum:"staff,seat,unit,equipment" where:"type = ANY(?::TEXT[])" doc:"comma-separated"`
	ServiceID  *uuid.UUID `query:"serviceId" format:"uuid" where:"(service_ids = ARRAY[]::UUID[] AND NOT only_listed_services OR service_ids @> ARRAY[?::UUID])" doc:"resources that provide this service, and those that are for any service"`
	ActiveOnly bool       `query:"activeOnly" where:"is_active = ?" doc:"only resources that can be booked"`
}

var (
	resources     = resource.Of[Resource](schedulingResources, "RESOURCE")
	resourceItems = list.Of[Resource, ResourceFilter](schedulingResources)
)

// Known returns those ids that are resources of the company.
var Known = resources.Known

// Normalise removes repeated services and keeps the order of first occurrences.
func (r *Resource) Normalise() {
	ids := make([]uuid.UUID, 0, len(r.ServiceIDs))
	for _, id := range r.ServiceIDs {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	r.ServiceIDs = ids
}

// check reports the faults that tags cannot express.
func (r *Resource) check() error {
	var faults apierr.Fields
	if _, err := time.LoadLocation(r.TimeZone); err != nil || r.TimeZone == "Local" {
		faults.Add("timeZone", apierr.Format, "must be the IANA name of a time zone, such as Europe/Berlin")
	}
	checkHours(&faults, "workingHours", r.WorkingHours)
	return faults.Err()
}

// provides reports whether the resource can be booked for the service; nil = without one.
func (r *Resource) provides(service *uuid.UUID) bool {
	if service == nil {
		return len(r.ServiceIDs) == 0
	}
	return len(r.ServiceIDs) == 0 && !r.OnlyListedServices || r.has(*service)
}

// has reports whether the service is one of those that the resource names.
func (r *Resource) has(service uuid.UUID) bool { return slices.Contains(r.ServiceIDs, service) }
