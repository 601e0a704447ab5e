package web

import (
	"context"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/platform/accounts"
	"github.com/tradegrid/tradegrid/services/platform/audit"
	"github.com/tradegrid/tradegrid/services/platform/company"
)

// Pages holds the pages of an area: handlers and templates side by side.
type Pages interface{ Folder() Folder }

// Folder is a folder of pages.
type Folder struct {
	Name      string // below services/console, and the first part of the names of its templates
	Templates fs.FS  // each *.html is a page that defines "content"; nil = there are none
	Routes    []Page
}

// Audience is whom a page lets in.
type Audience int

// Most pages are of a company, so that this is the zero value.
const (
	OfCompany Audience = iota // people of the company in the address, and operators
	SignedIn                  // whoever is signed in
	Operators                 // operators only
	Anyone                    // also those who are not signed in
)

// Page is a route: the line by which a page exists. Who may see it follows from Area, Scope and Component.
type Page struct {
	Method    string // GET or POST; "" = GET
	Path      string // pattern of [http.ServeMux], relative to /c/{company} for pages of a company
	Area      Area
	Scope     string // resource of the API that it shows, "" = none; a POST needs it for writing
	Component string // component that the company must have; "" = any
	Audience  Audience
	Open      bool // a POST that changes nothing by the role of the person: whoever sees the area may send it
	Handle    Handler

	watch    Watcher // of a stream, see [Live]
	receives int64   // bytes of a form with files, see [Page.Receives]
	part     bool    // see [Page.PartOfPages]
}

// Streams reports whether the route is a stream that says when a page has something new.
func (p Page) Streams() bool { return p.watch != nil }

// Handler answers a request: it reads the input, calls a service, and fills one page struct.
type Handler func(ctx context.Context, q *Request) (Answer, error)

// Get and Post are lines of [Pages.Routes].
func Get(area Area, scope, path string, h Handler) Page {
	return Page{Method: http.MethodGet, Path: path, Area: area, Scope: scope, Handle: h}
}

// Post is a page that changes something.
func Post(area Area, scope, path string, h Handler) Page {
	return Page{Method: http.MethodPost, Path: path, Area: area, Scope: scope, Handle: h}
}

// Within are pages that need a component of the company.
func Within(component string, routes ...Page) []Page {
	for i := range routes {
		routes[i].Component = component
	}
	return routes
}

// For returns the page for others than the people of a company.
func (p Page) For(a Audience) Page {
	p.Audience = a
	return p
}

// AnyRole returns a POST that whoever sees its area may send, because it changes nothing by the role of the person.
func (p Page) AnyRole() Page {
	p.Open = true
	return p
}

// PartOfPages returns a page that browsers ask for because of another, as they do for pictures: many at once, so that they count towards
// the rate of a person alone, and not towards the requests at a time.
func (p Page) PartOfPages() Page {
	p.part = true
	return p
}

func (p Page) writes() bool { return p.Method == http.MethodPost }

// pattern is that of [http.ServeMux].
func (p Page) pattern() string {
	method, path := p.Method, p.Path
	if method == "" {
		method = http.MethodGet
	}
	if p.Audience == OfCompany {
		if path = "/c/{company}" + path; p.Path == "" {
			path += "/{$}"
		}
	}
	return method + " " + path
}

// Request is a checked request.
type Request struct {
	access.Caller // scopes follow from the role

	HTTP    *http.Request
	ID      string // X-Request-Id; events that the request causes carry it, too
	Visit   accounts.Visit
	Session accounts.Session // zero for pages of [Anyone]
	Person  Person
	Company company.Company // zero unless the page is of a company
	Zone    *time.Location  // of the company; UTC elsewhere
	Now     time.Time
	Form    url.Values // of the body of a POST, else of the address

	sentFiles
	app     *App
	grant   grant
	own     company.Access // to the company of a user; zero for operators
	lang    string
	counted bool   // as a request of the person
	isPart  bool   // see [Page.PartOfPages]
	ended   func() // the end of the request of the person; nil = it has not begun
}

// end ends the request, for the limits of the person.
func (q *Request) end() {
	if q.ended != nil {
		q.ended()
	}
}

// Person is who is signed in.
type Person struct {
	Name  string
	Email string // "" for operators
	Role  string // as in the table of roles
}

// Operator reports whether an operator is signed in.
func (p Person) Operator() bool { return p.Email == "" && p.Role != "" }

// Sees reports whether the person sees an area.
func (q *Request) Sees(a Area) bool { return q.grant.sees(a) }

// T is a text of the catalog, in the language of the person.
func (q *Request) T(key string, args ...any) string { return q.app.texts.text(q.lang, key, args...) }

