package explorer

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi/transport"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/platform/company"
)

// The token is kept by the browser in a cookie that scripts cannot read, sealed for one session and one company: outside of that
// session it is of no use, and the database has no copy.
const (
	cookie   = "explorer"
	lifetime = time.Hour
)

// held is the token that requests are sent with.
type held struct {
	Text   string    `json:"t"`
	ID     uuid.UUID `json:"i"`
	Name   string    `json:"n"`
	Scopes []string  `json:"s"`
	Until  time.Time `json:"u"` // when the explorer forgets it
	Made   bool      `json:"m"` // the explorer has made it
}

// bound is what a sealed token belongs to.
func bound(q *web.Request) string {
	return "console.explorer/" + q.Company.ID.String() + "/" + q.Session.ID.String()
}

func (pages *Pages) seal(q *web.Request, h held) (*http.Cookie, error) {
	raw, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("keep token of the explorer: %w", err)
	}
	sealed, err := pages.Keys.Seal(raw, bound(q))
	if err != nil {
		return nil, fmt.Errorf("keep token of the explorer: %w", err)
	}
	return q.KeptCookie(cookie, sealed, int(h.Until.Sub(q.Now).Seconds())), nil
}

// held is the token of this session and company, if there is one.
func (pages *Pages) held(q *web.Request) (h held, ok bool) {
	sealed := q.Kept(cookie)
	if sealed == "" {
		return h, false
	}
	raw, err := pages.Keys.Open(sealed, bound(q))
	if err != nil || json.Unmarshal(raw, &h) != nil || !h.Until.After(q.Now) {
		return held{}, false
	}
	return h, true
}

// tokenPart is the part of a page that says with which token requests are sent, or lets one be chosen.
type tokenPart struct {
	Note   web.Note
	Forget *web.Action
	Use    *web.Form
	Make   *makeForm
}

type makeForm struct {
	Post   string
	Back   string
	Matrix web.Matrix
}

type faults struct{ use, scopes string }

// tokenPart leads back to an operation; "" = to the list.
func (pages *Pages) tokenPart(q *web.Request, operation string, f faults) tokenPart {
	if h, ok := pages.held(q); ok {
		return tokenPart{
			Note:   web.Note{Kind: web.Good, Title: q.T("explorer.with", h.Name), Text: q.T("explorer.with.text", q.ScopesInWords(h.Scopes), q.At(h.Until).Short())},
			Forget: &web.Action{Text: q.T("explorer.forget"), Post: q.Path("/explorer/token/forget"), Small: true, Values: map[string]string{"operation": operation}},
		}
	}
	p := tokenPart{
		Note: web.Note{Kind: web.Info, Title: q.T("explorer.no_token"), Text: q.T("explorer.no_token.text")},
		Use: &web.Form{
			Post: q.Path("/explorer/token/use"), Button: q.T("explorer.use"), Kind: "secondary", Hidden: map[string]string{"operation": operation},
			Fields: []web.Field{{Name: "token", Label: q.T("explorer.paste"), Type: "password", Autocomplete: "off", Required: true, Help: q.T("explorer.paste.help"), Fault: f.use}},
		},
	}
	if q.Allows(scope, true) {
		m := q.ScopeMatrix(pages.Scopes, web.ScopesOf(pages.Scopes, q.Form), true)
		m.Fault = f.scopes
		p.Make = &makeForm{Post: q.Path("/explorer/token/make"), Back: operation, Matrix: m}
	}
	return p
}

// back is the page that a form of the token came from.
func back(q *web.Request) web.Answer {
	return web.Go(web.With(q.Path("/explorer"), "operation", q.Form.Get("operation")))
}

// again is the page of the form again, with what is wrong.
func (pages *Pages) again(q *web.Request, f faults) (web.Answer, error) {
	op, ok := find(q, q.Form.Get("operation"))
	if !ok {
		return pages.list(q, f).Refuse(), nil
	}
	a, err := pages.pageWith(q, op, typed{}, nil, f)
	return a.Refuse(), err
}

