package shifts

import (
	"context"
	"strconv"
	"strings"

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

// uncounted is the box that closes a shift whose cash nobody has counted: it cannot be counted afterwards.
const uncounted = "uncounted"

// formOf makes the form of a command. refused is why it was refused before.
func formOf(q *web.Request, op string, fields []string, refused error) web.Form {
	f := web.Fields{Op: q.Operation(op), Only: fields, Err: refused, Pick: map[string][]web.Option{
		"type": {{Value: "in", Text: q.T("shifts.cash.in")}, {Value: "out", Text: q.T("shifts.cash.out")}},
	}}
	if refused != nil {
		f.Typed = q.Form
	}
	form := web.Form{Fields: q.FieldsOf(f), Hidden: map[string]string{"key": uuid.NewString()}}
	form.Fault = q.FormFault(refused, form.Fields)
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
	f.Fields = append(f.Fields, web.Boxes(uncounted, q.T("shifts.uncounted"), q.Form[uncounted], web.Option{Value: "yes", Text: q.T("shifts.uncounted.yes")}))
	return &f
}

// cash puts cash into the drawer or takes some out.
func (pages *Pages) cash(ctx context.Context, q *web.Request) (web.Answer, error) {
	s, err := pages.one(ctx, q)
	if err != nil {
		return web.Answer{}, err
	}
	in := web.ByID(s.ID)
	in.Key, in.Body = q.Form.Get("key"), q.BodyOf(web.Fields{Op: q.Operation("createCashMovement"), Only: cashFields}, q.Form)
	if _, err = web.Call[sales.CashMovement](ctx, q, "createCashMovement", in); err == nil {
		return web.Go(q.Path("/shifts/"+s.ID.String()) + "?done=shifts.cash"), nil
	}
	return pages.again(ctx, q, s, err, func(p *shiftPage) { p.Move = moveForm(q, s, err) })
}

// close closes the shift with the cash that was counted, or, if the box says so, without.
func (pages *Pages) close(ctx context.Context, q *web.Request) (web.Answer, error) {
	s, err := pages.one(ctx, q)
	if err != nil {
		return web.Answer{}, err
	}
	if isOpen(s) && strings.TrimSpace(q.Form.Get("closingCash")) == "" && q.Form.Get(uncounted) == "" {
		return pages.again(ctx, q, s, errUncounted, func(p *shiftPage) {
			p.Close = closeForm(q, s, nil)
			p.Close.Fault = q.T("shifts.uncounted.refused")
		})
	}
	in := web.ByID(s.ID)
	in.Version, in.Body = q.FormVersion(), q.BodyOf(web.Fields{Op: q.Operation("closeShift"), Only: closeFields}, q.Form)
	if _, err = web.Call[sales.Shift](ctx, q, "closeShift", in); err == nil {
		return web.Go(q.Path("/shifts/"+s.ID.String()) + "?done=shifts.close"), nil
	}
	return pages.again(ctx, q, s, err, func(p *shiftPage) { p.Close = closeForm(q, s, err) })
}

var errUncounted = apierr.InvalidField("closingCash", apierr.Required, "is empty; count the cash, or close the shift without it")

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
	f := web.Fields{Op: q.Operation("openShift"), Only: openFields, Err: refused, Pick: map[string][]web.Option{
		"branchId": branches, "cashierId": users,
	}}
	if refused != nil {
		f.Typed = q.Form
	}
	p := openPage{
		Header: web.Header{Title: q.T("shifts.open"), Facts: q.T("shifts.open.text"), Crumbs: []web.Link{{Text: q.T("area.sales"), Href: q.Path("/sales")}, {Text: q.T("shifts.title"), Href: q.Path("/shifts")}}},
		Form:   web.Form{Post: q.Path("/shifts/open"), Button: q.T("shifts.open"), Fields: q.FieldsOf(f), Hidden: map[string]string{"key": uuid.NewString()}},
	}
	p.Form.Fault = q.FormFault(refused, p.Form.Fields)
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
	s, err := web.Call[sales.Shift](ctx, q, "openShift", web.Input{Key: q.Form.Get("key"), Body: q.BodyOf(web.Fields{Op: q.Operation("openShift"), Only: openFields}, q.Form)})
	if err == nil {
		return web.Go(q.Path("/shifts/"+s.ID.String()) + "?done=shifts.open"), nil
	}
	if known, ok := apierr.As(err); !ok || known.Status >= 500 {
		return web.Answer{}, err
	}
	a, err := pages.opening(ctx, q, err)
	return a.Refuse(), err
}