// At prepares a time for a page.
func (q *Request) At(t time.Time) Moment {
	return Moment{At: t, zone: q.Zone, now: q.Now, said: q.app.texts.dates[q.lang]}
}

// Date is a day as people read it: [time.Time.Format] with the names of the language.
func (q *Request) Date(at time.Time, layout string) string {
	return q.app.texts.dates[q.lang].format(at, layout)
}

// Path is an address in the company.
func (q *Request) Path(rest string) string { return "/c/" + q.Company.ID.String() + rest }

// Changed says what a change did, for the record of changes. Before and After are values that JSON shows; nil = nothing.
type Changed struct {
	Entity        string // id of the record
	Before, After any
}

// Change makes a change in a transaction and records it there, with who made it. operation is the operationId of the API, if it
// has such an operation. change may run several times.
func (q *Request) Change(ctx context.Context, operation string, change func(ctx context.Context, tx *db.Tx) (Changed, error)) error {
	return q.app.cfg.DB.RunTx(ctx, "console."+operation, func(ctx context.Context, tx *db.Tx) error {
		c, err := change(ctx, tx)
		if err != nil {
			return err
		}
		return q.app.record(tx, q, operation, c)
	})
}

// Tx runs what belongs together and is no change of a record, such as a sign-in. do may run several times.
func (q *Request) Tx(ctx context.Context, name string, do func(ctx context.Context, tx *db.Tx) error) error {
	return q.app.cfg.DB.RunTx(ctx, "console."+name, do)
}

// Answer is what a handler answers: a page, or another address.
type Answer struct {
	template string
	page     any
	title    string
	status   int
	location string
	data     json.RawMessage // for a script
	cookies  []*http.Cookie
	retry    time.Duration // when to try again; 0 = it does not say
	file     *httpapi.File
}

// Show answers with a page: the template area/file, its title and its struct.
func Show(template, title string, page any) Answer {
	return Answer{template: template, title: title, page: page, status: http.StatusOK}
}

// Go answers with another address, after a change.
func Go(location string) Answer { return Answer{location: location, status: http.StatusSeeOther} }

// startedField names in an address the job that was started just now.
const startedField = "started"

// Started answers with another address, after a change that started a job: who goes on working on other pages is told when it has ended.
func Started(location string, job uuid.UUID) Answer {
	separator := "?"
	if strings.Contains(location, separator) {
		separator = "&"
	}
	return Go(location + separator + startedField + "=" + job.String())
}

// Data answers a script of the console.
func Data(data json.RawMessage) Answer { return Answer{data: data, status: http.StatusOK} }

// Refuse is the page of a form again, with faults.
func (a Answer) Refuse() Answer {
	a.status = http.StatusUnprocessableEntity
	return a
}

// Status sets the status of the answer.
func (a Answer) Status(code int) Answer {
	a.status = code
	return a
}

// Later is the page again for somebody who has to wait, with 429 or 503.
func (a Answer) Later(code int, wait time.Duration) Answer {
	a.status, a.retry = code, wait
	return a
}

// With adds a cookie.
func (a Answer) With(c *http.Cookie) Answer {
	a.cookies = append(a.cookies, c)
	return a
}

// ChangeOf is [Request.Change] for what people change of their own account, which also happens outside of a company's pages, and for
// what operators change; of is zero for what concerns no company alone.
func (q *Request) ChangeOf(
	ctx context.Context, of tenant.ID, by string, user uuid.UUID, operation string, change func(ctx context.Context, tx *db.Tx) (Changed, error), opts ...db.Option,
) error {
	return q.app.cfg.DB.RunTx(ctx, "console."+operation, func(ctx context.Context, tx *db.Tx) error {
		c, err := change(ctx, tx)
		if err != nil {
			return err
		}
		return q.app.cfg.Changes.RecordPerson(tx, audit.PersonChange{
			By: by, UserID: user, Operation: operation, Company: of, Entity: c.Entity, Before: c.Before, After: c.After, RequestID: q.ID,
		})
	}, opts...)
}

// ChangeAccount is [Request.ChangeOf] for what people change of their own account, also before they are signed in. The record that
// changed is the user.
func (q *Request) ChangeAccount(
	ctx context.Context, of accounts.Owner, email, operation string, change func(ctx context.Context, tx *db.Tx) (Changed, error),
) error {
	return q.ChangeOf(ctx, of.Company, email, of.User, operation, func(ctx context.Context, tx *db.Tx) (Changed, error) {
		c, err := change(ctx, tx)
		c.Entity = of.User.String()
		return c, err
	})
}

// Refusal is an error that a page shows with a text of the catalog.
func Refusal(status int, text string) error { return refusal{status, text} }

// NoPage is the error of an address that leads nowhere.
func NoPage() error { return errNoPage }
