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
	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/httpapi"
	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/numbering"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/trade"
	"github.com/tradegrid/tradegrid/services/catalog"
	"github.com/tradegrid/tradegrid/services/clients"
	"github.com/tradegrid/tradegrid/services/company"
	"github.com/tradegrid/tradegrid/services/orders"
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
	orders    *orders.Service
	webhooks  *webhooks.Service
	events    *event.Registry
}

// declared is what the domains say of themselves.
func declared() []domain.Domain {
	return []domain.Domain{clients.Domain(), suppliers.Domain(), catalog.Domain(), warehouse.Domain()}
}

type domainConfig struct {
	AllowInsecure bool
	Cell          string // of new tokens; "" = that of package company
	Log           *slog.Logger
}

// newDomains makes the services. Without a database they can only be described.
func newDomains(d *db.DB, cfg domainConfig) *domains {
	all := &domains{db: d}
	all.events = event.NewRegistry(company.Events(), catalog.Domain().Events, clients.Domain().Events, warehouse.Domain().Events, orders.Events(), webhooks.Events())
	all.catalog = catalog.New(catalog.Config{DB: d, Stock: warehouse.Totals, Suppliers: suppliers.Known})
	all.warehouse = warehouse.New(warehouse.Config{DB: d, Products: all.catalog})
	all.company = company.New(company.Config{DB: d, Warehouses: all.warehouse, Log: cfg.Log, Cell: cfg.Cell})
	all.clients = clients.New(clients.Config{DB: d, Users: all.company})
	all.suppliers = suppliers.New(suppliers.Config{DB: d, Products: all.catalog})
	all.orders = orders.New(orders.Config{
		DB: d, Numbers: numbering.New(numbering.Config{DB: d}),
		Catalog: orderCatalog{all}, Clients: orderClients{all}, Stock: orderStock{all}, Users: all.company,
	})
	all.webhooks = webhooks.New(webhooks.Config{DB: d, Registry: all.events, AllowInsecure: cfg.AllowInsecure})
	return all
}

// newAPI makes the API with the operations and the error codes of all domains.
func (all *domains) newAPI(cfg httpapi.Config) *httpapi.API {
	cfg.DB, cfg.Auth = all.db, all.company
	for _, d := range declared() {
		cfg.Errors, cfg.Entities = append(cfg.Errors, d.Errors...), append(cfg.Entities, d.Entities...)
	}
	api := httpapi.New(cfg)
	all.catalog.Register(api)
	all.clients.Register(api)
	all.orders.Register(api)
	all.suppliers.Register(api)
	all.webhooks.Register(api)
	all.company.Register(api)
	return api
}

// orderCatalog lets orders read what can be sold.
type orderCatalog struct{ all *domains }

func (a orderCatalog) OrderItems(ctx context.Context, q db.Querier, company tenant.ID, refs []orders.ItemRef) (map[orders.ItemRef]orders.Item, error) {
	asked := make([]trade.ItemRef, len(refs))
	for i, r := range refs {
		asked[i] = trade.ItemRef(r)
	}
	items, err := a.all.catalog.OrderItems(ctx, q, company, asked)
	out := make(map[orders.ItemRef]orders.Item, len(items))
	for r, it := range items {
		out[orders.ItemRef(r)] = orderItem(it)
	}
	return out, err
}

func orderItem(it trade.Item) orders.Item {
	item := orders.Item{
		SKU: it.SKU, Name: it.Name, Unit: it.Unit, Price: it.Price, Hidden: it.Hidden, HasStock: it.HasStock, HasVariants: it.HasVariants,
		NoVariant: it.UnknownVariant, MinOrderQty: it.MinOrderQty, OrderStepQty: it.OrderStepQty, Options: map[uuid.UUID]orders.Modifier{},
	}
	for _, c := range it.Components {
		item.Parts = append(item.Parts, orders.Part(c))
	}
	for id, o := range it.Options {
		item.Options[id] = orders.Modifier{OptionID: o.OptionID, Name: o.Name, Surcharge: o.Surcharge}
	}
	return item
}

// orderClients lets orders read clients and book what they owe.
type orderClients struct{ all *domains }

func (a orderClients) OrderClient(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID, lock bool) (orders.Client, bool, error) {
	read := a.all.clients.Snapshot
	if lock {
		read = a.all.clients.LockSnapshot
	}
	c, err := read(ctx, q, company, id)
	if fault.Is(err, "CLIENT_NOT_FOUND") {
		return orders.Client{}, false, nil
	}
	if err != nil {
		return orders.Client{}, false, err
	}
	list := c.PriceListID
	if list == nil {
		list = c.GroupPriceListID
	}
	return orders.Client{
		DisplayName: c.DisplayName, Phone: c.Phone, Email: c.Email, Archived: c.Archived(), PaymentTermsDays: c.PaymentTermsDays,
		CreditLimit: c.CreditLimit, Balance: c.Balance, PriceListID: list,
	}, true, nil
}

func (a orderClients) AddBalance(_ context.Context, tx *db.Tx, company tenant.ID, id uuid.UUID, delta money.Amount) error {
	a.all.clients.AddBalance(tx, company, id, delta)
	return nil
}

// orderStock lets orders reserve and move stock.
type orderStock struct{ all *domains }

func (a orderStock) FindWarehouse(ctx context.Context, q db.Querier, company tenant.ID, id *uuid.UUID) (uuid.UUID, bool, error) {
	return a.all.warehouse.FindWarehouse(ctx, q, company, id)
}

func (a orderStock) Reserve(tx *db.Tx, by access.Caller, deltas []orders.StockDelta) {
	a.all.warehouse.Reserve(tx, by, stockDeltas(deltas))
}

func (a orderStock) Complete(ctx context.Context, tx *db.Tx, by access.Caller, order uuid.UUID, number int64, deltas []orders.StockDelta) error {
	doc := trade.StockDocument{Movement: "order_completion", Type: "order", ID: order, Number: number}
	return a.all.warehouse.Move(ctx, tx, by, doc, stockDeltas(deltas))
}

func stockDeltas(deltas []orders.StockDelta) []trade.StockDelta {
	out := make([]trade.StockDelta, len(deltas))
	for i, d := range deltas {
		out[i] = trade.StockDelta{Warehouse: d.Warehouse, StockKey: trade.StockKey{Product: d.Product, Variant: d.Variant}, Qty: d.Qty, Reserved: d.Reserved}
	}
	return out
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
