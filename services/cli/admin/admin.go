// Package admin has the commands of operators, which work on the database and the brokers without an API.
package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"unicode"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/kit/term"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/services/roles"
)

// Cmd creates and changes companies and who may act for them.
type Cmd struct {
	roles.DatabaseSource
	JSON bool `name:"json" help:"Write JSON instead of a table."`
	company.CellSettings
	webhook.Policy

	Company struct {
		Create    companyCreateCmd    `cmd:"" help:"Create a company with its default branch."`
		List      companyListCmd      `cmd:"" help:"List companies, newest first."`
		Show      companyShowCmd      `cmd:"" help:"Show one company."`
		Archive   companyArchiveCmd   `cmd:"" help:"Archive a company: its API is closed, its data stays."`
		Unarchive companyUnarchiveCmd `cmd:"" help:"Open an archived company again."`
		Plan      companyPlanCmd      `cmd:"" help:"Move a company to another plan."`
		Component companyComponentCmd `cmd:"" help:"Enable or disable a component of a company."`
		Settings  companySettingsCmd  `cmd:"" help:"Change settings of a company."`
		Usage     companyUsageCmd     `cmd:"" help:"Count requests, events and deliveries by day."`
	} `cmd:"" help:"Companies."`
	Token struct {
		Issue  tokenIssueCmd  `cmd:"" help:"Issue a token. Its text is shown only now."`
		List   tokenListCmd   `cmd:"" help:"List the tokens of a company."`
		Revoke tokenRevokeCmd `cmd:"" help:"Revoke a token immediately."`
		Rotate tokenRotateCmd `cmd:"" help:"Give a token a new secret. Its text is shown only now."`
	} `cmd:"" help:"API tokens."`
	Branch struct {
		Create branchCreateCmd `cmd:"" help:"Add a branch."`
		List   branchListCmd   `cmd:"" help:"List the branches of a company."`
	} `cmd:"" help:"Branches."`
	User struct {
		Invite   userInviteCmd   `cmd:"" help:"Invite a user."`
		Activate userActivateCmd `cmd:"" help:"Activate a user."`
		Update   userUpdateCmd   `cmd:"" help:"Change the name or the role of a user."`
		Block    userBlockCmd    `cmd:"" help:"Block a user."`
		List     userListCmd     `cmd:"" help:"List the users of a company."`
	} `cmd:"" help:"Users."`
	Stock struct {
		Check  stockCheckCmd  `cmd:"" help:"Compare the stock of a company with the movements and reserves that it is the sum of."`
		Repair stockRepairCmd `cmd:"" help:"Set the stock of a company to the sums of its movements and reserves where it differs, and list what differed."`
	} `cmd:"" help:"Stock."`
	Pipeline   pipelineCmd   `cmd:"" help:"Show the pipeline of events hop by hop: outbox, lag of the consumer groups, what deliveries wait for, open circuits."`
	Reconcile  reconcileCmd  `cmd:"" help:"Compare the events of an interval with their deliveries, and print each that is missing. Fails if there are any."`
	Deliveries deliveriesCmd `cmd:"" help:"Webhook deliveries of all companies."`
	Deadletter deadletterCmd `cmd:"" help:"What the platform gave up: events that Kafka does not take, records that dispatchers cannot process, failed deliveries."`
	Replay     replayCmd     `cmd:"" help:"Send the events of an interval to subscriptions again, after an incident."`
	Processes  processesCmd  `cmd:"" help:"List the processes that run, with their roles and releases."`
	Restored   restoredCmd   `cmd:"" help:"Say that the database was restored from a backup: a new epoch of the event log begins, and cursors issued before are refused."`
	Rekey      rekeyCmd      `cmd:"" help:"Bring all webhook secrets under the first key of --secret-keys-file. May be repeated and cut off."`
	LoadData   loadDataCmd   `cmd:"" help:"Create test companies with tokens and records for load tests, or archive them."`
}

