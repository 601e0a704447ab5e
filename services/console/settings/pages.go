// Package settings is the page on the company itself: its name, currency, time zone and rules.
package settings

import (
	"context"
	"embed"
	"net/http"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/business/files"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/platform/company"
)

//go:embed *.html
var templates embed.FS

// scope is that of the operation of the external API on the company.
const scope = "company"

// own are the settings that people of a company change; operators change the others.
var own = []string{
	"name", "timeZone", "locale", "currency", "countryPrefix", "stockPolicy", "accrualPercent", "taxMode", "taxRounding", "backdateDays",
	"bookingChangeMinutes", "bookingMails", "bookingReminders",
	"documentName", "documentAddress", "documentContact", "documentTaxId", "documentBank", "documentFooter", "documentMail", "mailReplyTo", "documentPaper", "documentLogoId",
}

// Pages are the pages of the area.
type Pages struct{}

// Folder implements [web.Pages].
func (pages *Pages) Folder() web.Folder {
	return web.Folder{Name: "settings", Templates: templates, Routes: []web.Page{
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
	f, err := fields(ctx, q)
	if err != nil {
		return web.Answer{}, err
	}
	return pages.page(q, raw, f)
}

// logos is how many images are offered as the logo, the latest first.
const logos = 100

func fields(ctx context.Context, q *web.Request) (web.Fields, error) {
	f := web.Fields{Op: q.AdminOperation("updateCompany"), Only: own, Texts: "settings", Pick: map[string][]web.Option{"documentLogoId": {}}}
	if !q.MayCall("listFiles") {
		return f, nil
	}
	found, err := web.List[files.File](ctx, q, "listFiles", files.Filter{Params: list.Params{PageSize: logos}})
	if err != nil {
		return f, err
	}
	for _, image := range found.Items {
		f.Pick["documentLogoId"] = append(f.Pick["documentLogoId"], web.Option{Value: image.ID.String(), Text: image.Name})
	}
	return f, nil
}

func (pages *Pages) page(q *web.Request, raw web.JSON, f web.Fields) (web.Answer, error) {
	var c company.Company
	if err := web.Decode(raw, &c); err != nil {
		return web.Answer{}, err
	}
	f.Value = raw
	all := q.FieldsOf(f)
	for i := range all {
		if all[i].Name == reminders {
			reminderRows(q, f, &all[i], c.BookingReminders)
		}
	}
	p := page{Header: web.Header{Title: q.T("settings.title"), Facts: c.Name}, Fixed: fixed(q, c)}
	if !q.Allows(scope, true) {
		for _, field := range all {
			text := said(field)
			if field.Name == reminders {
				text = remindedText(q, c.BookingReminders)
			}
			p.Facts = append(p.Facts, web.Fact{Label: field.Label, Cell: web.Text(text)})
		}
		return web.Show("settings/company", q.T("settings.title"), p), nil
	}
	p.Form = &web.Form{Post: q.Path("/settings"), Button: q.T("settings.save"), Fields: all, Fault: q.FormFault(f.Err, all)}
	return web.Show("settings/company", q.T("settings.title"), p), nil
}

// said is the value of a field as people read it.
func said(f web.Field) string {
	for _, o := range f.Options {
		if o.Selected {
			return o.Text
		}
	}
	return f.Value
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
	f, err := fields(ctx, q)
	if err != nil {
		return web.Answer{}, err
	}
	body := q.BodyOf(f, q.Form)
	if all, changed := reminded(q.Form); changed {
		body[reminders] = all
	}
	_, err = web.CallAdmin[company.Company](ctx, q, "updateCompany", web.Input{Body: body})
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
