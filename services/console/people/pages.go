// Package people holds the pages on the people of a company: who may sign in, as what.
package people

import (
	"cmp"
	"context"
	"embed"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/platform/accounts"
	"github.com/tradegrid/tradegrid/services/platform/company"
)

//go:embed *.html
var files embed.FS

// scope is that of the operations of the admin API on users.
const scope = "company"

// Users changes people. The operations of the admin API on users, by which the pages read, do not know who may change whom, and mail
// nothing.
type Users interface {
	InvitePerson(ctx context.Context, tx *db.Tx, by access.Caller, who company.Editor, in company.Invitation) (company.User, error)
	InvitePersonAgain(ctx context.Context, tx *db.Tx, by access.Caller, who company.Editor, id uuid.UUID) (company.User, error)
	UpdatePerson(ctx context.Context, tx *db.Tx, by access.Caller, who company.Editor, id uuid.UUID, in record.Patch[company.UserFields]) (company.User, error)
	BlockPerson(ctx context.Context, tx *db.Tx, by access.Caller, who company.Editor, id uuid.UUID) (company.User, error)
	ActivatePerson(ctx context.Context, tx *db.Tx, by access.Caller, who company.Editor, id uuid.UUID) (company.User, error)
}

// Accounts mails invitations, ends sessions, and knows how people sign in.
type Accounts interface {
	Ways(ctx context.Context, company tenant.ID) (map[uuid.UUID]accounts.Ways, error)
	Invite(ctx context.Context, tx *db.Tx, o accounts.Owner, email, company string) error
	EndSessions(ctx context.Context, tx *db.Tx, o accounts.Owner, but uuid.UUID) error
}

// Pages are the pages of the area.
type Pages struct {
	Users    Users
	Accounts Accounts
}

// Folder implements [web.Pages].
func (pages *Pages) Folder() web.Folder {
	return web.Folder{Name: "people", Templates: files, Routes: []web.Page{
		web.Get(web.People, scope, "/people", pages.list),
		web.Get(web.People, scope, "/people/invite", pages.form),
		web.Post(web.People, scope, "/people/invite", pages.invite),
		web.Get(web.People, scope, "/people/{id}", pages.show),
		web.Post(web.People, scope, "/people/{id}", pages.update),
		web.Post(web.People, scope, "/people/{id}/invite", pages.inviteAgain),
		web.Post(web.People, scope, "/people/{id}/block", pages.block),
		web.Post(web.People, scope, "/people/{id}/activate", pages.activate),
	}}
}

type listPage struct {
	Header web.Header
	Table  web.Table
}

func (pages *Pages) list(ctx context.Context, q *web.Request) (web.Answer, error) {
	all, err := web.CallAdmin[[]company.User](ctx, q, "listUsers", web.Input{})
	if err != nil {
		return web.Answer{}, err
	}
	ways, err := pages.Accounts.Ways(ctx, q.Caller.Company)
	if err != nil {
		return web.Answer{}, err
	}
	p := listPage{
		Header: web.Header{Title: q.T("area.people"), Facts: q.T("people.intro")},
		Table: web.Table{
			Label:   q.T("area.people"),
			Columns: []web.Column{{Text: q.T("people.name")}, {Text: q.T("signin.email")}, {Text: q.T("people.role")}, {Text: q.T("people.factor")}, {Text: q.T("people.status")}, {Text: q.T("people.since")}, {}, {}},
			Empty:   web.Empty{Title: q.T("people.none"), Text: q.T("people.none.text")},
		},
	}
	if q.Allows(scope, true) {
		p.Header.Links = []web.Link{{Text: q.T("people.invite"), Href: q.Path("/people/invite")}}
	}
	for _, u := range all {
		p.Table.Rows = append(p.Table.Rows, row(q, u, ways))
	}
	return web.Show("people/list", q.T("area.people"), p), nil
}

var kinds = map[string]string{company.UserActive: web.Good, company.UserInvited: web.Info, company.UserBlocked: web.Bad}

func row(q *web.Request, u company.User, ways map[uuid.UUID]accounts.Ways) []web.Cell {
	cells := []web.Cell{
		web.LinkTo(nameOf(u), q.Path("/people/"+u.ID.String())), web.Text(record.OrZero(u.Email)), roleOf(q, u), factor(q, u, ways), web.State(kinds[u.Status], q.T("user."+u.Status)), web.When(q.At(u.CreatedAt.Std())),
	}
	for _, act := range actions(q, u, ways[u.ID].Any()) {
		if act == nil {
			cells = append(cells, web.Text(""))
			continue
		}
		act.Small = true
		cells = append(cells, web.Do(*act))
	}
	return cells
}

