// Package demodata fills a new company with the records of a bicycle shop: catalog, stock, clients, a pipeline, and some
// weeks of orders, sales and bookings. Everything is created by the services, as requests would create it, with a clock that
// moves through those weeks, so the rules of the platform hold for it. What it looks like does not depend on chance: the
// same size gives the same records.
package demodata

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/catalog"
	"github.com/tradegrid/tradegrid/services/business/clients"
	"github.com/tradegrid/tradegrid/services/business/counts"
	"github.com/tradegrid/tradegrid/services/business/deals"
	"github.com/tradegrid/tradegrid/services/business/files"
	"github.com/tradegrid/tradegrid/services/business/invoices"
	"github.com/tradegrid/tradegrid/services/business/leads"
	"github.com/tradegrid/tradegrid/services/business/orders"
	"github.com/tradegrid/tradegrid/services/business/purchases"
	"github.com/tradegrid/tradegrid/services/business/receipts"
	"github.com/tradegrid/tradegrid/services/business/returns"
	"github.com/tradegrid/tradegrid/services/business/sales"
	"github.com/tradegrid/tradegrid/services/business/scheduling"
	"github.com/tradegrid/tradegrid/services/business/servicecatalog"
	"github.com/tradegrid/tradegrid/services/business/suppliers"
	"github.com/tradegrid/tradegrid/services/business/taxes"
	"github.com/tradegrid/tradegrid/services/business/transfers"
	"github.com/tradegrid/tradegrid/services/business/warehouse"
	"github.com/tradegrid/tradegrid/services/business/writeoffs"
)

// Sizes of a company.
const (
	None  = "none"
	Small = "small" // a page or two of everything
	Large = "large" // enough for paging and charts
)

// TimeZone is that of the shop.
const TimeZone = "Europe/Berlin"

// Services create the records.
type Services struct {
	DB         *db.DB
	Files      *files.Service
	Catalog    *catalog.Service
	Offerings  *servicecatalog.Service
	Clients    *clients.Service
	Warehouse  *warehouse.Service
	Suppliers  *suppliers.Service
	Purchases  *purchases.Service
	Taxes      *taxes.Service
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

	// Own creates the records of the domains that know theirs by a method Demo. They refer to nothing else.
	Own func(ctx context.Context, tx *db.Tx, by access.Caller) error
}

// Config says what to fill.
type Config struct {
	Size     string
	Now      time.Time                             // the end of the history
	Services func(now func() time.Time) Services   // services that read the clock now
	Office   access.Caller                         // creates most records
	Till     access.Caller                         // the cash register: opens shifts and sells
	Staff    []uuid.UUID                           // users whom records are assigned to
	Shop     uuid.UUID                             // branch with the default warehouse
	Depot    uuid.UUID                             // branch that gets a warehouse
	Progress func(format string, arguments ...any) // tells a person what is being made; may be nil
}

// Sample are records for a first order.
type Sample struct{ ProductID, ClientID uuid.UUID }

// scale are the numbers in which the sizes differ.
type scale struct {
	days      int // of history
	clients   int
	products  int // beyond the ones that are described one by one
	orders    int // per day
	sales     int // per day
	mechanics int
	busy      int // percent of the times of a mechanic that are booked
	leads     int
	deals     int
}

var scales = map[string]scale{
	Small: {days: 28, clients: 20, orders: 2, sales: 3, mechanics: 2, busy: 20, leads: 10, deals: 9},
	Large: {days: 84, clients: 1000, products: 10_000, orders: 28, sales: 36, mechanics: 12, busy: 45, leads: 200, deals: 200},
}

// Founded is when a company of this size begins to exist, before its history.
func Founded(size string, now time.Time) time.Time { return begin(scales[size], now).AddDate(0, 0, -2) }

// shop is a company while it is being filled.
type shop struct {
	scale  scale
	cfg    Config
	rng    *rand.Rand
	start  time.Time
	setup  *lane
	agenda agenda

	categories map[string]uuid.UUID
	suppliers  []uuid.UUID
	taxRate    uuid.UUID    // the standard one
	warehouses [2]uuid.UUID // shop, depot
	goods      []*good
	stocked    []*good // the shop has some of them
	described  int     // how many of them are described one by one; the depot has only those
	jobs       []job
	clients    []client
	prices     directories
	sold       int                        // sales that are planned
	placed     int                        // orders that are planned
	priced     map[uuid.UUID]money.Amount // by product or service
}

// Fill creates the records.
func Fill(ctx context.Context, cfg Config) (Sample, error) {
	size, ok := scales[cfg.Size]
	if !ok {
		return Sample{}, fmt.Errorf("no demo data of size %q", cfg.Size)
	}
	if cfg.Progress == nil {
		cfg.Progress = func(string, ...any) {}
	}
	s := &shop{scale: size, cfg: cfg, rng: rand.New(rand.NewPCG(1, 2)), start: begin(size, cfg.Now), categories: map[string]uuid.UUID{}}
	s.setup = newLane(cfg)
	s.setup.set(s.dayBefore())
	for _, part := range []struct {
		name string
		make func(context.Context) error
	}{
		{"records without references", s.makeOwn},
		{"catalog", s.makeCatalog},
		{"services", s.makeServices},
		{"clients", s.makeClients},
		{"warehouses and stock", s.makeStock},
		{"price lists", s.makePrices},
		{"resources and bookings", s.planBookings},
		{"leads and deals", s.planPipeline},
	} {
		cfg.Progress("demo data: %s", part.name)
		if err := part.make(ctx); err != nil {
			return Sample{}, fmt.Errorf("%s: %w", part.name, err)
		}
	}
	s.planOrders()
	s.planSales()
	if err := s.agenda.play(ctx, cfg); err != nil {
		return Sample{}, err
	}
	return Sample{ProductID: s.goods[0].product, ClientID: s.clients[0].id}, nil
}

// makeOwn lets domains create their own demo records, and reads those that others refer to.
func (s *shop) makeOwn(ctx context.Context) error {
	err := s.setup.tx(ctx, "own records", func(ctx context.Context, tx *db.Tx) error { return s.setup.Own(ctx, tx, s.cfg.Office) })
	if err != nil {
		return err
	}
	page, err := s.setup.Suppliers.List(ctx, s.cfg.Office, suppliers.Filter{Params: list.Params{PageSize: 200}, Sort: "createdAt"})
	if err != nil {
		return err
	}
	for _, supplier := range page.Items {
		s.suppliers = append(s.suppliers, supplier.ID)
	}
	rates, err := s.setup.Taxes.List(ctx, s.cfg.Office, taxes.Filter{Params: list.Params{PageSize: 1}, Kind: []string{"standard"}, Sort: "createdAt"})
	if err == nil {
		s.taxRate = rates.Items[0].ID
	}
	return err
}

// chance is true in that many of a hundred cases.
func (s *shop) chance(percent int) bool { return s.rng.IntN(100) < percent }

// pick chooses one of the values.
func pick[T any](s *shop, of []T) T { return of[s.rng.IntN(len(of))] }

// elsewhere is the id that a record has in another system, with one entry of metadata.
func elsewhere(source, id, key, value string) record.External {
	return record.External{Source: &source, ExternalID: &id, Tagged: record.Tagged{Metadata: record.Metadata{key: value}}}
}
