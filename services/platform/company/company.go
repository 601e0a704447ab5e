package company

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

const companies = db.Table("companies")

// States of a company.
const (
	Active   = "active"
	Archived = "archived"
)

// Company is a customer of the platform: the owner of all its records.
type Company struct {
	ID tenant.ID `json:"id" format:"uuid"`
	Settings
	Status     string   `json:"status" enum:"active,archived"`
	IsTest     bool     `json:"isTest"`
	Cell       string   `json:"cell" doc:"two characters, part of every token"`
	Components []string `json:"components" db:"-" doc:"that are enabled"`
	record.Meta
	ArchivedAt *jsontype.Time `json:"archivedAt"`
}

// RecordID is the last segment of the company's URL.
func (c Company) RecordID() string { return c.ID.String() }

// TransformSchema implements [huma.SchemaTransformer]: bounds are those of requests.
func (Company) TransformSchema(reg huma.Registry, s *huma.Schema) *huma.Schema {
	return record.Key{}.TransformSchema(reg, s)
}

// Settings are the settings that operators change.
type Settings struct {
	Name                 string        `json:"name" required:"true" minLength:"1" maxLength:"255" search:"text"`
	Plan                 string        `json:"plan" maxLength:"32" default:"standard" doc:"name of a plan, see GET /plans"`
	HomeRegion           string        `json:"homeRegion" maxLength:"64"`
	Currency             string        `json:"currency" pattern:"^[A-Z]{3}$" patternDescription:"three capital letters such as USD" default:"USD" doc:"ISO 4217"`
	CountryPrefix        string        `json:"countryPrefix" pattern:"^\\+[1-9][0-9]{0,3}$" patternDescription:"+ and 1 to 4 digits such as +1" default:"+1" doc:"calling code of the country that phone numbers without one belong to"`
	StockPolicy          string        `json:"stockPolicy" enum:"allow_negative,block" default:"allow_negative" doc:"whether orders and sales may take more than is available"`
	AccrualPercent       money.Percent `json:"accrualPercent" db:"accrual_percent_bp" default:"0" doc:"loyalty points earned, in percent of a sale"`
	TaxMode              string        `json:"taxMode" enum:"included,added" default:"included" doc:"whether the prices of new orders, deals and sales contain their taxes, or taxes are added"`
	TaxRounding          string        `json:"taxRounding" enum:"line,document" default:"line" doc:"whether taxes are rounded for each line, or once for each rate of a document"`
	BackdateDays         int32         `json:"backdateDays" minimum:"0" maximum:"366" default:"7" doc:"how many days ago sales, refunds, shifts, cash movements, payments, shipments and returns that are sent later may have happened"`
	BookingURL           *string       `json:"bookingUrl" maxLength:"255" pattern:"^(https://[A-Za-z0-9.-]+(:[0-9]{1,5})?|http://(localhost|127\\.0\\.0\\.1)(:[0-9]{1,5})?)/?$" patternDescription:"https:// and a host, such as https://book.example.com" doc:"scheme and host at which customers reach the links to their bookings, such as https://book.example.com; null = there are no links"`
	BookingChangeMinutes int32         `json:"bookingChangeMinutes" minimum:"0" maximum:"43200" default:"1440" doc:"how many minutes before its start a booking can last be moved or cancelled by its link"`
	BookingMails         bool          `json:"bookingMails" doc:"whether customers get e-mail when a booking is made, changed and about to begin"`
	BookingReminders     []int32       `json:"bookingReminders" minimum:"5" maximum:"43200" maxItems:"5" doc:"how many minutes before the start of a booking booking.reminder is raised"`
	Letterhead
	TimeZone    string `json:"timeZone" maxLength:"64" default:"UTC" doc:"IANA name"`
	Locale      string `json:"locale" maxLength:"35" pattern:"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$" patternDescription:"a language tag such as en or de-DE" default:"en" doc:"language and region in which the company addresses its clients, a BCP 47 tag such as de-DE"`
	MaxInFlight *int32 `json:"maxInFlight" minimum:"1" doc:"requests at the same time; null = as the plan says"`
}

// SchemaName implements [jsontype.Named].
func (Settings) SchemaName() string { return "CompanySettings" }

// NewCompany is the input of [Service.Create]. Only Name is required.
type NewCompany struct {
	ID             tenant.ID // zero = a new one
	Name           string
	Plan           string // "" = standard
	IsTest         bool
	HomeRegion     string // encoded in a new ID; decides where the rows of the company are stored
	Currency       string // "" = USD
	CountryPrefix  string // "" = +1
	TimeZone       string // "" = UTC
	Locale         string // "" = en
	StockPolicy    string // "" = allow_negative
	AccrualPercent money.Percent
	TaxMode        string // "" = included
	TaxRounding    string // "" = line
	BackdateDays   *int32 // nil = 7
	Bookings       NewBookingSettings
	Letterhead     Letterhead // DocumentPaper "" = a4
	MaxInFlight    *int32     // nil = the plan's
	Components     []string   // nil = all
	BranchName     string     // of the default branch and its warehouse; "" = Main
}

