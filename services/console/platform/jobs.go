package platform

import (
	"context"
	"strconv"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/job"
	"github.com/tradegrid/tradegrid/services/console/web"
)

type jobsPage struct {
	Header web.Header
	Note   web.Note
	Filter web.Filter
	Tabs   []web.Tab
	Table  web.Table
}

// jobsShown is how many jobs a page has: the open ones are few, and of the others the newest matter.
const jobsShown = 100

var jobKinds = map[string]string{job.Pending: web.Info, job.Processing: web.Info, job.Paused: web.Warn, job.Done: web.Good, job.Failed: web.Bad, job.Canceled: web.Off}

// jobs lists the jobs of all companies that have not ended or have failed, or all of one company.
func (pages *Pages) jobs(ctx context.Context, q *web.Request) (web.Answer, error) {
	company, err := pages.companyField(ctx, q, "company")
	if err != nil {
		return web.Answer{}, err
	}
	of, err := companyIn(q, "company")
	p := jobsPage{
		Header: web.Header{Title: q.T("area.jobs"), Facts: q.T("platform.jobs.intro")},
		Filter: web.Filter{Action: "/platform/jobs", Button: q.T("filter.apply"), Fields: []web.Field{company}},
	}
	if err != nil {
		p.Filter.Fields[0].Fault = q.T("platform.company_id.fault")
		p.Filter.Clear = "/platform/jobs"
		return web.Show("platform/jobs", q.T("area.jobs"), p).Refuse(), nil //nolint:nilerr // the page says so
	}
	in := job.Query{Company: of, Failed: q.Form.Get("state") == job.Failed, Limit: jobsShown}
	found, err := pages.Platform.Jobs(ctx, in)
	if err != nil {
		return web.Answer{}, err
	}
	if of != nil {
		p.Filter.Clear = "/platform/jobs"
	} else {
		p.Tabs = []web.Tab{{Text: q.T("platform.jobs.open"), Href: "/platform/jobs", Current: !in.Failed}, {Text: q.T("platform.jobs.failed"), Href: "/platform/jobs?state=failed", Current: in.Failed}}
	}
	p.Table, err = pages.jobTable(ctx, q, found)
	return web.Show("platform/jobs", q.T("area.jobs"), p), err
}

func (pages *Pages) jobTable(ctx context.Context, q *web.Request, found []job.Record) (web.Table, error) {
	t := web.Table{
		Label: q.T("area.jobs"),
		Columns: []web.Column{
			{Text: q.T("platform.job")}, {Text: q.T("platform.company")}, {Text: q.T("people.status")}, {Text: q.T("platform.progress"), Num: true}, {Text: q.T("webhooks.made")}, {Text: q.T("platform.changed")}, {Text: q.T("platform.error")},
		},
		Empty: web.Empty{Title: q.T("platform.jobs.none"), Text: q.T("platform.jobs.none.text")},
	}
	ids := make([]tenant.ID, len(found))
	for i, j := range found {
		ids[i] = j.CompanyID
	}
	names, err := pages.names(ctx, q, ids)
	for _, j := range found {
		progress := web.Number(number(q, j.Processed))
		if j.Total != nil {
			progress = web.Number(number(q, j.Processed) + " / " + number(q, *j.Total)).With(q.Percent(strconv.Itoa(j.Progress)))
		}
		failure := web.Text("")
		if j.Error != nil && j.Error.Code != "" {
			failure = web.Text(short(j.Error.Message)).With(j.Error.Code)
		}
		t.Rows = append(t.Rows, []web.Cell{
			web.Text(q.Word(j.Type)).With(j.ID.String()), companyCell(j.CompanyID, names), web.State(jobKinds[j.Status], q.Word(j.Status)), progress,
			web.When(q.At(j.CreatedAt.Std())), web.When(q.At(j.UpdatedAt.Std())), failure,
		})
	}
	return t, err
}
