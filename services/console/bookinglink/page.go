// Package bookinglink is what the customers of a company see of their bookings: the page that the link to a booking leads to, and the
// letters that carry the link. Nobody is signed in there. The page is served beside the API, see [httpapi.PublicPage], because customers
// may not reach the console; it has no script, and shares nothing with the console but the texts.
package bookinglink

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/services/business/scheduling"
	"github.com/tradegrid/tradegrid/services/console/web"
)

//go:embed page.html
var pageText string

//go:embed style.css
var style string

// Bookings are those that links lead to.
type Bookings interface {
	CheckLink(token string) (booking string, ok bool, err error)
	Visit(ctx context.Context, token string) (scheduling.Visit, error)
	FreeTimes(ctx context.Context, v scheduling.Visit, first jsontype.Date) ([]scheduling.DayAvailability, error)
	ChangeByLink(ctx context.Context, token string, in scheduling.VisitChange) error
}

// Page is the page of a booking.
type Page struct {
	bookings Bookings
	texts    web.CustomerTexts
	byLang   map[string]*template.Template
	policy   string
}

// NewPage returns the page.
func NewPage(bookings Bookings, texts web.CustomerTexts) *Page {
	sum := sha256.Sum256([]byte(style))
	p := &Page{
		bookings: bookings, texts: texts, byLang: map[string]*template.Template{},
		policy: "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
	}
	for _, lang := range texts.Languages() {
		say := func(key string, args ...any) string { return texts.Text(lang, key, args...) }
		p.byLang[lang] = template.Must(template.New("page").Funcs(template.FuncMap{"t": say}).Parse(pageText))
	}
	return p
}

// view is what the page shows.
type view struct {
	Lang, Title, Company, Note string
	Style                      template.CSS
	Self                       string // address of the page
	Version                    int64
	Facts                      []fact
	Confirm                    bool
	Change                     string // address of the free times; "" = the booking cannot be changed
	Until                      string
	Days                       []dayTimes
	Earlier, Later             string
}

type fact struct{ Label, Text string }

type dayTimes struct {
	Name  string
	Times []oneTime
}

type oneTime struct{ Value, Text string }

// Check implements [httpapi.PublicPage].
func (p *Page) Check(segment string) (name string, ok bool, err error) {
	return p.bookings.CheckLink(segment)
}

// Serve implements [httpapi.PublicPage].
func (p *Page) Serve(ctx context.Context, v httpapi.Visit) (httpapi.Document, error) {
	note := ""
	if v.Post {
		start, _ := time.Parse(time.RFC3339Nano, v.Form.Get("start")) // a time that is none is not free
		version, _ := strconv.ParseInt(v.Form.Get("version"), 10, 64) // and no version is stale
		do := v.Form.Get("do")
		err := p.bookings.ChangeByLink(ctx, v.Segment, scheduling.VisitChange{Do: do, Version: version, StartAt: start})
		if err == nil {
			return httpapi.Document{Status: http.StatusSeeOther, Location: scheduling.LinkPath + v.Segment + "?done=" + url.QueryEscape(do), Policy: p.policy}, nil
		}
		if note = refusals[err]; note == "" {
			return p.failed(v, scheduling.Visit{}, err)
		}
	}
	visit, err := p.bookings.Visit(ctx, v.Segment)
	if err != nil {
		return p.failed(v, visit, err)
	}
	lang := p.texts.Language(visit.Locale)
	if done := v.Query.Get("done"); !v.Post && (dones[done] == visit.Booking.Status || done == scheduling.VisitMove && visit.Open()) {
		note = "visit.done." + done
	}
	shown := p.show(lang, v, visit)
	if note != "" {
		shown.Note = p.texts.Text(lang, note)
	}
	if from := v.Query.Get("from"); from != "" && visit.CanChange {
		if err := p.offer(ctx, &shown, visit, from); err != nil {
			return httpapi.Document{}, err
		}
	}
	status := http.StatusOK
	if v.Post {
		status = http.StatusConflict
	}
	return p.render(status, shown)
}

// refusals are the texts of refused changes, which are shown with the booking as it is.
var refusals = map[error]string{ //nolint:gochecknoglobals // a constant
	scheduling.ErrLinkLate: "visit.refused.late", scheduling.ErrLinkStale: "visit.refused.stale", scheduling.ErrLinkTaken: "visit.refused.taken",
}

// dones are the statuses of a booking after what was done.
var dones = map[string]string{scheduling.VisitConfirm: "confirmed", scheduling.VisitCancel: "cancelled"} //nolint:gochecknoglobals // a constant

