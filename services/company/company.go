package company

import (
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/wire"
)

// States of a company.
const (
	Active   = "active"
	Archived = "archived"
)

// Company is a customer of the platform: the owner of all its records.
type Company struct {
	ID               tenant.ID  `json:"id"`
	Name             string     `json:"name"`
	Status           string     `json:"status"`
	Plan             string     `json:"plan"`
	IsTest           bool       `json:"isTest"`
	Cell             string     `json:"cell"` // two characters, part of every token
	HomeRegion       string     `json:"homeRegion"`
	Currency         string     `json:"currency"`      // ISO 4217
	CountryPrefix    string     `json:"countryPrefix"` // of phone numbers, such as +1
	StockPolicy      string     `json:"stockPolicy"`
	AccrualPercentBP int32      `json:"accrualPercentBp"` // loyalty points earned, basis points of the total
	TimeZone         string     `json:"timeZone"`
	MaxInFlight      *int32     `json:"maxInFlight"` // null = the plan's
	Components       []string   `json:"components"`  // that are on
	Version          int64      `json:"version"`
	CreatedAt        wire.Time  `json:"createdAt"`
	UpdatedAt        wire.Time  `json:"updatedAt"`
	ArchivedAt       *wire.Time `json:"archivedAt"`

	evPos int64
}

// NewCompany is what a company is made of. Only Name is required.
type NewCompany struct {
	ID            tenant.ID // zero = a fresh one
	Name          string
	Plan          string // "" = standard
	IsTest        bool
	HomeRegion    string   // a fresh ID carries it, which places the rows of the company
	Currency      string   // "" = USD
	CountryPrefix string   // "" = +1
	TimeZone      string   // "" = UTC
	StockPolicy   string   // "" = allow_negative
	Components    []string // nil = all
	BranchName    string   // of the default branch and its warehouse; "" = Main
}

// Settings are changes of a company's settings; nil leaves one as it is.
type Settings struct {
	Name             *string
	HomeRegion       *string
	Currency         *string
	CountryPrefix    *string
	TimeZone         *string
	StockPolicy      *string
	AccrualPercentBP *int32
	MaxInFlight      **int32 // a pointer to nil takes the plan's
}

// Filter chooses companies of a list, which is ordered by id.
type Filter struct {
	Search string    // substring of the name, any case
	Status string    // "" = any
	After  tenant.ID // last id of the page before
	Limit  int       // 1…200; 0 = 50
}

var (
	currencyForm = regexp.MustCompile(`^[A-Z]{3}$`)
	prefixForm   = regexp.MustCompile(`^\+[1-9][0-9]{0,3}$`)
)

const maxName = 255

func (in *NewCompany) normalise() {
	in.Name, in.BranchName = strings.TrimSpace(in.Name), strings.TrimSpace(in.BranchName)
	orElse(&in.Plan, "standard")
	orElse(&in.Currency, "USD")
	orElse(&in.CountryPrefix, "+1")
	orElse(&in.TimeZone, "UTC")
	orElse(&in.StockPolicy, access.StockAllowNegative)
	orElse(&in.BranchName, "Main")
	if in.ID.IsZero() {
		in.ID = tenant.NewIDIn(in.HomeRegion)
	}
	if in.Components == nil {
		in.Components = access.AllComponents()
	}
}

func orElse(s *string, def string) {
	if *s == "" {
		*s = def
	}
}

// company checks the input and makes the first version of the record.
func (in *NewCompany) company(cell string, now time.Time) (Company, error) {
	in.normalise()
	var faults fault.Fields
	c := Company{
		ID: in.ID, Name: in.Name, Status: Active, Plan: in.Plan, IsTest: in.IsTest, Cell: cell, HomeRegion: in.HomeRegion,
		Currency: in.Currency, CountryPrefix: in.CountryPrefix, StockPolicy: in.StockPolicy, TimeZone: in.TimeZone,
		Components: access.ComponentSet(in.Components...).List(), Version: 1, evPos: now.UnixMicro(),
		CreatedAt: wire.At(now), UpdatedAt: wire.At(now),
	}
	if err := checkPlan(in.Plan); err != nil {
		faults.Add("plan", fault.Enum, "%s", err.Error())
	}
	for _, alias := range in.Components {
		if err := access.CheckComponent(alias); err != nil {
			faults.Add("components", fault.Enum, "%s", err.Error())
		}
	}
	checkText(&faults, "branchName", in.BranchName, maxName)
	c.check(&faults)
	return c, faults.Err()
}

