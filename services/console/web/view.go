package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"math"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/platform/accounts"
)

//go:embed frame/*.html
var frameFiles embed.FS

// views are the templates of all pages, for each language. A template is parsed when its page is first asked for, all of them
// before the console serves.
type views struct {
	app     *App
	folders []Folder
	byName  map[string]func() (*template.Template, error) // lang/folder/page
}

func newViews(a *App, folders []Folder) (*views, error) {
	v := &views{app: a, folders: folders}
	return v, v.parse()
}

// parse parses the frame and the pieces, and prepares each page to be parsed with them.
func (v *views) parse() error {
	v.byName = map[string]func() (*template.Template, error){}
	for _, lang := range v.app.texts.langs {
		base := template.New("").Funcs(template.FuncMap{
			"t":     func(key string, args ...any) string { return v.app.texts.text(lang, key, args...) },
			"asset": v.app.assets.address,
			"verbs": func() []string { return []string{verbNone, verbRead, verbWrite} },
		})
		base, err := base.ParseFS(v.files("web", frameFiles), "frame/*.html")
		if err != nil {
			return fmt.Errorf("parse frame: %w", err)
		}
		for _, folder := range v.folders {
			if err := v.parsePages(base, lang, folder); err != nil {
				return err
			}
		}
		for _, name := range []string{"error", "signedout"} {
			v.byName[lang+"/frame/"+name] = parsed(base, "frame", func(page *template.Template) (*template.Template, error) {
				return page.Parse(`{{define "content"}}{{template "` + name + `" .}}{{end}}`)
			})
		}
	}
	return nil
}

func (v *views) parsePages(base *template.Template, lang string, folder Folder) error {
	if folder.Templates == nil {
		return nil // it shows no pages
	}
	files := v.files(folder.Name, folder.Templates)
	names, err := fs.Glob(files, "*.html")
	if err != nil {
		return fmt.Errorf("templates of %s: %w", folder.Name, err)
	}
	for _, name := range names {
		v.byName[lang+"/"+folder.Name+"/"+strings.TrimSuffix(name, ".html")] = parsed(base, folder.Name+"/"+name, func(page *template.Template) (*template.Template, error) {
			return page.ParseFS(files, name)
		})
	}
	return nil
}

// parsed returns a function that adds a page to a copy of the frame, once.
func parsed(base *template.Template, name string, add func(*template.Template) (*template.Template, error)) func() (*template.Template, error) {
	return sync.OnceValues(func() (*template.Template, error) {
		page, err := base.Clone()
		if err == nil {
			page, err = add(page)
		}
		if err != nil {
			return nil, fmt.Errorf("parse %s: %w", name, err)
		}
		return page, nil
	})
}

// check parses all pages.
func (v *views) check() error {
	for _, page := range v.byName {
		if _, err := page(); err != nil {
			return err
		}
	}
	return nil
}

// files are those of the binary, or of the source.
func (v *views) files(folder string, built fs.FS) fs.FS {
	if v.app.cfg.Source == "" {
		return built
	}
	return os.DirFS(filepath.Join(v.app.cfg.Source, folder))
}

// frame is what surrounds a page.
type frame struct {
	Lang    string
	Title   string
	Signed  bool
	Person  Person
	Role    string // in words
	Company string
	IsTest  bool
	Root    string // address of the company; "" elsewhere
	Menu    []menuGroup
	Thumb   []menuItem // of the menu, what a phone shows at the bottom
	Done    string     // what the last change did
	Started string     // id of the job that the last change started; "" = it started none
	Release string
	Gallery bool
	Page    any
}

type menuGroup struct {
	Name  string
	Items []menuItem
}

type menuItem struct {
	Text, Href string
	Area       Area
	Icon       string // name of its picture in icons.svg; "" = it has none
	Current    bool
}

// pictured are the areas with a picture: those that a shop uses all day.
var pictured = slices.Concat(business, []Area{CompanySettings})

// thumb are the areas that a phone shows at the bottom; the others are behind a button.
var thumb = []Area{Home, Till, Orders, Bookings}

