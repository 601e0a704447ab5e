package platform

import (
	"context"
	"errors"
	"time"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/services/business/warehouse"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/delivery/reconcile"
	"github.com/tradegrid/tradegrid/services/operations"
)

type checksPage struct {
	Header    web.Header
	Events    web.Filter
	EventNote *web.Note
	Balance   []web.Fact
	Missing   web.Table
	Stock     web.Filter
	StockNote *web.Note
	Differ    web.Table
	Repair    *web.Action
}

// ranges are how far a check of events looks back: what is longer is for the command line, which has no limit of time.
var ranges = []string{"15m", "1h", "6h", "24h"}

// Names of the fields that say which company a check is about; an element needs an id of its own.
const (
	ofEvents = "company"
	ofStock  = "stock-of"
)

// missingShown is how many missing deliveries a page lists.
const missingShown = 50

// checks compares events with deliveries, or the stock of a company with its movements, if the address asks for it.
func (pages *Pages) checks(ctx context.Context, q *web.Request) (web.Answer, error) {
	p, err := pages.newChecks(ctx, q)
	if err != nil {
		return web.Answer{}, err
	}
	field, note := &p.Events.Fields[1], &p.EventNote
	if q.Form.Get("check") == "stock" {
		field, note = &p.Stock.Fields[0], &p.StockNote
	}
	of, err := companyIn(q, field.Name)
	if err != nil || (of == nil && q.Form.Get("check") == "stock") {
		field.Fault = q.T("platform.company_id.fault")
		return web.Show("platform/checks", q.T("area.checks"), p).Refuse(), nil
	}
	within, cancel := context.WithTimeout(ctx, actWithin)
	defer cancel()
	switch q.Form.Get("check") {
	case "events":
		err = pages.checkEvents(within, q, of, p)
	case "stock":
		err = pages.checkStock(within, q, *of, p)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		*note, err = &web.Note{Kind: web.Warn, Title: q.T("platform.check.slow"), Text: q.T("platform.check.slow.next")}, nil
	}
	return web.Show("platform/checks", q.T("area.checks"), p), err
}

func (pages *Pages) newChecks(ctx context.Context, q *web.Request) (*checksPage, error) {
	events, err := pages.companyField(ctx, q, ofEvents)
	if err != nil {
		return nil, err
	}
	stock, err := pages.companyField(ctx, q, ofStock)
	if err != nil {
		return nil, err
	}
	last := web.Field{Name: "last", Label: q.T("platform.check.last"), Type: "select"}
	for _, v := range ranges {
		last.Options = append(last.Options, web.Option{Value: v, Text: q.T("platform.check.last." + v), Selected: v == q.Form.Get("last")})
	}
	return &checksPage{
		Header: web.Header{Title: q.T("area.checks"), Facts: q.T("platform.checks.intro")},
		Events: web.Filter{Action: "/platform/checks", Button: q.T("platform.check.run"), Fields: []web.Field{last, events}, Hidden: map[string]string{"check": "events"}},
		Stock:  web.Filter{Action: "/platform/checks", Button: q.T("platform.check.run"), Fields: []web.Field{stock}, Hidden: map[string]string{"check": "stock"}},
	}, nil
}