// apply changes the record and reports whether anything differs.
func (s Settings) apply(c *Company) bool {
	before := *c
	set(&c.Name, s.Name)
	set(&c.HomeRegion, s.HomeRegion)
	set(&c.Currency, s.Currency)
	set(&c.CountryPrefix, s.CountryPrefix)
	set(&c.TimeZone, s.TimeZone)
	set(&c.StockPolicy, s.StockPolicy)
	set(&c.AccrualPercentBP, s.AccrualPercentBP)
	set(&c.MaxInFlight, s.MaxInFlight)
	c.Name = strings.TrimSpace(c.Name)
	sameCap := (before.MaxInFlight == nil) == (c.MaxInFlight == nil) && (c.MaxInFlight == nil || *before.MaxInFlight == *c.MaxInFlight)
	return !sameCap || before.Name != c.Name || before.HomeRegion != c.HomeRegion || before.Currency != c.Currency ||
		before.CountryPrefix != c.CountryPrefix || before.TimeZone != c.TimeZone || before.StockPolicy != c.StockPolicy ||
		before.AccrualPercentBP != c.AccrualPercentBP
}

func set[T any](dst, src *T) {
	if src != nil {
		*dst = *src
	}
}

func (c *Company) check(faults *fault.Fields) {
	checkText(faults, "name", c.Name, maxName)
	if utf8.RuneCountInString(c.HomeRegion) > 64 {
		faults.Add("homeRegion", fault.Length, "at most 64 characters")
	}
	if !currencyForm.MatchString(c.Currency) {
		faults.Add("currency", fault.Format, "%q is not an ISO 4217 code: use three capital letters such as USD", c.Currency)
	}
	if !prefixForm.MatchString(c.CountryPrefix) {
		faults.Add("countryPrefix", fault.Format, "%q is not a country calling code: use + and 1 to 4 digits such as +1", c.CountryPrefix)
	}
	if _, err := time.LoadLocation(c.TimeZone); err != nil || c.TimeZone == "Local" || c.TimeZone == "" {
		faults.Add("timeZone", fault.Format, "%q is not an IANA time zone: use a name such as Europe/Berlin", c.TimeZone)
	}
	if c.StockPolicy != access.StockAllowNegative && c.StockPolicy != access.StockBlock {
		faults.Add("stockPolicy", fault.Enum, "%q is not a policy: use %s or %s", c.StockPolicy, access.StockAllowNegative, access.StockBlock)
	}
	if c.AccrualPercentBP < 0 || c.AccrualPercentBP > 10_000 {
		faults.Add("accrualPercentBp", fault.Max, "must be between 0 and 10000 basis points")
	}
	if c.MaxInFlight != nil && *c.MaxInFlight < 1 {
		faults.Add("maxInFlight", fault.Min, "must be at least 1; null takes the cap of the plan")
	}
}

func checkText(faults *fault.Fields, field, s string, limit int) {
	switch n := utf8.RuneCountInString(s); {
	case n == 0:
		faults.Add(field, fault.Required, "may not be empty")
	case n > limit || !utf8.ValidString(s) || strings.ContainsRune(s, 0):
		faults.Add(field, fault.Length, "must be valid text of at most %d characters", limit)
	}
}

// bump makes the next version of the record at the instant.
func (c *Company) bump(now time.Time) {
	c.Version++
	c.evPos = nextPos(c.evPos, now)
	c.UpdatedAt = wire.At(now)
}

// nextPos never goes back, whatever the clocks say.
func nextPos(pos int64, now time.Time) int64 { return max(pos+1, now.UnixMicro()) }

func newID() uuid.UUID { return uuid.Must(uuid.NewV7()) }
