package imports

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/store/job"
	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/platform/imports"
)

// summary is what an import says of itself.
type summary struct {
	Resource                            string
	DryRun                              bool
	Created, Updated, Unchanged, Failed int64
	Header, Fields                      []string
}

func (s summary) good() int64 { return s.Created + s.Updated + s.Unchanged }

// jobPage is the page of an import, which reads itself again until it has ended.
type jobPage struct {
	Header  web.Header
	Lead    string
	Note    *web.Note
	Bar     string // of the progress, in percent; "" = it has ended
	Label   string
	Refresh string
	Cancel  *web.Action
	Figures []web.Fact
	Run     *web.Action
	Links   []web.Link
	File    *web.Link // of the refused rows
	Faults  *web.Table
	More    string // how many faults are not shown
	Out     string // columns that are not imported
}

// found is an import of the resource in the address.
func found(ctx context.Context, q *web.Request, res resources.Resource) (r job.Record, s summary, err error) {
	id, err := q.PathID("id")
	if err != nil {
		return r, s, err
	}
	if r, err = web.Call[job.Record](ctx, q, "getJob", web.ByID(id)); err != nil {
		return r, s, err
	}
	if r.Type != "import" || r.Summary == nil {
		if r.Type != "import" {
			return r, s, web.NoPage()
		}
		return r, s, nil // it has not begun
	}
	raw, err := json.Marshal(r.Summary)
	if err == nil {
		err = json.Unmarshal(raw, &s)
	}
	if err == nil && s.Resource != res.Name {
		err = web.NoPage()
	}
	return r, s, err
}

func (pages *Pages) show(res resources.Resource) web.Handler {
	return func(ctx context.Context, q *web.Request) (web.Answer, error) {
		r, s, err := found(ctx, q, res)
		if err != nil {
			return web.Answer{}, err
		}
		p := jobPage{Header: web.Header{
			Title: q.T("imports.title", res.Heading(q)), Crumbs: []web.Link{{Text: res.Heading(q), Href: q.Path(res.Address)}},
		}}
		at := q.Path(res.Address + "/import/" + r.ID.String())
		switch r.Status {
		case job.Pending, job.Processing:
			p.running(q, r, s, at)
		case job.Paused:
			p.Note = &web.Note{Kind: web.Warn, Title: q.T("imports.paused")}
		default:
			if err := pages.ended(ctx, q, res, r, s, &p); err != nil {
				return web.Answer{}, err
			}
		}
		return web.Show("imports/job", p.Header.Title, p), nil
	}
}

// running says how far the import is.
func (p *jobPage) running(q *web.Request, r job.Record, s summary, at string) {
	total := int64(0)
	if r.Total != nil {
		total = *r.Total
	}
	if p.Lead = q.T("imports.running", decimal(q, r.Processed), decimal(q, total)); s.DryRun || r.Summary == nil {
		p.Lead = q.T("imports.checking", decimal(q, r.Processed), decimal(q, total))
	}
	p.Bar, p.Label, p.Refresh = strconv.Itoa(r.Progress), p.Lead, q.HTTP.URL.RequestURI()
	p.Cancel = &web.Action{Text: q.T("imports.cancel"), Post: at + "/cancel"}
}

func decimal(q *web.Request, n int64) string { return q.Count(n) }

// shownFaults is how many rows that were refused a page shows.
const shownFaults = 100

// ended says what has become of the rows, or would.
func (pages *Pages) ended(ctx context.Context, q *web.Request, res resources.Resource, r job.Record, s summary, p *jobPage) error {
	at := q.Path(res.Address + "/import/" + r.ID.String())
	p.outcome(q, r, s)
	p.Figures = []web.Fact{
		{Label: q.T("imports.created"), Cell: web.Text(decimal(q, s.Created))},
		{Label: q.T("imports.updated"), Cell: web.Text(decimal(q, s.Updated))},
		{Label: q.T("imports.unchanged"), Cell: web.Text(decimal(q, s.Unchanged))},
		{Label: q.T("imports.failed"), Cell: web.Text(decimal(q, s.Failed))},
	}
	if s.DryRun && r.Status == job.Done && s.good() > 0 && q.Allows(res.Scope, true) {
		p.Run = &web.Action{Text: q.T("imports.run", decimal(q, s.good())), Post: at + "/run", Kind: "primary"}
	}
	if !s.DryRun && s.good() > 0 {
		p.Links = append(p.Links, web.Link{Text: q.T("imports.see", res.Heading(q)), Href: q.Path(res.Address)})
	}
	p.Links = append(p.Links, web.Link{Text: q.T("imports.another"), Href: q.Path(res.Address + "/import")})
	var out []string
	for i, name := range s.Header {
		if i < len(s.Fields) && s.Fields[i] == "" && name != "" {
			out = append(out, name)
		}
	}
	if p.Out = strings.Join(out, ", "); s.Failed == 0 || r.ExpiresAt == nil || !q.Now.Before(r.ExpiresAt.Std()) {
		return nil
	}
	p.File = &web.Link{Text: q.T("imports.refused"), Href: at + "/refused"}
	lines, err := pages.Reports.Faults(ctx, q.Caller, r.ID, shownFaults)
	if err != nil {
		return err
	}
	p.faults(q, s, lines)
	return nil
}