// NewBookingSettings are the settings of a new company on bookings.
type NewBookingSettings struct {
	URL           *string
	ChangeMinutes *int32 // nil = 1440
	Mails         bool
	Reminders     []int32
}

// Filter filters and sorts companies.
type Filter struct {
	list.Params
	Sort   string `query:"sort" enum:"name,createdAt"`
	Status string `query:"status" enum:"active,archived" where:"status = ?"`
	Plan   string `query:"plan" maxLength:"32" where:"plan = ?"`
	IsTest *bool  `query:"isTest" where:"is_test = ?"`
}

var items = list.Of[Company, Filter](companies, list.Spec{Platform: true})

var (
	currencyForm = regexp.MustCompile(`^[A-Z]{3}$`)
	localeForm   = regexp.MustCompile(`^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$`)
	prefixForm   = regexp.MustCompile(`^\+[1-9][0-9]{0,3}$`)
)

const (
	maxName         = 255
	maxBackdateDays = 366
)

func (in *NewCompany) normalise() {
	in.Name, in.BranchName = strings.TrimSpace(in.Name), strings.TrimSpace(in.BranchName)
	in.Plan = cmp.Or(in.Plan, "standard")
	in.Currency = cmp.Or(in.Currency, "USD")
	in.CountryPrefix = cmp.Or(in.CountryPrefix, "+1")
	in.TimeZone = cmp.Or(in.TimeZone, "UTC")
	in.Locale = cmp.Or(in.Locale, "en")
	in.StockPolicy = cmp.Or(in.StockPolicy, access.StockAllowNegative)
	in.TaxMode, in.TaxRounding = cmp.Or(in.TaxMode, access.TaxIncluded), cmp.Or(in.TaxRounding, access.TaxPerLine)
	in.BranchName = cmp.Or(in.BranchName, "Main")
	in.Letterhead.DocumentPaper = cmp.Or(in.Letterhead.DocumentPaper, PaperA4)
	if in.BackdateDays == nil {
		in.BackdateDays = new(int32(7))
	}
	if in.Bookings.ChangeMinutes == nil {
		in.Bookings.ChangeMinutes = new(int32(1440))
	}
	if in.ID.IsZero() {
		in.ID = tenant.NewIDIn(in.HomeRegion)
	}
}

// company checks the input and makes the first version of the record.
func (in *NewCompany) company(known *access.Registry, cell string, now time.Time) (Company, error) {
	in.normalise()
	if in.Components == nil {
		in.Components = known.Components()
	}
	var faults apierr.Fields
	c := Company{
		ID: in.ID, Status: Active, IsTest: in.IsTest, Cell: cell, Components: known.With(in.Components...), Meta: record.New(now),
		Settings: Settings{
			Name: in.Name, Plan: in.Plan, HomeRegion: in.HomeRegion, Currency: in.Currency, CountryPrefix: in.CountryPrefix, StockPolicy: in.StockPolicy,
			AccrualPercent: in.AccrualPercent, TaxMode: in.TaxMode, TaxRounding: in.TaxRounding, BackdateDays: *in.BackdateDays,
			BookingURL: in.Bookings.URL, BookingChangeMinutes: *in.Bookings.ChangeMinutes, BookingMails: in.Bookings.Mails, BookingReminders: in.Bookings.Reminders,
			Letterhead: in.Letterhead,
			TimeZone:   in.TimeZone, Locale: in.Locale, MaxInFlight: in.MaxInFlight,
		},
	}
	for _, alias := range in.Components {
		if err := known.CheckComponent(alias); err != nil {
			faults.Add("components", apierr.Enum, "%s", err.Error())
		}
	}
	checkText(&faults, "branchName", in.BranchName, maxName)
	c.Normalise()
	c.check(&faults)
	return c, faults.Err()
}