func (pages *Pages) checkEvents(ctx context.Context, q *web.Request, of *tenant.ID, p *checksPage) error {
	last, err := time.ParseDuration(web.OneOf(q.Form.Get("last"), ranges))
	if err != nil {
		last = 15 * time.Minute
	}
	to := q.Now.Add(-operations.RoutedWithin)
	p.Missing = web.Table{Label: q.T("platform.check.missing"), Columns: []web.Column{{Text: q.T("platform.company")}, {Text: q.T("webhooks.receiver")}, {Text: q.T("webhooks.event")}, {Text: q.T("audit.when")}}}
	balance, err := pages.Platform.Reconcile(ctx, reconcile.Interval{From: to.Add(-last), To: to, Company: of}, func(m reconcile.Missing) error {
		if len(p.Missing.Rows) < missingShown {
			at := "/c/" + m.CompanyID.String()
			p.Missing.Rows = append(p.Missing.Rows, []web.Cell{
				web.Code(m.CompanyID.String(), "/companies/"+m.CompanyID.String()), web.Code(m.SubscriptionID.String(), at+"/webhooks/"+m.SubscriptionID.String()),
				web.LinkTo(m.Event, at+"/events/"+m.EventID.String()), web.When(q.At(m.OccurredAt.Std())),
			})
		}
		return nil
	})
	if err != nil {
		return err
	}
	p.EventNote = &web.Note{Kind: web.Good, Title: q.T("platform.check.even", balance.Events), Text: q.T("platform.check.even.text")}
	if !balance.Even() {
		p.EventNote = &web.Note{Kind: web.Bad, Title: q.T("platform.check.uneven", balance.Missing, balance.Unpublished), Text: q.T("platform.check.uneven.next")}
	}
	for _, one := range []struct {
		key string
		n   int64
	}{
		{"companies", balance.Companies},
		{"events", balance.Events},
		{"unpublished", balance.Unpublished},
		{"delivered", balance.Delivered},
		{"open", balance.Open},
		{"failed", balance.Failed},
		{"not_wanted", balance.NotWanted},
		{"changed", balance.Changed},
		{"missing", balance.Missing},
	} {
		p.Balance = append(p.Balance, web.Fact{Label: q.T("platform.balance." + one.key), Cell: web.Text(number(q, one.n))})
	}
	return nil
}

func (pages *Pages) checkStock(ctx context.Context, q *web.Request, of tenant.ID, p *checksPage) error {
	found, err := pages.Platform.CheckStock(ctx, of)
	if err != nil {
		return err
	}
	p.StockNote = &web.Note{Kind: web.Good, Text: q.T("platform.stock.same")}
	if len(found) == 0 {
		return nil
	}
	p.StockNote = &web.Note{Kind: web.Bad, Title: q.T("platform.stock.differs", len(found)), Text: q.T("platform.stock.next")}
	p.Differ = differences(q, found)
	if q.Allows("*", true) {
		p.Repair = &web.Action{ID: "repair", Text: q.T("platform.stock.repair"), Post: "/platform/checks/stock", Values: map[string]string{ofStock: of.String()}, Confirm: q.T("platform.stock.repair.confirm", len(found))}
	}
	return nil
}

func differences(q *web.Request, found []warehouse.Difference) web.Table {
	t := web.Table{Label: q.T("platform.stock.table"), Columns: []web.Column{
		{Text: q.T("platform.stock.product")}, {Text: q.T("platform.stock.warehouse")}, {Text: q.T("platform.stock.field")}, {Text: q.T("platform.stock.stored"), Num: true}, {Text: q.T("platform.stock.expected"), Num: true},
	}}
	for _, d := range found[:min(len(found), missingShown)] {
		t.Rows = append(t.Rows, []web.Cell{web.Code(d.ProductID.String(), ""), web.Code(d.WarehouseID.String(), ""), web.Text(d.Field), web.Number(d.Stored.String()), web.Number(d.Expected.String())})
	}
	return t
}

// repairStock sets the stock of a company to what its movements and reserves say.
func (pages *Pages) repairStock(ctx context.Context, q *web.Request) (web.Answer, error) {
	of, err := companyIn(q, ofStock)
	if err != nil || of == nil {
		return web.Answer{}, web.Refusal(400, "error.form")
	}
	within, cancel := context.WithTimeout(ctx, actWithin)
	defer cancel()
	if _, err := pages.Platform.RepairStock(within, *of, recorded(q)); err != nil {
		return web.Answer{}, err
	}
	return web.Go(web.With("/platform/checks", "check", "stock", ofStock, of.String(), "done", "saved")), nil
}
