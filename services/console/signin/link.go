package signin

import (
	"context"
	"errors"
	"net/http"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/platform/accounts"
	"github.com/tradegrid/tradegrid/services/platform/company"
)

func (pages *Pages) linkForm(ctx context.Context, q *web.Request) (web.Answer, error) {
	return pages.link(ctx, q, "")
}

// link shows what a link is for. Opening it changes nothing.
func (pages *Pages) link(ctx context.Context, q *web.Request, fault string) (web.Answer, error) {
	token := q.HTTP.PathValue("token")
	l, err := pages.Accounts.Link(ctx, token, q.Visit)
	if errors.Is(err, accounts.ErrLink) {
		return pages.deadLink(q), nil
	}
	if err != nil {
		return web.Answer{}, err
	}
	p := page{Form: &web.Form{Post: "/link/" + token, Button: q.T("link." + l.Kind + ".button")}, Intro: q.T("link."+l.Kind+".intro", l.Email)}
	if l.Kind != accounts.SignInLink {
		password := web.NewPassword(q, fault)
		password.Focus = true
		p.Form.Fields = []web.Field{password}
	}
	return web.Show("signin/page", q.T("link."+l.Kind+".title"), p), nil
}

func (pages *Pages) deadLink(q *web.Request) web.Answer {
	return web.Show("signin/page", q.T("link.dead.title"), page{
		Note:  &web.Note{Kind: web.Warn, Text: q.T("link.dead")},
		Links: []web.Link{{Text: q.T("signin.forgot"), Href: "/sign-in/forgot"}, {Text: q.T("signin.back"), Href: "/sign-in"}},
	}).Status(http.StatusGone)
}

// taken says what becomes of an invitation to an address that signs in to another company. The link goes on working.
func (pages *Pages) taken(q *web.Request, email string) web.Answer {
	return web.Show("signin/page", q.T("signin.title"), page{
		Note: &web.Note{Kind: web.Warn, Text: q.T("link.taken", email)}, Links: []web.Link{{Text: q.T("signin.back"), Href: "/sign-in"}},
	}).Status(http.StatusConflict)
}

func (pages *Pages) useLink(ctx context.Context, q *web.Request) (web.Answer, error) {
	token := q.HTTP.PathValue("token")
	l, err := pages.Accounts.Link(ctx, token, q.Visit)
	if errors.Is(err, accounts.ErrLink) {
		return pages.deadLink(q), nil
	}
	if err != nil {
		return web.Answer{}, err
	}
	var password accounts.Password
	if l.Kind != accounts.SignInLink {
		password, err = pages.Accounts.NewPassword(ctx, "password", q.Form.Get("password"), l.Email)
		if fault := q.FaultOf(err, "password"); fault != "" {
			a, err := pages.link(ctx, q, fault)
			return a.Refuse(), err
		}
		if err != nil {
			return web.Answer{}, err
		}
	}
	var e accounts.Entered
	err = q.ChangeAccount(ctx, l.Owner, l.Email, "use_link_"+l.Kind, func(ctx context.Context, tx *db.Tx) (c web.Changed, err error) {
		if err := pages.admitted(ctx, tx, l.Owner, l.Kind == accounts.Invitation, accounts.ErrLink); err != nil {
			return c, err
		}
		_, e, err = pages.Accounts.UseLink(ctx, tx, token, password, q.Visit)
		return c, err
	})
	switch {
	case errors.Is(err, accounts.ErrLink):
		return pages.deadLink(q), nil
	case errors.Is(err, accounts.ErrAddressTaken):
		return pages.taken(q, l.Email), nil
	case err != nil:
		return web.Answer{}, err
	}
	next := "/"
	if l.Kind == accounts.Reset {
		next = "/account?done=reset" // which shows what else signs in
	}
	if e.NeedsCode() {
		next = web.With("/sign-in/code", "next", next)
	}
	return web.Go(next).SignedIn(q, e), nil
}

// admitted makes sure that a user may come in, or returns refused. Whoever accepts an invitation is active from then on.
func (pages *Pages) admitted(ctx context.Context, tx *db.Tx, o accounts.Owner, accepts bool, refused error) error {
	u, err := pages.Users.User(ctx, access.System(o.Company), o.User)
	if apierr.Is(err, "USER_NOT_FOUND") {
		return refused
	}
	if err != nil {
		return err
	}
	if !u.MaySignIn() {
		return refused
	}
	if accepts && u.Status == company.UserInvited {
		_, err = pages.Users.ActivateUser(ctx, tx, access.System(o.Company), o.User)
		return err
	}
	if u.Status != company.UserActive {
		return refused
	}
	return nil
}
