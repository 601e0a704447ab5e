// Package account holds the pages of one's own account: password, passkeys, second factor, provider, sessions.
package account

import (
	"context"
	"embed"
	"errors"
	"html/template"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/platform/accounts"
)

//go:embed *.html
var files embed.FS

// Pages are the pages of the area.
type Pages struct{ Accounts *accounts.Service }

// Folder implements [web.Pages].
func (pages *Pages) Folder() web.Folder {
	return web.Folder{Name: "account", Templates: files, Routes: []web.Page{
		web.Get(web.Account, "", "/account", pages.show).For(web.SignedIn),
		web.Post(web.Account, "", "/account/password", pages.setPassword).For(web.SignedIn),
		web.Get(web.Account, "", "/account/totp", pages.startTOTP).For(web.SignedIn),
		web.Post(web.Account, "", "/account/totp", pages.confirmTOTP).For(web.SignedIn),
		web.Post(web.Account, "", "/account/totp/off", pages.removeTOTP).For(web.SignedIn),
		web.Post(web.Account, "", "/account/passkeys/options", pages.passkeyOptions).For(web.SignedIn),
		web.Post(web.Account, "", "/account/passkeys", pages.addPasskey).For(web.SignedIn),
		web.Post(web.Account, "", "/account/passkeys/{id}/remove", pages.removePasskey).For(web.SignedIn),
		web.Post(web.Account, "", "/account/provider/unlink", pages.unlink).For(web.SignedIn),
		web.Post(web.Account, "", "/account/sessions/{id}/end", pages.endSession).For(web.SignedIn),
		web.Post(web.Account, "", "/account/sessions/end", pages.endOthers).For(web.SignedIn),
	}}
}

type accountPage struct {
	Header   web.Header
	Operator string // what an operator reads in place of the rest
	Password web.Form
	TOTP     web.Note
	TOTPLink *web.Link
	TOTPOff  *web.Form
	Passkeys *passkeys
	Provider *provider
	Sessions web.Table
	EndAll   *web.Action
}

// faults are those of the forms of the page. What was typed as the name of a passkey stays.
type faults struct{ current, password, off, name, confirm, passkey, named string }

func (pages *Pages) show(ctx context.Context, q *web.Request) (web.Answer, error) {
	return pages.account(ctx, q, faults{})
}

func (pages *Pages) account(ctx context.Context, q *web.Request, f faults) (web.Answer, error) {
	p := accountPage{Header: web.Header{Title: q.T("account.title"), Facts: q.Person.Name + " · " + q.Person.Email}}
	if q.Person.Operator() {
		p.Header.Facts, p.Operator = q.Person.Name, q.T("account.operator")
		return web.Show("account/account", q.T("account.title"), p), nil
	}
	security, err := pages.Accounts.Security(ctx, q.Session.Owner)
	if err != nil {
		return web.Answer{}, err
	}
	sessions, err := pages.Accounts.Sessions(ctx, q.Session.Owner)
	if err != nil {
		return web.Answer{}, err
	}
	p.Password = web.Form{Post: "/account/password", Button: q.T("account.password.button"), Kind: "secondary"}
	if security.HasPassword {
		p.Password.Fields = append(p.Password.Fields, web.CurrentPassword(q, "current", f.current))
	}
	p.Password.Fields = append(p.Password.Fields, web.NewPassword(q, f.password))
	pages.totp(q, &p, security, f)
	if p.Passkeys, err = pages.passkeys(ctx, q, security, f); err != nil {
		return web.Answer{}, err
	}
	if p.Provider, err = pages.provider(ctx, q); err != nil {
		return web.Answer{}, err
	}
	p.Sessions, p.EndAll = pages.sessions(q, sessions)
	return web.Show("account/account", q.T("account.title"), p), nil
}

func (pages *Pages) totp(q *web.Request, p *accountPage, s accounts.Security, f faults) {
	if !s.HasTOTP {
		p.TOTP = web.Note{Kind: web.Warn, Text: q.T("account.totp.none")}
		p.TOTPLink = &web.Link{Text: q.T("account.totp.start"), Href: "/account/totp"}
		return
	}
	p.TOTP = web.Note{Kind: web.Good, Text: q.T("account.totp.on", s.RecoveryLeft)}
	p.TOTPOff = &web.Form{Post: "/account/totp/off", Button: q.T("account.totp.off"), Kind: "danger"}
	if s.HasPassword {
		p.TOTPOff.Fields = []web.Field{web.CurrentPassword(q, "off", f.off)}
	}
}

