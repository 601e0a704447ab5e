// Package signin holds the pages by which people get in and out: password, second factor, links by e-mail, operators' tokens.
package signin

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"net/http"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/cmd/tradegrid/web"
	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/apierr"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/secret"
	"github.com/tradegrid/tradegrid/services/accounts"
	"github.com/tradegrid/tradegrid/services/company"
)

//go:embed *.html
var files embed.FS

// Users are those of companies.
type Users interface {
	User(ctx context.Context, by access.Caller, id uuid.UUID) (company.User, error)
	ActivateUser(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (company.User, error)
}

// Room has the pages.
type Room struct {
	Accounts  *accounts.Service
	Users     Users
	Operators *secret.Operators // nil = no operators
}

// Name implements [web.Room].
func (*Room) Name() string { return "signin" }

// Templates implements [web.Room].
func (*Room) Templates() fs.FS { return files }

// Pages implements [web.Room].
func (r *Room) Pages() []web.Page {
	return []web.Page{
		web.Get(web.Account, "", "/sign-in", r.form).For(web.Anyone),
		web.Post(web.Account, "", "/sign-in", r.enter).For(web.Anyone),
		web.Get(web.Account, "", "/sign-in/code", r.codeForm).For(web.Anyone),
		web.Post(web.Account, "", "/sign-in/code", r.enterCode).For(web.Anyone),
		web.Get(web.Account, "", "/sign-in/forgot", r.forgotForm).For(web.Anyone),
		web.Post(web.Account, "", "/sign-in/forgot", r.forgot).For(web.Anyone),
		web.Get(web.Account, "", "/sign-in/operator", r.operatorForm).For(web.Anyone),
		web.Post(web.Account, "", "/sign-in/operator", r.enterOperator).For(web.Anyone),
		web.Get(web.Account, "", "/link/{token}", r.linkForm).For(web.Anyone),
		web.Post(web.Account, "", "/link/{token}", r.useLink).For(web.Anyone),
		web.Post(web.Account, "", "/sign-out", r.leave).For(web.Anyone),
	}
}

// page is any page of this room: a form with a sentence above and links below.
type page struct {
	Intro string
	Form  *web.Form
	Note  *web.Note
	Links []web.Link
}

func (r *Room) form(_ context.Context, q *web.Request) (web.Answer, error) {
	return r.signIn(q, "", web.Next(q.Form.Get("next")), ""), nil
}

func (r *Room) signIn(q *web.Request, email, next, fault string) web.Answer {
	p := page{
		Form: &web.Form{Post: "/sign-in", Button: q.T("signin.button"), Fault: fault, Hidden: map[string]string{"next": next}, Fields: []web.Field{
			{Name: "email", Label: q.T("signin.email"), Type: "email", Value: email, Autocomplete: "username", Required: true, Focus: email == ""},
			{Name: "password", Label: q.T("signin.password"), Type: "password", Autocomplete: "current-password", Required: true, Focus: email != ""},
		}},
		Links: []web.Link{{Text: q.T("signin.forgot"), Href: "/sign-in/forgot"}},
	}
	if r.Operators != nil {
		p.Links = append(p.Links, web.Link{Text: q.T("signin.operator"), Href: "/sign-in/operator"})
	}
	return web.Show("signin/page", q.T("signin.title"), p)
}

func (r *Room) enter(ctx context.Context, q *web.Request) (web.Answer, error) {
	email, next := q.Form.Get("email"), web.Next(q.Form.Get("next"))
	e, err := r.Accounts.SignIn(ctx, accounts.Credentials{Email: email, Password: q.Form.Get("password")}, q.Visit)
	var limited *accounts.LimitedError
	switch {
	case errors.Is(err, accounts.ErrRefused):
		return r.signIn(q, email, next, q.T("signin.refused")).Refuse(), nil
	case errors.As(err, &limited):
		return r.signIn(q, email, next, q.T("error.limited", limited.Wait.String())).Status(http.StatusTooManyRequests), nil
	case err != nil:
		return web.Answer{}, err
	case e.NeedsCode():
		return with(q, web.Go("/sign-in/code?next="+escape(next)), e), nil
	}
	return with(q, web.Go(next), e), nil
}

func (r *Room) codeForm(_ context.Context, q *web.Request) (web.Answer, error) {
	return r.code(q, web.Next(q.Form.Get("next")), ""), nil
}

func (r *Room) code(q *web.Request, next, fault string) web.Answer {
	return web.Show("signin/page", q.T("signin.code.title"), page{
		Intro: q.T("signin.code.intro"),
		Form: &web.Form{Post: "/sign-in/code", Button: q.T("signin.code.button"), Hidden: map[string]string{"next": next}, Fields: []web.Field{
			{Name: "code", Label: q.T("signin.code"), Autocomplete: "one-time-code", Required: true, Focus: true, Fault: fault, Help: q.T("signin.code.help")},
		}},
		Links: []web.Link{{Text: q.T("signin.again"), Href: "/sign-in"}},
	})
}

func (r *Room) enterCode(ctx context.Context, q *web.Request) (web.Answer, error) {
	next := web.Next(q.Form.Get("next"))
	if !q.Session.NeedsCode() {
		return web.Go("/sign-in"), nil
	}
	e, err := r.Accounts.EnterCode(ctx, q.Session, q.Form.Get("code"), q.Visit)
	var limited *accounts.LimitedError
	switch {
	case errors.As(err, &limited):
		return r.code(q, next, q.T("error.limited", limited.Wait.String())).Status(http.StatusTooManyRequests), nil
	case web.FaultOf(err, "code") != "":
		return r.code(q, next, q.T("signin.code.wrong")).Refuse(), nil
	case errors.Is(err, accounts.ErrSession), errors.Is(err, accounts.ErrRefused):
		return web.Go("/sign-in"), nil
	case err != nil:
		return web.Answer{}, err
	}
	return with(q, web.Go(next), e), nil
}

func (r *Room) forgotForm(_ context.Context, q *web.Request) (web.Answer, error) {
	return web.Show("signin/page", q.T("forgot.title"), page{
		Intro: q.T("forgot.intro"),
		Form: &web.Form{Post: "/sign-in/forgot", Button: q.T("forgot.button"), Fields: []web.Field{
			{Name: "email", Label: q.T("signin.email"), Type: "email", Autocomplete: "username", Required: true, Focus: true},
		}},
		Links: []web.Link{{Text: q.T("signin.back"), Href: "/sign-in"}},
	}), nil
}

func (r *Room) forgot(ctx context.Context, q *web.Request) (web.Answer, error) {
	if err := r.Accounts.Forgot(ctx, q.Form.Get("email"), q.Visit); err != nil {
		return web.Answer{}, err
	}
	return web.Show("signin/page", q.T("forgot.title"), page{
		Note: &web.Note{Kind: web.Good, Text: q.T("forgot.sent")}, Links: []web.Link{{Text: q.T("signin.back"), Href: "/sign-in"}},
	}), nil
}

func (r *Room) operatorForm(_ context.Context, q *web.Request) (web.Answer, error) {
	return r.operator(q, ""), nil
}

func (r *Room) operator(q *web.Request, fault string) web.Answer {
	return web.Show("signin/page", q.T("operator.title"), page{
		Intro: q.T("operator.intro"),
		Form: &web.Form{Post: "/sign-in/operator", Button: q.T("signin.button"), Fault: fault, Fields: []web.Field{
			{Name: "token", Label: q.T("operator.token"), Type: "password", Autocomplete: "off", Required: true, Focus: true},
		}},
		Links: []web.Link{{Text: q.T("signin.back"), Href: "/sign-in"}},
	})
}

func (r *Room) enterOperator(ctx context.Context, q *web.Request) (web.Answer, error) {
	if r.Operators == nil {
		return r.operator(q, q.T("operator.refused")).Refuse(), nil
	}
	found, ok := r.Operators.Find(q.Form.Get("token"))
	if !ok {
		if err := r.Accounts.AllowOperator(ctx, q.Visit); err != nil {
			return web.Answer{}, err
		}
		return r.operator(q, q.T("operator.refused")).Refuse(), nil
	}
	e, err := r.Accounts.EnterOperator(ctx, found.Fingerprint(), q.Visit)
	return with(q, web.Go("/companies"), e), err
}

func (r *Room) leave(ctx context.Context, q *web.Request) (web.Answer, error) {
	if q.Session.ID != uuid.Nil {
		if err := r.Accounts.SignOut(ctx, q.Session); err != nil {
			return web.Answer{}, err
		}
	}
	return web.Go("/sign-in").With(q.NoSession()), nil
}

func (r *Room) linkForm(ctx context.Context, q *web.Request) (web.Answer, error) {
	return r.link(ctx, q, "")
}

// link shows what a link is for. Opening it changes nothing.
func (r *Room) link(ctx context.Context, q *web.Request, fault string) (web.Answer, error) {
	token := q.HTTP.PathValue("token")
	l, err := r.Accounts.Link(ctx, token)
	if errors.Is(err, accounts.ErrLink) {
		return r.deadLink(q), nil
	}
	if err != nil {
		return web.Answer{}, err
	}
	p := page{Form: &web.Form{Post: "/link/" + token, Button: q.T("link." + l.Kind + ".button")}, Intro: q.T("link."+l.Kind+".intro", l.Email)}
	if l.Kind != accounts.SignInLink {
		p.Form.Fields = []web.Field{
			{Name: "password", Label: q.T("link.password"), Type: "password", Autocomplete: "new-password", Required: true, Focus: true, Help: q.T("link.password.help"), Fault: fault},
		}
	}
	return web.Show("signin/page", q.T("link."+l.Kind+".title"), p), nil
}

func (r *Room) deadLink(q *web.Request) web.Answer {
	return web.Show("signin/page", q.T("link.dead.title"), page{
		Note:  &web.Note{Kind: web.Warn, Text: q.T("link.dead")},
		Links: []web.Link{{Text: q.T("signin.forgot"), Href: "/sign-in/forgot"}, {Text: q.T("signin.back"), Href: "/sign-in"}},
	}).Status(http.StatusGone)
}

func (r *Room) useLink(ctx context.Context, q *web.Request) (web.Answer, error) {
	token := q.HTTP.PathValue("token")
	l, err := r.Accounts.Link(ctx, token)
	if errors.Is(err, accounts.ErrLink) {
		return r.deadLink(q), nil
	}
	if err != nil {
		return web.Answer{}, err
	}
	var password accounts.Password
	if l.Kind != accounts.SignInLink {
		password, err = r.Accounts.NewPassword(ctx, "password", q.Form.Get("password"), l.Email)
		if fault := web.FaultOf(err, "password"); fault != "" {
			a, err := r.link(ctx, q, fault)
			return a.Refuse(), err
		}
		if err != nil {
			return web.Answer{}, err
		}
	}
	var e accounts.Entered
	err = q.ChangeOf(ctx, l.Company, l.Email, l.User, "use_link_"+l.Kind, func(ctx context.Context, tx *db.Tx) (c web.Changed, err error) {
		if err := r.admitted(ctx, tx, l); err != nil {
			return c, err
		}
		_, e, err = r.Accounts.UseLink(ctx, tx, token, password, q.Visit)
		return web.Changed{Entity: l.User.String()}, err
	})
	switch {
	case errors.Is(err, accounts.ErrLink):
		return r.deadLink(q), nil
	case err != nil:
		return web.Answer{}, err
	case l.Kind == accounts.SignInLink:
		return with(q, web.Go("/"), e), nil
	}
	return web.Show("signin/page", q.T("signin.title"), page{
		Note: &web.Note{Kind: web.Good, Text: q.T("link.password.set")}, Links: []web.Link{{Text: q.T("signin.title"), Href: "/sign-in"}},
	}), nil
}

// admitted makes sure that the user of a link may come in. Whoever accepts an invitation is active from then on.
func (r *Room) admitted(ctx context.Context, tx *db.Tx, l accounts.Link) error {
	u, err := r.Users.User(ctx, access.System(l.Company), l.User)
	if apierr.Is(err, "USER_NOT_FOUND") {
		return accounts.ErrLink
	}
	if err != nil {
		return err
	}
	if l.Kind == accounts.Invitation && u.Status == company.UserInvited {
		_, err = r.Users.ActivateUser(ctx, tx, access.System(l.Company), l.User)
		return err
	}
	if u.Status != company.UserActive {
		return accounts.ErrLink
	}
	return nil
}
