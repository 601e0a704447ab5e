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
)

// The fields of the forms.
var (
	openFields  = []string{"openingCash", "cashierId", "branchId"}
	cashFields  = []string{"type", "amount", "reason"}
	closeFields = []string{"closingCash"}
)

// amounts are the fields in which people type money.
var amounts = []string{"openingCash", "amount", "closingCash"}

// minor is the form with its money as the API takes it.
func minor(q *web.Request) url.Values {
	form := maps.Clone(q.Form)
	for _, name := range amounts {
		if form.Has(name) {
			form[name] = []string{fmt.Sprint(q.Minor(form.Get(name)))}
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
func (r *Room) cash(ctx context.Context, q *web.Request) (web.Answer, error) {
	s, err := r.one(ctx, q)
	if err != nil {
		return web.Answer{}, err
	}
	in := web.Input{Path: map[string]string{"id": s.ID.String()}, Key: q.Form.Get("key"), Body: q.BodyOf(web.Fields{Op: q.Operation("createCashMovement"), Only: cashFields}, minor(q))}
	if _, err = q.Call(ctx, "createCashMovement", in); err == nil {
		return web.Go(q.Path("/shifts/"+s.ID.String()) + "?done=shifts.cash"), nil
	}
	return r.again(ctx, q, s, err, func(p *shiftPage) { p.Move = moveForm(q, s, err) })
}

// close closes the shift with the cash that was counted.
func (r *Room) close(ctx context.Context, q *web.Request) (web.Answer, error) {
	s, err := r.one(ctx, q)
	if err != nil {
		return web.Answer{}, err
	}
	in := web.Input{Path: map[string]string{"id": s.ID.String()}, Version: q.FormVersion(), Body: q.BodyOf(web.Fields{Op: q.Operation("closeShift"), Only: closeFields}, minor(q))}
	if _, err = q.Call(ctx, "closeShift", in); err == nil {
		return web.Go(q.Path("/shifts/"+s.ID.String()) + "?done=shifts.close"), nil
	}
	return r.again(ctx, q, s, err, func(p *shiftPage) { p.Close = closeForm(q, s, err) })
}

// again shows the page with a form that was refused.
func (r *Room) again(ctx context.Context, q *web.Request, s sales.Shift, refused error, change func(*shiftPage)) (web.Answer, error) {
	if known, ok := apierr.As(refused); !ok || known.Status >= 500 {
		return web.Answer{}, refused
	}
	p, err := r.fill(ctx, q, s)
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

func (r *Room) openForm(ctx context.Context, q *web.Request) (web.Answer, error) {
	return r.opening(ctx, q, nil), nil
}

func (r *Room) opening(ctx context.Context, q *web.Request, refused error) web.Answer {
	f := web.Fields{Op: q.Operation("openShift"), Only: openFields, Err: refused, Help: map[string]string{"openingCash": q.T("shifts.amount.help", q.Company.Currency)}, Pick: map[string][]web.Option{
		"branchId": named(ctx, q, "listBranches"), "cashierId": named(ctx, q, "listUsers"),
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
	return web.Show("shifts/open", q.T("shifts.open"), p)
}

// named are the entries of a directory as choices; none where the person may not read it.
func named(ctx context.Context, q *web.Request, op string) []web.Option {
	reply, err := q.Call(ctx, op, web.Input{})
	if err != nil {
		return nil
	}
	var all []struct {
		ID    string
		Name  *string
		Email *string
	}
	if reply.Into(&all) != nil {
		return nil
	}
	options := []web.Option{}
	for _, e := range all {
		text := e.ID
		switch {
		case e.Name != nil && *e.Name != "":
			text = *e.Name
		case e.Email != nil:
			text = *e.Email
		}
		options = append(options, web.Option{Value: e.ID, Text: text})
	}
	return options
}

// open opens a shift of the person.
func (r *Room) open(ctx context.Context, q *web.Request) (web.Answer, error) {
	reply, err := q.Call(ctx, "openShift", web.Input{Key: q.Form.Get("key"), Body: q.BodyOf(web.Fields{Op: q.Operation("openShift"), Only: openFields}, minor(q))})
	if err == nil {
		var s struct{ ID string }
		if err := reply.Into(&s); err != nil {
			return web.Answer{}, err
		}
		return web.Go(q.Path("/shifts/"+s.ID) + "?done=shifts.open"), nil
	}
	if known, ok := apierr.As(err); !ok || known.Status >= 500 {
		return web.Answer{}, err
	}
	return r.opening(ctx, q, err).Refuse(), nil
}