func (pages *Pages) sessions(q *web.Request, all []accounts.Session) (web.Table, *web.Action) {
	t := web.Table{Label: q.T("account.sessions"), Columns: []web.Column{
		{Text: q.T("account.sessions.browser")}, {Text: q.T("account.sessions.address")}, {Text: q.T("account.sessions.seen")}, {Text: q.T("account.sessions.began")}, {},
	}}
	for _, s := range all {
		last := web.State(web.Good, q.T("account.sessions.this"))
		if s.ID != q.Session.ID {
			last = web.Do(web.Action{Text: q.T("account.sessions.end"), Post: "/account/sessions/" + s.ID.String() + "/end", Small: true})
		}
		t.Rows = append(t.Rows, []web.Cell{web.Text(browser(q, s.Agent)), web.Code(s.Address, ""), web.When(q.At(s.SeenAt)), web.When(q.At(s.CreatedAt)), last})
	}
	if len(all) < 2 {
		return t, nil
	}
	return t, &web.Action{Text: q.T("account.sessions.end_all"), Post: "/account/sessions/end", Kind: "danger", ID: "end-all", Confirm: q.T("account.sessions.end_all.confirm")}
}

// change makes a change of the own account, and records it with before and after. Operators have none.
func (pages *Pages) change(ctx context.Context, q *web.Request, operation string, c web.Changed, do func(ctx context.Context, tx *db.Tx) error) error {
	if q.Person.Operator() {
		return web.NoPage()
	}
	return q.ChangeAccount(ctx, q.Session.Owner, q.Person.Email, operation, func(ctx context.Context, tx *db.Tx) (web.Changed, error) {
		return c, do(ctx, tx)
	})
}

func (pages *Pages) setPassword(ctx context.Context, q *web.Request) (web.Answer, error) {
	err := pages.Accounts.ConfirmPassword(ctx, q.Session.Owner, "current", q.Form.Get("current"))
	if fault := q.FaultOf(err, "current"); fault != "" {
		a, err := pages.account(ctx, q, faults{current: fault})
		return a.Refuse(), err
	}
	if err != nil {
		return web.Answer{}, err
	}
	password, err := pages.Accounts.NewPassword(ctx, "password", q.Form.Get("password"), q.Person.Email)
	if fault := q.FaultOf(err, "password"); fault != "" {
		a, err := pages.account(ctx, q, faults{password: fault})
		return a.Refuse(), err
	}
	if err != nil {
		return web.Answer{}, err
	}
	err = pages.change(ctx, q, "set_password", web.Changed{}, func(ctx context.Context, tx *db.Tx) error {
		if err := pages.Accounts.SetPassword(ctx, tx, q.Session.Owner, q.Person.Email, password); err != nil {
			return err
		}
		return pages.Accounts.EndSessions(ctx, tx, q.Session.Owner, q.Session.ID)
	})
	return web.Go("/account?done=password"), err
}

type totpPage struct {
	Header web.Header
	Secret string
	Image  template.URL // a picture that the service drew
	Form   web.Form
}

func (pages *Pages) startTOTP(ctx context.Context, q *web.Request) (web.Answer, error) {
	if q.Person.Operator() {
		return web.Go("/account"), nil
	}
	security, err := pages.Accounts.Security(ctx, q.Session.Owner)
	if err != nil || security.HasTOTP { // which has to be turned off first
		return web.Go("/account"), err
	}
	setup, err := pages.Accounts.StartTOTP(q.Session.Owner, q.Person.Email)
	return pages.totpForm(q, setup, security, totpFaults{}), err
}

// totpFaults are those of the form that turns the second factor on.
type totpFaults struct{ confirm, code string }

// totpForm asks for a code, and for the password of who has one: a session alone adds no factor that locks its owner out.
func (pages *Pages) totpForm(q *web.Request, setup accounts.Setup, security accounts.Security, f totpFaults) web.Answer {
	var fields []web.Field
	if security.HasPassword {
		fields = append(fields, web.CurrentPassword(q, "confirm", f.confirm))
	}
	fields = append(fields, web.OneTimeCode(q, "", f.code))
	return web.Show("account/totp", q.T("account.totp.title"), totpPage{
		Header: web.Header{Title: q.T("account.totp.title"), Crumbs: []web.Link{{Text: q.T("account.title"), Href: "/account"}}},
		Secret: setup.Secret, Image: template.URL(setup.Image), //nolint:gosec // G203: the service made it of its own bytes
		Form: web.Form{Post: "/account/totp", Button: q.T("account.totp.confirm"), Hidden: map[string]string{"sealed": setup.Sealed}, Fields: fields},
	})
}