// show is the page of a booking.
func (p *Page) show(lang string, v httpapi.Visit, visit scheduling.Visit) view {
	b := visit.Booking
	self := scheduling.LinkPath + v.Segment
	say := func(key string, args ...any) string { return p.texts.Text(lang, key, args...) }
	shown := view{
		Lang: lang, Title: say("visit.title"), Company: visit.Company, Self: self, Version: b.Version, Confirm: visit.CanConfirm,
		Facts: []fact{{say("visit.when"), p.texts.Time(lang, "visit.moment", b.StartAt.Std().In(visit.Zone))}},
	}
	if b.ServiceName != nil {
		shown.Facts = append(shown.Facts, fact{say("visit.service"), *b.ServiceName})
	}
	shown.Facts = append(shown.Facts, fact{say("visit.resource"), b.ResourceName}, fact{say("visit.name"), b.CustomerName}, fact{say("visit.status"), say("visit.is." + b.Status)})
	switch {
	case visit.CanChange:
		shown.Change = self + "?from=" + visit.Today.String()
		shown.Until = say("visit.until", p.texts.Time(lang, "visit.moment", visit.ChangeUntil.In(visit.Zone)))
	case visit.Open():
		shown.Until = say("visit.late", visit.Company)
	}
	return shown
}

// offer replaces what can be done by the free times of some days.
func (p *Page) offer(ctx context.Context, shown *view, visit scheduling.Visit, from string) error {
	first := visit.Today
	if err := first.UnmarshalText([]byte(from)); err != nil || time.Time(first).Before(time.Time(visit.Today)) {
		first = visit.Today
	}
	days, err := p.bookings.FreeTimes(ctx, visit, first)
	if err != nil {
		return err
	}
	if days == nil {
		first = visit.Today
		if days, err = p.bookings.FreeTimes(ctx, visit, first); err != nil {
			return err
		}
	}
	for _, d := range days {
		day := dayTimes{Name: p.texts.Time(shown.Lang, "visit.day", time.Time(d.Date))}
		for _, slot := range d.Slots {
			at := slot.StartAt.Std()
			day.Times = append(day.Times, oneTime{at.Format(time.RFC3339Nano), p.texts.Time(shown.Lang, "visit.clock", at.In(visit.Zone))})
		}
		shown.Days = append(shown.Days, day)
	}
	address := func(days int) string {
		return shown.Self + "?from=" + jsontype.Date(time.Time(first).AddDate(0, 0, days)).String()
	}
	if time.Time(first).After(time.Time(visit.Today)) {
		shown.Earlier = address(-scheduling.VisitDays)
	}
	shown.Later, shown.Confirm, shown.Change = address(scheduling.VisitDays), false, ""
	return nil
}

// failed is the page of a link that leads to no booking, or to one that is over.
func (p *Page) failed(v httpapi.Visit, visit scheduling.Visit, err error) (httpapi.Document, error) {
	switch {
	case errors.Is(err, scheduling.ErrNoLink):
		return p.plain(p.texts.Language(v.Accepts), http.StatusNotFound, "", "gone")
	case errors.Is(err, scheduling.ErrLinkOver):
		lang := p.texts.Language(v.Accepts)
		if visit.Company != "" {
			lang = p.texts.Language(visit.Locale)
		}
		return p.plain(lang, http.StatusGone, visit.Company, "over")
	}
	return httpapi.Document{}, err
}

// Refuse implements [httpapi.PublicPage].
func (p *Page) Refuse(v httpapi.Visit, f *apierr.Error) httpapi.Document {
	what := "later"
	switch {
	case f.Status == http.StatusNotFound:
		what = "gone"
	case f.Status == http.StatusTooManyRequests:
		what = "often"
	case f.Status < http.StatusInternalServerError:
		what = "form"
	}
	d, err := p.plain(p.texts.Language(v.Accepts), f.Status, "", what)
	if err != nil {
		panic(err) // it writes constants to memory
	}
	return d
}

// plain is a page without a booking.
func (p *Page) plain(lang string, status int, company, what string) (httpapi.Document, error) {
	return p.render(status, view{Lang: lang, Title: p.texts.Text(lang, "visit."+what+".title"), Company: company, Note: p.texts.Text(lang, "visit."+what+".text")})
}

func (p *Page) render(status int, shown view) (httpapi.Document, error) {
	shown.Style = template.CSS(style) //nolint:gosec // G203: a constant
	var b bytes.Buffer
	if err := p.byLang[shown.Lang].Execute(&b, shown); err != nil {
		return httpapi.Document{}, fmt.Errorf("render page of booking: %w", err)
	}
	return httpapi.Document{Status: status, HTML: b.Bytes(), Policy: p.policy}, nil
}