func (a *App) frame(q *Request, p Page, answer Answer) frame {
	f := frame{
		Lang: q.lang, Title: answer.title, Signed: q.Person.Role != "", Person: q.Person, Release: a.cfg.Release, Gallery: a.cfg.Gallery, Page: answer.page,
	}
	if f.Signed {
		f.Role = q.T("role." + q.Person.Role)
	}
	if done := "done." + q.HTTP.URL.Query().Get("done"); a.texts.has(done) {
		f.Done = q.T(done)
	}
	if q.Person.Operator() && q.Company.ID.IsZero() {
		f.Menu = a.menu(q, p, operatorMenu, "")
	}
	if q.Company.ID.IsZero() {
		return f
	}
	f.Company, f.IsTest, f.Root = q.Company.Name, q.Company.IsTest, q.Path("")
	if id, err := uuid.Parse(q.HTTP.URL.Query().Get(startedField)); err == nil {
		f.Started = id.String()
	}
	f.Menu = a.menu(q, p, menu, f.Root)
	for _, g := range f.Menu {
		for _, item := range g.Items {
			if slices.Contains(thumb, item.Area) {
				f.Thumb = append(f.Thumb, item)
			}
		}
	}
	if q.Person.Operator() { // the way back
		f.Menu = append(f.Menu, a.menu(q, p, operatorMenu[:1], "")...)
	}
	return f
}

// menu draws the entries that the person sees and that have pages, below an address.
func (a *App) menu(q *Request, p Page, entries []entry, root string) (groups []menuGroup) {
	for _, e := range entries {
		if !q.Sees(e.Area) || !slices.ContainsFunc(a.pages, func(p Page) bool { return p.Area == e.Area }) {
			continue
		}
		if n := len(groups); n == 0 || groups[n-1].Name != e.Group {
			groups = append(groups, menuGroup{Name: e.Group})
		}
		g := &groups[len(groups)-1]
		href := root + e.Path
		if e.Path == "" {
			href += "/"
		}
		item := menuItem{Text: q.T("area." + string(e.Area)), Href: href, Area: e.Area, Current: e.Area == p.Area}
		if slices.Contains(pictured, e.Area) {
			item.Icon = string(e.Area)
		}
		g.Items = append(g.Items, item)
	}
	return groups
}

// write sends an answer.
func (a *App) write(ctx context.Context, w http.ResponseWriter, q *Request, p Page, answer Answer) {
	for _, c := range answer.cookies {
		http.SetCookie(w, c)
	}
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	if answer.retry > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(answer.retry.Seconds()))))
	}
	if answer.location != "" {
		h.Set("Location", answer.location)
		w.WriteHeader(answer.status)
		return
	}
	if answer.file != nil {
		a.send(ctx, w, q, answer.file)
		return
	}
	if answer.data != nil {
		h.Set("Content-Type", "application/json")
		w.WriteHeader(answer.status)
		_, _ = w.Write(answer.data) // a client that is gone gets nothing
		return
	}
	body, err := a.views.render(q.lang, answer.template, a.frame(q, p, answer))
	if err != nil {
		a.cfg.Log.ErrorContext(ctx, "console page not made", "template", answer.template, "error", err, "request_id", q.ID)
		http.Error(w, q.T("error.internal", q.ID), http.StatusInternalServerError)
		return
	}
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Vary", "Accept-Encoding, Accept-Language")
	// Nothing on a page is both secret and beside what somebody else chose, so that its compressed length tells nothing: there are
	// no tokens in forms, and the cookie is a header.
	if len(body) > 1<<10 && strings.Contains(q.HTTP.Header.Get("Accept-Encoding"), "gzip") {
		if small, err := zip(body); err == nil {
			h.Set("Content-Encoding", "gzip")
			body = small
		}
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(answer.status)
	_, _ = w.Write(body) // a client that is gone gets nothing
}

// encoders are kept from page to page: each has tables of more than a megabyte.
var encoders = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed) // the level is valid
	return z
}}