// actions are the two that may be done with a user: to invite again, and to block or activate; nil = not now, or not by the person.
func actions(q *web.Request, u company.User, signsIn bool) (both [2]*web.Action) {
	if !q.Allows(scope, true) || u.ID == q.Session.User || u.IsTechnical {
		return both
	}
	at := q.Path("/people/" + u.ID.String())
	if u.Status != company.UserBlocked && u.MaySignIn() && !signsIn {
		both[0] = &web.Action{Text: q.T("people.invite.again"), Post: at + "/invite"}
	}
	both[1] = &web.Action{Text: q.T("people.activate"), Post: at + "/activate"}
	if u.Status == company.UserActive {
		both[1] = &web.Action{
			ID: "block-" + u.ID.String(), Text: q.T("people.block"), Post: at + "/block", Kind: "danger", Confirm: q.T("people.block.confirm", record.OrZero(u.Email)),
		}
	}
	return both
}

// factor says what a thief of the user's password would need, too.
func factor(q *web.Request, u company.User, ways map[uuid.UUID]accounts.Ways) web.Cell {
	w, known := ways[u.ID]
	switch {
	case !u.MaySignIn() || !known || !w.Password && w.Passkeys == 0 && !w.Provider:
		return web.Text("")
	case w.Code:
		return web.State(web.Good, q.T("people.factor.code"))
	case !w.Password && w.Passkeys > 0:
		return web.State(web.Good, q.T("people.factor.passkey"))
	case !w.Password:
		return web.State(web.Info, q.T("people.factor.provider"))
	}
	return web.State(web.Warn, q.T("people.factor.none"))
}

// roleOf says what a role may do; who has none of the console is only named in records.
func roleOf(q *web.Request, u company.User) web.Cell {
	if u.MaySignIn() {
		return web.Text(q.T("role." + *u.Role))
	}
	return web.Text(record.OrZero(u.Role)).With(q.T("people.no_access"))
}

// nameOf is never empty: it leads to the page of the user.
func nameOf(u company.User) string {
	return cmp.Or(record.OrZero(u.Name), record.OrZero(u.Email), u.ID.String())
}

type formPage struct {
	Header web.Header
	Form   web.Form
	Roles  []web.Fact
}

func (pages *Pages) form(_ context.Context, q *web.Request) (web.Answer, error) {
	return pages.inviteForm(q, company.Invitation{Role: company.RoleViewer}, nil), nil
}

func (pages *Pages) inviteForm(q *web.Request, in company.Invitation, err error) web.Answer {
	p := formPage{
		Header: web.Header{Title: q.T("people.invite"), Crumbs: []web.Link{{Text: q.T("area.people"), Href: q.Path("/people")}}},
		Form: web.Form{Post: q.Path("/people/invite"), Button: q.T("people.invite.button"), Fields: []web.Field{
			{Name: "email", Label: q.T("signin.email"), Type: "email", Value: in.Email, Required: true, Focus: true, Autocomplete: "off", Fault: q.FaultOf(err, "email")},
			{Name: "name", Label: q.T("people.name"), Value: in.Name, Autocomplete: "off", Fault: q.FaultOf(err, "name")},
		}},
	}
	if known, ok := apierr.As(err); ok && len(known.Fields) == 0 {
		p.Form.Fault = q.Why(known)
	}
	p.Form.Fields = append(p.Form.Fields, roleField(q, in.Role, q.FaultOf(err, "role")))
	p.Roles = roles(q)
	return web.Show("people/invite", q.T("people.invite"), p)
}

// roleField is a choice of a role. One that is none of the console is a choice for who has it.
func roleField(q *web.Request, chosen, fault string) web.Field {
	role := web.Field{Name: "role", Label: q.T("people.role"), Type: "select", Fault: fault}
	for _, name := range company.Roles() {
		role.Options = append(role.Options, web.Option{Value: name, Text: q.T("role." + name), Selected: name == chosen})
	}
	if !slices.Contains(company.Roles(), chosen) {
		role.Options = append(role.Options, web.Option{Value: chosen, Text: strings.TrimSpace(chosen + " (" + q.T("people.no_access") + ")"), Selected: true})
	}
	return role
}

