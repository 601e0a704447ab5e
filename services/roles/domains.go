// Package roles wires the roles of the platform from the domains and their connections: one file for each role, read top to bottom, with its flags. The
// list of domains is here, and hands each what it needs of the others. What only development or the command line needs is above.
package roles

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
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
	"github.com/tradegrid/tradegrid/pkg/store/numbering"
	"github.com/tradegrid/tradegrid/pkg/store/ownermail"
	"github.com/tradegrid/tradegrid/pkg/store/quota"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/schemas"
	"github.com/tradegrid/tradegrid/services/business/calendar"
	"github.com/tradegrid/tradegrid/services/business/catalog"
	"github.com/tradegrid/tradegrid/services/business/clients"
	"github.com/tradegrid/tradegrid/services/business/codes"
	"github.com/tradegrid/tradegrid/services/business/counts"
	"github.com/tradegrid/tradegrid/services/business/deals"
	"github.com/tradegrid/tradegrid/services/business/document"
	"github.com/tradegrid/tradegrid/services/business/files"
	"github.com/tradegrid/tradegrid/services/business/invoices"
	"github.com/tradegrid/tradegrid/services/business/leads"
	"github.com/tradegrid/tradegrid/services/business/orders"
	"github.com/tradegrid/tradegrid/services/business/purchases"
	"github.com/tradegrid/tradegrid/services/business/receipts"
	"github.com/tradegrid/tradegrid/services/business/reports"
	"github.com/tradegrid/tradegrid/services/business/returns"
	"github.com/tradegrid/tradegrid/services/business/sales"
	"github.com/tradegrid/tradegrid/services/business/scheduling"
	"github.com/tradegrid/tradegrid/services/business/servicecatalog"
	"github.com/tradegrid/tradegrid/services/business/stockdoc"
	"github.com/tradegrid/tradegrid/services/business/suppliers"
	"github.com/tradegrid/tradegrid/services/business/taxes"
	"github.com/tradegrid/tradegrid/services/business/trade"
	"github.com/tradegrid/tradegrid/services/business/transfers"
	"github.com/tradegrid/tradegrid/services/business/warehouse"
	"github.com/tradegrid/tradegrid/services/business/writeoffs"
	"github.com/tradegrid/tradegrid/services/console/bookinglink"
	"github.com/tradegrid/tradegrid/services/console/paper"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/delivery/egress"
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

// Domains are the services of one process, each handed what it needs of the others. A service that nothing else needs has no field.
type Domains struct {
	DB         *db.DB
	Policy     webhook.Policy
	Lists      *list.Node
	Company    *company.Service
	Files      *files.Service
	Catalog    *catalog.Service
	Offerings  *servicecatalog.Service
	Clients    *clients.Service
	Warehouse  *warehouse.Service
	Suppliers  *suppliers.Service
	Taxes      *taxes.Service
	Purchases  *purchases.Service
	Receipts   *receipts.Service
	Transfers  *transfers.Service
	Writeoffs  *writeoffs.Service
	Counts     *counts.Service
	Returns    *returns.Service
	Leads      *leads.Service
	Orders     *orders.Service
	Invoices   *invoices.Service
	Deals      *deals.Service
	Sales      *sales.Service
	Scheduling *scheduling.Service
	Webhooks   *webhooks.Service
	Console    *audit.Service
	Accounts   *accounts.Service
	jobs       *jobs.Service
	imports    *imports.Service
	Operators  *secret.Operators
	declared   []domain.Domain
	external   []externalService
	admin      []adminService
	workers    []jobService
	demos      []demoService
	Events     *event.Registry
	Access     *access.Registry
	Keys       *secret.Keys
	texts      web.CustomerTexts // of what companies tell their customers
}

// DomainConfig is what the domains of a process take of its flags.
type DomainConfig struct {
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
	EgressProxy   *url.URL           // for downloads of images; nil = direct
	Download      files.Download     // nil = over HTTP, by the guard of webhooks
	Log           *slog.Logger
}

// download is how images are downloaded: by a client of its own with the guard of the dispatcher, so that no receiver waits for them.
func (c *DomainConfig) download() files.Download {
	if c.Download != nil {
		return c.Download
	}
	client := egress.New(egress.Config{AllowPrivate: c.AllowInsecure, Proxy: c.EgressProxy})
	return func(ctx context.Context, address string, limit int64) ([]byte, error) {
		body, err := client.Download(ctx, address, limit)
		if text, kind, ok := egress.Reason(err); ok {
			return nil, &files.FetchError{Reason: string(kind), Text: text}
		}
		return body, err
	}
}

