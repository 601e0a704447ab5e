package main

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid"
	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/batchloader"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/domain"
	"github.com/tradegrid/tradegrid/pkg/event"
	"github.com/tradegrid/tradegrid/pkg/httpapi"
	"github.com/tradegrid/tradegrid/pkg/job"
	"github.com/tradegrid/tradegrid/pkg/list"
	"github.com/tradegrid/tradegrid/pkg/numbering"
	"github.com/tradegrid/tradegrid/pkg/secret"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/trade"
	"github.com/tradegrid/tradegrid/services/calendar"
	"github.com/tradegrid/tradegrid/services/catalog"
	"github.com/tradegrid/tradegrid/services/clients"
	"github.com/tradegrid/tradegrid/services/company"
	"github.com/tradegrid/tradegrid/services/console"
	"github.com/tradegrid/tradegrid/services/deals"
	"github.com/tradegrid/tradegrid/services/dispatch/store"
	"github.com/tradegrid/tradegrid/services/exports"
	"github.com/tradegrid/tradegrid/services/jobs"
	"github.com/tradegrid/tradegrid/services/leads"
	"github.com/tradegrid/tradegrid/services/offerings"
	"github.com/tradegrid/tradegrid/services/orders"
	"github.com/tradegrid/tradegrid/services/receipts"
	"github.com/tradegrid/tradegrid/services/sales"
	"github.com/tradegrid/tradegrid/services/scheduling"
	"github.com/tradegrid/tradegrid/services/suppliers"
	"github.com/tradegrid/tradegrid/services/warehouse"
	"github.com/tradegrid/tradegrid/services/webhooks"
)

// domains are the services of one process, each handed what it needs of the others.
type domains struct {
	db         *db.DB
	lists      *list.Node
	company    *company.Service
	catalog    *catalog.Service
	offerings  *offerings.Service
	clients    *clients.Service
	warehouse  *warehouse.Service
	suppliers  *suppliers.Service
	receipts   *receipts.Service
	leads      *leads.Service
	orders     *orders.Service
	deals      *deals.Service
	sales      *sales.Service
	scheduling *scheduling.Service
	webhooks   *webhooks.Service
	console    *console.Service
	jobs       *jobs.Service
	exports    *exports.Service
	events     *event.Registry
	access     *access.Registry
	keys       *secret.Keys
}

// declared is what the domains say of themselves, in the order in which clients see scopes and components listed. A sample
// refers to earlier ones only.
func declared() []domain.Domain {
	return []domain.Domain{
		part("core", nil, access.Component{Alias: "core", AlwaysOn: true}), // what every company has: company, webhooks, events
		catalog.Domain(),
		offerings.Domain(),
		calendar.Domain(),
		part("messenger", nil, access.Component{Alias: "messenger", AlwaysOn: true}),
		clients.Domain(),
		leads.Domain(),
		orders.Domain(),
		deals.Domain(),
		sales.Domain(),
		warehouse.Domain(),
		suppliers.Domain(),
		receipts.Domain(),
		scheduling.Domain(),
		webhooks.Domain(),
		company.Domain(),
		jobs.Domain(),
		exports.Domain(),
		console.Domain(),
	}
}

// part is a part of the platform that has scopes and components already and no package of its own yet, so that tokens and
// companies can be prepared for it.
func part(name string, scopes []access.Resource, components ...access.Component) domain.Domain {
	return domain.Domain{Name: name, Scopes: scopes, Components: components}
}

// accessRegistry is the complete list of scopes and components.
func accessRegistry() *access.Registry {
	var resources []access.Resource
	var components []access.Component
	for _, d := range declared() {
		resources, components = append(resources, d.Scopes...), append(components, d.Components...)
	}
	return access.NewRegistry(resources, components)
}

// declaredEvents are the events of all domains.
func declaredEvents() [][]event.Type {
	var events [][]event.Type
	for _, d := range declared() {
		events = append(events, d.Events)
	}
	return events
}

type domainConfig struct {
	AllowInsecure bool
	PublicURL     string            // scheme and host that clients reach the API at; "" makes links relative
	Cell          string            // of new tokens; "" = that of package company
	Keys          *secret.Keys      // seal the secrets of webhooks; nil where none are handled
	Operators     *secret.Operators // of the admin API; nil where it is not served
	Log           *slog.Logger
}

