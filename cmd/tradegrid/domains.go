package main

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid"
	"github.com/tradegrid/tradegrid/pkg/api/domain"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/secret"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/blob"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/job"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/notice"
	"github.com/tradegrid/tradegrid/pkg/store/numbering"
	"github.com/tradegrid/tradegrid/pkg/store/quota"
	"github.com/tradegrid/tradegrid/schemas"
	"github.com/tradegrid/tradegrid/services/business/calendar"
	"github.com/tradegrid/tradegrid/services/business/catalog"
	"github.com/tradegrid/tradegrid/services/business/clients"
	"github.com/tradegrid/tradegrid/services/business/deals"
	"github.com/tradegrid/tradegrid/services/business/files"
	"github.com/tradegrid/tradegrid/services/business/leads"
	"github.com/tradegrid/tradegrid/services/business/offerings"
	"github.com/tradegrid/tradegrid/services/business/orders"
	"github.com/tradegrid/tradegrid/services/business/receipts"
	"github.com/tradegrid/tradegrid/services/business/reports"
	"github.com/tradegrid/tradegrid/services/business/sales"
	"github.com/tradegrid/tradegrid/services/business/scheduling"
	"github.com/tradegrid/tradegrid/services/business/suppliers"
	"github.com/tradegrid/tradegrid/services/business/trade"
	"github.com/tradegrid/tradegrid/services/business/warehouse"
	"github.com/tradegrid/tradegrid/services/delivery/store"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
	"github.com/tradegrid/tradegrid/services/operations"
	"github.com/tradegrid/tradegrid/services/platform/accounts"
	"github.com/tradegrid/tradegrid/services/platform/audit"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/services/platform/exports"
	"github.com/tradegrid/tradegrid/services/platform/imports"
	"github.com/tradegrid/tradegrid/services/platform/jobs"
	"github.com/tradegrid/tradegrid/services/platform/requests"
)

// domains are the services of one process, each handed what it needs of the others. A service that nothing else needs has no field.
type domains struct {
	db         *db.DB
	policy     webhook.Policy
	lists      *list.Node
	company    *company.Service
	files      *files.Service
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
	console    *audit.Service
	accounts   *accounts.Service
	jobs       *jobs.Service
	operators  *secret.Operators
	declared   []domain.Domain
	external   []externalService
	admin      []adminService
	workers    []jobService
	demos      []demoService
	events     *event.Registry
	access     *access.Registry
	keys       *secret.Keys
}

type domainConfig struct {
	Policy        webhook.Policy // of deliveries and of the event log; required with a database
	AllowInsecure bool
	PublicURL     string             // scheme and host that clients reach the API at; "" makes links relative
	Cell          string             // of new companies; "" = that of package company
	Keys          *secret.Keys       // seal the secrets of webhooks; nil where none are handled
	Operators     *secret.Operators  // of the admin API and the console; nil where neither is served
	ConsoleURL    string             // where people reach the console, for links in mails; "" = there is none, and no invitations are mailed
	Provider      *accounts.Provider // by which people sign in to the console, too; nil = none
	Files         blob.Store         // contents of files; nil = in the database
	FileQuota     *quota.Meter       // bytes of files; nil = no quota
	Log           *slog.Logger
}

