package company

import (
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/record"
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
	ID tenant.ID `json:"id"`
	Settings
	Status     string   `json:"status"`
	Plan       string   `json:"plan"`
	IsTest     bool     `json:"isTest"`
	Cell       string   `json:"cell"`              // two characters, part of every token
	Components []string `json:"components" db:"-"` // that are on
	record.Meta
	ArchivedAt *wire.Time `json:"archivedAt"`
}

// Settings are what an operator sets.
type Settings struct {
	Name             string `json:"name"`
	HomeRegion       string `json:"homeRegion"`
	Currency         string `json:"currency"`      // ISO 4217
	CountryPrefix    string `json:"countryPrefix"` // of phone numbers, such as +1
	StockPolicy      string `json:"stockPolicy"`
	AccrualPercentBP int32  `json:"accrualPercentBp"` // loyalty points earned, basis points of the total
	TimeZone         string `json:"timeZone"`
	MaxInFlight      *int32 `json:"maxInFlight"` // null = the plan's
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
}

func orElse(s *string, def string) {
	if *s == "" {
		*s = def
	}
}

// company checks the input and makes the first version of the record.
func (in *NewCompany) company(known *access.Registry, cell string, now time.Time) (Company, error) {
	in.normalise()
	if in.Components == nil {
		in.Components = known.Components()
	}
	var faults fault.Fields
	c := Company{
		ID: in.ID, Status: Active, Plan: in.Plan, IsTest: in.IsTest, Cell: cell, Components: known.With(in.Components...), Meta: record.New(now),
		Settings: Settings{
			Name: in.Name, HomeRegion: in.HomeRegion, Currency: in.Currency, CountryPrefix: in.CountryPrefix, StockPolicy: in.StockPolicy,
			TimeZone: in.TimeZone,
		},
	}
	if err := checkPlan(in.Plan); err != nil {
		faults.Add("plan", fault.Enum, "%s", err.Error())
	}
	for _, alias := range in.Components {
		if err := known.CheckComponent(alias); err != nil {
			faults.Add("components", fault.Enum, "%s", err.Error())
		}
	}
	checkText(&faults, "branchName", in.BranchName, maxName)
	c.check(&faults)
	return c, faults.Err()
}

func (c *Settings) check(faults *fault.Fields) {
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
	s = strings.TrimSpace(s)
	switch n := utf8.RuneCountInString(s); {
	case n == 0:
		faults.Add(field, fault.Required, "may not be empty")
	case n > limit || !utf8.ValidString(s) || strings.ContainsRune(s, 0):
		faults.Add(field, fault.Length, "must be valid text of at most %d characters", limit)
	}
}
