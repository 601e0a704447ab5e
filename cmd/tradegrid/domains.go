package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/domain"
	"github.com/tradegrid/tradegrid/pkg/event"
	"github.com/tradegrid/tradegrid/pkg/httpapi"
	"github.com/tradegrid/tradegrid/pkg/numbering"
	"github.com/tradegrid/tradegrid/pkg/secret"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/services/catalog"
	"github.com/tradegrid/tradegrid/services/clients"
	"github.com/tradegrid/tradegrid/services/company"
	"github.com/tradegrid/tradegrid/services/dispatch/store"
	"github.com/tradegrid/tradegrid/services/orders"
	"github.com/tradegrid/tradegrid/services/receipts"
	"github.com/tradegrid/tradegrid/services/sales"
	"github.com/tradegrid/tradegrid/services/suppliers"
	"github.com/tradegrid/tradegrid/services/warehouse"
	"github.com/tradegrid/tradegrid/services/webhooks"
)

// domains are the services of one process, each handed what it needs of the others.
type domains struct {
	db        *db.DB
	company   *company.Service
	catalog   *catalog.Service
	clients   *clients.Service
	warehouse *warehouse.Service
	suppliers *suppliers.Service
	receipts  *receipts.Service
	orders    *orders.Service
	sales     *sales.Service
	webhooks  *webhooks.Service
	events    *event.Registry
	access    *access.Registry
	keys      *secret.Keys
}

// declared is what the domains say of themselves, in the order in which clients see scopes and components listed. A sample
// refers to earlier ones only.
func declared() []domain.Domain {
	return []domain.Domain{
		part("core", nil, access.Component{Alias: "core", AlwaysOn: true}), // what every company has: company, webhooks, events
		catalog.Domain(),
		part("calendar", nil, access.Component{Alias: "calendar", AlwaysOn: true}),
		part("messenger", nil, access.Component{Alias: "messenger", AlwaysOn: true}),
		clients.Domain(),
		part("leads", []access.Resource{{Name: "leads"}}, access.Component{Alias: "marketing"}),
		orders.Domain(),
		part("deals", []access.Resource{{Name: "deals"}}, access.Component{Alias: "deals"}),
		sales.Domain(),
		warehouse.Domain(),
		suppliers.Domain(),
		receipts.Domain(),
		part("scheduling", []access.Resource{{Name: "scheduling"}}, access.Component{Alias: "scheduling"}),
		webhooks.Domain(),
		company.Domain(),
		part("exports", []access.Resource{{Name: "exports"}}),
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
	Cell          string       // of new tokens; "" = that of package company
	Keys          *secret.Keys // seal the secrets of webhooks; nil where none are handled
	Log           *slog.Logger
}

// newDomains makes the services. Without a database they can only be described.
func newDomains(d *db.DB, cfg domainConfig) *domains {
	all := &domains{db: d, access: accessRegistry(), keys: cfg.Keys}
	all.events = event.NewRegistry(declaredEvents()...)
	all.catalog = catalog.New(catalog.Config{DB: d, Stock: warehouse.Totals, Suppliers: suppliers.Known})
	all.company = company.New(company.Config{DB: d, Warehouses: warehouse.Defaults{}, Access: all.access, Log: cfg.Log, Cell: cfg.Cell})
	all.warehouse = warehouse.New(warehouse.Config{DB: d, Products: all.catalog, Users: all.company})
	all.clients = clients.New(clients.Config{DB: d, Users: all.company})
	all.suppliers = suppliers.New(suppliers.Config{DB: d, Products: all.catalog})
	all.receipts = receipts.New(receipts.Config{
		DB: d, Catalog: all.catalog, Stock: all.warehouse, Suppliers: suppliers.Names, Users: all.company.UserNames,
	})
	numbers := numbering.New(numbering.Config{DB: d})
	all.orders = orders.New(orders.Config{
		DB: d, Numbers: numbers, Catalog: all.catalog, Clients: all.clients, Stock: all.warehouse, Users: all.company,
		Addresses: all.clients, Assets: clients.KnownAssets,
	})
	all.sales = sales.New(sales.Config{
		DB: d, Numbers: numbers, Catalog: all.catalog, Clients: all.clients, Stock: all.warehouse, Users: all.company, Branches: all.company,
	})
	all.webhooks = webhooks.New(webhooks.Config{DB: d, Registry: all.events, Deliveries: store.Deliveries{}, Keys: cfg.Keys, AllowInsecure: cfg.AllowInsecure})
	return all
}

// newAPI makes the API with the operations and the error codes of all domains.
func (all *domains) newAPI(cfg httpapi.Config) *httpapi.API {
	cfg.DB, cfg.Auth, cfg.Keys, cfg.AsyncAPI = all.db, all.company, all.keys, all.events.AsyncAPI
	for _, d := range declared() {
		cfg.Errors, cfg.Entities = append(cfg.Errors, d.Errors...), append(cfg.Entities, d.Entities...)
	}
	api := httpapi.New(cfg)
	all.catalog.Register(api)
	all.clients.Register(api)
	all.orders.Register(api)
	all.sales.Register(api)
	all.warehouse.Register(api)
	all.suppliers.Register(api)
	all.receipts.Register(api)
	all.webhooks.Register(api)
	all.company.Register(api)
	return api
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
