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
	return []domain.Domain{clients.Domain(), suppliers.Domain()}
}

type domainConfig struct {
	AllowInsecure bool
	Cell          string // of new tokens; "" = that of package company
	Log           *slog.Logger
}

// newDomains makes the services. Without a database they can only be described.
func newDomains(d *db.DB, cfg domainConfig) *domains {
	all := &domains{db: d}
	all.events = event.NewRegistry(company.Events(), catalog.Events(), clients.Domain().Events, warehouse.Events(), orders.Events(), webhooks.Events())
	all.warehouse = warehouse.New(d, stockProducts{all})
	all.company = company.New(company.Config{DB: d, Warehouses: all.warehouse, Log: cfg.Log, Cell: cfg.Cell})
	all.catalog = catalog.New(d, catalog.Neighbours{Stock: catalogStock{all}, Suppliers: suppliers.Known})
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

// stockProducts lets the warehouse read the catalog.
type stockProducts struct{ all *domains }

func (a stockProducts) StockProducts(ctx context.Context, q db.Querier, company tenant.ID, keys []warehouse.Key) (map[warehouse.Key]warehouse.Product, error) {
	ids := make([]uuid.UUID, len(keys))
	for i, k := range keys {
		ids[i] = k.Product
	}
	items, err := a.all.catalog.StockItems(ctx, q, company, ids)
	if err != nil {
		return nil, err
	}
	out := make(map[warehouse.Key]warehouse.Product, len(items))
	for _, it := range items {
		out[warehouse.Key{Product: it.ID}] = warehouse.Product{
			Name: it.Name, SKU: it.SKU, CategoryID: it.CategoryID, CategoryName: it.CategoryName, HasStock: it.HasStock,
		}
	}
	return out, nil
}

// catalogStock lets the catalog show stock.
type catalogStock struct{ all *domains }

func (a catalogStock) Totals(ctx context.Context, q db.Querier, company tenant.ID, products []uuid.UUID) (map[uuid.UUID]catalog.StockTotals, error) {
	totals, err := a.all.warehouse.Totals(ctx, q, company, products)
	if err != nil {
		return nil, err
	}
	out := make(map[uuid.UUID]catalog.StockTotals, len(totals))
	for id, t := range totals {
		out[id] = catalog.StockTotals(t)
	}
	return out, nil
}

// orderCatalog lets orders read what can be sold.
type orderCatalog struct{ all *domains }

func (a orderCatalog) OrderItems(ctx context.Context, q db.Querier, company tenant.ID, refs []orders.ItemRef) (map[orders.ItemRef]orders.Item, error) {
	asked := make([]catalog.ItemRef, len(refs))
	for i, r := range refs {
		asked[i] = catalog.ItemRef{Kind: r.Kind, RefID: r.ID}
		if r.Variant != uuid.Nil {
			asked[i].VariantID = &r.Variant
		}
	}
	items, err := a.all.catalog.OrderItems(ctx, q, company, asked)
	if err != nil {
		return nil, err
	}
	out := make(map[orders.ItemRef]orders.Item, len(items))
	for i, it := range items {
		if it.Missing == "" || it.Missing == "PRODUCT_VARIANT" {
			out[refs[i]] = orderItem(it)
		}
	}
	return out, nil
}

func orderItem(it catalog.Item) orders.Item {
	item := orders.Item{
		SKU: it.SKU, Name: it.Name, Unit: it.Unit, Price: it.Price, Hidden: it.Status == catalog.StatusHidden, HasStock: it.HasStock,
		NoVariant: it.Missing == "PRODUCT_VARIANT", MinOrderQty: it.MinOrderQty, OrderStepQty: it.OrderStepQty,
	}
	for _, c := range it.Components {
		item.Parts = append(item.Parts, orders.Part{Product: c.ProductID, Qty: c.Qty})
	}
	for _, g := range it.Modifiers {
		for _, o := range g.Options {
			if item.Options == nil {
				item.Options = map[uuid.UUID]orders.Modifier{}
			}
			item.Options[o.ID] = orders.Modifier{OptionID: o.ID, Name: o.Name, Surcharge: o.Surcharge}
		}
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
	return a.all.warehouse.Find(ctx, q, company, id)
}

func (a orderStock) Reserve(tx *db.Tx, by access.Caller, deltas []orders.StockDelta) {
	a.all.warehouse.Reserve(tx, by, stockDeltas(deltas))
}

func (a orderStock) Complete(ctx context.Context, tx *db.Tx, by access.Caller, order uuid.UUID, number int64, deltas []orders.StockDelta) error {
	doc := warehouse.Document{Movement: "order_completion", Type: "order", ID: order, Number: number}
	return a.all.warehouse.Move(ctx, tx, by, doc, stockDeltas(deltas))
}

func stockDeltas(deltas []orders.StockDelta) []warehouse.Delta {
	out := make([]warehouse.Delta, len(deltas))
	for i, d := range deltas {
		out[i] = warehouse.Delta{Warehouse: d.Warehouse, Key: warehouse.Key{Product: d.Product, Variant: d.Variant}, Qty: d.Qty, Reserved: d.Reserved}
	}
	return out
}

// setStock sets how many pieces of a product the default warehouse of a company has.
func (all *domains) setStock(ctx context.Context, tx *db.Tx, id tenant.ID, product uuid.UUID, pieces int64, reason string) error {
	w, ok, err := all.warehouse.Find(ctx, tx, id, nil)
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
