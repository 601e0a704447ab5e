package tokens

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/platform/company"
)

// When a token ends, as the form asks for it.
const (
	keep   = "keep"
	onDate = "date"
	never  = "never"
)

// lifetimes are the days that the form offers.
var lifetimes = map[string]time.Duration{"30": 30 * 24 * time.Hour, "90": 90 * 24 * time.Hour, "365": 365 * 24 * time.Hour}

// typed is what stands in the form.
type typed struct {
	Name, Expires, Until, Addresses string
	Scopes                          access.Scopes
}

func typedIn(q *web.Request, known []string) typed {
	f := q.Form
	return typed{f.Get("name"), f.Get("expires"), f.Get("until"), f.Get("addresses"), web.ScopesOf(known, f)}
}

// end is when the token is to end; nil = never. ok is false if that is not a date.
func (in typed) end(q *web.Request) (end *time.Time, ok bool) {
	at := q.Now.Add(lifetimes[in.Expires])
	switch in.Expires {
	case never:
		return nil, true
	case onDate:
		day, err := time.ParseInLocation(time.DateOnly, in.Until, q.Zone)
		at = day.AddDate(0, 0, 1) // through the day
		return &at, err == nil
	}
	_, ok = lifetimes[in.Expires]
	return &at, ok
}

// ranges are the addresses, of which each line or word is one.
func (in typed) ranges() []string {
	return strings.FieldsFunc(in.Addresses, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\r' || r == '\t' })
}

type formPage struct {
	Header web.Header
	Post   string
	Hidden map[string]string
	Fault  string
	Fields []web.Field
	Matrix web.Matrix
	Button string
}

func (pages *Pages) newForm(_ context.Context, q *web.Request) (web.Answer, error) {
	if !q.Allows(scope, true) {
		return web.Go(q.Path("/tokens")), nil // nothing that the person could send
	}
	return pages.form(q, typed{Expires: "90"}, nil, nil), nil
}

// form is the page of a new token, or of one that exists.
func (pages *Pages) form(q *web.Request, in typed, of *company.Token, err error) web.Answer {
	title, post, button, crumbs := q.T("tokens.issue"), q.Path("/tokens/new"), q.T("tokens.issue.button"), []web.Link{{Text: q.T("area.tokens"), Href: q.Path("/tokens")}}
	if of != nil {
		at := q.Path("/tokens/" + of.ID.String())
		title, post, button, crumbs = q.T("tokens.change.title", of.Name), at+"/change", q.T("tokens.change.button"), append(crumbs, web.Link{Text: of.Name, Href: at})
	}
	var hidden map[string]string
	if of != nil {
		hidden = q.Versioned(of.Version)
	}
	p := formPage{
		Header: web.Header{Title: title, Crumbs: crumbs}, Post: post, Hidden: hidden, Button: button, Matrix: q.ScopeMatrix(pages.Scopes, in.Scopes, true),
		Fields: []web.Field{
			{Name: "name", Label: q.T("tokens.name"), Value: in.Name, Required: true, Focus: of == nil, Autocomplete: "off", Help: q.T("tokens.name.help"), Fault: q.FaultOf(err, "name")},
			expiryField(q, in, of, err),
			{Name: "until", Label: q.T("tokens.until"), Type: "date", Value: in.Until, Help: q.T("tokens.until.help")},
			{Name: "addresses", Label: q.T("tokens.from"), Type: "textarea", Value: in.Addresses, Help: q.T("tokens.from.help", q.Visit.Address), Fault: faultBelow(q, err, "ipAllowlist")},
		},
	}
	p.Matrix.Fault = q.FaultOf(err, "scopes")
	if known, ok := apierr.As(err); ok && len(known.Fields) == 0 {
		p.Fault = q.Why(known)
	}
	return web.Show("tokens/form", title, p)
}

func expiryField(q *web.Request, in typed, of *company.Token, err error) web.Field {
	f := web.Field{Name: "expires", Label: q.T("tokens.expires"), Type: "select"}
	if f.Fault = q.FaultOf(err, "lifetime"); f.Fault == "" {
		f.Fault = q.FaultOf(err, "expiresAt")
	}
	choices := []string{"30", "90", "365", onDate, never}
	if of != nil {
		choices = append([]string{keep}, choices...)
	}
	for _, c := range choices {
		o := web.Option{Value: c, Text: q.T("tokens.expires." + c), Selected: c == in.Expires}
		if c == keep && of.ExpiresAt != nil {
			o.Text = q.T("tokens.expires.keep_until", q.At(of.ExpiresAt.Std()).Short())
		}
		f.Options = append(f.Options, o)
	}
	return f
}

// faultBelow is what an error says of a field or of one of its elements.
func faultBelow(q *web.Request, err error, field string) string {
	known, ok := apierr.As(err)
	if !ok {
		return ""
	}
	for _, f := range known.Fields {
		if f.Field == field || strings.HasPrefix(f.Field, field+"[") {
			return q.FaultText(f)
		}
	}
	return ""
}

func (pages *Pages) issue(ctx context.Context, q *web.Request) (web.Answer, error) {
	in := typedIn(q, pages.Scopes)
	end, ok := in.end(q)
	if !ok {
		return pages.form(q, in, nil, apierr.InvalidField("lifetime", apierr.Format, "%s", q.T("tokens.until.wrong"))).Refuse(), nil
	}
	t := company.NewToken{Name: in.Name, Scopes: in.Scopes, IPAllowlist: in.ranges(), NeverExpires: end == nil}
	if end != nil {
		if t.Lifetime = end.Sub(q.Now); t.Lifetime == 0 {
			t.Lifetime = -1 // 0 would be the default
		}
	}
	var issued company.Issued
	err := q.Change(ctx, "issueToken", func(ctx context.Context, tx *db.Tx) (c web.Changed, err error) {
		again := t // the transaction may run several times, and issuing normalizes its input
		again.IPAllowlist = slices.Clone(t.IPAllowlist)
		issued, err = pages.Company.IssueToken(ctx, tx, q.Caller, again)
		return web.Changed{Entity: issued.ID.String(), After: issued.Token}, err
	})
	if known, ok := apierr.As(err); ok && known.Status < 500 {
		return pages.form(q, in, nil, err).Refuse(), nil
	}
	if err != nil {
		return web.Answer{}, err
	}
	return pages.once(q, issued, q.T("tokens.once")), nil
}

func (pages *Pages) changeForm(ctx context.Context, q *web.Request) (web.Answer, error) {
	t, err := pages.token(ctx, q)
	if err != nil {
		return web.Answer{}, err
	}
	if !q.Allows(scope, true) {
		return web.Go(q.Path("/tokens/" + t.ID.String())), nil
	}
	return pages.form(q, typed{Name: t.Name, Expires: keep, Addresses: strings.Join(t.IPAllowlist, "\n"), Scopes: t.Scopes}, &t, nil), nil
}

func (pages *Pages) change(ctx context.Context, q *web.Request) (web.Answer, error) {
	before, err := pages.token(ctx, q)
	if err != nil {
		return web.Answer{}, err
	}
	in := typedIn(q, pages.Scopes)
	set, fields := company.TokenSettings{Name: in.Name, Scopes: in.Scopes, IPAllowlist: in.ranges()}, []string{"name", "scopes", "ipAllowlist"}
	if in.Expires != keep {
		end, ok := in.end(q)
		if !ok {
			return pages.form(q, in, &before, apierr.InvalidField("expiresAt", apierr.Format, "%s", q.T("tokens.until.wrong"))).Refuse(), nil
		}
		if end != nil {
			at := jsontype.At(*end)
			set.ExpiresAt = &at
		}
		fields = append(fields, "expiresAt")
	}
	err = q.Change(ctx, "updateToken", func(ctx context.Context, tx *db.Tx) (web.Changed, error) {
		again := set
		again.IPAllowlist = slices.Clone(set.IPAllowlist)
		after, err := pages.Company.UpdateToken(ctx, tx, q.Expecting(), before.ID, record.PatchOf(again, fields...))
		return web.Changed{Entity: before.ID.String(), Before: before, After: after}, err
	})
	if known, ok := apierr.As(err); ok && known.Status < 500 {
		return pages.form(q, in, &before, err).Refuse(), nil
	}
	return web.Go(q.Path("/tokens/" + before.ID.String() + "?done=token_changed")), err
}
