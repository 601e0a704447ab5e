package companies

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/platform/accounts"
	"github.com/tradegrid/tradegrid/services/platform/company"
)

type formPage struct {
	Header web.Header
	Form   web.Form
}

// formFields are the fields of a new company that the form has; the others have defaults, and can be changed later.
var formFields = []string{"name", "plan", "isTest", "currency", "timeZone", "locale", "countryPrefix", "branchName"}

func (pages *Pages) newForm(_ context.Context, q *web.Request) (web.Answer, error) {
	if !q.Allows("*", true) {
		return web.Answer{}, web.Refusal(http.StatusForbidden, "error.role")
	}
	f := web.Fields{Op: q.AdminOperation("createCompany"), Only: formFields, Texts: "settings"}
	f.Value = []byte(`{"plan":"standard","isTest":false,"currency":"USD","timeZone":"UTC","locale":"en","countryPrefix":"+1"}`)
	return pages.formOf(q, f), nil
}

func (pages *Pages) formOf(q *web.Request, f web.Fields) web.Answer {
	form := web.Form{Post: "/companies/new", Button: q.T("companies.create"), Fields: q.FieldsOf(f)}
	for _, field := range []web.Field{
		{Name: "email", Label: q.T("companies.owner.email"), Type: "email", Help: q.T("companies.owner.help"), Required: true},
		{Name: "ownerName", Label: q.T("companies.owner.name")},
	} {
		field.Value, field.Autocomplete, field.Fault = f.Typed.Get(field.Name), "off", q.FaultOf(f.Err, field.Name)
		form.Fields = append(form.Fields, field)
	}
	form.Fields[0].Focus = f.Err == nil
	if known, ok := apierr.As(f.Err); ok && !web.Faulty(form.Fields) {
		form.Fault = q.Why(known)
	}
	return web.Show("companies/form", q.T("companies.new"), formPage{
		web.Header{Title: q.T("companies.new"), Facts: q.T("companies.new.intro"), Crumbs: []web.Link{{Text: q.T("companies.title"), Href: "/companies"}}}, form,
	})
}

// create makes a company and invites its first owner in one transaction, so that there is none without somebody who can get in.
func (pages *Pages) create(ctx context.Context, q *web.Request) (web.Answer, error) {
	in := company.NewCompany{
		ID: tenant.NewIDIn(""), Name: q.Form.Get("name"), Plan: q.Form.Get("plan"), IsTest: q.Form.Get("isTest") == "true", Currency: q.Form.Get("currency"),
		TimeZone: q.Form.Get("timeZone"), Locale: q.Form.Get("locale"), CountryPrefix: q.Form.Get("countryPrefix"), BranchName: q.Form.Get("branchName"),
	}
	owner := company.Invitation{Email: strings.TrimSpace(q.Form.Get("email")), Name: q.Form.Get("ownerName"), Role: company.RoleOwner}
	err := q.ChangeOf(ctx, in.ID, q.Person.Name, uuid.Nil, "createCompany", func(ctx context.Context, tx *db.Tx) (web.Changed, error) {
		return pages.make(ctx, tx, in, owner)
	})
	if known, ok := apierr.As(err); ok && known.Status < http.StatusInternalServerError {
		return pages.formOf(q, web.Fields{Op: q.AdminOperation("createCompany"), Only: formFields, Texts: "settings", Typed: q.Form, Err: err}).Refuse(), nil
	}
	return web.Go("/companies/" + in.ID.String() + "?done=company"), err
}

func (pages *Pages) make(ctx context.Context, tx *db.Tx, in company.NewCompany, owner company.Invitation) (web.Changed, error) {
	c, err := pages.Companies.Create(ctx, tx, in)
	if err != nil {
		return web.Changed{}, withEmail(err, owner.Email)
	}
	u, err := pages.Companies.InvitePerson(ctx, tx, access.System(c.ID), company.Editor{Role: company.RoleOwner}, owner)
	if err != nil {
		return web.Changed{}, err
	}
	changed := web.Changed{Entity: c.ID.String(), After: struct {
		company.Company
		Owner company.User `json:"owner"`
	}{c, u}}
	return changed, pages.Accounts.Invite(ctx, tx, accounts.Owner{Company: c.ID, User: u.ID}, *u.Email, c.Name)
}

// withEmail adds the fault of a missing address to those of the company, so that all are seen at once.
func withEmail(err error, email string) error {
	known, ok := apierr.As(err)
	if !ok || email != "" {
		return err
	}
	all := *known
	all.Fields = append(slices.Clone(known.Fields), apierr.Field{Field: "email", Message: "email: is required"})
	return &all
}