func (c *Settings) check(faults *apierr.Fields) {
	checkText(faults, "name", c.Name, maxName)
	if err := checkPlan(c.Plan); err != nil {
		faults.Add("plan", apierr.Enum, "%s", err.Error())
	}
	if utf8.RuneCountInString(c.HomeRegion) > 64 {
		faults.Add("homeRegion", apierr.Length, "at most 64 characters")
	}
	if !currencyForm.MatchString(c.Currency) {
		faults.Add("currency", apierr.Format, "%q is not an ISO 4217 code: use three capital letters such as USD", c.Currency)
	}
	if !prefixForm.MatchString(c.CountryPrefix) {
		faults.Add("countryPrefix", apierr.Format, "%q is not a country calling code: use + and 1 to 4 digits such as +1", c.CountryPrefix)
	}
	if _, err := time.LoadLocation(c.TimeZone); err != nil || c.TimeZone == "Local" || c.TimeZone == "" {
		faults.Add("timeZone", apierr.Format, "%q is not an IANA time zone: use a name such as Europe/Berlin", c.TimeZone)
	}
	if !localeForm.MatchString(c.Locale) || len(c.Locale) > 35 {
		faults.Add("locale", apierr.Format, "%q is not a BCP 47 language tag: use one such as en or de-DE", c.Locale)
	}
	if c.StockPolicy != access.StockAllowNegative && c.StockPolicy != access.StockBlock {
		faults.Add("stockPolicy", apierr.Enum, "%q is not a policy: use %s or %s", c.StockPolicy, access.StockAllowNegative, access.StockBlock)
	}
	if c.TaxMode != access.TaxIncluded && c.TaxMode != access.TaxAdded {
		faults.Add("taxMode", apierr.Enum, "%q is not a mode: use %s or %s", c.TaxMode, access.TaxIncluded, access.TaxAdded)
	}
	if c.TaxRounding != access.TaxPerLine && c.TaxRounding != access.TaxPerDocument {
		faults.Add("taxRounding", apierr.Enum, "%q is not a rounding: use %s or %s", c.TaxRounding, access.TaxPerLine, access.TaxPerDocument)
	}
	if c.AccrualPercent < 0 || c.AccrualPercent > money.MaxPercent {
		faults.Add("accrualPercent", apierr.Max, "must be between 0 and 100")
	}
	if c.BackdateDays < 0 || c.BackdateDays > maxBackdateDays {
		faults.Add("backdateDays", apierr.Max, "must be between 0 and %d", maxBackdateDays)
	}
	c.checkBookings(faults)
	if c.DocumentPaper != PaperA4 && c.DocumentPaper != PaperLetter {
		faults.Add("documentPaper", apierr.Enum, "%q is not a size: use %s or %s", c.DocumentPaper, PaperA4, PaperLetter)
	}
	if c.MaxInFlight != nil && *c.MaxInFlight < 1 {
		faults.Add("maxInFlight", apierr.Min, "must be at least 1; null takes the cap of the plan")
	}
}

// forCallers are the settings as operations take them.
func (c *Settings) forCallers() access.Settings {
	return access.Settings{
		StockPolicy: c.StockPolicy, AccrualPercentBP: int32(c.AccrualPercent), TimeZone: c.TimeZone, TaxMode: c.TaxMode, TaxRounding: c.TaxRounding,
		BackdateDays: c.BackdateDays, Locale: c.Locale,
		Bookings: access.BookingSettings{URL: record.OrZero(c.BookingURL), ChangeMinutes: c.BookingChangeMinutes, Mails: c.BookingMails, Reminders: c.BookingReminders, ReplyTo: c.MailReplyTo},
	}
}

func checkText(faults *apierr.Fields, field, s string, limit int) {
	s = strings.TrimSpace(s)
	switch n := utf8.RuneCountInString(s); {
	case n == 0:
		faults.Add(field, apierr.Required, "may not be empty")
	case n > limit || !utf8.ValidString(s) || strings.ContainsRune(s, 0):
		faults.Add(field, apierr.Length, "must be valid text of at most %d characters", limit)
	}
}

// Plan is what a company has subscribed to.
type Plan struct {
	Name     string `json:"name"`
	API      bool   `json:"apiEnabled" doc:"the plan includes the external API"`
	InFlight int    `json:"maxInFlight" doc:"requests of the company at the same time, over all its tokens of the tiers standard and high"`

	Subscriptions int `json:"maxWebhookSubscriptions" doc:"webhook subscriptions of the company; those that it has from a plan before stay"`
}

var plans = []Plan{
	{Name: "free", API: false, InFlight: 40, Subscriptions: 20},
	{Name: "standard", API: true, InFlight: 400, Subscriptions: 20},
	{Name: "business", API: true, InFlight: 4000, Subscriptions: 50},
	{Name: "enterprise", API: true, InFlight: 10_000, Subscriptions: access.MaxSubscriptions},
}

// planOf returns a plan. A plan that this release does not know keeps the API, with the smallest limits.
func planOf(name string) Plan {
	if i := slices.IndexFunc(plans, func(p Plan) bool { return p.Name == name }); i >= 0 {
		return plans[i]
	}
	return Plan{Name: name, API: true, InFlight: plans[0].InFlight, Subscriptions: plans[0].Subscriptions}
}

func planNames() []string {
	names := make([]string, len(plans))
	for i, p := range plans {
		names[i] = p.Name
	}
	return names
}

func checkPlan(name string) error {
	if slices.Contains(planNames(), name) {
		return nil
	}
	return fmt.Errorf("unknown plan %q: use one of %s", name, strings.Join(planNames(), ", "))
}
