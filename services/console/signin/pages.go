// Package signin holds the pages by which people get in and out: password, second factor, passkey, provider, links by e-mail, operators'
// tokens.
package signin

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/secret"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/platform/accounts"
	"github.com/tradegrid/tradegrid/services/platform/company"
)

//go:embed *.html
var files embed.FS

// Users are those of companies. Nobody is signed in yet, in whose name an operation could be called.
type Users interface {
	User(ctx context.Context, by access.Caller, id uuid.UUID) (company.User, error)
	ActivateUser(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (company.User, error)
}

// Room has the pages.
type Room struct {
	Accounts  *accounts.Service
	Users     Users
	Operators *secret.Operators // nil = no operators
	Log       *slog.Logger
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
		web.Post(web.Account, "", "/sign-in/passkey/options", r.passkeyOptions).For(web.Anyone),
		web.Post(web.Account, "", "/sign-in/passkey", r.enterByPasskey).For(web.Anyone),
		web.Get(web.Account, "", "/sign-in/provider", r.toProvider).For(web.Anyone),
		web.Get(web.Account, "", web.ProviderCallback, r.fromProvider).For(web.Anyone),
		web.Get(web.Account, "", "/sign-in/forgot", r.forgotForm).For(web.Anyone),
		web.Post(web.Account, "", "/sign-in/forgot", r.forgot).For(web.Anyone),
		web.Get(web.Account, "", "/sign-in/operator", r.operatorForm).For(web.Anyone),
		web.Post(web.Account, "", "/sign-in/operator", r.enterOperator).For(web.Anyone),
		web.Get(web.Account, "", "/link/{token}", r.linkForm).For(web.Anyone),
		web.Post(web.Account, "", "/link/{token}", r.useLink).For(web.Anyone),
		web.Post(web.Account, "", "/sign-out", r.leave).For(web.Anyone),
	}
}

// page is any page of this room: a form with a sentence above, other ways in, and links below.
type page struct {
	Intro   string
	Note    *web.Note
	Form    *web.Form
	Passkey *web.PasskeyForm
	Other   []web.Link // other ways, as buttons
	Links   []web.Link
}

func (r *Room) form(_ context.Context, q *web.Request) (web.Answer, error) {
	return r.signIn(q, attempt{next: web.Next(q.Form.Get("next"))}), nil
}

// attempt is what is known of somebody who signs in.
type attempt struct{ email, next, fault string }

func (r *Room) signIn(q *web.Request, a attempt) web.Answer {
	p := page{
		Form: &web.Form{Post: "/sign-in", Button: q.T("signin.button"), Fault: a.fault, Hidden: map[string]string{"next": a.next}, Fields: []web.Field{
			{Name: "email", Label: q.T("signin.email"), Type: "email", Value: a.email, Autocomplete: "username", Required: true, Focus: a.email == ""},
			{Name: "password", Label: q.T("signin.password"), Type: "password", Autocomplete: "current-password", Required: true, Focus: a.email != ""},
		}},
		Links: []web.Link{{Text: q.T("signin.forgot"), Href: "/sign-in/forgot"}},
	}
	if r.Accounts.Passkeyed() {
		p.Passkey = &web.PasskeyForm{
			Form: web.Form{Post: "/sign-in/passkey", Button: q.T("signin.passkey"), Kind: "secondary", Hidden: map[string]string{"next": a.next}},
			Ask:  "get", Options: "/sign-in/passkey/options", Failed: q.T("signin.passkey.failed"),
		}
	}
	if host := r.Accounts.Provider(); host != "" {
		p.Other = append(p.Other, web.Link{Text: q.T("signin.provider", host), Href: web.With("/sign-in/provider", "next", a.next)})
	}
	if r.Operators != nil {
		p.Links = append(p.Links, web.Link{Text: q.T("signin.operator"), Href: "/sign-in/operator"})
	}
	return web.Show("signin/page", q.T("signin.title"), p)
}

func (r *Room) enter(ctx context.Context, q *web.Request) (web.Answer, error) {
	a := attempt{email: q.Form.Get("email"), next: web.Next(q.Form.Get("next"))}
	e, err := r.Accounts.SignIn(ctx, accounts.Credentials{Email: a.email, Password: q.Form.Get("password")}, q.Visit)
	return r.entered(q, a, e, err)
}

// entered leads whoever is in to where they wanted to go, by way of the second factor where that is missing, and shows everybody else
// the page again, with why.
func (r *Room) entered(q *web.Request, a attempt, e accounts.Entered, err error) (web.Answer, error) {
	var limited *accounts.LimitedError
	switch {
	case errors.Is(err, accounts.ErrRefused):
		a.fault = q.T("signin.refused")
		return r.signIn(q, a).Refuse(), nil
	case errors.As(err, &limited):
		a.fault = q.T("error.limited", limited.Wait.Round(time.Second))
		return r.signIn(q, a).Later(http.StatusTooManyRequests, limited.Wait), nil
	case errors.Is(err, accounts.ErrBusy):
		a.fault = q.T("error.busy")
		return r.signIn(q, a).Later(http.StatusServiceUnavailable, accounts.RetryBusy), nil
	case err != nil:
		return web.Answer{}, err
	case e.NeedsCode():
		return web.Go(web.With("/sign-in/code", "next", a.next)).SignedIn(q, e), nil
	}
	return web.Go(a.next).SignedIn(q, e), nil
}

func (r *Room) codeForm(_ context.Context, q *web.Request) (web.Answer, error) {
	return r.code(q, web.Next(q.Form.Get("next")), ""), nil
}

func (r *Room) code(q *web.Request, next, fault string) web.Answer {
	return web.Show("signin/page", q.T("signin.code.title"), page{
		Intro: q.T("signin.code.intro"),
		Form: &web.Form{
			Post: "/sign-in/code", Button: q.T("signin.code.button"), Hidden: map[string]string{"next": next},
			Fields: []web.Field{web.OneTimeCode(q, q.T("signin.code.help"), fault)},
		},
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
		return r.code(q, next, q.T("error.limited", limited.Wait.Round(time.Second))).Later(http.StatusTooManyRequests, limited.Wait), nil
	case errors.Is(err, accounts.ErrBusy):
		return r.code(q, next, q.T("error.busy")).Later(http.StatusServiceUnavailable, accounts.RetryBusy), nil
	case web.FaultOf(err, "code") != "":
		return r.code(q, next, q.T("signin.code.wrong")).Refuse(), nil
	case errors.Is(err, accounts.ErrSession), errors.Is(err, accounts.ErrRefused):
		return web.Go("/sign-in"), nil
	case err != nil:
		return web.Answer{}, err
	}
	return web.Go(next).SignedIn(q, e), nil
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
		if err := r.Accounts.RefuseOperator(ctx, q.Visit); !errors.Is(err, accounts.ErrRefused) {
			return web.Answer{}, err
		}
		return r.operator(q, q.T("operator.refused")).Refuse(), nil
	}
	e, err := r.Accounts.EnterOperator(ctx, found.Fingerprint(), q.Visit)
	if err != nil {
		return web.Answer{}, err
	}
	return web.Go("/companies").SignedIn(q, e), nil
}

func (r *Room) leave(ctx context.Context, q *web.Request) (web.Answer, error) {
	if q.Session.ID != uuid.Nil {
		if err := r.Accounts.SignOut(ctx, q.Session); err != nil {
			return web.Answer{}, err
		}
	}
	return web.Go("/sign-in").SignedOut(q), nil
}
