package signin

import (
	"context"
	"errors"

	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/platform/accounts"
)

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