// use keeps a token that the person has pasted, if it is one of this company.
func (pages *Pages) use(ctx context.Context, q *web.Request) (web.Answer, error) {
	text := strings.TrimSpace(q.Form.Get("token"))
	if !plain(text) {
		return pages.again(q, faults{use: q.T("explorer.paste.wrong")})
	}
	got := q.SendWithToken(ctx, text, transport.Direct{Method: http.MethodGet, Target: "/token"})
	if got.Fault != nil {
		return pages.again(q, faults{use: got.Fault.Message})
	}
	var me company.TokenInfo
	switch err := json.Unmarshal(got.Body, &me); {
	case err != nil:
		return web.Answer{}, fmt.Errorf("read token: %w", err)
	case me.CompanyID != q.Company.ID:
		return pages.again(q, faults{use: q.T("explorer.paste.other")})
	}
	h := held{Text: text, ID: me.ID, Name: me.Name, Scopes: me.Scopes, Until: q.Now.Add(lifetime)}
	if me.ExpiresAt != nil && me.ExpiresAt.Std().Before(h.Until) {
		h.Until = me.ExpiresAt.Std()
	}
	c, err := pages.seal(q, h)
	if err != nil {
		return web.Answer{}, err
	}
	return back(q).With(c), nil
}

// plain reports whether a text can stand in a header.
func plain(text string) bool {
	return text != "" && len(text) <= 200 && !strings.ContainsFunc(text, func(c rune) bool { return c <= ' ' || c > '~' })
}

// makeToken issues a token for this person's explorer, for an hour. It takes the place of the one before.
func (pages *Pages) makeToken(ctx context.Context, q *web.Request) (web.Answer, error) {
	in := company.NewToken{Name: q.T("explorer.token_name", q.Person.Name), Scopes: web.ScopesOf(pages.Scopes, q.Form), Lifetime: lifetime}
	if len(in.Scopes) == 0 {
		return pages.again(q, faults{scopes: q.T("explorer.no_scope")})
	}
	before, err := pages.madeBefore(ctx, q, in.Name)
	if err != nil {
		return web.Answer{}, err
	}
	for _, id := range before {
		if err := pages.revoke(ctx, q, id); err != nil {
			return web.Answer{}, err
		}
	}
	var issued company.Issued
	err = q.Change(ctx, "issueToken", func(ctx context.Context, tx *db.Tx) (c web.Changed, err error) {
		issued, err = pages.Tokens.IssueToken(ctx, tx, q.Caller, in)
		return web.Changed{Entity: issued.ID.String(), After: issued.Token}, err
	})
	if known, ok := apierr.As(err); ok && known.Status < 500 {
		fault := q.FaultOf(err, "scopes")
		if fault == "" {
			fault = q.Why(known)
		}
		return pages.again(q, faults{scopes: fault})
	}
	if err != nil {
		return web.Answer{}, err
	}
	c, err := pages.seal(q, held{Text: issued.Text, ID: issued.ID, Name: issued.Name, Scopes: issued.Scopes, Until: issued.ExpiresAt.Std(), Made: true})
	if err != nil {
		return web.Answer{}, err
	}
	return back(q).With(c), nil
}

// madeBefore are the tokens that the explorer has made for this person and that are not revoked.
func (pages *Pages) madeBefore(ctx context.Context, q *web.Request, name string) (ids []uuid.UUID, err error) {
	all, err := web.CallAdmin[[]company.Token](ctx, q, "listTokens", web.Input{})
	for _, t := range all {
		by := uuid.Nil
		if t.CreatedByID != nil {
			by = *t.CreatedByID
		}
		if t.Name == name && by == q.Session.User {
			ids = append(ids, t.ID)
		}
	}
	return ids, err
}

func (pages *Pages) revoke(ctx context.Context, q *web.Request, id uuid.UUID) error {
	return q.Change(ctx, "revokeToken", func(ctx context.Context, tx *db.Tx) (web.Changed, error) {
		t, err := pages.Tokens.RevokeToken(ctx, tx, q.Caller, id)
		return web.Changed{Entity: id.String(), After: t}, err
	})
}

// forget ends the use of a token, and revokes it if the explorer has made it.
func (pages *Pages) forget(ctx context.Context, q *web.Request) (web.Answer, error) {
	if h, ok := pages.held(q); ok && h.Made && q.Allows(scope, true) {
		if err := pages.revoke(ctx, q, h.ID); err != nil && !apierr.Is(err, "TOKEN_NOT_FOUND") {
			return web.Answer{}, err
		}
	}
	return back(q).With(q.KeptCookie(cookie, "", 0)), nil
}
