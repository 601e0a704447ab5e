// Package signin holds the pages by which people get in and out: password, second factor, passkey, provider, links by e-mail, operators'
// tokens.
package signin

import (
	"context"
	"embed"
	"errors"
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

// Pages are the pages of the area.
type Pages struct {
	Accounts  *accounts.Service
	Users     Users
	Operators *secret.Operators // nil = no operators
	Log       *slog.Logger
}

// Folder implements [web.Pages].
func (pages *Pages) Folder() web.Folder {
	return web.Folder{Name: "signin", Templates: files, Routes: []web.Page{
		web.Get(web.Account, "", "/sign-in", pages.form).For(web.Anyone),
		web.Post(web.Account, "", "/sign-in", pages.enter).For(web.Anyone),
		web.Get(web.Account, "", web.SignInBack, pages.back).For(web.Anyone),
		web.Get(web.Account, "", "/sign-in/code", pages.codeForm).For(web.Anyone),
		web.Post(web.Account, "", "/sign-in/code", pages.enterCode).For(web.Anyone),
		web.Post(web.Account, "", "/sign-in/passkey/options", pages.passkeyOptions).For(web.Anyone),
		web.Post(web.Account, "", "/sign-in/passkey", pages.enterByPasskey).For(web.Anyone),
		web.Get(web.Account, "", "/sign-in/provider", pages.toProvider).For(web.Anyone),
		web.Get(web.Account, "", web.ProviderCallback, pages.fromProvider).For(web.Anyone),
		web.Get(web.Account, "", "/sign-in/forgot", pages.forgotForm).For(web.Anyone),
		web.Post(web.Account, "", "/sign-in/forgot", pages.forgot).For(web.Anyone),
		web.Get(web.Account, "", "/sign-in/operator", pages.operatorForm).For(web.Anyone),
		web.Post(web.Account, "", "/sign-in/operator", pages.enterOperator).For(web.Anyone),
		web.Get(web.Account, "", "/link/{token}", pages.linkForm).For(web.Anyone),
		web.Post(web.Account, "", "/link/{token}", pages.useLink).For(web.Anyone),
		web.Post(web.Account, "", "/sign-out", pages.leave).For(web.Anyone),
	}}
}

// page is any page of this area: a form with a sentence above, other ways in, and links below.
type page struct {
	Intro   string
	Note    *web.Note
	Form    *web.Form
	Passkey *web.PasskeyForm
	Other   []web.Link // other ways, as buttons
	Links   []web.Link
}

func (pages *Pages) form(_ context.Context, q *web.Request) (web.Answer, error) {
	return pages.signIn(q, attempt{next: web.Next(q.Form.Get("next"))}), nil
}

// back is where people come who have signed in for a form that waits in another tab.
func (pages *Pages) back(_ context.Context, q *web.Request) (web.Answer, error) {
	return web.Show("signin/page", q.T("signedout.back.title"), page{Note: &web.Note{Kind: web.Good, Text: q.T("signedout.back.text")}, Links: []web.Link{{Text: q.T("error.back"), Href: "/"}}}), nil
}

// attempt is what is known of somebody who signs in.
type attempt struct{ email, next, fault string }

func (pages *Pages) signIn(q *web.Request, a attempt) web.Answer {
	p := page{
		Form: &web.Form{Post: "/sign-in", Button: q.T("signin.button"), Fault: a.fault, Hidden: map[string]string{"next": a.next}, Fields: []web.Field{
			{Name: "email", Label: q.T("signin.email"), Type: "email", Value: a.email, Autocomplete: "username", Required: true, Focus: a.email == ""},
			{Name: "password", Label: q.T("signin.password"), Type: "password", Autocomplete: "current-password", Required: true, Focus: a.email != ""},
		}},
		Links: []web.Link{{Text: q.T("signin.forgot"), Href: "/sign-in/forgot"}},
	}
	if pages.Accounts.Passkeyed() {
		p.Passkey = &web.PasskeyForm{
			Form: web.Form{Post: "/sign-in/passkey", Button: q.T("signin.passkey"), Kind: "secondary", Hidden: map[string]string{"next": a.next}},
			Ask:  "get", Options: "/sign-in/passkey/options", Failed: q.T("signin.passkey.failed"),
		}
	}
	if host := pages.Accounts.Provider(); host != "" {
		p.Other = append(p.Other, web.Link{Text: q.T("signin.provider", host), Href: web.With("/sign-in/provider", "next", a.next)})
	}
	if pages.Operators != nil {
		p.Links = append(p.Links, web.Link{Text: q.T("signin.operator"), Href: "/sign-in/operator"})
	}
	return web.Show("signin/page", q.T("signin.title"), p)
}

func (pages *Pages) enter(ctx context.Context, q *web.Request) (web.Answer, error) {
	a := attempt{email: q.Form.Get("email"), next: web.Next(q.Form.Get("next"))}
	e, err := pages.Accounts.SignIn(ctx, accounts.Credentials{Email: a.email, Password: q.Form.Get("password")}, q.Visit)
	return pages.entered(q, a, e, err)
}

// entered leads whoever is in to where they wanted to go, by way of the second factor where that is missing, and shows everybody else
// the page again, with why.
func (pages *Pages) entered(q *web.Request, a attempt, e accounts.Entered, err error) (web.Answer, error) {
	var limited *accounts.LimitedError
	switch {
	case errors.Is(err, accounts.ErrRefused):
		a.fault = q.T("signin.refused")
		return pages.signIn(q, a).Refuse(), nil
	case errors.As(err, &limited):
		a.fault = q.T("error.limited", q.Duration(limited.Wait.Round(time.Second)))
		return pages.signIn(q, a).Later(http.StatusTooManyRequests, limited.Wait), nil
	case errors.Is(err, accounts.ErrBusy):
		a.fault = q.T("error.busy")
		return pages.signIn(q, a).Later(http.StatusServiceUnavailable, accounts.RetryBusy), nil
	case err != nil:
		return web.Answer{}, err
	case e.NeedsCode():
		return web.Go(web.With("/sign-in/code", "next", a.next)).SignedIn(q, e), nil
	}
	return web.Go(a.next).SignedIn(q, e), nil
}

func (pages *Pages) codeForm(_ context.Context, q *web.Request) (web.Answer, error) {
	return pages.code(q, web.Next(q.Form.Get("next")), ""), nil
}

func (pages *Pages) code(q *web.Request, next, fault string) web.Answer {
	return web.Show("signin/page", q.T("signin.code.title"), page{
		Intro: q.T("signin.code.intro"),
		Form: &web.Form{
			Post: "/sign-in/code", Button: q.T("signin.code.button"), Hidden: map[string]string{"next": next},
			Fields: []web.Field{web.OneTimeCode(q, q.T("signin.code.help"), fault)},
		},
		Links: []web.Link{{Text: q.T("signin.again"), Href: "/sign-in"}},
	})
}

func (pages *Pages) enterCode(ctx context.Context, q *web.Request) (web.Answer, error) {
	next := web.Next(q.Form.Get("next"))
	if !q.Session.NeedsCode() {
		return web.Go("/sign-in"), nil
	}
	e, err := pages.Accounts.EnterCode(ctx, q.Session, q.Form.Get("code"), q.Visit)
	var limited *accounts.LimitedError
	switch {
	case errors.As(err, &limited):
		return pages.code(q, next, q.T("error.limited", q.Duration(limited.Wait.Round(time.Second)))).Later(http.StatusTooManyRequests, limited.Wait), nil
	case errors.Is(err, accounts.ErrBusy):
		return pages.code(q, next, q.T("error.busy")).Later(http.StatusServiceUnavailable, accounts.RetryBusy), nil
	case q.FaultOf(err, "code") != "":
		return pages.code(q, next, q.T("signin.code.wrong")).Refuse(), nil
	case errors.Is(err, accounts.ErrSession), errors.Is(err, accounts.ErrRefused):
		return web.Go("/sign-in"), nil
	case err != nil:
		return web.Answer{}, err
	}
	return web.Go(next).SignedIn(q, e), nil
}

func (pages *Pages) forgotForm(_ context.Context, q *web.Request) (web.Answer, error) {
	return web.Show("signin/page", q.T("forgot.title"), page{
		Intro: q.T("forgot.intro"),
		Form: &web.Form{Post: "/sign-in/forgot", Button: q.T("forgot.button"), Fields: []web.Field{
			{Name: "email", Label: q.T("signin.email"), Type: "email", Autocomplete: "username", Required: true, Focus: true},
		}},
		Links: []web.Link{{Text: q.T("signin.back"), Href: "/sign-in"}},
	}), nil
}

func (pages *Pages) forgot(ctx context.Context, q *web.Request) (web.Answer, error) {
	if err := pages.Accounts.Forgot(ctx, q.Form.Get("email"), q.Visit); err != nil {
		return web.Answer{}, err
	}
	return web.Show("signin/page", q.T("forgot.title"), page{
		Note: &web.Note{Kind: web.Good, Text: q.T("forgot.sent")}, Links: []web.Link{{Text: q.T("signin.back"), Href: "/sign-in"}},
	}), nil
}

func (pages *Pages) operatorForm(_ context.Context, q *web.Request) (web.Answer, error) {
	return pages.operator(q, ""), nil
}

func (pages *Pages) operator(q *web.Request, fault string) web.Answer {
	return web.Show("signin/page", q.T("operator.title"), page{
		Intro: q.T("operator.intro"),
		Form: &web.Form{Post: "/sign-in/operator", Button: q.T("signin.button"), Fault: fault, Fields: []web.Field{
			{Name: "token", Label: q.T("operator.token"), Type: "password", Autocomplete: "off", Required: true, Focus: true},
		}},
		Links: []web.Link{{Text: q.T("signin.back"), Href: "/sign-in"}},
	})
}

func (pages *Pages) enterOperator(ctx context.Context, q *web.Request) (web.Answer, error) {
	if pages.Operators == nil {
		return pages.operator(q, q.T("operator.refused")).Refuse(), nil
	}
	found, ok := pages.Operators.Find(q.Form.Get("token"))
	if !ok {
		if err := pages.Accounts.RefuseOperator(ctx, q.Visit); !errors.Is(err, accounts.ErrRefused) {
			return web.Answer{}, err
		}
		return pages.operator(q, q.T("operator.refused")).Refuse(), nil
	}
	e, err := pages.Accounts.EnterOperator(ctx, found.Fingerprint(), q.Visit)
	if err != nil {
		return web.Answer{}, err
	}
	return web.Go("/companies").SignedIn(q, e), nil
}

func (pages *Pages) leave(ctx context.Context, q *web.Request) (web.Answer, error) {
	if q.Session.ID != uuid.Nil {
		if err := pages.Accounts.SignOut(ctx, q.Session); err != nil {
			return web.Answer{}, err
		}
	}
	return web.Go("/sign-in").SignedOut(q), nil
}

// passkeyOptions are what the browser hands to an authenticator. They are not stored: the browser keeps what they are checked against.
func (pages *Pages) passkeyOptions(_ context.Context, q *web.Request) (web.Answer, error) {
	options, kept, err := pages.Accounts.StartPasskeySignIn()
	if errors.Is(err, accounts.ErrRefused) {
		return web.Answer{}, web.NoPage()
	}
	if err != nil {
		return web.Answer{}, err
	}
	return web.Data(options).Keep(q, kept), nil
}

func (pages *Pages) enterByPasskey(ctx context.Context, q *web.Request) (web.Answer, error) {
	a := attempt{next: web.Next(q.Form.Get("next"))}
	e, err := pages.Accounts.SignInByPasskey(ctx, q.Kept(web.Ceremony), q.Form.Get("credential"), q.Visit)
	switch {
	case errors.Is(err, accounts.ErrCeremony):
		a.fault = q.T("signin.late")
	case errors.Is(err, accounts.ErrRefused):
		a.fault = q.T("signin.passkey.refused")
	case errors.Is(err, accounts.ErrCopied):
		a.fault = q.T("signin.passkey.copied")
	default:
		return pages.entered(q, a, e, err)
	}
	return pages.signIn(q, a).Refuse(), nil
}