// newDomains makes the services. Without a database they can only be described. A domain follows those that it needs and those
// that its samples refer to.
func newDomains(d *db.DB, cfg domainConfig) *domains {
	all := &domains{db: d, policy: cfg.Policy, lists: newLists(d), events: event.NewRegistry(), access: access.NewRegistry(nil, nil), keys: cfg.Keys, operators: cfg.Operators}
	numbers := numbering.New(numbering.Config{DB: d})
	all.company = add(all, company.Domain(), company.New(company.Config{
		DB: d, Warehouses: warehouse.Defaults{}, Pipelines: deals.CreateDefault, Access: all.access, Log: cfg.Log, Cell: cfg.Cell,
	}), withAPI, withAdminAPI)
	if cfg.Files == nil && d != nil {
		cfg.Files = blob.NewDatabase(d)
	}
	all.files = add(all, files.Domain(), files.New(files.Config{
		DB: d, Store: cfg.Files, Keys: cfg.Keys, Quota: cfg.FileQuota, Root: cfg.PublicURL + httpapi.BasePath, Log: cfg.Log,
	}), withAPI)
	all.accounts = add(all, accounts.Domain(), accounts.New(accounts.Config{
		DB: d, Keys: cfg.Keys, Active: all.company.SignsIn, URL: cfg.ConsoleURL, Provider: cfg.Provider, Log: cfg.Log,
	}))
	all.catalog = add(all, catalog.Domain(), catalog.New(catalog.Config{
		DB: d, Stock: warehouse.Totals, VariantStock: warehouse.VariantTotals, Suppliers: suppliers.Known, Services: offerings.InCategories{},
	}), withAPI, withAdminAPI, withJobs)
	items := documentItems{all.catalog}
	all.offerings = add(all, offerings.Domain(), offerings.New(offerings.Config{
		DB: d, FilterCategory: catalog.FilterCategory, CategoryPrefixes: catalog.CategoryPrefixes, Products: catalog.KnownProducts, Units: catalog.KnownUnits,
	}), withAPI)
	events := add(all, calendar.Domain(), calendar.New())
	all.warehouse = add(all, warehouse.Domain(), warehouse.New(warehouse.Config{
		DB: d, Products: all.catalog, ProductOf: catalog.ProductOf, FilterCategory: catalog.FilterCategory, Users: all.company,
	}), withAPI, withAdminAPI)
	all.suppliers = add(all, suppliers.Domain(), suppliers.New(suppliers.Config{DB: d, Products: all.catalog}), withAPI, withDemo)
	all.receipts = add(all, receipts.Domain(), receipts.New(receipts.Config{
		DB: d, Catalog: all.catalog, Stock: all.warehouse, Suppliers: suppliers.Names, Users: all.company.UserNames,
	}), withAPI)
	all.clients = add(all, clients.Domain(), clients.New(clients.Config{DB: d, Users: all.company, Items: items}), withAPI, withAdminAPI)
	all.orders = add(all, orders.Domain(), orders.New(orders.Config{
		DB: d, Numbers: numbers, Catalog: items, Clients: all.clients, Stock: all.warehouse, Users: all.company,
		PriceLists: all.clients, Addresses: all.clients, Assets: clients.KnownAssets, Deals: deals.Known,
	}), withAPI)
	all.sales = add(all, sales.Domain(), sales.New(sales.Config{
		DB: d, Numbers: numbers, Catalog: items, Clients: all.clients, Stock: all.warehouse, Users: all.company,
		Branches: all.company, PriceLists: all.clients,
	}), withAPI)
	all.scheduling = add(all, scheduling.Domain(), scheduling.New(scheduling.Config{
		DB: d, Calendar: events, Clients: all.clients, Service: offerings.Booked, Services: offerings.Known,
		Users: all.company.KnownUsers, Branches: all.company.KnownBranches,
	}), withAPI, withAdminAPI)
	all.deals = add(all, deals.Domain(), deals.New(deals.Config{
		DB: d, Access: all.access, Catalog: items, Clients: all.clients, Users: all.company, Branches: all.company, Calendar: events,
		PriceLists: all.clients, Addresses: all.clients, Assets: clients.KnownAssets, Venues: all.scheduling,
	}), withAPI, withAdminAPI)
	all.leads = add(all, leads.Domain(), leads.New(leads.Config{DB: d, Users: all.company, Clients: all.clients, Deals: all.deals}), withAPI)
	add(all, reports.Domain(), reports.New(reports.Config{DB: d, Lists: all.lists, Log: cfg.Log}), withAPI)
	// These work on what all of the above declare, and stay last.
	all.webhooks = add(all, webhooks.Domain(), webhooks.New(webhooks.Config{
		DB: d, Registry: all.events, Deliveries: store.Deliveries{}, Policy: cfg.Policy, Keys: cfg.Keys, AllowInsecure: cfg.AllowInsecure,
	}), withAPI, withJobs)
	all.jobs = add(all, jobs.Domain(), jobs.New(jobs.Config{DB: d, Root: cfg.PublicURL + httpapi.BasePath}), withAPI, withJobs)
	add(all, exports.Domain(), exports.New(exports.Config{DB: d}), withAPI, withJobs)
	add(all, imports.Domain(), imports.New(imports.Config{DB: d, Warehouses: all.warehouse.WarehouseIDs}), withAPI, withJobs)
	add(all, requests.Domain(), requests.New(requests.Config{DB: d}), withAPI)
	all.console = add(all, audit.Domain(), audit.New(audit.Config{DB: d, Operators: cfg.Operators, Access: all.access}), withAdminAPI)
	all.events.Recorded = schemas.Examples(schemas.EventExamples)
	return all
}

