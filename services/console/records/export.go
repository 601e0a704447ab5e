package records

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/job"
	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// export starts a job that writes what the list shows, all pages of it, and leads to its progress.
func (pages *Pages) export(res resources.Resource) web.Handler {
	return func(ctx context.Context, q *web.Request) (web.Answer, error) {
		in := parseListQuery(q, res, parse(q.Form.Get("query")))
		filters := map[string]any{}
		for name, values := range in.forAPI(q) {
			if name != "pageSize" && name != "sort" && name != "order" && name != "cursor" {
				filters[name] = values[0]
			}
		}
		if ids := ticked(q.Form); len(ids) > 0 && q.Form.Get("all") == "" {
			if filters["ids"] = strings.Join(ids, ","); len(ids) > idsPage {
				return web.Answer{}, web.Refusal(http.StatusBadRequest, "error.form")
			}
		}
		body := map[string]any{"resource": res.Name, "format": web.OneOf(q.Form.Get("format"), []string{"csv", "xlsx"}), "filters": filters, "columns": in.fields()}
		return pages.startExport(ctx, q, body, web.Link{Text: res.Heading(q), Href: in.address(q)}, url.Values{"list": {res.Name}, "query": {in.values().Encode()}})
	}
}

// startExport starts an export and leads to its progress, which has back in its address.
func (pages *Pages) startExport(ctx context.Context, q *web.Request, body map[string]any, of web.Link, back url.Values) (web.Answer, error) {
	if body["format"] == "csv" {
		body["bom"] = true // most people open the file in Excel
	}
	started, err := web.Call[job.Record](ctx, q, "startExport", web.Input{Body: body})
	if known, ok := apierr.As(err); ok && known.Status < http.StatusInternalServerError {
		return web.Show("records/refused", q.T("records.export.refused"), refusedPage{
			Header: web.Header{Title: q.T("records.export.refused"), Crumbs: []web.Link{of}},
			Note:   web.Note{Kind: web.Bad, Text: textOf(q, known)},
		}).Status(known.Status), nil
	}
	if err != nil {
		return web.Answer{}, err
	}
	at := q.Path("/exports/" + started.ID.String())
	if len(back) > 0 {
		at += "?" + back.Encode()
	}
	return web.Started(at, started.ID), nil
}

// fields are the fields that the columns show, with the currency of amounts.
func (in listQuery) fields() []string {
	names, money := in.names(), false
	for _, c := range in.columns {
		money = money || c.Kind == resources.AsAmount
	}
	if money && !slices.Contains(names, "currency") {
		names = append(names, "currency")
	}
	return names
}

// textOf is all that a refusal says.
func textOf(q *web.Request, err *apierr.Error) string {
	if len(err.Fields) == 0 {
		return q.Why(err)
	}
	all := make([]string, len(err.Fields))
	for i, f := range err.Fields {
		all[i] = q.Label(f.Field) + ": " + q.FaultText(f)
	}
	return strings.Join(all, "; ")
}

type refusedPage struct {
	Header web.Header
	Note   web.Note
}

type progressPage struct {
	Header  web.Header
	Note    web.Note
	Percent string // of the progress; "" = unknown
	Bar     string
	Refresh string // address that the page is read from again; "" = the job has ended
	File    *web.Link
	Back    *web.Link
}

// jobProgress is the page of a change of many records, which reads itself again until the job has ended.
func (pages *Pages) jobProgress(ctx context.Context, q *web.Request) (web.Answer, error) {
	id, err := q.PathID("id")
	if err != nil {
		return web.Answer{}, err
	}
	started, err := web.Call[job.Record](ctx, q, "getJob", web.ByID(id))
	if err != nil {
		return web.Answer{}, err
	}
	if started.Type == "export" {
		return web.Go(q.Path("/exports/" + id.String())), nil
	}
	p := progressPage{Header: web.Header{Title: q.T("records.job")}}
	back := pages.backOf(q, &p)
	count := q.Count(started.Processed)
	switch started.Status {
	case "done":
		p.Note, p.Bar, p.Back = web.Note{Kind: web.Good, Title: q.T("notice." + noticeKind(started) + ".done"), Text: q.T("records.export.done.text", count)}, "100", back
		if failed := failedOf(started); failed != "" {
			p.Note.Kind, p.Note.Text = web.Warn, p.Note.Text+" "+q.T("records.job.failed_items", failed)
		}
	case "failed":
		if p.Note, p.Back = (web.Note{Kind: web.Bad, Title: q.T("records.job.failed")}), back; started.Error != nil {
			p.Note.Text = q.Why(&apierr.Error{Code: started.Error.Code, Message: started.Error.Message})
		}
	case "canceled", "paused":
		p.Note = web.Note{Kind: web.Warn, Title: q.T("records.job." + started.Status)}
	default:
		p.Note = web.Note{Kind: web.Info, Title: q.T("records.job.running"), Text: q.T("records.export.running.text", count)}
		p.Bar, p.Refresh = strconv.Itoa(started.Progress), q.HTTP.URL.RequestURI()
	}
	return web.Show("records/export", p.Header.Title, p), nil
}

