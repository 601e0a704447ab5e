package signin

import (
	"context"
	"errors"
	"net/http"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/platform/accounts"
)

// toProvider sends the browser to the provider. It is a link and no form, because the policy lets forms lead nowhere else.
func (pages *Pages) toProvider(ctx context.Context, q *web.Request) (web.Answer, error) {
	address, kept, err := pages.Accounts.StartProvider(ctx, web.Next(q.Form.Get("next")), q.Visit)
	if err != nil {
		return pages.notIdentified(ctx, q, err)
	}
	return web.Go(address).Keep(q, kept), nil
}

// fromProvider lets in whom the provider vouches for. A user who was invited has accepted by that.
func (pages *Pages) fromProvider(ctx context.Context, q *web.Request) (web.Answer, error) {
	i, err := pages.Accounts.Identify(ctx, q.Kept(web.Ceremony), q.Form, q.Visit)
	if err != nil {
		return pages.notIdentified(ctx, q, err)
	}
	var e accounts.Entered
	enter := func(ctx context.Context, tx *db.Tx) (err error) {
		if err := pages.admitted(ctx, tx, i.Owner, i.New, &accounts.IdentityError{Reason: accounts.Unknown, Email: i.Email}); err != nil {
			return err
		}
		e, err = pages.Accounts.EnterByProvider(ctx, tx, i, q.Visit)
		return err
	}
	if i.New {
		err = q.ChangeAccount(ctx, i.Owner, i.Email, "link_provider", func(ctx context.Context, tx *db.Tx) (web.Changed, error) {
			return web.Changed{After: map[string]string{"provider": pages.Accounts.Provider(), "email": i.Email}}, enter(ctx, tx)
		})
	} else {
		err = q.Tx(ctx, "sign_in", enter)
	}
	if errors.Is(err, accounts.ErrAddressTaken) {
		return pages.taken(q, i.Email), nil
	}
	if err != nil {
		return pages.notIdentified(ctx, q, err)
	}
	e, err = pages.Accounts.Known(e, q.Visit)
	return pages.entered(q, attempt{next: i.Next}, e, err)
}

// notIdentified says why somebody is not in. What the provider did wrong is for the operators.
func (pages *Pages) notIdentified(ctx context.Context, q *web.Request, err error) (web.Answer, error) {
	var refused *accounts.IdentityError
	var failed *accounts.ProviderError
	host := pages.Accounts.Provider()
	again := web.Link{Text: q.T("signin.provider", host), Href: "/sign-in/provider"}
	p := page{Note: &web.Note{Kind: web.Warn}, Links: []web.Link{again, {Text: q.T("signin.back"), Href: "/sign-in"}}}
	status := http.StatusUnprocessableEntity
	switch {
	case errors.As(err, &refused) && refused.Email != "":
		p.Note.Text = q.T("signin.provider."+refused.Reason, refused.Email)
	case errors.As(err, &refused):
		p.Note.Text = q.T("signin.provider."+refused.Reason+".nobody", host)
	case errors.As(err, &failed):
		pages.Log.WarnContext(ctx, "sign-in provider failed", "provider", host, "error", err, "request_id", q.ID)
		p.Note.Text, status = q.T("signin.provider.down", host), http.StatusServiceUnavailable
	case errors.Is(err, accounts.ErrCeremony):
		p.Note.Text = q.T("signin.late")
	case errors.Is(err, accounts.ErrRefused):
		return web.Answer{}, web.NoPage() // there is no provider
	default:
		return web.Answer{}, err
	}
	return web.Show("signin/page", q.T("signin.provider.title"), p).Status(status), nil
}