// newDomains makes the services. Without a database they can only be described.
func newDomains(d *db.DB, cfg domainConfig) *domains {
	all := &domains{db: d, lists: newLists(d), access: accessRegistry(), keys: cfg.Keys}
	all.events = event.NewRegistry(declaredEvents()...)
	all.catalog = catalog.New(catalog.Config{DB: d, Stock: warehouse.Totals, VariantStock: warehouse.VariantTotals, Suppliers: suppliers.Known, Services: offerings.InCategories{}})
	all.offerings = offerings.New(offerings.Config{
		DB: d, FilterCategory: catalog.FilterCategory, CategoryPrefixes: catalog.CategoryPrefixes, Products: catalog.KnownProducts, Units: catalog.KnownUnits,
	})
	all.company = company.New(company.Config{DB: d, Warehouses: warehouse.Defaults{}, Pipelines: deals.CreateDefault, Access: all.access, Log: cfg.Log, Cell: cfg.Cell})
	all.warehouse = warehouse.New(warehouse.Config{DB: d, Products: all.catalog, FilterCategory: catalog.FilterCategory, Users: all.company})
	all.clients = clients.New(clients.Config{DB: d, Users: all.company, Items: documentItems{all.catalog}})
	all.suppliers = suppliers.New(suppliers.Config{DB: d, Products: all.catalog})
	all.receipts = receipts.New(receipts.Config{
		DB: d, Catalog: all.catalog, Stock: all.warehouse, Suppliers: suppliers.Names, Users: all.company.UserNames,
	})
	numbers := numbering.New(numbering.Config{DB: d})
	all.orders = orders.New(orders.Config{
		DB: d, Numbers: numbers, Catalog: documentItems{all.catalog}, Clients: all.clients, Stock: all.warehouse, Users: all.company,
		PriceLists: all.clients, Addresses: all.clients, Assets: clients.KnownAssets, Deals: deals.Known,
	})
	all.sales = sales.New(sales.Config{
		DB: d, Numbers: numbers, Catalog: documentItems{all.catalog}, Clients: all.clients, Stock: all.warehouse, Users: all.company,
		Branches: all.company, PriceLists: all.clients,
	})
	all.scheduling = scheduling.New(scheduling.Config{
		DB: d, Calendar: calendar.New(), Clients: all.clients, Service: offerings.Booked, Services: offerings.Known,
		Users: all.company.KnownUsers, Branches: all.company.KnownBranches,
	})
	all.deals = deals.New(deals.Config{
		DB: d, Access: all.access, Catalog: documentItems{all.catalog}, Clients: all.clients, Users: all.company, Branches: all.company, Calendar: calendar.New(),
		PriceLists: all.clients, Addresses: all.clients, Assets: clients.KnownAssets, Venues: all.scheduling,
	})
	all.leads = leads.New(leads.Config{DB: d, Users: all.company, Clients: all.clients, Deals: all.deals})
	all.webhooks = webhooks.New(webhooks.Config{DB: d, Registry: all.events, Deliveries: store.Deliveries{}, Keys: cfg.Keys, AllowInsecure: cfg.AllowInsecure})
	all.exports = exports.New(exports.Config{DB: d})
	all.console = console.New(console.Config{DB: d, Operators: cfg.Operators, Access: all.access})
	all.jobs = jobs.New(jobs.Config{DB: d, Root: cfg.PublicURL + httpapi.BasePath})
	return all
}

// jobHandlers do the work of the jobs of all domains.
func (all *domains) jobHandlers() []job.Handler {
	return slices.Concat(all.exports.Jobs(), all.webhooks.Jobs(), all.catalog.Jobs())
}

// jobTypes are the names of all kinds of jobs.
func jobTypes() []string {
	var names []string
	for _, h := range newDomains(nil, domainConfig{}).jobHandlers() {
		names = append(names, h.Name)
	}
	return names
}

// newWorker makes the worker of an API node.
func (all *domains) newWorker(parallel int, log *slog.Logger) *job.Worker {
	return job.NewWorker(job.Config{DB: all.db, Owner: nodeName(), Handlers: all.jobHandlers(), Parallel: parallel, Log: log})
}