func zip(body []byte) ([]byte, error) {
	z := encoders.Get().(*gzip.Writer) //nolint:errcheck,forcetypeassert // New makes nothing else
	defer encoders.Put(z)
	return compressed(body, func(w io.Writer) io.WriteCloser {
		z.Reset(w)
		return z
	})
}

func (v *views) render(lang, name string, f frame) ([]byte, error) {
	if v.app.cfg.Source != "" {
		fresh := &views{app: v.app, folders: v.folders}
		if err := fresh.parse(); err != nil {
			return nil, err
		}
		v = fresh
	}
	page, ok := v.byName[lang+"/"+name]
	if !ok {
		return nil, fmt.Errorf("no template %s", name)
	}
	t, err := page()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := t.ExecuteTemplate(&b, "frame", f); err != nil {
		return nil, fmt.Errorf("template %s: %w", name, err)
	}
	return b.Bytes(), nil
}

// fault is the page of what went wrong.
type fault struct {
	Status  int
	Title   string
	Text    string
	Request string // id, of what operators have to look at
}

// databaseRetry is when to try again what the database could not answer.
const databaseRetry = 2 * time.Second

// outage is the text of an error that means that the database is not there, or does not get round to it; "" = it means something else.
func outage(err error) string {
	reason, _ := db.Unavailable(err)
	if known, ok := apierr.As(err); ok {
		reason = known.Reason()
	}
	switch reason {
	case apierr.DatabaseUnavailable, apierr.DatabaseFull, apierr.ShuttingDown:
		return "error.database"
	case apierr.DatabaseTimeout, apierr.Serialization:
		return "error.slow"
	default:
		return ""
	}
}

// refuse turns an error into an answer: the one place that does.
func (a *App) refuse(ctx context.Context, q *Request, err error) Answer {
	var r refusal
	var limited *accounts.LimitedError
	var known *apierr.Error
	var many tooMany
	var retry time.Duration
	page := fault{Status: http.StatusInternalServerError, Text: q.T("error.internal", q.ID), Request: q.ID}
	switch {
	case errors.Is(err, errAnonymous):
		return q.signInFirst(signIn(q.HTTP))
	case errors.Is(err, errHalf):
		return q.signInFirst("/sign-in/code?next=" + url.QueryEscape(Next(q.HTTP.URL.RequestURI())))
	case errors.As(err, &r):
		page = fault{Status: r.status, Text: q.T(r.text)}
	case errors.As(err, &limited):
		retry = limited.Wait
		page = fault{Status: http.StatusTooManyRequests, Text: q.T("error.limited", q.Duration(limited.Wait.Round(time.Second)))}
	case errors.As(err, &many):
		retry = many.wait
		page = fault{Status: http.StatusTooManyRequests, Text: q.T("error.requests", q.Duration(many.wait))}
	case errors.Is(err, accounts.ErrBusy):
		retry = accounts.RetryBusy
		page = fault{Status: http.StatusServiceUnavailable, Text: q.T("error.busy")}
	case outage(err) != "":
		retry = databaseRetry
		page = fault{Status: http.StatusServiceUnavailable, Text: q.T(outage(err))}
		a.cfg.Log.WarnContext(ctx, "console page refused", "error", err, "request_id", q.ID)
	case errors.As(err, &known):
		retry = time.Duration(known.RetryAfter) * time.Second
		page = fault{Status: known.Status, Text: q.Why(known)}
		if known.Status >= http.StatusInternalServerError {
			a.cfg.Log.WarnContext(ctx, "console page refused", "error", err, "request_id", q.ID)
		}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		retry = databaseRetry
		page = fault{Status: http.StatusServiceUnavailable, Text: q.T("error.slow")}
	default:
		a.cfg.Log.ErrorContext(ctx, "console page failed", "error", err, "path", q.HTTP.URL.Path, "request_id", q.ID)
	}
	page.Title = q.T("error.title." + strconv.Itoa(page.Status))
	if !a.texts.has("error.title." + strconv.Itoa(page.Status)) {
		page.Title = http.StatusText(page.Status)
	}
	return Show("frame/error", page.Title, page).Later(page.Status, retry)
}
