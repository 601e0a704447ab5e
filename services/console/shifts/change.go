package shifts

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"strconv"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/services/business/sales"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/platform/company"
)

// The fields of the forms.
var (
	openFields  = []string{"openingCash", "cashierId", "branchId"}
	cashFields  = []string{"type", "amount", "reason"}
	closeFields = []string{"closingCash"}
)

// amounts are the fields in which people type money.
var amounts = []string{"openingCash", "amount", "closingCash"}

// parseAmounts is the form with its money as the API takes it.
func parseAmounts(q *web.Request) url.Values {
	form := maps.Clone(q.Form)
	for _, name := range amounts {
		if form.Has(name) {
			form[name] = []string{fmt.Sprint(q.ParseAmount(form.Get(name)))}
		}
	}
	return form
}

// formOf makes the form of a command. refused is why it was refused before.
func formOf(q *web.Request, op string, fields []string, refused error) web.Form {
	f := web.Fields{Op: q.Operation(op), Only: fields, Err: refused, Help: map[string]string{}}
	for _, name := range amounts {
		f.Help[name] = q.T("shifts.amount.help", q.Company.Currency)
	}
	if refused != nil {
		f.Typed = q.Form
	}
	form := web.Form{Fields: q.FieldsOf(f), Hidden: map[string]string{"key": uuid.NewString()}}
	if known, ok := apierr.As(refused); ok && !web.Faulty(form.Fields) {
		form.Fault = known.Message
	}
	return form
}

func moveForm(q *web.Request, s sales.Shift, refused error) *web.Form {
	f := formOf(q, "createCashMovement", cashFields, refused)
	f.Post, f.Button = q.Path("/shifts/"+s.ID.String()+"/cash"), q.T("shifts.cash.move")
	return &f
}

func closeForm(q *web.Request, s sales.Shift, refused error) *web.Form {
	f := formOf(q, "closeShift", closeFields, refused)
	f.Post, f.Button, f.Kind = q.Path("/shifts/"+s.ID.String()+"/close"), q.T("shifts.close"), "danger"
	f.Hidden["version"] = strconv.FormatInt(s.Version, 10)
	return &f
}

// cash puts cash into the drawer or takes some out.
func (pages *Pages) cash(ctx context.Context, q *web.Request) (web.Answer, error) {
	s, err := pages.one(ctx, q)
	if err != nil {
		return web.Answer{}, err
	}
	in := web.ByID(s.ID)
	in.Key, in.Body = q.Form.Get("key"), q.BodyOf(web.Fields{Op: q.Operation("createCashMovement"), Only: cashFields}, parseAmounts(q))
	if _, err = web.Call[sales.CashMovement](ctx, q, "createCashMovement", in); err == nil {
		return web.Go(q.Path("/shifts/"+s.ID.String()) + "?done=shifts.cash"), nil
	}
	return pages.again(ctx, q, s, err, func(p *shiftPage) { p.Move = moveForm(q, s, err) })
}

// close closes the shift with the cash that was counted.
func (pages *Pages) close(ctx context.Context, q *web.Request) (web.Answer, error) {
	s, err := pages.one(ctx, q)
	if err != nil {
		return web.Answer{}, err
	}
	in := web.ByID(s.ID)
	in.Version, in.Body = q.FormVersion(), q.BodyOf(web.Fields{Op: q.Operation("closeShift"), Only: closeFields}, parseAmounts(q))
	if _, err = web.Call[sales.Shift](ctx, q, "closeShift", in); err == nil {
		return web.Go(q.Path("/shifts/"+s.ID.String()) + "?done=shifts.close"), nil
	}
	return pages.again(ctx, q, s, err, func(p *shiftPage) { p.Close = closeForm(q, s, err) })
}

// again shows the page with a form that was refused.
func (pages *Pages) again(ctx context.Context, q *web.Request, s sales.Shift, refused error, change func(*shiftPage)) (web.Answer, error) {
	if known, ok := apierr.As(refused); !ok || known.Status >= 500 {
		return web.Answer{}, refused
	}
	p, err := pages.fill(ctx, q, s)
	if err != nil {
		return web.Answer{}, err
	}
	change(&p)
	return web.Show("shifts/shift", q.T("shifts.number", s.Number), p).Refuse(), nil
}

type openPage struct {
	Header web.Header
	Form   web.Form
}

func (pages *Pages) openForm(ctx context.Context, q *web.Request) (web.Answer, error) {
	return pages.opening(ctx, q, nil)
}

func (pages *Pages) opening(ctx context.Context, q *web.Request, refused error) (web.Answer, error) {
	branches, err := choices(ctx, q, "listBranches", func(b company.BranchEntry) web.Option { return web.Option{Value: b.ID.String(), Text: b.Name} })
	if err != nil {
		return web.Answer{}, err
	}
	users, err := choices(ctx, q, "listUsers", func(u company.UserEntry) web.Option {
		if u.Name == nil || *u.Name == "" {
			return web.Option{Value: u.ID.String(), Text: u.ID.String()}
		}
		return web.Option{Value: u.ID.String(), Text: *u.Name}
	})
	if err != nil {
		return web.Answer{}, err
	}
	f := web.Fields{Op: q.Operation("openShift"), Only: openFields, Err: refused, Help: map[string]string{"openingCash": q.T("shifts.amount.help", q.Company.Currency)}, Pick: map[string][]web.Option{
		"branchId": branches, "cashierId": users,
	}}
	if refused != nil {
		f.Typed = q.Form
	}
	p := openPage{
		Header: web.Header{Title: q.T("shifts.open"), Facts: q.T("shifts.open.text"), Crumbs: []web.Link{{Text: q.T("area.sales"), Href: q.Path("/sales")}, {Text: q.T("shifts.title"), Href: q.Path("/shifts")}}},
		Form:   web.Form{Post: q.Path("/shifts/open"), Button: q.T("shifts.open"), Fields: q.FieldsOf(f), Hidden: map[string]string{"key": uuid.NewString()}},
	}
	if known, ok := apierr.As(refused); ok && !web.Faulty(p.Form.Fields) {
		p.Form.Fault = known.Message
	}
	return web.Show("shifts/open", q.T("shifts.open"), p), nil
}

// choices are the entries of a directory; none where the person may not read it.
func choices[E any](ctx context.Context, q *web.Request, op string, choice func(E) web.Option) ([]web.Option, error) {
	all, err := web.Call[[]E](ctx, q, op, web.Input{})
	if web.Refused(err) {
		return nil, nil
	}
	options := make([]web.Option, len(all))
	for i, e := range all {
		options[i] = choice(e)
	}
	return options, err
}

// open opens a shift of the person.
func (pages *Pages) open(ctx context.Context, q *web.Request) (web.Answer, error) {
	s, err := web.Call[sales.Shift](ctx, q, "openShift", web.Input{Key: q.Form.Get("key"), Body: q.BodyOf(web.Fields{Op: q.Operation("openShift"), Only: openFields}, parseAmounts(q))})
	if err == nil {
		return web.Go(q.Path("/shifts/"+s.ID.String()) + "?done=shifts.open"), nil
	}
	if known, ok := apierr.As(err); !ok || known.Status >= 500 {
		return web.Answer{}, err
	}
	a, err := pages.opening(ctx, q, err)
	return a.Refuse(), err
}