type recoveryPage struct {
	Header web.Header
	Codes  []string
}

func (pages *Pages) confirmTOTP(ctx context.Context, q *web.Request) (web.Answer, error) {
	err := pages.Accounts.ConfirmPassword(ctx, q.Session.Owner, "confirm", q.Form.Get("confirm"))
	if fault := q.FaultOf(err, "confirm"); fault != "" {
		return pages.totpAgain(ctx, q, totpFaults{confirm: fault})
	}
	if err != nil {
		return web.Answer{}, err
	}
	var codes []string
	err = pages.change(ctx, q, "turn_on_totp", web.Changed{}, func(ctx context.Context, tx *db.Tx) (err error) {
		codes, err = pages.Accounts.ConfirmTOTP(ctx, tx, q.Session.Owner, q.Person.Email, q.Form.Get("sealed"), q.Form.Get("code"))
		return err
	})
	if q.FaultOf(err, "code") != "" {
		return pages.totpAgain(ctx, q, totpFaults{code: q.T("signin.code.wrong")})
	}
	if errors.Is(err, accounts.ErrRefused) { // another one is on
		return web.Go("/account"), nil
	}
	if err != nil {
		return web.Answer{}, err
	}
	return web.Show("account/recovery", q.T("account.recovery.title"), recoveryPage{Header: web.Header{Title: q.T("account.recovery.title")}, Codes: codes}), nil
}

// totpAgain shows the form that was refused, with the same secret.
func (pages *Pages) totpAgain(ctx context.Context, q *web.Request, f totpFaults) (web.Answer, error) {
	security, err := pages.Accounts.Security(ctx, q.Session.Owner)
	if err != nil {
		return web.Answer{}, err
	}
	setup, err := pages.Accounts.ResumeTOTP(q.Session.Owner, q.Person.Email, q.Form.Get("sealed"))
	return pages.totpForm(q, setup, security, f).Refuse(), err
}

func (pages *Pages) removeTOTP(ctx context.Context, q *web.Request) (web.Answer, error) {
	err := pages.Accounts.ConfirmPassword(ctx, q.Session.Owner, "off", q.Form.Get("off"))
	if fault := q.FaultOf(err, "off"); fault != "" {
		a, err := pages.account(ctx, q, faults{off: fault})
		return a.Refuse(), err
	}
	if err == nil {
		err = pages.change(ctx, q, "turn_off_totp", web.Changed{}, func(ctx context.Context, tx *db.Tx) error {
			return pages.Accounts.RemoveTOTP(ctx, tx, q.Session.Owner, q.Person.Email)
		})
	}
	return web.Go("/account?done=totp_off"), err
}

func (pages *Pages) endSession(ctx context.Context, q *web.Request) (web.Answer, error) {
	id, err := uuid.Parse(q.HTTP.PathValue("id"))
	if err != nil {
		return web.Answer{}, web.NoPage()
	}
	err = pages.change(ctx, q, "end_session", web.Changed{}, func(ctx context.Context, tx *db.Tx) error {
		return pages.Accounts.EndSession(ctx, tx, q.Session.Owner, id)
	})
	if errors.Is(err, accounts.ErrSession) {
		return web.Answer{}, web.NoPage()
	}
	return web.Go("/account?done=session"), err
}

func (pages *Pages) endOthers(ctx context.Context, q *web.Request) (web.Answer, error) {
	err := pages.change(ctx, q, "end_sessions", web.Changed{}, func(ctx context.Context, tx *db.Tx) error {
		return pages.Accounts.EndSessions(ctx, tx, q.Session.Owner, q.Session.ID)
	})
	return web.Go("/account?done=sessions"), err
}

// browsers and systems are found in a User-Agent in this order: many name others, too.
var (
	browsers = []string{"Firefox", "Edg", "OPR", "Chrome", "Safari"}
	systems  = []string{"Android", "iPhone", "iPad", "Windows", "Mac OS", "Linux"}
)

// browser is a User-Agent in two words.
func browser(q *web.Request, agent string) string {
	first := func(names []string) string {
		for _, name := range names {
			if strings.Contains(agent, name) {
				return name
			}
		}
		return ""
	}
	name, system := first(browsers), first(systems)
	if name == "" || system == "" {
		return agent
	}
	return q.T("account.sessions.on", strings.Replace(name, "Edg", "Edge", 1), system)
}
