package people

import (
	"context"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/platform/company"
)

type userPage struct {
	Header web.Header
	Facts  []web.Fact
	Form   *web.Form // nil = the person may not change the user
	Roles  []web.Fact
}

func (pages *Pages) show(ctx context.Context, q *web.Request) (web.Answer, error) {
	u, err := pages.user(ctx, q)
	if err != nil {
		return web.Answer{}, err
	}
	return pages.userPage(ctx, q, u, company.UserFields{Name: u.Name, Role: u.Role}, nil)
}

// userPage shows a user, with what was typed into the form and what is wrong with it.
func (pages *Pages) userPage(ctx context.Context, q *web.Request, u company.User, in company.UserFields, fault error) (web.Answer, error) {
	ways, err := pages.Accounts.Ways(ctx, q.Caller.Company)
	if err != nil {
		return web.Answer{}, err
	}
	p := userPage{
		Header: web.Header{
			Title: nameOf(u), Chip: &web.Chip{Kind: kinds[u.Status], Text: q.T("user." + u.Status)}, Crumbs: []web.Link{{Text: q.T("area.people"), Href: q.Path("/people")}},
			Links: []web.Link{{Text: q.T("people.changes"), Href: web.With(q.Path("/audit"), "entity", u.ID.String())}},
		},
		Facts: []web.Fact{
			{Label: q.T("signin.email"), Cell: web.Text(record.OrZero(u.Email))},
			{Label: q.T("people.role"), Cell: roleOf(q, u)},
			{Label: q.T("people.factor"), Cell: factor(q, u, ways)},
			{Label: q.T("people.since"), Cell: web.When(q.At(u.CreatedAt.Std()))},
			{Label: q.T("people.changed"), Cell: web.When(q.At(u.UpdatedAt.Std()))},
			{Label: q.T("people.id"), Cell: web.Code(u.ID.String(), "")},
		},
		Roles: roles(q),
	}
	for _, act := range actions(q, u, ways[u.ID].Any()) {
		if act != nil {
			p.Header.Actions = append(p.Header.Actions, *act)
		}
	}
	if q.Allows(scope, true) && !u.IsTechnical {
		p.Form = userForm(q, u, in, fault)
	}
	return web.Show("people/user", nameOf(u), p), nil
}

// userForm is the form of what others, and in part the user, may change.
func userForm(q *web.Request, u company.User, in company.UserFields, err error) *web.Form {
	f := &web.Form{Post: q.Path("/people/" + u.ID.String()), Button: q.T("people.save"), Hidden: q.Versioned(u.Version), Fields: []web.Field{
		{Name: "name", Label: q.T("people.name"), Value: record.OrZero(in.Name), Autocomplete: "off", Fault: q.FaultOf(err, "name")},
	}}
	if known, ok := apierr.As(err); ok && len(known.Fields) == 0 {
		f.Fault = q.Why(known)
	}
	if u.ID == q.Session.User {
		f.Hidden["role"] = record.OrZero(u.Role)
		return f
	}
	role := roleField(q, record.OrZero(in.Role), q.FaultOf(err, "role"))
	role.Help = q.T("people.role.help")
	f.Fields = append(f.Fields, role)
	return f
}

func (pages *Pages) update(ctx context.Context, q *web.Request) (web.Answer, error) {
	in := company.UserFields{Name: new(q.Form.Get("name")), Role: new(q.Form.Get("role"))}
	a, err := pages.change(ctx, q, "updateUser", "updated", func(ctx context.Context, tx *db.Tx, before company.User) (company.User, error) {
		names := []string{"name", "role"}
		if before.Role == nil && *in.Role == "" {
			names = names[:1] // a user without a role stays without
		}
		return pages.Users.UpdatePerson(ctx, tx, q.Expecting(), editor(q), before.ID, record.PatchOf(in, names...))
	})
	if known, ok := apierr.As(err); ok && known.Status < 500 && known.Status != 404 {
		u, gone := pages.user(ctx, q)
		if gone != nil {
			return web.Answer{}, gone
		}
		a, failed := pages.userPage(ctx, q, u, in, err)
		return a.Refuse(), failed
	}
	return a, err
}
