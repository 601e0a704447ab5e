package dev

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/telemetry"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/dev/demodata"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/services/roles"
	"github.com/tradegrid/tradegrid/topics"
)

// domainsAt returns services whose clock is now.
func domainsAt(all *roles.Domains, now func() time.Time) *roles.Domains {
	return roles.NewDomains(all.DB.WithClock(now), roles.DomainConfig{Policy: all.Policy, AllowInsecure: true, Keys: all.Keys})
}

// demoServices are the services that fill the demo company.
func (dm *demo) demoServices(now func() time.Time) demodata.Services {
	then := domainsAt(dm.domains, now)
	return demodata.Services{
		DB: then.DB, Files: then.Files, Catalog: then.Catalog, Offerings: then.Offerings, Clients: then.Clients, Warehouse: then.Warehouse, Suppliers: then.Suppliers, Taxes: then.Taxes,
		Purchases: then.Purchases, Receipts: then.Receipts, Transfers: then.Transfers, Writeoffs: then.Writeoffs, Counts: then.Counts, Returns: then.Returns, Leads: then.Leads, Orders: then.Orders, Invoices: then.Invoices, Deals: then.Deals, Sales: then.Sales, Scheduling: then.Scheduling,
		Own: then.Demo,
	}
}

// demoBranches are the shop, the depot, and spare ones for more warehouses.
var demoBranches = [4]string{"Centre", "North", "South", "East"} //nolint:gochecknoglobals // a constant

// fill makes the records of the demo company. The cash register has a token of its own, so that the token in dev.json can open
// a shift beside the one that is open.
func (dm *demo) fill(ctx context.Context) error {
	var till string
	if err := dm.issue(ctx, &till, dm.CompanyID, company.NewToken{Name: "cash register"}); err != nil {
		return err
	}
	cfg := demodata.Config{Size: dm.data, Now: dm.now, Services: dm.demoServices}
	var err error
	if cfg.Office, err = dm.caller(ctx, dm.Token); err != nil {
		return err
	}
	if cfg.Till, err = dm.caller(ctx, till); err != nil {
		return err
	}
	users, err := dm.domains.Company.Users(ctx, access.System(dm.CompanyID), false)
	if err != nil {
		return err
	}
	for _, u := range users {
		cfg.Staff = append(cfg.Staff, u.ID)
	}
	branches, err := dm.domains.Company.Branches(ctx, access.System(dm.CompanyID))
	if err != nil {
		return err
	}
	for _, b := range branches {
		switch b.Name {
		case demoBranches[0]:
			cfg.Shop = b.ID
		case demoBranches[1]:
			cfg.Depot = b.ID
		}
	}
	if dm.data == demodata.Large {
		cfg.Progress = func(format string, arguments ...any) { fmt.Fprintf(dm.out, format+"\n", arguments...) }
	}
	sample, err := demodata.Fill(telemetry.Untraced(ctx), cfg)
	if err != nil {
		return err
	}
	dm.ProductID, dm.ClientID = sample.ProductID.String(), sample.ClientID.String()
	// Otherwise the first thing that the receiver shows is all of the stock.
	return dm.domains.StockAnnouncer(slog.New(slog.DiscardHandler)).Announce(telemetry.Untraced(ctx), func() bool { return true })
}

// caller is who shows a token.
func (dm *demo) caller(ctx context.Context, token string) (access.Caller, error) {
	p, err := dm.domains.Company.Authenticate(ctx, token, netip.IPv6Loopback(), true)
	return access.Caller{Principal: p}, err
}

// routed waits until relay and router have seen the events of the company, so that a subscription that is created then gets
// none of them. It does not wait longer than a minute, which others who use the same brokers could make it do.
func routed(d *db.DB, client *kgo.Client) func(context.Context, tenant.ID) error {
	admin := kadm.NewClient(client)
	return func(ctx context.Context, id tenant.ID) error {
		end := time.NewTimer(time.Minute)
		defer end.Stop()
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			published, err := outbox.Published(ctx, d, id)
			if err != nil {
				return err
			}
			if published && caughtUp(ctx, admin) {
				return nil
			}
			select {
			case <-tick.C:
			case <-end.C:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
}

// caughtUp reports whether the router has handled all events.
func caughtUp(ctx context.Context, admin *kadm.Client) bool {
	lags, err := admin.Lag(ctx, topics.Routers)
	lag, ok := lags[topics.Routers]
	return err == nil && ok && lag.Error() == nil && lag.Lag.Total() == 0
}