// What a service can take part in. A line of newDomains names each, so that the compiler refuses a service without its method.
type (
	externalService interface{ Register(api *httpapi.API) }
	adminService    interface{ RegisterAdmin(api *httpapi.API) }
	jobService      interface{ Jobs() []job.Handler }
	demoService     interface {
		Demo(ctx context.Context, tx *db.Tx, by access.Caller) error
	}
)

func withAPI[S externalService](all *domains, s S)   { all.external = append(all.external, s) }
func withAdminAPI[S adminService](all *domains, s S) { all.admin = append(all.admin, s) }
func withJobs[S jobService](all *domains, s S)       { all.workers = append(all.workers, s) }
func withDemo[S demoService](all *domains, s S)      { all.demos = append(all.demos, s) }

// add takes in a domain: what it declares, and its service with what that takes part in.
func add[S any](all *domains, d domain.Domain, service S, parts ...func(*domains, S)) S {
	all.declared = append(all.declared, d)
	all.access.Add(d.Scopes, d.Components)
	all.events.Add(d.Events)
	for _, part := range parts {
		part(all, service)
	}
	return service
}

// declared is what the domains say of themselves.
func declared() []domain.Domain { return newDomains(nil, domainConfig{}).declared }

// eventTypes are the events of all domains.
func eventTypes() *event.Registry { return newDomains(nil, domainConfig{}).events }

// demo creates the demo records of the domains that know theirs.
func (all *domains) demo(ctx context.Context, tx *db.Tx, by access.Caller) error {
	for _, s := range all.demos {
		if err := s.Demo(ctx, tx, by); err != nil {
			return err
		}
	}
	return nil
}

// jobHandlers do the work of the jobs of all domains.
func (all *domains) jobHandlers() []job.Handler {
	var handlers []job.Handler
	for _, s := range all.workers {
		handlers = append(handlers, s.Jobs()...)
	}
	return handlers
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
	cfg.DB, cfg.Keys, cfg.Changelog, cfg.Guide = all.db, all.keys, tradegrid.Changelog, tradegrid.Docs()
	for _, d := range all.declared {
		cfg.Errors, cfg.Entities = append(cfg.Errors, d.Errors...), append(cfg.Entities, d.Entities...)
		for _, t := range d.Tables {
			cfg.Errors = append(cfg.Errors, t.Errors()...)
		}
	}
	return cfg
}

// newAPI makes the external API with the operations and the error codes of all domains.
func (all *domains) newAPI(cfg httpapi.Config) *httpapi.API {
	cfg = all.apiConfig(cfg)
	cfg.Auth, cfg.AsyncAPI, cfg.Examples = all.company, all.events.AsyncAPI, schemas.Examples(schemas.ExternalExamples)
	api := httpapi.New(cfg)
	for _, s := range all.external {
		s.Register(api)
	}
	return api
}

// newAdminAPI makes the admin API.
func (all *domains) newAdminAPI(cfg httpapi.Config) *httpapi.API {
	cfg = all.apiConfig(cfg)
	cfg.Auth, cfg.Examples = all.console, schemas.Examples(schemas.AdminExamples)
	cfg.Admin = &httpapi.Admin{Companies: all.company, Audit: all.console}
	api := httpapi.New(cfg)
	for _, s := range all.admin {
		s.RegisterAdmin(api)
	}
	return api
}

// stockReconciler checks the stock of all companies.
func (all *domains) stockReconciler(log *slog.Logger) *warehouse.Reconciler {
	return warehouse.NewReconciler(warehouse.ReconcilerConfig{
		DB: all.db, Reserves: all.orders.Reserved, Companies: all.company.IDs, Log: log,
	})
}

// newPlatform makes what operators look after; nil brokers = there are none.
func (all *domains) newPlatform(brokers *kafka.Config, log *slog.Logger) *operations.Platform {
	return all.newPlatformWith(operations.Config{Brokers: brokers, Log: log})
}

// newPlatformWith is newPlatform with the declaration of topics, to compare the cluster with.
func (all *domains) newPlatformWith(cfg operations.Config) *operations.Platform {
	cfg.DB, cfg.Deliveries, cfg.Events, cfg.Components, cfg.Stock = all.db, all.webhooks, all.events, newComponents(all), all.stockReconciler(cfg.Log)
	return operations.New(cfg)
}

// noticeSender tells the owners of companies what needs their attention.
func (all *domains) noticeSender(mails notice.Transport, from string, log *slog.Logger) *notice.Sender {
	return notice.NewSender(notice.Config{
		DB: all.db, Find: []notice.Find{all.company.TellExpiring, all.webhooks.TellFailing}, Transport: mails, From: from, Log: log,
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
