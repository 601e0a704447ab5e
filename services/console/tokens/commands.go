package tokens

import (
	"context"
	"strconv"
	"time"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/platform/company"
)

// oncePage shows the secret of a token, which no page shows again.
type oncePage struct {
	Header web.Header
	Secret web.Secret
	Curl   web.Snippet
	Next   []web.Link
}

// once is the page with the secret that was just made.
func (pages *Pages) once(q *web.Request, t company.Issued, text string) web.Answer {
	at := q.Path("/tokens/" + t.ID.String())
	p := oncePage{
		Header: web.Header{Title: t.Name, Facts: q.ScopesInWords(t.Scopes), Crumbs: []web.Link{{Text: q.T("area.tokens"), Href: q.Path("/tokens")}}},
		Secret: web.Secret{Note: web.Note{Kind: web.Warn, Title: q.T("tokens.once.title"), Text: text}, Text: t.Text},
		Curl:   web.Snippet{ID: "curl", Title: q.T("tokens.once.try"), Text: "curl -sS '" + pages.API + "/token' -H 'Authorization: Bearer " + t.Text + "'"},
		Next:   []web.Link{{Text: q.T("tokens.once.kept"), Href: at}, {Text: q.T("area.quick_start"), Href: q.Path("/quick-start")}},
	}
	return web.Show("tokens/once", t.Name, p)
}

// overlaps are the hours that the form of a rotation offers.
var overlaps = []string{"0", "1", "24", "72", "168"}

// rotation is the form that gives a token a new secret.
func rotation(q *web.Request, at string, t company.Token) *web.Form {
	overlap := web.Field{Name: "overlap", Label: q.T("tokens.overlap"), Type: "select", Help: q.T("tokens.overlap.help")}
	for _, hours := range overlaps {
		overlap.Options = append(overlap.Options, web.Option{Value: hours, Text: q.T("tokens.overlap." + hours), Selected: hours == "24"})
	}
	return &web.Form{Post: at + "/rotate", Button: q.T("tokens.rotate"), Hidden: q.Versioned(t.Version), Kind: "secondary", Fields: []web.Field{overlap}}
}

func (pages *Pages) rotate(ctx context.Context, q *web.Request) (web.Answer, error) {
	before, err := pages.token(ctx, q)
	if err != nil {
		return web.Answer{}, err
	}
	hours, err := strconv.Atoi(web.OneOf(q.Form.Get("overlap"), overlaps))
	if err != nil {
		return web.Answer{}, apierr.InvalidField("overlap", apierr.Enum, "%s", q.T("tokens.overlap.wrong"))
	}
	in := company.Rotation{TokenID: before.ID, Overlap: time.Duration(hours) * time.Hour}
	var issued company.Issued
	err = q.Change(ctx, "rotateToken", func(ctx context.Context, tx *db.Tx) (c web.Changed, err error) {
		issued, err = pages.Company.RotateToken(ctx, tx, q.Expecting(), in)
		return web.Changed{Entity: before.ID.String(), Before: before, After: issued.Token}, err
	})
	if err != nil {
		return web.Answer{}, err
	}
	if hours == 0 {
		return pages.once(q, issued, q.T("tokens.once.at_once")), nil
	}
	return pages.once(q, issued, q.T("tokens.once.overlap", q.At(q.Now.Add(in.Overlap)).Short())), nil
}

func (pages *Pages) revoke(ctx context.Context, q *web.Request) (web.Answer, error) {
	before, err := pages.token(ctx, q)
	if err != nil {
		return web.Answer{}, err
	}
	err = q.Change(ctx, "revokeToken", func(ctx context.Context, tx *db.Tx) (web.Changed, error) {
		after, err := pages.Company.RevokeToken(ctx, tx, q.Caller, before.ID)
		return web.Changed{Entity: before.ID.String(), Before: before, After: after}, err
	})
	return web.Go(q.Path("/tokens/" + before.ID.String() + "?done=token_revoked")), err
}