// admin is what a subcommand works with.
type admin struct {
	*company.Service

	all    *roles.Domains
	out    io.Writer
	asJSON bool
}

// do opens the database, runs the subcommand, and names the flags at fault.
func (c *Cmd) do(ctx context.Context, out io.Writer, log *slog.Logger, run func(admin) error) error {
	cfg := c.DatabaseConfig()
	cfg.MaxConns, cfg.Log = 2, log
	d, err := db.Open(ctx, cfg)
	if err != nil {
		return err
	}
	defer d.Close()
	all := roles.NewDomains(d, roles.DomainConfig{Policy: c.Policy, Log: log, Cell: c.Cell})
	return flagFault(run(admin{all.Company, all, out, c.JSON}))
}

// notFoundFlags are the flags that name a record.
var notFoundFlags = map[string]string{
	"COMPANY_NOT_FOUND": "--company", "TOKEN_NOT_FOUND": "--token", "USER_NOT_FOUND": "--user", "USER_EMAIL_TAKEN": "--email",
}

// flagFault says a fault in terms of the command line.
func flagFault(err error) error {
	f, ok := apierr.As(err)
	if !ok {
		return err
	}
	if flag, ok := notFoundFlags[f.Code]; ok {
		return fmt.Errorf("%s: %s", flag, f.Message)
	}
	if len(f.Fields) == 0 {
		return errors.New(f.Message)
	}
	all := make([]error, len(f.Fields))
	for i, field := range f.Fields {
		all[i] = errors.New(flagOf(field.Field) + strings.TrimPrefix(field.Message, field.Field))
	}
	return errors.Join(all...)
}