// documentItems reads the items of document lines: products from the catalog and services from the offerings.
type documentItems struct{ catalog *catalog.Service }

// OrderItems reads the items in one round trip. Unknown ones are omitted.
func (d documentItems) OrderItems(ctx context.Context, q db.Querier, company tenant.ID, refs []trade.ItemRef) (map[trade.ItemRef]trade.Item, error) {
	var reads []batchloader.Read
	parts := [2]map[trade.ItemRef]trade.Item{}
	for i, read := range [2]func(context.Context, db.Querier, tenant.ID, []trade.ItemRef) (map[trade.ItemRef]trade.Item, error){d.catalog.OrderItems, offerings.OrderItems} {
		kind := [2]string{trade.KindProduct, trade.KindService}[i]
		if slices.ContainsFunc(refs, func(r trade.ItemRef) bool { return r.Kind == kind }) {
			reads = append(reads, func(ctx context.Context, q db.Querier) (err error) {
				parts[i], err = read(ctx, q, company, refs)
				return err
			})
		}
	}
	if err := batchloader.Load(ctx, q, reads...); err != nil {
		return nil, err
	}
	all := map[trade.ItemRef]trade.Item{}
	for _, part := range parts {
		maps.Copy(all, part)
	}
	return all, nil
}

// apiConfig adds what both APIs share.
func (all *domains) apiConfig(cfg httpapi.Config) httpapi.Config {
	cfg.Lists = all.lists
	cfg.DB, cfg.Keys, cfg.Changelog = all.db, all.keys, tradegrid.Changelog
	for _, d := range declared() {
		cfg.Errors, cfg.Entities = append(cfg.Errors, d.Errors...), append(cfg.Entities, d.Entities...)
	}
	return cfg
}

// newAPI makes the external API with the operations and the error codes of all domains.
func (all *domains) newAPI(cfg httpapi.Config) *httpapi.API {
	cfg = all.apiConfig(cfg)
	cfg.Auth, cfg.AsyncAPI = all.company, all.events.AsyncAPI
	api := httpapi.New(cfg)
	all.catalog.Register(api)
	all.offerings.Register(api)
	all.clients.Register(api)
	all.leads.Register(api)
	all.orders.Register(api)
	all.sales.Register(api)
	all.warehouse.Register(api)
	all.deals.Register(api)
	all.suppliers.Register(api)
	all.receipts.Register(api)
	all.scheduling.Register(api)
	all.webhooks.Register(api)
	all.company.Register(api)
	all.jobs.Register(api)
	all.exports.Register(api)
	return api
}

// newAdminAPI makes the admin API.
func (all *domains) newAdminAPI(cfg httpapi.Config) *httpapi.API {
	cfg = all.apiConfig(cfg)
	cfg.Auth, cfg.Admin = all.console, &httpapi.Admin{Companies: all.company, Audit: all.console}
	api := httpapi.New(cfg)
	all.company.RegisterAdmin(api)
	all.catalog.RegisterAdmin(api)
	all.warehouse.RegisterAdmin(api)
	all.deals.RegisterAdmin(api)
	all.clients.RegisterAdmin(api)
	all.scheduling.RegisterAdmin(api)
	all.console.RegisterAdmin(api)
	return api
}

// stockReconciler checks the stock of all companies.
func (all *domains) stockReconciler(log *slog.Logger) *warehouse.Reconciler {
	return warehouse.NewReconciler(warehouse.ReconcilerConfig{
		DB: all.db, Reserves: all.orders.Reserved, Companies: all.company.IDs, Log: log,
	})
}

// setStock sets how many pieces of a product the default warehouse of a company has.
func (all *domains) setStock(ctx context.Context, tx *db.Tx, id tenant.ID, product uuid.UUID, pieces int64, reason string) error {
	w, ok, err := all.warehouse.FindWarehouse(ctx, tx, id, nil)
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("company %s has no default warehouse", id)
	}
	_, err = all.warehouse.SetStock(ctx, tx, demoCaller(id), warehouse.Adjustment{ProductID: product, WarehouseID: w, TargetQty: pieces, Reason: reason})
	return err
}

func demoCaller(id tenant.ID) access.Caller {
	return access.Caller{Principal: &access.Principal{Company: id, Settings: access.Settings{StockPolicy: access.StockAllowNegative}}}
}
