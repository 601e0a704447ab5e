// Package settings is the page on the company itself: its name, currency, time zone and rules.
package settings

import (
	"context"
	"embed"
	"net/http"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/platform/company"
)

//go:embed *.html
var files embed.FS

// scope is that of the operation of the external API on the company.
const scope = "company"

// own are the settings that people of a company change; operators change the others.
var own = []string{"name", "timeZone", "locale", "currency", "countryPrefix", "stockPolicy", "accrualPercent"}

// Pages are the pages of the area.
type Pages struct{}

// Folder implements [web.Pages].
func (pages *Pages) Folder() web.Folder {
	return web.Folder{Name: "settings", Templates: files, Routes: []web.Page{
		web.Get(web.CompanySettings, scope, "/settings", pages.show),
		web.Post(web.CompanySettings, scope, "/settings", pages.save),
	}}
}

type page struct {
	Header web.Header
	Form   *web.Form // nil = the person may not change them
	Facts  []web.Fact
	Fixed  []web.Fact
}

func (pages *Pages) show(ctx context.Context, q *web.Request) (web.Answer, error) {
	raw, err := web.CallAdmin[web.JSON](ctx, q, "getCompany", web.Input{})
	if err != nil {
		return web.Answer{}, err
	}
	return pages.page(q, raw, fields(q))
}

func fields(q *web.Request) web.Fields {
	return web.Fields{Op: q.AdminOperation("updateCompany"), Only: own, Texts: "settings"}
}

func (pages *Pages) page(q *web.Request, raw web.JSON, f web.Fields) (web.Answer, error) {
	var c company.Company
	if err := web.Decode(raw, &c); err != nil {
		return web.Answer{}, err
	}
	f.Value = raw
	all := q.FieldsOf(f)
	p := page{Header: web.Header{Title: q.T("settings.title"), Facts: c.Name}, Fixed: fixed(q, c)}
	if !q.Allows(scope, true) {
		for _, field := range all {
			p.Facts = append(p.Facts, web.Fact{Label: field.Label, Cell: web.Text(field.Value)})
		}
		return web.Show("settings/company", q.T("settings.title"), p), nil
	}
	p.Form = &web.Form{Post: q.Path("/settings"), Button: q.T("settings.save"), Fields: all}
	if known, ok := apierr.As(f.Err); ok && !web.Faulty(all) {
		p.Form.Fault = known.Message
	}
	return web.Show("settings/company", q.T("settings.title"), p), nil
}

// fixed are the facts that people of the company cannot change, each with why.
func fixed(q *web.Request, c company.Company) []web.Fact {
	names := make([]string, len(c.Components))
	for i, name := range c.Components {
		names[i] = q.Word(name)
	}
	kind := "settings.live"
	if c.IsTest {
		kind = "settings.test"
	}
	region := c.HomeRegion
	if region == "" {
		region = q.T("settings.region.any")
	}
	return []web.Fact{
		{Label: q.T("companies.plan"), Cell: web.Text(q.Word(c.Plan)).With(q.T("settings.plan.why"))},
		{Label: q.T("settings.components"), Cell: web.Text(strings.Join(names, ", ")).With(q.T("settings.components.why"))},
		{Label: q.T("settings.kind"), Cell: web.Text(q.T(kind)).With(q.T("settings.kind.why"))},
		{Label: q.T("settings.region"), Cell: web.Text(region).With(q.T("settings.region.why"))},
		{Label: q.T("companies.id"), Cell: web.Code(c.ID.String(), "").With(q.T("settings.id.why"))},
		{Label: q.T("people.since"), Cell: web.When(q.At(c.CreatedAt.Std()))},
	}
}

func (pages *Pages) save(ctx context.Context, q *web.Request) (web.Answer, error) {
	f := fields(q)
	_, err := web.CallAdmin[company.Company](ctx, q, "updateCompany", web.Input{Body: q.BodyOf(f, q.Form)})
	if known, ok := apierr.As(err); ok && known.Status < http.StatusInternalServerError {
		raw, readErr := web.CallAdmin[web.JSON](ctx, q, "getCompany", web.Input{})
		if readErr != nil {
			return web.Answer{}, readErr
		}
		f.Typed, f.Err = q.Form, err
		a, err := pages.page(q, raw, f)
		return a.Refuse(), err
	}
	return web.Go(q.Path("/settings?done=saved")), err
}
