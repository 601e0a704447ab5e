// Package tokens holds the pages on the API tokens of a company: who may do what with them, until when, and whether they are used.
package tokens

import (
	"context"
	"embed"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/platform/company"
)

//go:embed *.html
var files embed.FS

// scope is that of the operations on tokens.
const scope = "company"

// Service changes tokens. The operations of the admin API on tokens, by which the pages read, would not keep in the record of changes
// what a token was before, nor let one end on a date.
type Service interface {
	TokenState(ctx context.Context, by access.Caller, t company.Token) (company.TokenState, error)
	IssueToken(ctx context.Context, tx *db.Tx, by access.Caller, in company.NewToken) (company.Issued, error)
	UpdateToken(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in record.Patch[company.TokenSettings]) (company.Token, error)
	RotateToken(ctx context.Context, tx *db.Tx, by access.Caller, in company.Rotation) (company.Issued, error)
	RevokeToken(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (company.Token, error)
}

// Pages are the pages of the area.
type Pages struct {
	Company Service
	Scopes  []string // all that there are
	API     string   // address of the external API, for commands to copy
}

// Folder implements [web.Pages].
func (pages *Pages) Folder() web.Folder {
	return web.Folder{Name: "tokens", Templates: files, Routes: []web.Page{
		web.Get(web.Tokens, scope, "/tokens", pages.list),
		web.Get(web.Tokens, scope, "/tokens/new", pages.newForm),
		web.Post(web.Tokens, scope, "/tokens/new", pages.issue),
		web.Get(web.Tokens, scope, "/tokens/{id}", pages.show),
		web.Get(web.Tokens, scope, "/tokens/{id}/change", pages.changeForm),
		web.Post(web.Tokens, scope, "/tokens/{id}/change", pages.change),
		web.Post(web.Tokens, scope, "/tokens/{id}/rotate", pages.rotate),
		web.Post(web.Tokens, scope, "/tokens/{id}/revoke", pages.revoke),
	}}
}

// States of a token, as texts name them.
const (
	valid   = "valid"
	soon    = "soon" // expires within soonExpires
	expired = "expired"
	revoked = "revoked"
)

// soonExpires is how long before its end a token needs attention.
const soonExpires = 30 * 24 * time.Hour

var kinds = map[string]string{valid: web.Good, soon: web.Warn, expired: web.Bad, revoked: web.Off}

func stateOf(q *web.Request, t company.Token) string {
	switch {
	case t.RevokedAt != nil:
		return revoked
	case t.ExpiresAt == nil:
		return valid
	case !t.ExpiresAt.Std().After(q.Now):
		return expired
	case t.ExpiresAt.Std().Sub(q.Now) < soonExpires && t.ExpiresAt.Std().Sub(t.CreatedAt.Std()) > soonExpires:
		return soon
	}
	return valid
}

func chipOf(q *web.Request, t company.Token) *web.Chip {
	state := stateOf(q, t)
	return &web.Chip{Kind: kinds[state], Text: q.T("tokens.state." + state)}
}

type listPage struct {
	Header web.Header
	Note   web.Note
	Tabs   []web.Tab
	Table  web.Table
}

// maxShown is how many tokens the list shows, the newest first. At most 50 are not revoked.
const maxShown = 200

func (pages *Pages) list(ctx context.Context, q *web.Request) (web.Answer, error) {
	all := q.Form.Get("show") == "all"
	in := web.Input{}
	if all {
		in.Query = url.Values{"includeRevoked": {"true"}}
	}
	found, err := web.CallAdmin[[]company.Token](ctx, q, "listTokens", in)
	if err != nil {
		return web.Answer{}, err
	}
	people, err := pages.people(ctx, q)
	if err != nil {
		return web.Answer{}, err
	}
	p := listPage{
		Header: web.Header{Title: q.T("area.tokens"), Facts: q.T("tokens.intro")},
		Note:   summary(q, found),
		Tabs: []web.Tab{
			{Text: q.T("tokens.current"), Href: q.Path("/tokens"), Current: !all}, {Text: q.T("tokens.with_revoked"), Href: q.Path("/tokens?show=all"), Current: all},
		},
		Table: web.Table{
			Label: q.T("area.tokens"),
			Columns: []web.Column{
				{Text: q.T("tokens.name")},
				{Text: q.T("tokens.state")},
				{Text: q.T("tokens.scopes")},
				{Text: q.T("tokens.expires")},
				{Text: q.T("tokens.from")},
				{Text: q.T("tokens.last_used")},
				{Text: q.T("tokens.by")},
			},
			Empty: web.Empty{Title: q.T("tokens.none"), Text: q.T("tokens.none.text")},
		},
	}
	if q.Allows(scope, true) {
		issue := web.Link{Text: q.T("tokens.issue"), Href: q.Path("/tokens/new")}
		p.Header.Links, p.Table.Empty.Action = []web.Link{issue}, &issue
	}
	for _, t := range found[:min(len(found), maxShown)] {
		p.Table.Rows = append(p.Table.Rows, []web.Cell{
			web.LinkTo(t.Name, q.Path("/tokens/"+t.ID.String())).With(t.Prefix),
			{Chip: chipOf(q, t)},
			web.Text(q.ScopesInWords(t.Scopes)),
			expiry(q, t), web.Text(addresses(q, t)), lastUsed(q, t), web.Text(people.of(q, t)),
		})
	}
	return web.Show("tokens/list", q.T("area.tokens"), p), nil
}

// summary says whether a token needs somebody.
func summary(q *web.Request, all []company.Token) web.Note {
	var names []string
	for _, t := range all {
		if state := stateOf(q, t); state == soon || state == expired {
			names = append(names, t.Name)
		}
	}
	if len(names) == 0 {
		return web.Note{}
	}
	return web.Note{Kind: web.Warn, Title: q.T("tokens.some_expire", len(names)), Text: strings.Join(names, ", ") + ". " + q.T("tokens.some_expire.next")}
}

func expiry(q *web.Request, t company.Token) web.Cell {
	if t.ExpiresAt == nil {
		return web.Text(q.T("tokens.never"))
	}
	return web.When(q.At(t.ExpiresAt.Std()))
}

func lastUsed(q *web.Request, t company.Token) web.Cell {
	if t.LastUsedAt == nil {
		return web.Text(q.T("tokens.unused"))
	}
	return web.When(q.At(t.LastUsedAt.Std()))
}

func addresses(q *web.Request, t company.Token) string {
	const shown = 2
	switch n := len(t.IPAllowlist); {
	case n == 0:
		return q.T("tokens.anywhere")
	case n > shown:
		return q.T("tokens.from.more", strings.Join(t.IPAllowlist[:shown], ", "), n-shown)
	}
	return strings.Join(t.IPAllowlist, ", ")
}

// names are those of the people of a company.
type names map[uuid.UUID]string

func (pages *Pages) people(ctx context.Context, q *web.Request) (names, error) {
	all, err := web.CallAdmin[[]company.User](ctx, q, "listUsers", web.Input{})
	if err != nil {
		return nil, err
	}
	people := names{}
	for _, u := range all {
		for _, name := range []*string{u.Email, u.Name} {
			if name != nil && *name != "" {
				people[u.ID] = *name
			}
		}
	}
	return people, nil
}

// of names who has issued a token.
func (people names) of(q *web.Request, t company.Token) string {
	if t.CreatedByID == nil {
		return q.T("tokens.by_operator")
	}
	if name, ok := people[*t.CreatedByID]; ok {
		return name
	}
	return q.T("tokens.by_unknown")
}

type tokenPage struct {
	Header  web.Header
	Note    web.Note
	Facts   []web.Fact
	Matrix  web.Matrix
	Rotate  *web.Form
	Revoke  *web.Action
	Refresh string // address that the page is read from again; "" = it stays as it is
}

func (pages *Pages) show(ctx context.Context, q *web.Request) (web.Answer, error) {
	t, err := pages.token(ctx, q)
	if err != nil {
		return web.Answer{}, err
	}
	state, err := pages.Company.TokenState(ctx, q.Caller, t)
	if err != nil {
		return web.Answer{}, err
	}
	people, err := pages.people(ctx, q)
	if err != nil {
		return web.Answer{}, err
	}
	at := q.Path("/tokens/" + t.ID.String())
	p := tokenPage{
		Header: web.Header{
			Title: t.Name, Chip: chipOf(q, t), Facts: q.ScopesInWords(t.Scopes), Crumbs: []web.Link{{Text: q.T("area.tokens"), Href: q.Path("/tokens")}},
			Links: []web.Link{{Text: q.T("tokens.requests"), Href: web.With(q.Path("/requests"), "tokenId", t.ID.String())}},
		},
		Note: sentence(q, t, state), Facts: factsOf(q, t, state, people), Matrix: q.ScopeMatrix(pages.Scopes, t.Scopes, false),
	}
	if state.Announcing {
		p.Refresh = at
	}
	if q.Allows(scope, true) && t.RevokedAt == nil {
		p.Header.Links = append(p.Header.Links, web.Link{Text: q.T("tokens.change"), Href: at + "/change"})
		p.Rotate = rotation(q, at, t)
		p.Revoke = &web.Action{
			ID: "revoke", Text: q.T("tokens.revoke"), Post: at + "/revoke", Kind: "danger", Confirm: q.T("tokens.revoke.confirm", t.Name, usedText(q, t)),
		}
	}
	return web.Show("tokens/token", t.Name, p), nil
}

// token is the one in the address.
func (pages *Pages) token(ctx context.Context, q *web.Request) (company.Token, error) {
	id, err := q.PathID("id")
	if err != nil {
		return company.Token{}, err
	}
	return web.CallAdmin[company.Token](ctx, q, "getToken", web.ByID(id))
}

// usedText says when a token was last used, in a sentence.
func usedText(q *web.Request, t company.Token) string {
	if t.LastUsedAt == nil {
		return q.T("tokens.used.never")
	}
	return q.T("tokens.used.at", q.At(t.LastUsedAt.Std()).Short())
}

// sentence says what is the case with a token and what happens next.
func sentence(q *web.Request, t company.Token, s company.TokenState) web.Note {
	state := stateOf(q, t)
	n := web.Note{Kind: kinds[state], Title: q.T("tokens.sentence." + state), Text: usedText(q, t)}
	switch {
	case state == revoked && s.Announcing:
		return web.Note{Kind: web.Warn, Title: q.T("tokens.sentence.revoked_at", q.At(t.RevokedAt.Std()).Exact()), Text: q.T("tokens.announcing")}
	case state == revoked:
		return web.Note{Kind: web.Off, Title: q.T("tokens.sentence.revoked_at", q.At(t.RevokedAt.Std()).Exact()), Text: q.T("tokens.announced")}
	case state == expired, state == soon:
		n.Title += " " + q.At(t.ExpiresAt.Std()).Short()
		n.Text += " " + q.T("tokens.some_expire.next")
	case s.Announcing:
		n.Text += " " + q.T("tokens.announcing.change")
	}
	return n
}

func factsOf(q *web.Request, t company.Token, s company.TokenState, people names) []web.Fact {
	from := q.T("tokens.anywhere")
	if len(t.IPAllowlist) > 0 {
		from = strings.Join(t.IPAllowlist, ", ")
	}
	facts := []web.Fact{
		{Label: q.T("tokens.expires"), Cell: expiry(q, t)},
		{Label: q.T("tokens.from"), Cell: web.Text(from)},
		{Label: q.T("tokens.last_used"), Cell: lastUsed(q, t)},
		{Label: q.T("tokens.by"), Cell: web.Text(people.of(q, t))},
		{Label: q.T("tokens.issued"), Cell: web.When(q.At(t.CreatedAt.Std()))},
		{Label: q.T("tokens.rate"), Cell: web.Text(q.Word(t.RateTier))},
		{Label: q.T("tokens.prefix"), Cell: web.Code(t.Prefix, "")},
		{Label: q.T("events.id"), Cell: web.Code(t.ID.String(), "")},
	}
	if s.OldSecretUntil != nil {
		facts = slices.Insert(facts, 1, web.Fact{Label: q.T("tokens.old_secret"), Cell: web.When(q.At(*s.OldSecretUntil))})
	}
	return facts
}
