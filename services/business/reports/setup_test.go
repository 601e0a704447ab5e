package reports_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/catalog"
	"github.com/tradegrid/tradegrid/services/business/dailytotals"
	"github.com/tradegrid/tradegrid/services/business/orders"
	"github.com/tradegrid/tradegrid/services/business/reports"
	"github.com/tradegrid/tradegrid/services/business/sales"
	"github.com/tradegrid/tradegrid/services/business/scheduling"
	"github.com/tradegrid/tradegrid/services/business/servicecatalog"
	"github.com/tradegrid/tradegrid/services/business/trade"
	"github.com/tradegrid/tradegrid/services/business/warehouse"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

// names knows no product and no user.
type names struct{}

func (names) StockProducts(context.Context, db.Querier, tenant.ID, []trade.StockKey) (map[trade.StockKey]trade.StockProduct, error) {
	return nil, nil
}

func (names) Users(context.Context, db.Querier, tenant.ID, []uuid.UUID) (map[uuid.UUID]string, error) {
	return nil, nil
}

// kit is a fresh company whose records are written to the tables as their domains write them: with [dailytotals.Report.Changed].
type kit struct {
	*apitest.Client
	t      *testing.T
	d      *db.DB
	server *apitest.Server
	number int64
}

func open(t *testing.T) *kit {
	t.Helper()
	return openOn(t, dbtest.Open(t))
}

func openOn(t *testing.T, d *db.DB) *kit {
	t.Helper()
	k := &kit{t: t, d: d, server: apitest.New(t, d, reports.New(reports.Config{
		DB: d, Bookings: &scheduling.Sums,
		Orders: &orders.Sums, OrderHours: &orders.HourSums, OrderTaxes: &orders.TaxSums, OrderItems: &orders.ItemSums, OrderPayments: &orders.PaymentSums,
		Sales: &sales.Sums, SaleTills: &sales.TillSums, SaleHours: &sales.HourSums, SaleTaxes: &sales.TaxSums, SaleItems: &sales.ItemSums, SalePayments: &sales.PaymentSums,
		Products: names{}, Services: servicecatalog.Cards, Categories: catalog.CategoryNames, Users: names{}.Users, Shifts: sales.ShiftNumbers, Branches: warehouse.BranchesOfAll,
	}).Register)}
	k.Client = k.server.Company()
	return k
}

// in returns the same company in another time zone.
func (k *kit) in(zone string) *kit {
	of := *k
	of.Client = k.server.Caller(k.Principal.Company, func(p *access.Principal) { p.Settings.TimeZone, p.Currency = zone, "EUR" })
	return &of
}

func (k *kit) company() tenant.ID { return k.Principal.Company }

// tx runs a change like a domain does.
func (k *kit) tx(fn func(ctx context.Context, tx *db.Tx) error) {
	require.NoError(k.t, k.d.RunTx(context.Background(), "test", fn))
}

var sqlInsertOrder = db.Table("orders").Insert(`(company_id, id, number, status, payment_status, channel, delivery_cost, subtotal, discount_percent_bp, discount_amount, total,
  prepaid_amount, returned_amount, was_paid, lines_count, search_text, version, ev_pos, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0, $9, $10, $11, $12, false, 1, '', 1, 1, $13, $13)`)

// order is an order as its report sees it.
type order struct {
	id                                           uuid.UUID
	status, payment                              string
	channel                                      *string
	delivery, discount, total, prepaid, returned int64
	at                                           time.Time
}

func (k *kit) insertOrder(tx *db.Tx, o order, number int64) {
	tx.Queue(sqlInsertOrder, k.company(), o.id, number, o.status, o.payment, o.channel, o.delivery, o.total+o.discount, o.discount, o.total, o.prepaid, o.returned, o.at)
	orders.Sums.Changed(tx, k.company(), o.at)
}

var sqlUpdateOrder = db.Table("orders").Update(`SET status = $3, payment_status = $4, total = $5, prepaid_amount = 0, version = version + 1, updated_at = now() WHERE company_id = $1 AND id = $2`)

func (k *kit) updateOrder(tx *db.Tx, o order) {
	tx.Queue(sqlUpdateOrder, k.company(), o.id, o.status, o.payment, o.total)
	orders.Sums.Changed(tx, k.company(), o.at)
}

// add stores an order of 1000 in one transaction.
func (k *kit) add(at time.Time, edit ...func(*order)) order {
	k.t.Helper()
	o := order{id: uuid.New(), status: "new", payment: "unpaid", channel: new("manual"), total: 1000, at: at}
	for _, e := range edit {
		e(&o)
	}
	k.number++
	k.tx(func(_ context.Context, tx *db.Tx) error { k.insertOrder(tx, o, k.number); return nil })
	return o
}

// report is an answer.
type report struct {
	From, To, TimeZone, Currency string
	GroupBy                      []string
	Rows                         []map[string]any
	Totals                       map[string]any
}

func (k *kit) read(path string) (r report) {
	k.t.Helper()
	res := k.Do(k.t, "GET", "/reports/"+path, nil)
	res.OK(200)
	res.Decode(&r)
	return r
}

// lines are the rows of a report, each as its fields in this order.
func (r report) lines(fields ...string) (lines []string) {
	for _, row := range r.Rows {
		var texts []string
		for _, f := range fields {
			texts = append(texts, text(row[f]))
		}
		lines = append(lines, strings.Join(texts, " "))
	}
	return lines
}

func text(v any) string {
	if n, ok := v.(float64); ok {
		return fmt.Sprint(int64(n))
	}
	if v == nil {
		return "-"
	}
	return fmt.Sprint(v)
}

const sqlKept = `SELECT count(*) FROM day_sums WHERE company_id = $1 AND report = $2`

func (k *kit) kept(report dailytotals.Report) (n int) {
	k.t.Helper()
	require.NoError(k.t, k.d.QueryRow(context.Background(), sqlKept, k.company(), report.Name).Scan(&n))
	return n
}

func at(t *testing.T, text string) time.Time {
	t.Helper()
	v, err := time.Parse(time.RFC3339, text)
	require.NoError(t, err)
	return v
}
