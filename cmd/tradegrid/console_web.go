package main

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
	"github.com/tradegrid/tradegrid/services/console/people"
	"github.com/tradegrid/tradegrid/services/console/platform"
	"github.com/tradegrid/tradegrid/services/console/quickstart"
	recordpages "github.com/tradegrid/tradegrid/services/console/records"
	requestpages "github.com/tradegrid/tradegrid/services/console/requests"
	"github.com/tradegrid/tradegrid/services/console/settings"
	"github.com/tradegrid/tradegrid/services/console/shifts"
	"github.com/tradegrid/tradegrid/services/console/signin"
	"github.com/tradegrid/tradegrid/services/console/stock"
	"github.com/tradegrid/tradegrid/services/console/tokens"
	"github.com/tradegrid/tradegrid/services/console/web"
	webhookpages "github.com/tradegrid/tradegrid/services/console/webhooks"
	"github.com/tradegrid/tradegrid/services/operations"
	"github.com/tradegrid/tradegrid/services/platform/requests"
)

// webConfig is what the console is told by flags.
type webConfig struct {
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

// newWeb makes the console. An area is one line here.
// external and admin are the APIs of this process, which pages call.
func (all *domains) newWeb(cfg webConfig, external, admin web.API) (*web.App, error) {
	if cfg.Platform == nil {
		cfg.Platform = all.newPlatform(nil, cfg.Log)
	}
	log := requests.New(requests.Config{DB: all.db})
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	app, err := web.New(web.Config{
		DB: all.db, Sessions: all.accounts, Companies: all.company, Changes: all.console, Operators: all.operators, URL: cfg.URL, Proxies: cfg.Proxies,
		External: external, Admin: admin, APIURL: cfg.API,
		Source: cfg.Source, Gallery: cfg.Gallery, Release: release, MaxConns: cfg.MaxConns, MaxConnsOfAddress: cfg.MaxConnsOfAddress, Rate: cfg.Rate, Log: cfg.Log,
	},
		&signin.Room{Accounts: all.accounts, Users: all.company, Operators: all.operators, Log: cfg.Log},
		&account.Room{Accounts: all.accounts},
		&companies.Room{Companies: all.company, Accounts: all.accounts, Usage: cfg.Platform},
		&platform.Room{Platform: cfg.Platform, MailDir: cfg.MailDir},
		&home.Room{},
		&find.Room{},
		&dealpages.Room{Deals: all.deals},
		&bookingpages.Room{},
		&shifts.Room{},
		&stock.Room{},
		&webhookpages.Room{Webhooks: all.webhooks},
		recordpages.New(all.accounts, all.webhooks, all.jobs),
		&eventpages.Room{Events: all.webhooks, TraceURL: cfg.TraceURL},
		&requestpages.Room{Requests: log, Events: all.webhooks},
		&tokens.Room{Company: all.company, Scopes: all.access.Scopes(), API: cfg.API},
		&explorer.Room{Tokens: all.company, Scopes: all.access.Scopes(), Keys: all.keys},
		&eventcatalog.Room{Webhooks: all.webhooks, Events: all.events},
		&quickstart.Room{Docs: tradegrid.Docs(), API: cfg.API},
		&settings.Room{},
		&directories.Room{},
		&people.Room{Users: all.company, Accounts: all.accounts},
		&audit.Room{Changes: all.console},
	)
	if err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	return app, nil
}

// apiURL is where clients reach the external API; a placeholder where that is not configured.
func apiURL(public string) string {
	if public == "" {
		public = "$TRADEGRID_URL"
	}
	return public + httpapi.BasePath
}