// NewDomains makes the services. Without a database they can only be described. A domain follows those that it needs and those
// that its samples refer to.
func NewDomains(d *db.DB, cfg DomainConfig) *Domains {
	all := &Domains{DB: d, Policy: cfg.Policy, Lists: newLists(d), Events: event.NewRegistry(), Access: access.NewRegistry(nil, nil), Keys: cfg.Keys, Operators: cfg.Operators}
	var err error
	if all.texts, err = web.NewCustomerTexts(); err != nil {
		panic(err) // the texts are part of the program
	}
	numbers := numbering.New(numbering.Config{DB: d})
	all.Company = add(all, company.Domain(), company.New(company.Config{
		DB: d, Warehouses: warehouse.Defaults{}, Pipelines: deals.CreateDefault, Reminders: scheduling.Replan, Access: all.Access, Log: cfg.Log, CellSettings: company.CellSettings{Cell: cfg.Cell},
	}), withAPI, withAdminAPI)
	if cfg.Files == nil && d != nil {
		cfg.Files = blob.NewDatabase(d)
	}
	all.Files = add(all, files.Domain(), files.New(files.Config{
		DB: d, Store: cfg.Files, Keys: cfg.Keys, Quota: cfg.FileQuota, Download: cfg.download(), Root: cfg.PublicURL + httpapi.BasePath, Log: cfg.Log,
	}), withAPI)
	all.Accounts = add(all, accounts.Domain(), accounts.New(accounts.Config{
		DB: d, Keys: cfg.Keys, Active: all.Company.SignsIn, URL: cfg.ConsoleURL, Provider: cfg.Provider, Log: cfg.Log,
	}))
	all.Taxes = add(all, taxes.Domain(), taxes.New(d), withAPI, withAdminAPI, withDemo)
	all.Catalog = add(all, catalog.Domain(), catalog.New(catalog.Config{
		DB: d, Stock: warehouse.Totals, VariantStock: warehouse.VariantTotals, Suppliers: suppliers.Known, TaxRates: taxes.Active, Services: servicecatalog.InCategories{},
	}), withAPI, withAdminAPI, withJobs)
	items := documentItems{all.Catalog}
	all.Offerings = add(all, servicecatalog.Domain(), servicecatalog.New(servicecatalog.Config{
		DB: d, FilterCategory: catalog.FilterCategory, CategoryPrefixes: catalog.CategoryPrefixes, Products: catalog.KnownProducts, Units: catalog.KnownUnits, TaxRates: taxes.Active,
	}), withAPI)
	events := add(all, calendar.Domain(), calendar.New())
	all.Warehouse = add(all, warehouse.Domain(), warehouse.New(warehouse.Config{
		DB: d, Products: all.Catalog, ProductOf: catalog.ProductOf, FilterCategory: catalog.FilterCategory, Users: all.Company, Branches: all.Company,
	}), withAPI, withAdminAPI)
	all.Suppliers = add(all, suppliers.Domain(), suppliers.New(suppliers.Config{DB: d, Products: all.Catalog}), withAPI, withDemo)
	goods := stockdoc.Sources{Catalog: all.Catalog, Stock: all.Warehouse, Suppliers: suppliers.Names, Users: all.Company.UserNames}
	all.Purchases = add(all, purchases.Domain(), purchases.New(purchases.Config{
		DB: d, Sources: goods, Levels: all.Warehouse, DefaultSuppliers: catalog.DefaultSuppliers,
	}), withAPI)
	all.Receipts = add(all, receipts.Domain(), receipts.New(receipts.Config{DB: d, Sources: goods, PurchaseOrders: all.Purchases}), withAPI)
	all.Transfers = add(all, transfers.Domain(), transfers.New(transfers.Config{DB: d, Sources: goods}), withAPI)
	all.Writeoffs = add(all, writeoffs.Domain(), writeoffs.New(writeoffs.Config{DB: d, Sources: goods}), withAPI)
	all.Returns = add(all, returns.Domain(), returns.New(returns.Config{DB: d, Sources: goods, Receipts: receipts.Known}), withAPI)
	all.Counts = add(all, counts.Domain(), counts.New(counts.Config{DB: d, Sources: goods, Levels: all.Warehouse}), withAPI)
	all.Clients = add(all, clients.Domain(), clients.New(clients.Config{
		DB: d, Lists: all.Lists, Users: all.Company, Items: items,
		Follow: []document.Follow{orders.OfClient(), invoices.OfClient(), deals.OfClient(), sales.OfClient(), leads.OfClient(), scheduling.OfClient(), calendar.OfClient()},
		Forget: forgotten(),
	}), withAPI, withAdminAPI, withJobs)
	add(all, codes.Domain(), codes.New(d), withAPI, withAdminAPI, withDemo)
	letters := paper.Letters{
		Files: all.Files, Texts: all.texts, Client: all.Clients.Named,
		Settings: func(ctx context.Context, id tenant.ID) (company.Settings, error) {
			return all.Company.Header(ctx, d, id)
		},
		Payments: func(ctx context.Context, by access.Caller, order uuid.UUID) ([]orders.Payment, error) {
			return all.Orders.Paid(ctx, by, order)
		},
	}
	all.Orders = add(all, orders.Domain(), orders.New(orders.Config{
		DB: d, Numbers: numbers, Catalog: items, Taxes: taxes.Percents, Clients: all.Clients, Stock: all.Warehouse, Users: all.Company,
		PriceLists: all.Clients, Addresses: all.Clients, Assets: clients.KnownAssets, Deals: deals.Known,
		Channels: codes.Channel, Methods: codes.DeliveryMethod, Letter: letters.OfOrder,
	}), withAPI)
	all.Invoices = add(all, invoices.Domain(), invoices.New(invoices.Config{
		DB: d, Orders: all.Orders, Clients: all.Clients, Users: all.Company.UserNames, Seller: all.seller, Letter: letters.OfInvoice,
	}), withAPI)
	all.Sales = add(all, sales.Domain(), sales.New(sales.Config{
		DB: d, Numbers: numbers, Catalog: items, Taxes: taxes.Percents, Clients: all.Clients, Stock: all.Warehouse, Users: all.Company,
		Branches: all.Company, PriceLists: all.Clients, Letter: letters.OfSale,
	}), withAPI)
	all.Scheduling = add(all, scheduling.Domain(), scheduling.New(scheduling.Config{
		DB: d, Calendar: events, Clients: all.Clients, Service: servicecatalog.Booked, Services: servicecatalog.Known,
		Users: all.Company.KnownUsers, Branches: all.Company.KnownBranches, Keys: cfg.Keys, Customer: all.Company.AsCustomer,
		Letter: bookinglink.NewLetters(all.texts).Write, Log: cfg.Log,
	}), withAPI, withAdminAPI)
	all.Deals = add(all, deals.Domain(), deals.New(deals.Config{
		DB: d, Access: all.Access, Catalog: items, Taxes: taxes.Percents, Clients: all.Clients, Users: all.Company, Branches: all.Company, Calendar: events,
		PriceLists: all.Clients, Addresses: all.Clients, Assets: clients.KnownAssets, Venues: all.Scheduling, Channels: codes.Channel,
	}), withAPI, withAdminAPI)
	all.Leads = add(all, leads.Domain(), leads.New(leads.Config{DB: d, Users: all.Company, Clients: all.Clients, Deals: all.Deals}), withAPI)
	add(all, reports.Domain(), reports.New(reports.Config{
		DB: d, Lists: all.Lists, Log: cfg.Log, Bookings: &scheduling.Sums,
		Orders: &orders.Sums, OrderHours: &orders.HourSums, OrderTaxes: &orders.TaxSums, OrderItems: &orders.ItemSums, OrderPayments: &orders.PaymentSums,
		Sales: &sales.Sums, SaleTills: &sales.TillSums, SaleHours: &sales.HourSums, SaleTaxes: &sales.TaxSums, SaleItems: &sales.ItemSums, SalePayments: &sales.PaymentSums,
		Products: all.Catalog, Services: servicecatalog.Cards, Categories: catalog.CategoryNames, Users: all.Company.UserNames, Shifts: sales.ShiftNumbers, Branches: warehouse.BranchesOfAll,
	}), withAPI)
	// These work on what all of the above declare, and stay last.
	all.Webhooks = add(all, webhooks.Domain(), webhooks.New(webhooks.Config{
		DB: d, Registry: all.Events, Deliveries: store.Deliveries{}, Owners: company.Owners, Policy: cfg.Policy, Keys: cfg.Keys, AllowInsecure: cfg.AllowInsecure,
	}), withAPI, withJobs)
	all.jobs = add(all, jobs.Domain(), jobs.New(jobs.Config{DB: d, Root: cfg.PublicURL + httpapi.BasePath}), withAPI, withJobs)
	add(all, exports.Domain(), exports.New(exports.Config{DB: d}), withAPI, withJobs)
	all.imports = add(all, imports.Domain(), imports.New(imports.Config{DB: d, Warehouses: all.Warehouse.WarehouseIDs, Image: all.Files.Fetch}), withAPI, withJobs)
	add(all, requests.Domain(), requests.New(requests.Config{DB: d}), withAPI)
	all.Console = add(all, audit.Domain(), audit.New(audit.Config{DB: d, Operators: cfg.Operators, Access: all.Access}), withAdminAPI)
	all.Events.Recorded = schemas.Examples(schemas.EventExamples)
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

func withAPI[S externalService](all *Domains, s S)   { all.external = append(all.external, s) }
func withAdminAPI[S adminService](all *Domains, s S) { all.admin = append(all.admin, s) }
func withJobs[S jobService](all *Domains, s S)       { all.workers = append(all.workers, s) }
func withDemo[S demoService](all *Domains, s S)      { all.demos = append(all.demos, s) }

// add takes in a domain: what it declares, and its service with what that takes part in.
func add[S any](all *Domains, d domain.Domain, service S, parts ...func(*Domains, S)) S {
	all.declared = append(all.declared, d)
	all.Access.Add(d.Scopes, d.Components)
	all.Events.Add(d.Events)
	for _, part := range parts {
		part(all, service)
	}
	return service
}

// Declared is what the domains say of themselves.
func Declared() []domain.Domain { return NewDomains(nil, DomainConfig{}).declared }

// EventTypes are the events of all domains.
func EventTypes() *event.Registry { return NewDomains(nil, DomainConfig{}).Events }

// Demo creates the demo records of the domains that know theirs.
func (all *Domains) Demo(ctx context.Context, tx *db.Tx, by access.Caller) error {
	for _, s := range all.demos {
		if err := s.Demo(ctx, tx, by); err != nil {
			return err
		}
	}
	return nil
}

// JobHandlers do the work of the jobs of all domains.
func (all *Domains) JobHandlers() []job.Handler {
	var handlers []job.Handler
	for _, s := range all.workers {
		handlers = append(handlers, s.Jobs()...)
	}
	return handlers
}

// jobTypes are the names of all kinds of jobs.
func jobTypes() []string {
	var names []string
	for _, h := range NewDomains(nil, DomainConfig{}).JobHandlers() {
		names = append(names, h.Name)
	}
	return names
}

// NewWorker makes the worker of an API node.
func (all *Domains) NewWorker(parallel int, log *slog.Logger) *job.Worker {
	return job.NewWorker(job.Config{DB: all.DB, Owner: NodeName(), Handlers: all.JobHandlers(), Parallel: parallel, Log: log})
}

// seller is a company as its invoices name it.
func (all *Domains) seller(ctx context.Context, q db.Querier, id tenant.ID) (invoices.Seller, string, error) {
	s, err := all.Company.Header(ctx, q, id)
	return invoices.Seller{
		Name: cmp.Or(record.OrZero(s.DocumentName), s.Name), Address: s.DocumentAddress, Contact: s.DocumentContact, TaxID: s.DocumentTaxID, Bank: s.DocumentBank, Footer: s.DocumentFooter,
	}, s.Currency, err
}

// documentItems reads the items of document lines: products from the catalog and services from the offerings.
type documentItems struct{ catalog *catalog.Service }

// OrderItems reads the items in one round trip. Unknown ones are omitted.
func (d documentItems) OrderItems(ctx context.Context, q db.Querier, company tenant.ID, refs []trade.ItemRef) (map[trade.ItemRef]trade.Item, error) {
	var reads []batchloader.Read
	parts := [2]map[trade.ItemRef]trade.Item{}
	for i, read := range [2]func(context.Context, db.Querier, tenant.ID, []trade.ItemRef) (map[trade.ItemRef]trade.Item, error){d.catalog.OrderItems, servicecatalog.OrderItems} {
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

// NamedItems finds the items of lines that name them by something else than ids, in as many round trips as products take.
func (d documentItems) NamedItems(ctx context.Context, q db.Querier, company tenant.ID, names []trade.ItemName) (map[trade.ItemName][]trade.ItemRef, error) {
	var products, services map[trade.ItemName][]trade.ItemRef
	err := batchloader.Load(ctx, q, func(ctx context.Context, q db.Querier) (err error) {
		products, err = d.catalog.NamedItems(ctx, q, company, names)
		return err
	}, func(ctx context.Context, q db.Querier) (err error) {
		services, err = servicecatalog.NamedItems(ctx, q, company, names)
		return err
	})
	all := map[trade.ItemName][]trade.ItemRef{}
	maps.Copy(all, products)
	maps.Copy(all, services)
	return all, err
}

// apiConfig adds what both APIs share.
func (all *Domains) apiConfig(cfg httpapi.Config) httpapi.Config {
	cfg.Lists = all.Lists
	cfg.DB, cfg.Keys, cfg.Changelog, cfg.Guide = all.DB, all.Keys, tradegrid.Changelog, tradegrid.Docs()
	for _, d := range all.declared {
		cfg.Errors, cfg.Entities = append(cfg.Errors, d.Errors...), append(cfg.Entities, d.Entities...)
		for _, t := range d.Tables {
			cfg.Errors = append(cfg.Errors, t.Errors()...)
		}
	}
	return cfg
}

// NewAPI makes the external API with the operations and the error codes of all domains.
func (all *Domains) NewAPI(cfg httpapi.Config) *httpapi.API {
	cfg = all.apiConfig(cfg)
	cfg.Auth, cfg.AsyncAPI, cfg.Examples = all.Company, all.Events.AsyncAPI, schemas.Examples(schemas.ExternalExamples)
	api := httpapi.New(cfg)
	for _, s := range all.external {
		s.Register(api)
	}
	api.ServePage(scheduling.LinkPath, bookinglink.NewPage(all.Scheduling, all.texts))
	return api
}

// NewAdminAPI makes the admin API.
func (all *Domains) NewAdminAPI(cfg httpapi.Config) *httpapi.API {
	cfg = all.apiConfig(cfg)
	cfg.Auth, cfg.Examples = all.Console, schemas.Examples(schemas.AdminExamples)
	cfg.Admin = &httpapi.Admin{Companies: all.Company, Audit: all.Console}
	api := httpapi.New(cfg)
	for _, s := range all.admin {
		s.RegisterAdmin(api)
	}
	return api
}

// StockReconciler checks the stock of all companies.
func (all *Domains) StockReconciler(log *slog.Logger) *warehouse.Reconciler {
	return warehouse.NewReconciler(warehouse.ReconcilerConfig{
		DB: all.DB, Reserves: all.Orders.Reserved, Companies: all.Company.IDs, Log: log,
	})
}

// StockAnnouncer tells the changes of available stock of all companies.
func (all *Domains) StockAnnouncer(log *slog.Logger) *warehouse.Announcer {
	return warehouse.NewAnnouncer(all.Warehouse, log)
}

// NewPlatform makes what operators look after; nil brokers = there are none.
func (all *Domains) NewPlatform(brokers *kafka.Config, log *slog.Logger) *operations.Platform {
	return all.NewPlatformWith(operations.Config{Brokers: brokers, Log: log})
}

// NewPlatformWith is newPlatform with the declaration of topics, to compare the cluster with.
func (all *Domains) NewPlatformWith(cfg operations.Config) *operations.Platform {
	cfg.DB, cfg.Deliveries, cfg.Events, cfg.Components, cfg.Stock = all.DB, all.Webhooks, all.Events, newComponents(all), all.StockReconciler(cfg.Log)
	return operations.New(cfg)
}

// NoticeSender tells the owners of companies what needs their attention.
func (all *Domains) NoticeSender(mails ownermail.Transport, from string, log *slog.Logger) *ownermail.Sender {
	return ownermail.NewSender(ownermail.Config{
		DB: all.DB, Find: []ownermail.Find{all.Company.TellExpiring, all.Webhooks.TellFailing}, Transport: mails, From: from, Log: log,
	})
}

// SetStock sets how many pieces of a product the default warehouse of a company has.
func (all *Domains) SetStock(ctx context.Context, tx *db.Tx, id tenant.ID, product uuid.UUID, pieces int64, reason string) error {
	w, ok, err := all.Warehouse.FindWarehouse(ctx, tx, id, nil)
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("company %s has no default warehouse", id)
	}
	_, err = all.Warehouse.SetStock(ctx, tx, DemoCaller(id), warehouse.Adjustment{ProductID: product, WarehouseID: w, TargetQty: &pieces, Reason: reason})
	return err
}

// DemoCaller may sell what is not in stock, as demo and load data do.
func DemoCaller(id tenant.ID) access.Caller {
	return access.Caller{Principal: &access.Principal{Company: id, Subscriptions: access.MaxSubscriptions, Settings: access.Settings{StockPolicy: access.StockAllowNegative}}}
}

// forgotten is what is kept of clients beside their records.
func forgotten() []clients.Forget {
	all := []clients.Forget{{Of: orders.OfClient(), Write: orders.ForgetMailed}}
	for _, of := range []document.Follow{orders.OfClient(), invoices.OfClient(), sales.OfClient(), scheduling.OfClient()} {
		all = append(all, clients.Forget{Of: of, Write: ownermail.ForgetCustomers, At: true})
	}
	for _, of := range clients.OwnRecords() {
		all = append(all, clients.Forget{Of: of, Write: audit.ForgetRecords})
	}
	return all
}
