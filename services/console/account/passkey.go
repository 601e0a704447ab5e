package account

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/platform/accounts"
)

// passkeys is the part of the page about them.
type passkeys struct {
	Note  web.Note
	Table web.Table
	Add   *web.PasskeyForm // nil = there are as many as can be
}

// passkeys is nil where there can be none.
func (pages *Pages) passkeys(ctx context.Context, q *web.Request, s accounts.Security, f faults) (*passkeys, error) {
	if !pages.Accounts.Passkeyed() {
		return nil, nil //nolint:nilnil // the page has no such part
	}
	all, err := pages.Accounts.Passkeys(ctx, q.Session.Owner)
	if err != nil {
		return nil, err
	}
	p := &passkeys{Note: web.Note{Kind: web.Info, Text: q.T("account.passkeys.none")}, Table: passkeyTable(q, all)}
	if len(all) > 0 {
		p.Note = web.Note{Kind: web.Good, Text: q.T("account.passkeys.some")}
	}
	for _, k := range all {
		if k.CopiedAt != nil {
			p.Note = web.Note{Kind: web.Bad, Text: q.T("account.passkeys.copied", k.Name)}
		}
	}
	if len(all) >= accounts.MaxPasskeys {
		return p, nil
	}
	if f.named == "" {
		f.named = browser(q, q.HTTP.UserAgent())
	}
	p.Add = &web.PasskeyForm{
		Form: web.Form{Post: "/account/passkeys", Button: q.T("account.passkeys.add"), Kind: "secondary", Fault: f.passkey, Fields: []web.Field{
			{Name: "name", Label: q.T("account.passkeys.name"), Value: f.named, Help: q.T("account.passkeys.name.help"), Required: true, Autocomplete: "off", Fault: f.name},
		}},
		Ask: "create", Options: "/account/passkeys/options", Failed: q.T("account.passkeys.failed"), Without: q.T("account.passkeys.without"),
	}
	if s.HasPassword {
		p.Add.Fields = append(p.Add.Fields, web.CurrentPassword(q, "confirm", f.confirm))
	}
	return p, nil
}

func passkeyTable(q *web.Request, all []accounts.Passkey) web.Table {
	t := web.Table{Label: q.T("account.passkeys"), Columns: []web.Column{
		{Text: q.T("account.passkeys.name")}, {Text: q.T("account.passkeys.added")}, {Text: q.T("account.passkeys.used")}, {},
	}, Empty: web.Empty{Title: q.T("account.passkeys.empty"), Text: q.T("account.passkeys.empty.text")}}
	for _, k := range all {
		used := web.Text(q.T("account.passkeys.unused"))
		if k.UsedAt != nil {
			used = web.When(q.At(*k.UsedAt))
		}
		name := web.Text(k.Name)
		if k.CopiedAt != nil {
			name = name.With(q.T("account.passkeys.refused"))
		}
		t.Rows = append(t.Rows, []web.Cell{name, web.When(q.At(k.CreatedAt)), used, web.Do(web.Action{
			ID: "passkey-" + k.ID.String(), Text: q.T("account.passkeys.remove"), Post: "/account/passkeys/" + k.ID.String() + "/remove", Kind: "danger", Small: true,
			Confirm: q.T("account.passkeys.remove.confirm", k.Name),
		})})
	}
	return t
}

// named is a passkey in the record of changes.
type named struct {
	Name string `json:"name"`
}

// passkeyOptions are what the browser hands to an authenticator. Who cannot type the password of the account gets none.
func (pages *Pages) passkeyOptions(ctx context.Context, q *web.Request) (web.Answer, error) {
	if q.Person.Operator() {
		return web.Answer{}, web.NoPage()
	}
	if err := pages.Accounts.ConfirmPassword(ctx, q.Session.Owner, "confirm", q.Form.Get("confirm")); err != nil {
		return web.Answer{}, err
	}
	options, kept, err := pages.Accounts.StartPasskey(ctx, q.Session, q.Person.Email)
	if err != nil {
		return web.Answer{}, err
	}
	return web.Data(options).Keep(q, kept), nil
}