// flagOf turns a field such as ipAllowlist[1] into its flag.
func flagOf(field string) string {
	if field == "customRate" {
		return "--rate-refill, --rate-burst, --rate-in-flight"
	}
	field, _, _ = strings.Cut(field, "[")
	var b strings.Builder
	for _, r := range field {
		if unicode.IsUpper(r) {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return "--" + b.String()
}

// write shows v as JSON, or the rows as a table under the head.
func (a admin) write(v any, head string, rows ...[]any) error {
	if a.asJSON {
		enc := json.NewEncoder(a.out)
		enc.SetIndent("", "  ")
		return enc.Encode(v)
	}
	return term.Table(a.out, head, rows)
}

func (a admin) companies(v any, list ...company.Company) error {
	rows := make([][]any, len(list))
	for i, c := range list {
		rows[i] = []any{c.ID, c.Name, c.Status, c.Plan, c.IsTest, c.Currency, c.StockPolicy, c.Components}
	}
	return a.write(v, "ID NAME STATUS PLAN TEST CURRENCY STOCK-POLICY COMPONENTS", rows...)
}

func (a admin) company(c company.Company, err error) error {
	if err != nil {
		return err
	}
	return a.companies(c, c)
}

type companyCreateCmd struct {
	Name          string    `help:"Name." required:""`
	ID            tenant.ID `help:"Id; random by default." placeholder:"UUID"`
	Plan          string    `help:"Plan: free, standard, business or enterprise." default:"standard"`
	Test          bool      `help:"Make it a test company; its tokens start with svc_test_."`
	HomeRegion    string    `help:"Region of its data. The id carries it permanently."`
	Currency      string    `help:"Currency code, ISO 4217." default:"USD"`
	CountryPrefix string    `help:"Country calling code of phone numbers." default:"+1"`
	TimeZone      string    `help:"Time zone, IANA name." default:"UTC"`
	Locale        string    `help:"Language and region, BCP 47 tag." default:"en"`
	StockPolicy   string    `help:"Whether orders may reserve more than is available: allow_negative or block." default:"allow_negative"`
	Components    []string  `help:"Components to enable; all by default."`
	BranchName    string    `help:"Name of the default branch." default:"Main"`
}

func (c *companyCreateCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *Cmd) error {
	return all.do(ctx, out, log, func(a admin) error {
		in := company.NewCompany{
			ID: c.ID, Name: c.Name, Plan: c.Plan, IsTest: c.Test, HomeRegion: c.HomeRegion, Currency: c.Currency, CountryPrefix: c.CountryPrefix,
			TimeZone: c.TimeZone, Locale: c.Locale, StockPolicy: c.StockPolicy, Components: c.Components, BranchName: c.BranchName,
		}
		var made company.Company
		err := a.all.DB.RunTx(ctx, "company.create", func(ctx context.Context, tx *db.Tx) (err error) {
			if made, err = a.Create(ctx, tx, in); err != nil {
				return err
			}
			return a.record(tx, "createCompany", c, made.ID, made)
		})
		return a.company(made, err)
	})
}

type companyListCmd struct {
	Search string `help:"Only companies whose name contains this text."`
	Status string `help:"active or archived." enum:"active,archived," default:""`
	Page   int    `help:"Page, from 1; the newest companies come first." default:"1"`
	Limit  int    `help:"Maximum number of companies on the page, 1 to 200." default:"50"`
}

func (c *companyListCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *Cmd) error {
	return all.do(ctx, out, log, func(a admin) error {
		page, err := a.Companies(ctx, access.Caller{Principal: &access.Principal{}}, company.Filter{
			Params: list.Params{Page: c.Page, PageSize: c.Limit, Search: c.Search}, Status: c.Status,
		})
		if err != nil {
			return err
		}
		return a.companies(page.Items, page.Items...)
	})
}

// Validate checks the page.
func (c *companyListCmd) Validate() error {
	if c.Page < 1 {
		return errors.New("--page: must be 1 or more")
	}
	if c.Limit < 1 || c.Limit > 200 {
		return errors.New("--limit: must be between 1 and 200")
	}
	return nil
}

// ofCompany is the flag of all subcommands about one company.
type ofCompany struct {
	Company tenant.ID `help:"Id of the company." required:"" placeholder:"UUID"`
}

type companyShowCmd struct{ ofCompany }

func (c *companyShowCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *Cmd) error {
	return all.do(ctx, out, log, func(a admin) error { return a.company(a.Get(ctx, c.Company)) })
}

type companyArchiveCmd struct{ ofCompany }

func (c *companyArchiveCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *Cmd) error {
	return all.do(ctx, out, log, func(a admin) error { return a.company(audited(ctx, a, "archiveCompany", c, c.Company, a.Archive)) })
}

type companyUnarchiveCmd struct{ ofCompany }

func (c *companyUnarchiveCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *Cmd) error {
	return all.do(ctx, out, log, func(a admin) error {
		return a.company(audited(ctx, a, "restoreCompany", c, c.Company, a.Unarchive))
	})
}

type companyPlanCmd struct {
	ofCompany
	Plan string `help:"free, standard, business or enterprise." required:""`
}

func (c *companyPlanCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *Cmd) error {
	return all.do(ctx, out, log, func(a admin) error {
		return a.company(auditedWith(ctx, a, "updateCompany", c, c.Company, a.SetPlan, c.Plan))
	})
}

type companyComponentCmd struct {
	ofCompany
	Component string `help:"Alias, such as deals." required:""`
	Enable    bool   `help:"Enable the component." xor:"switch" required:""`
	Disable   bool   `help:"Disable the component." xor:"switch" required:""`
}

func (c *companyComponentCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *Cmd) error {
	in := company.Switch{Component: c.Component, On: c.Enable}
	return all.do(ctx, out, log, func(a admin) error {
		return a.company(auditedWith(ctx, a, "setCompanyComponent", c, c.Company, a.SetComponent, in))
	})
}

// percent is a share in percent.
type percent money.Percent

// UnmarshalText reads the flag.
func (p *percent) UnmarshalText(b []byte) error {
	v, err := money.ParsePercent(b)
	*p = percent(v)
	return err
}

type companySettingsCmd struct {
	ofCompany
	Name                 *string  `help:"Name."`
	HomeRegion           *string  `help:"Home region. Does not move data: the id of the company decides where it is."`
	Currency             *string  `help:"Currency code, ISO 4217."`
	CountryPrefix        *string  `help:"Country calling code of phone numbers."`
	TimeZone             *string  `help:"Time zone, IANA name."`
	Locale               *string  `help:"Language and region, BCP 47 tag."`
	StockPolicy          *string  `help:"Whether orders may reserve more than is available: allow_negative or block."`
	TaxMode              *string  `help:"Whether prices of new documents contain their taxes: included or added."`
	TaxRounding          *string  `help:"Where taxes are rounded: line or document."`
	BackdateDays         *int32   `help:"How many days ago sales, shifts, cash movements, payments, shipments and returns that are sent later may have happened, 0 to 366."`
	BookingURL           *string  `name:"booking-url" help:"Scheme and host of the links to bookings, such as https://book.example.com; empty = there are none."`
	BookingChangeMinutes *int32   `help:"How many minutes before its start a booking can last be moved or cancelled by its link, 0 to 43200."`
	BookingMails         *bool    `help:"Send e-mail to customers on their bookings." negatable:""`
	BookingReminders     *[]int32 `help:"How many minutes before the start of a booking booking.reminder is raised, such as 1440,120; empty = never."`
	AccrualPercent       *percent `help:"Loyalty points earned, in percent of the total, such as 2.5."`
	MaxInFlight          *int32   `help:"Maximum number of concurrent requests; 0 = the limit of the plan."`
}

func (c *companySettingsCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *Cmd) error {
	settings := c.settings()
	return all.do(ctx, out, log, func(a admin) error {
		return a.company(auditedWith(ctx, a, "updateCompany", c, c.Company, a.Configure, settings))
	})
}

// bookings sets the settings on bookings whose flags were given, and returns their names.
func (c *companySettingsCmd) bookings(in *company.Settings) (names []string) {
	if c.BookingURL != nil {
		names = append(names, "bookingUrl")
		if *c.BookingURL != "" {
			in.BookingURL = c.BookingURL
		}
	}
	if c.BookingChangeMinutes != nil {
		in.BookingChangeMinutes, names = *c.BookingChangeMinutes, append(names, "bookingChangeMinutes")
	}
	if c.BookingMails != nil {
		in.BookingMails, names = *c.BookingMails, append(names, "bookingMails")
	}
	if c.BookingReminders != nil {
		in.BookingReminders, names = *c.BookingReminders, append(names, "bookingReminders")
	}
	return names
}

// settings are those whose flags were given.
func (c *companySettingsCmd) settings() record.Patch[company.Settings] {
	var in company.Settings
	var names []string
	for _, t := range []struct {
		name     string
		to, from *string
	}{
		{"name", &in.Name, c.Name},
		{"homeRegion", &in.HomeRegion, c.HomeRegion},
		{"currency", &in.Currency, c.Currency},
		{"countryPrefix", &in.CountryPrefix, c.CountryPrefix},
		{"timeZone", &in.TimeZone, c.TimeZone},
		{"locale", &in.Locale, c.Locale},
		{"stockPolicy", &in.StockPolicy, c.StockPolicy},
		{"taxMode", &in.TaxMode, c.TaxMode},
		{"taxRounding", &in.TaxRounding, c.TaxRounding},
	} {
		if t.from != nil {
			*t.to, names = *t.from, append(names, t.name)
		}
	}
	if c.AccrualPercent != nil {
		in.AccrualPercent, names = money.Percent(*c.AccrualPercent), append(names, "accrualPercent")
	}
	if c.BackdateDays != nil {
		in.BackdateDays, names = *c.BackdateDays, append(names, "backdateDays")
	}
	names = append(names, c.bookings(&in)...)
	if c.MaxInFlight != nil {
		names = append(names, "maxInFlight")
		if *c.MaxInFlight != 0 {
			in.MaxInFlight = c.MaxInFlight
		}
	}
	return record.PatchOf(in, names...)
}