// outcome is the sentence that the page begins with.
func (p *jobPage) outcome(q *web.Request, r job.Record, s summary) {
	rows := s.good() + s.Failed
	switch {
	case r.Status == job.Failed && r.Error != nil:
		p.Note = &web.Note{Kind: web.Bad, Title: q.T("imports.broken"), Text: q.Words(r.Error.Message)}
	case r.Status != job.Done:
		p.Note = &web.Note{Kind: web.Warn, Title: q.T("imports.canceled")}
	case s.DryRun && s.Failed == 0:
		p.Lead = q.T("imports.lead.fine", decimal(q, rows))
	case s.DryRun && s.good() == 0:
		p.Lead = q.T("imports.lead.none", decimal(q, rows))
	case s.DryRun:
		p.Lead = q.T("imports.lead.some", decimal(q, s.good()), decimal(q, rows), decimal(q, s.Failed))
	case s.Failed == 0:
		p.Lead = q.T("imports.lead.done", decimal(q, rows))
	default:
		p.Lead = q.T("imports.lead.partly", decimal(q, s.good()), decimal(q, rows), decimal(q, s.Failed))
	}
}

// faults is the table of rows that were refused.
func (p *jobPage) faults(q *web.Request, s summary, lines []imports.Line) {
	t := web.Table{Label: q.T("imports.faults"), Columns: []web.Column{{Text: q.T("imports.row"), Num: true}, {Text: q.T("imports.column")}, {Text: q.T("imports.cell")}, {Text: q.T("imports.why")}}}
	for _, l := range lines {
		if len(l.Errors) == 0 {
			t.Rows = append(t.Rows, []web.Cell{web.Number(strconv.Itoa(l.Row)), web.Text(""), web.Text(firstOf(l.Cells)), web.Text(said(q, l))})
		}
		for _, f := range l.Errors {
			at := slices.Index(s.Fields, f.Field)
			name, cell := fieldName(q, f.Field), ""
			if at >= 0 && f.Field != "" {
				name = s.Header[at]
				if at < len(l.Cells) {
					cell = l.Cells[at]
				}
			}
			t.Rows = append(t.Rows, []web.Cell{web.Number(strconv.Itoa(l.Row)), web.Text(name), web.Text(shorten(cell)), web.Text(q.FaultText(f))})
		}
	}
	p.Faults = &t
	if left := s.Failed - int64(len(lines)); left > 0 {
		p.More = q.T("imports.more", decimal(q, left))
	}
}

func firstOf(cells []string) string {
	for _, cell := range cells {
		if cell != "" {
			return shorten(cell)
		}
	}
	return ""
}

// said is what is wrong with a row, in words.
func said(q *web.Request, l imports.Line) string {
	if len(l.Errors) == 0 {
		return q.CodeText(l.Code, l.Message)
	}
	all := make([]string, len(l.Errors))
	for i, f := range l.Errors {
		all[i] = fieldName(q, f.Field) + ": " + q.FaultText(f)
	}
	return strings.Join(all, "; ")
}

// refused sends the rows that were refused as a file.
func (pages *Pages) refused(res resources.Resource) web.Handler {
	return func(ctx context.Context, q *web.Request) (web.Answer, error) {
		r, _, err := found(ctx, q, res)
		if err != nil {
			return web.Answer{}, err
		}
		f, err := pages.Reports.Refused(ctx, q.Caller, r.ID, func(l imports.Line) string { return said(q, l) })
		if err != nil {
			return web.Answer{}, err
		}
		f.Name = q.T("imports.refused.name", res.Heading(q)) + ".csv"
		return web.Send(f), nil
	}
}

// run imports the rows that were checked.
func (pages *Pages) run(res resources.Resource) web.Handler {
	return func(ctx context.Context, q *web.Request) (web.Answer, error) {
		r, _, err := found(ctx, q, res)
		if err != nil {
			return web.Answer{}, err
		}
		key := uuid.NewSHA1(r.ID, []byte("run")).String() // a second click leads to the same import
		started, err := web.Call[job.Record](ctx, q, "runImport", web.Input{Path: map[string]string{"id": r.ID.String()}, Key: key})
		if web.Refused(err) {
			return refusal(q, res, err)
		}
		if err != nil {
			return web.Answer{}, err
		}
		return web.Started(q.Path(res.Address+"/import/"+started.ID.String()), started.ID), nil
	}
}

// refusal is the page of an import that cannot be run.
func refusal(q *web.Request, res resources.Resource, err error) (web.Answer, error) {
	title := q.T("imports.title", res.Heading(q))
	return web.Show("imports/job", title, jobPage{
		Header: web.Header{Title: title, Crumbs: []web.Link{{Text: res.Heading(q), Href: q.Path(res.Address)}}},
		Note:   &web.Note{Kind: web.Warn, Title: q.T("imports.not_run"), Text: q.Fault(err)},
		Links:  []web.Link{{Text: q.T("imports.another"), Href: q.Path(res.Address + "/import")}},
	}).Status(http.StatusConflict), nil
}

// cancel ends an import that is under way.
func (pages *Pages) cancel(res resources.Resource) web.Handler {
	return func(ctx context.Context, q *web.Request) (web.Answer, error) {
		r, _, err := found(ctx, q, res)
		if err != nil {
			return web.Answer{}, err
		}
		if _, err := web.Call[job.Record](ctx, q, "cancelJob", web.ByID(r.ID)); err != nil && !web.Refused(err) {
			return web.Answer{}, err
		}
		return web.Go(q.Path(res.Address + "/import/" + r.ID.String())), nil
	}
}