// failedOf is how many records a batch could not change; "" = it changed all, or does not say.
func failedOf(j job.Record) string {
	if j.Summary == nil {
		return ""
	}
	raw, err := json.Marshal(j.Summary)
	var sum struct{ Failed int }
	if err != nil || json.Unmarshal(raw, &sum) != nil || sum.Failed == 0 {
		return ""
	}
	return strconv.Itoa(sum.Failed)
}

// backOf is the list that a job was started from; nil = the address does not say.
func (pages *Pages) backOf(q *web.Request, p *progressPage) *web.Link {
	i := indexOf(pages.resources, q.Form.Get("list"))
	if i < 0 {
		return nil
	}
	in := parseListQuery(q, pages.resources[i], parse(q.Form.Get("query")))
	p.Header.Crumbs = []web.Link{{Text: in.res.Heading(q), Href: in.address(q)}}
	return &p.Header.Crumbs[0]
}

// progress is the page of an export, which reads itself again until the job has ended.
func (pages *Pages) progress(ctx context.Context, q *web.Request) (web.Answer, error) {
	id, err := q.PathID("id")
	if err != nil {
		return web.Answer{}, err
	}
	export, err := web.Call[job.Record](ctx, q, "getJob", web.ByID(id))
	if err != nil {
		return web.Answer{}, err
	}
	if export.Type != "export" {
		return web.Answer{}, web.NoPage()
	}
	p := progressPage{Header: web.Header{Title: q.T("records.export")}}
	pages.backOf(q, &p)
	pages.showProgress(q, export, &p)
	return web.Show("records/export", q.T("records.export"), p), nil
}

func indexOf(all []resources.Resource, name string) int {
	for i, r := range all {
		if r.Name == name {
			return i
		}
	}
	return -1
}

// showProgress says how far the job is, and what one may do.
func (pages *Pages) showProgress(q *web.Request, export job.Record, p *progressPage) {
	at, count := q.Path("/exports/"+export.ID.String()), q.Count(export.Processed)
	switch export.Status {
	case "done":
		p.Note, p.Bar = web.Note{Kind: web.Good, Title: q.T("records.export.done"), Text: q.T("records.export.done.text", count)}, "100"
		p.File = &web.Link{Text: q.T("records.export.file"), Href: at + "/file"}
	case "failed":
		p.Note = web.Note{Kind: web.Bad, Title: q.T("records.export.failed")}
		if export.Error != nil {
			p.Note.Text = q.Why(&apierr.Error{Code: export.Error.Code, Message: export.Error.Message})
		}
	case "canceled", "paused":
		p.Note = web.Note{Kind: web.Warn, Title: q.T("records.export." + export.Status)}
	default:
		p.Note = web.Note{Kind: web.Info, Title: q.T("records.export.running"), Text: q.T("records.export.running.text", count)}
		p.Bar, p.Refresh = strconv.Itoa(export.Progress), q.HTTP.URL.RequestURI()
	}
}

// download streams the file of an export to the browser.
func (pages *Pages) download(ctx context.Context, q *web.Request) (web.Answer, error) {
	id, err := uuid.Parse(q.HTTP.PathValue("id"))
	if err != nil {
		return web.Answer{}, web.NoPage()
	}
	file, err := pages.Results.Result(ctx, q.Caller, id)
	if err != nil {
		return web.Answer{}, err
	}
	return web.Send(file), nil
}