func (pages *Pages) addPasskey(ctx context.Context, q *web.Request) (web.Answer, error) {
	if q.Person.Operator() {
		return web.Answer{}, web.NoPage()
	}
	name := q.Form.Get("name")
	made, err := pages.madePasskey(ctx, q, name)
	if err == nil {
		err = pages.change(ctx, q, "add_passkey", web.Changed{After: named{name}}, func(ctx context.Context, tx *db.Tx) error {
			return pages.Accounts.AddPasskey(ctx, tx, q.Person.Email, made)
		})
	}
	f := faults{name: q.FaultOf(err, "name"), confirm: q.FaultOf(err, "confirm"), passkey: q.FaultOf(err, "credential"), named: name}
	if errors.Is(err, accounts.ErrCeremony) {
		f.passkey = q.T("signin.late")
	}
	switch {
	case f.name != "" || f.confirm != "" || f.passkey != "":
		a, err := pages.account(ctx, q, f)
		return a.Refuse(), err
	case err != nil:
		return web.Answer{}, err
	}
	return web.Go("/account?done=passkey"), nil
}

// madePasskey checks what the authenticator made. Without that, the script had no options to hand to one: this says why.
func (pages *Pages) madePasskey(ctx context.Context, q *web.Request, name string) (made accounts.NewPasskey, err error) {
	if q.Form.Get("credential") == "" {
		if err := pages.Accounts.ConfirmPassword(ctx, q.Session.Owner, "confirm", q.Form.Get("confirm")); err != nil {
			return made, err
		}
	}
	return pages.Accounts.FinishPasskey(ctx, q.Session, q.Person.Email, name, q.Kept(web.Ceremony), q.Form.Get("credential"))
}

func (pages *Pages) removePasskey(ctx context.Context, q *web.Request) (web.Answer, error) {
	id, err := uuid.Parse(q.HTTP.PathValue("id"))
	if err != nil {
		return web.Answer{}, web.NoPage()
	}
	all, err := pages.Accounts.Passkeys(ctx, q.Session.Owner)
	if err != nil {
		return web.Answer{}, err
	}
	at := slices.IndexFunc(all, func(p accounts.Passkey) bool { return p.ID == id })
	if at < 0 {
		return web.Answer{}, web.NoPage()
	}
	err = pages.change(ctx, q, "remove_passkey", web.Changed{Before: named{all[at].Name}}, func(ctx context.Context, tx *db.Tx) error {
		return pages.Accounts.RemovePasskey(ctx, tx, q.Session.Owner, id)
	})
	if errors.Is(err, accounts.ErrRefused) {
		return web.Answer{}, web.NoPage()
	}
	return web.Go("/account?done=passkey_removed"), err
}

// provider is the part of the page about the provider by which people sign in.
type provider struct {
	Title, Text string
	Unlink      *web.Action
}

// provider is nil where there is none.
func (pages *Pages) provider(ctx context.Context, q *web.Request) (*provider, error) {
	host := pages.Accounts.Provider()
	if host == "" {
		return nil, nil //nolint:nilnil // the page has no such part
	}
	linked, err := pages.Accounts.Linked(ctx, q.Session.Owner)
	if err != nil {
		return nil, err
	}
	if linked == nil {
		return &provider{Title: host, Text: q.T("account.provider.none", q.Person.Email)}, nil
	}
	return &provider{Title: host, Text: q.T("account.provider.linked", linked.Email, q.At(linked.Since).Short()), Unlink: &web.Action{
		ID: "unlink", Text: q.T("account.provider.unlink"), Post: "/account/provider/unlink", Kind: "danger", Confirm: q.T("account.provider.unlink.confirm", host),
	}}, nil
}

func (pages *Pages) unlink(ctx context.Context, q *web.Request) (web.Answer, error) {
	err := pages.change(ctx, q, "unlink_provider", web.Changed{}, func(ctx context.Context, tx *db.Tx) error { return pages.Accounts.Unlink(ctx, tx, q.Session.Owner) })
	return web.Go("/account?done=unlinked"), err
}
