// Package reports adds up what a company has sold, ordered, booked and been paid, by days of its time zone. It reads the tables of
// other domains and changes nothing; package dailytotals adds up and keeps the sums. See docs/reference/reports.md.
package reports

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
	"github.com/tradegrid/tradegrid/services/business/dailytotals"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// Config holds the dependencies of the service.
type Config struct {
	DB    *db.DB
	Lists *list.Node // whose limits apply; nil = none
	Log   *slog.Logger

	// What domains sum of their records.
	Orders, OrderHours, OrderTaxes, OrderItems, OrderPayments       *dailytotals.Report
	Sales, SaleTills, SaleHours, SaleTaxes, SaleItems, SalePayments *dailytotals.Report
	Bookings                                                        *dailytotals.Report

	// Names of what rows are grouped by.
	Products   Products
	Services   func(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) (map[uuid.UUID]trade.StockProduct, error)
	Categories reference.Names
	Users      reference.Names
	Shifts     func(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) (map[uuid.UUID]int64, error)
	Branches   func(ctx context.Context, q db.Querier, company tenant.ID) (map[uuid.UUID]uuid.UUID, error) // of warehouses
}

// Service reads the reports of all companies.
type Service struct {
	cfg    Config
	reader *dailytotals.Reader
}

// New returns a service.
func New(cfg Config) *Service {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Service{cfg, dailytotals.NewReader(dailytotals.Config{DB: cfg.DB, Lists: cfg.Lists, Log: cfg.Log})}
}

// Bounds of a report; see docs/reference/reports.md.
const (
	maxDays = 366
	maxRows = 10_000
)

// The days that a report can be asked for.
var (
	firstDay = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	lastDay  = time.Date(2099, 12, 31, 0, 0, 0, 0, time.UTC)
)

// Days are the days of a report, and what they are compared with.
type Days struct {
	From    jsontype.Date `query:"from" required:"true" doc:"first day, in the time zone of the company"`
	To      jsontype.Date `query:"to" required:"true" doc:"last day, in the time zone of the company; at most 366 days"`
	Compare string        `query:"compare" enum:"previous,year" doc:"also add up as many days before from, or the same days a year before, as comparison; not in files"`
}

func (d Days) check() error {
	var faults apierr.Fields
	first, last := time.Time(d.From), time.Time(d.To)
	if first.Before(firstDay) {
		faults.Add("from", apierr.Min, "must not be before %s", jsontype.Date(firstDay))
	}
	if last.After(lastDay) {
		faults.Add("to", apierr.Max, "must not be after %s", jsontype.Date(lastDay))
	}
	switch n := int(last.Sub(first)/(24*time.Hour)) + 1; {
	case last.Before(first):
		faults.Add("from", apierr.Conflict, "must not exceed to")
	case n > maxDays:
		faults.Add("to", apierr.Max, "the range has %d days, which exceeds %d; ask for fewer", n, maxDays)
	}
	if other := d.before(); other != nil && time.Time(other.From).Before(firstDay) {
		faults.Add("compare", apierr.Conflict, "needs days before %s, of which there is no report; ask for later days, or omit it", jsontype.Date(firstDay))
	}
	return faults.Err()
}

// Frame is what all reports begin with.
type Frame struct {
	From     jsontype.Date `json:"from"`
	To       jsontype.Date `json:"to"`
	TimeZone string        `json:"timeZone" doc:"IANA name of the zone of the days, that of the company"`
	Currency string        `json:"currency" doc:"ISO 4217; amounts are in its minor units"`
	GroupBy  []string      `json:"groupBy" doc:"what the rows are grouped by"`
}

// Row is what identifies a row of all reports.
type Row struct {
	Day *jsontype.Date `json:"day" nullable:"true" doc:"null without groupBy=day"`
}

// read reads the sums of the sources, and groups them by names. The first of dimensions is day; the others are the keys of the rows.
func (s *Service) read(ctx context.Context, by access.Caller, days Days, dimensions, names []string, sources ...source) (Frame, table, error) {
	if err := days.check(); err != nil {
		return Frame{}, table{}, err
	}
	reports := make([]*dailytotals.Report, len(sources))
	for i, of := range sources {
		reports[i] = of.report
	}
	zone := by.Settings.Zone()
	read, err := s.reader.Read(ctx, by.Company, zone, days.From, days.To, reports...)
	if err != nil {
		return Frame{}, table{}, err
	}
	if len(names) == 0 {
		names = []string{"day"}
	}
	t := table{dimensions: dimensions, picked: pick(dimensions, names), totals: make([]int64, reports[0].Amounts)}
	for i, of := range sources {
		if of.complete != nil {
			if err := of.complete(ctx, view{by.Company, zone, names}, read[i]); err != nil {
				return Frame{}, table{}, err
			}
		}
		of.place(read[i], dimensions)
		for _, g := range read[i] {
			if err := t.add(g); err != nil {
				return Frame{}, table{}, err
			}
		}
	}
	t.sort()
	return Frame{From: days.From, To: days.To, TimeZone: zone.String(), Currency: by.Currency, GroupBy: t.names()}, t, nil
}
