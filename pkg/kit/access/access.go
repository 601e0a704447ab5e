// Package access describes the caller of a request: the principal of a token, its scopes, the components and settings of
// its company, and its rate limit. Principals are created by services/platform/company and checked by the HTTP layer. The domains
// declare which scopes and components exist.
package access

import (
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

// Principal is the caller of an authenticated request. It is shared between requests and must not be modified.
type Principal struct {
	Company       tenant.ID
	CompanyName   string
	IsTest        bool
	Currency      string // ISO 4217
	CountryPrefix string // of phone numbers, such as +1
	InJob         bool   // a job acts for the caller, such as an import: what it changes is told to no customer
	TokenID       uuid.UUID
	TokenName     string
	Actor         uuid.UUID // the token's technical user
	Customer      bool      // a customer of the company, who has the link to something of theirs
	Scopes        Scopes
	Components    Components // with those that are always on
	Plan          string
	PlanAPI       bool       // the plan includes the API
	Subscriptions int        // webhook subscriptions that the plan allows
	Archived      bool       // the company is archived; the caller is rejected first of all
	Expired       bool       // the token had expired when the principal was loaded; also rejected first
	ExpiresAt     *time.Time // nil = never
	Rate          Rate
	Settings      Settings
}

// Allows reports whether the token may read or write the resource. Write scopes include reading.
func (p *Principal) Allows(resource string, write bool) bool { return p.Scopes.Allows(resource, write) }

// IsPerson reports whether the caller is a user who is signed in, rather than a token with its technical user.
func (p *Principal) IsPerson() bool { return p.Actor != uuid.Nil && p.TokenID == p.Actor }

// Has reports whether the component is enabled for the company.
func (p *Principal) Has(component string) bool { return p.Components.Has(component) }

// Who makes changes, if no user does.
const (
	ActorSystem   = "system"
	ActorCustomer = "customer"
)

// ActorID names who makes a change, as events and histories show it: a user, [ActorCustomer] or [ActorSystem].
func (p *Principal) ActorID() string {
	switch {
	case p.Actor != uuid.Nil:
		return p.Actor.String()
	case p.Customer:
		return ActorCustomer
	}
	return ActorSystem
}

// MaxSubscriptions is the largest number of webhook subscriptions that a plan allows; see docs/reference/limits.md#collections.
const MaxSubscriptions = 100

// Rate is the rate limit of a token.
type Rate struct {
	Limit           int     // burst size
	RefillPerSecond float64 // sustained requests per second
	InFlight        int     // concurrent requests of the company; 0 = unlimited
	Unlimited       bool    // no rate limit: Limit and RefillPerSecond are ignored
}

// RateWindow is the window that [Rate.PerWindow] counts for.
const RateWindow = time.Minute

// PerWindow is the number of requests that the token may make in a [RateWindow] in the long run.
func (r Rate) PerWindow() int { return int(r.RefillPerSecond * RateWindow.Seconds()) }

// Policies for requests that exceed the available stock.
const (
	StockAllowNegative = "allow_negative"
	StockBlock         = "block"
)

// How taxes are calculated; see docs/reference/rules.md#taxes.
const (
	TaxIncluded    = "included" // in prices
	TaxAdded       = "added"    // to what is left of the prices after discounts
	TaxPerLine     = "line"     // rounded for each line
	TaxPerDocument = "document" // rounded once for each rate of a document
)

// Settings are the settings of a company that operations depend on.
type Settings struct {
	StockPolicy      string // StockAllowNegative or StockBlock
	AccrualPercentBP int32  // loyalty points earned, in basis points of the total
	TimeZone         string // IANA name
	TaxMode          string // TaxIncluded or TaxAdded
	TaxRounding      string // TaxPerLine or TaxPerDocument
	BackdateDays     int32  // how old what is sent later may be
	Locale           string // language and region in which the company addresses its clients, a BCP 47 tag
	Bookings         BookingSettings
}

// BookingSettings say what the customers of a company can do with their bookings, and what they are told.
type BookingSettings struct {
	URL           string  // scheme and host of the links to bookings; "" = there are none
	ChangeMinutes int32   // how long before its start a booking can be moved and cancelled by its link
	Mails         bool    // customers get e-mail
	Reminders     []int32 // minutes before the start, the longest first
	ReplyTo       *string // address that answers to e-mail go to; nil = there is none
}

// BlocksStock reports whether stock may not become negative.
func (s Settings) BlocksStock() bool { return s.StockPolicy == StockBlock }

// Zone is the time zone of the company. Its name was checked when it was set.
func (s Settings) Zone() *time.Location {
	zone, err := time.LoadLocation(s.TimeZone)
	if err != nil {
		return time.UTC // a zone that newer time zone data no longer has
	}
	return zone
}

// Caller identifies who makes a change, and its precondition: the version that the changed record is expected to have.
type Caller struct {
	*Principal
	expected *int64 // nil = any
}

// Expecting returns the caller with a precondition, from If-Match.
func (c Caller) Expecting(version int64) Caller {
	c.expected = &version
	return c
}

// Unconditional returns the caller without its precondition, for changes of records other than the one that the request names.
func (c Caller) Unconditional() Caller {
	c.expected = nil
	return c
}

// Conditional reports whether the caller has a precondition.
func (c Caller) Conditional() bool { return c.expected != nil }

// Expect returns a 412 if the caller expects another version than the current one.
func (c Caller) Expect(current int64) error {
	if c.expected == nil || *c.expected == current {
		return nil
	}
	return apierr.New(http.StatusPreconditionFailed, "PRECONDITION_FAILED",
		fmt.Sprintf("the record has version %d but If-Match expects %d; read it again and retry the change", current, *c.expected)).
		With("currentVersion", current)
}

// System is the caller of what the platform changes in a company by itself: events name it as system.
func System(company tenant.ID) Caller {
	return Caller{Principal: &Principal{Company: company, Subscriptions: MaxSubscriptions}}
}
