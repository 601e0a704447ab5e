package roles

import (
	"fmt"
	"log/slog"
	"net/netip"

	"github.com/tradegrid/tradegrid"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/api/ratelimit"
	"github.com/tradegrid/tradegrid/services/console/account"
	"github.com/tradegrid/tradegrid/services/console/audit"
	bookingpages "github.com/tradegrid/tradegrid/services/console/bookings"
	"github.com/tradegrid/tradegrid/services/console/companies"
	dealpages "github.com/tradegrid/tradegrid/services/console/deals"
	"github.com/tradegrid/tradegrid/services/console/directories"
	"github.com/tradegrid/tradegrid/services/console/eventcatalog"
	eventpages "github.com/tradegrid/tradegrid/services/console/events"
	"github.com/tradegrid/tradegrid/services/console/explorer"
	"github.com/tradegrid/tradegrid/services/console/find"
	"github.com/tradegrid/tradegrid/services/console/home"
	importpages "github.com/tradegrid/tradegrid/services/console/imports"
	leadpages "github.com/tradegrid/tradegrid/services/console/leads"
	"github.com/tradegrid/tradegrid/services/console/paper"
	"github.com/tradegrid/tradegrid/services/console/people"
	"github.com/tradegrid/tradegrid/services/console/pictures"
	"github.com/tradegrid/tradegrid/services/console/platform"
	"github.com/tradegrid/tradegrid/services/console/quickstart"
	recordpages "github.com/tradegrid/tradegrid/services/console/records"
	requestpages "github.com/tradegrid/tradegrid/services/console/requests"
	"github.com/tradegrid/tradegrid/services/console/settings"
	"github.com/tradegrid/tradegrid/services/console/shifts"
	"github.com/tradegrid/tradegrid/services/console/signin"
	"github.com/tradegrid/tradegrid/services/console/stock"
	"github.com/tradegrid/tradegrid/services/console/till"
	"github.com/tradegrid/tradegrid/services/console/tokens"
	"github.com/tradegrid/tradegrid/services/console/web"
	webhookpages "github.com/tradegrid/tradegrid/services/console/webhooks"
	"github.com/tradegrid/tradegrid/services/operations"
	"github.com/tradegrid/tradegrid/services/platform/requests"
)

// WebConfig is what the console is told by flags.
type WebConfig struct {
	URL               string // where people reach the console
	API               string // where clients reach the external API, with its path
	Proxies           []netip.Prefix
	Source            string
	Gallery           bool
	MaxConns          int
	MaxConnsOfAddress int
	Rate              *ratelimit.Limiter   // of the requests of people
	Platform          *operations.Platform // what operators look after; nil = one without brokers
	MailDir           string               // folder of the mails that `tradegrid dev` sends; "" = there is none
	TraceURL          string               // address of a trace, with {traceId}; "" = traces are not linked
	Log               *slog.Logger
}

// NewWeb makes the console. An area is one line here.
// external and admin are the APIs of this process, which pages call.
func (all *Domains) NewWeb(cfg WebConfig, external, admin web.API) (*web.App, error) {
	if cfg.Platform == nil {
		cfg.Platform = all.NewPlatform(nil, cfg.Log)
	}
	log := requests.New(requests.Config{DB: all.DB})
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	records := recordpages.New(all.Accounts, all.Webhooks, all.jobs, all.Console)
	app, err := web.New(web.Config{
		DB: all.DB, Sessions: all.Accounts, Companies: all.Company, Changes: all.Console, Operators: all.Operators, URL: cfg.URL, Proxies: cfg.Proxies,
		External: external, Admin: admin, APIURL: cfg.API,
		Source: cfg.Source, Gallery: cfg.Gallery, Release: Release, MaxConns: cfg.MaxConns, MaxConnsOfAddress: cfg.MaxConnsOfAddress, Rate: cfg.Rate, Log: cfg.Log,
	},
		&signin.Pages{Accounts: all.Accounts, Users: all.Company, Operators: all.Operators, Log: cfg.Log},
		&account.Pages{Accounts: all.Accounts},
		&companies.Pages{Companies: all.Company, Accounts: all.Accounts, Usage: cfg.Platform},
		&platform.Pages{Platform: cfg.Platform, MailDir: cfg.MailDir},
		&home.Pages{Activity: records},
		&find.Pages{},
		&dealpages.Pages{Deals: all.Deals},
		&leadpages.Pages{},
		&bookingpages.Pages{Bookings: all.Scheduling},
		&shifts.Pages{},
		&till.Pages{},
		&stock.Pages{},
		&paper.Pages{Files: all.Files, Texts: all.texts},
		&webhookpages.Pages{Webhooks: all.Webhooks},
		&importpages.Pages{Reports: all.imports},
		&pictures.Pages{Files: all.Files},
		records,
		&eventpages.Pages{Events: all.Webhooks, TraceURL: cfg.TraceURL},
		&requestpages.Pages{Requests: log, Events: all.Webhooks},
		&tokens.Pages{Company: all.Company, Scopes: all.Access.Scopes(), API: cfg.API},
		&explorer.Pages{Tokens: all.Company, Scopes: all.Access.Scopes(), Keys: all.Keys},
		&eventcatalog.Pages{Webhooks: all.Webhooks, Events: all.Events},
		&quickstart.Pages{Docs: tradegrid.Docs(), API: cfg.API},
		&settings.Pages{},
		&directories.Pages{},
		&people.Pages{Users: all.Company, Accounts: all.Accounts},
		&audit.Pages{Changes: all.Console, Teller: records},
	)
	if err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	return app, nil
}

// APIURL is where clients reach the external API; a placeholder where that is not configured.
func APIURL(public string) string {
	if public == "" {
		public = "$TRADEGRID_URL"
	}
	return public + httpapi.BasePath
}