// roles says what each role may do.
func roles(q *web.Request) (facts []web.Fact) {
	for _, name := range company.Roles() {
		facts = append(facts, web.Fact{Label: q.T("role." + name), Cell: web.Text(q.T("role." + name + ".may"))})
	}
	return facts
}

// editor is who makes a change of people.
func editor(q *web.Request) company.Editor {
	return company.Editor{ID: q.Session.User, Role: q.Person.Role}
}

func (pages *Pages) invite(ctx context.Context, q *web.Request) (web.Answer, error) {
	in := company.Invitation{Email: q.Form.Get("email"), Name: q.Form.Get("name"), Role: q.Form.Get("role")}
	err := q.Change(ctx, "inviteUser", func(ctx context.Context, tx *db.Tx) (c web.Changed, err error) {
		u, err := pages.Users.InvitePerson(ctx, tx, q.Caller, editor(q), in)
		if err != nil {
			return c, err
		}
		return web.Changed{Entity: u.ID.String(), After: u}, pages.mail(ctx, tx, q, u)
	})
	if known, ok := apierr.As(err); ok && known.Status < 500 {
		return pages.inviteForm(q, in, err).Refuse(), nil
	}
	return web.Go(q.Path("/people?done=invited")), err
}

func (pages *Pages) mail(ctx context.Context, tx *db.Tx, q *web.Request, u company.User) error {
	return pages.Accounts.Invite(ctx, tx, accounts.Owner{Company: q.Caller.Company, User: u.ID}, *u.Email, q.Company.Name)
}

// inviteAgain is for who has not accepted yet. Who signs in asks for a new password, which is mailed, and works for an hour only.
func (pages *Pages) inviteAgain(ctx context.Context, q *web.Request) (web.Answer, error) {
	ways, err := pages.Accounts.Ways(ctx, q.Caller.Company)
	if err != nil {
		return web.Answer{}, err
	}
	return pages.change(ctx, q, "invite_again", "invited", func(ctx context.Context, tx *db.Tx, before company.User) (company.User, error) {
		u, err := pages.Users.InvitePersonAgain(ctx, tx, q.Caller, editor(q), before.ID)
		switch {
		case err != nil:
			return u, err
		case u.Status == company.UserBlocked || !u.MaySignIn():
			return u, web.Refusal(http.StatusConflict, "error.invite")
		case ways[u.ID].Any():
			return u, web.Refusal(http.StatusConflict, "error.invite.signs_in")
		}
		return u, pages.mail(ctx, tx, q, u)
	})
}

func (pages *Pages) block(ctx context.Context, q *web.Request) (web.Answer, error) {
	return pages.change(ctx, q, "blockUser", "blocked", func(ctx context.Context, tx *db.Tx, before company.User) (company.User, error) {
		u, err := pages.Users.BlockPerson(ctx, tx, q.Caller, editor(q), before.ID)
		if err != nil {
			return u, err
		}
		return u, pages.Accounts.EndSessions(ctx, tx, accounts.Owner{Company: q.Caller.Company, User: u.ID}, uuid.Nil)
	})
}

func (pages *Pages) activate(ctx context.Context, q *web.Request) (web.Answer, error) {
	return pages.change(ctx, q, "activateUser", "activated", func(ctx context.Context, tx *db.Tx, before company.User) (company.User, error) {
		return pages.Users.ActivatePerson(ctx, tx, q.Caller, editor(q), before.ID)
	})
}

// change changes the user in the address, and records what the user was and is.
func (pages *Pages) change(
	ctx context.Context, q *web.Request, operation, done string, do func(ctx context.Context, tx *db.Tx, before company.User) (company.User, error),
) (web.Answer, error) {
	before, err := pages.user(ctx, q)
	if err != nil {
		return web.Answer{}, err
	}
	err = q.Change(ctx, operation, func(ctx context.Context, tx *db.Tx) (web.Changed, error) {
		after, err := do(ctx, tx, before)
		return web.Changed{Entity: before.ID.String(), Before: before, After: after}, err
	})
	return web.Go(q.Path("/people?done=" + done)), err
}

// user is the one in the address.
func (pages *Pages) user(ctx context.Context, q *web.Request) (company.User, error) {
	id, err := q.PathID("id")
	if err != nil {
		return company.User{}, err
	}
	return web.CallAdmin[company.User](ctx, q, "getUser", web.ByID(id))
}
