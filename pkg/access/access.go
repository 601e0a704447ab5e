// Package access says who is calling and what the caller may do: the principal behind a token, its scopes,
// the components and settings of its company, and its rate. It decides nothing by itself: services/company
// makes principals, the HTTP layer asks them. Which scopes and components there are is declared by the domains.
package access

import (
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// Principal is the caller of an authenticated request. It is shared between requests: never change one.
type Principal struct {
	Company       tenant.ID
	CompanyName   string
	IsTest        bool
	Currency      string // ISO 4217
	CountryPrefix string // of phone numbers, such as +1
	TokenID       uuid.UUID
	TokenName     string
	Actor         uuid.UUID // the token's technical user
	Scopes        Scopes
	Components    Components // with those that are always on
	Plan          string
	PlanAPI       bool       // the plan includes the API
	Archived      bool       // the company is archived; such a caller is refused before anything else
	Expired       bool       // the token had expired when the principal was loaded; refused likewise
	ExpiresAt     *time.Time // nil = never
	Rate          Rate
	Settings      Settings
}

// Allows reports whether the token may read, or write, the resource. Writing includes reading.
func (p *Principal) Allows(resource string, write bool) bool { return p.Scopes.Allows(resource, write) }

// Has reports whether the company has the component.
func (p *Principal) Has(component string) bool { return p.Components.Has(component) }

// Rate bounds what a token may ask for.
type Rate struct {
	Limit           int     // burst: requests at once after a pause
	RefillPerSecond float64 // requests per second in the long run
	InFlight        int     // requests of the company at the same time; 0 = unlimited
	Unlimited       bool    // no bucket at all: Limit and RefillPerSecond mean nothing
}

// RateWindow is the window that [Rate.PerWindow] counts for.
const RateWindow = time.Minute

// PerWindow is the number of requests that the token may make in a [RateWindow] in the long run.
func (r Rate) PerWindow() int { return int(r.RefillPerSecond * RateWindow.Seconds()) }

// What happens to stock that is asked for beyond what there is.
const (
	StockAllowNegative = "allow_negative"
	StockBlock         = "block"
)

// Settings are the switches of a company that its operations read.
type Settings struct {
	StockPolicy      string // StockAllowNegative or StockBlock
	AccrualPercentBP int32  // loyalty points earned, in basis points of the total
	TimeZone         string // IANA name
}

// BlocksStock reports whether stock may not become negative.
func (s Settings) BlocksStock() bool { return s.StockPolicy == StockBlock }
