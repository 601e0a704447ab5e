// Package platform holds the pages by which operators look after the platform: the pipeline of events, deliveries, dead letters, jobs, processes,
// topics, checks, and the mailbox of `tradegrid dev`.
package platform

import (
	"cmp"
	"context"
	"embed"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/operations"
	"github.com/tradegrid/tradegrid/services/platform/company"
)

//go:embed *.html
var files embed.FS

// Pages are the pages of the area.
type Pages struct {
	Platform *operations.Platform
	MailDir  string // folder of the mails that `tradegrid dev` sends; "" = there is no mailbox
}

// Folder implements [web.Pages].
func (pages *Pages) Folder() web.Folder {
	routes := []web.Page{
		web.Get(web.Pipeline, "", "/platform/pipeline", pages.pipeline),
		web.Live(web.Pipeline, "", "/platform/live/pipeline", pages.watchPipeline),
		web.Get(web.Deliveries, "", deliveriesPath, pages.deliveries),
		web.Get(web.DeadLetters, "", "/platform/dead-letters", pages.deadLetters),
		web.Post(web.DeadLetters, "", "/platform/dead-letters/redeliver", pages.redeliver),
		web.Post(web.DeadLetters, "", "/platform/dead-letters/purge", pages.purge),
		web.Get(web.Jobs, "", "/platform/jobs", pages.jobs),
		web.Get(web.Nodes, "", "/platform/nodes", pages.nodes),
		web.Get(web.Topics, "", "/platform/topics", pages.topics),
		web.Get(web.Checks, "", "/platform/checks", pages.checks),
		web.Post(web.Checks, "", "/platform/checks/stock", pages.repairStock),
	}
	if pages.MailDir != "" {
		routes = append(routes, web.Get(web.Mailbox, "", "/platform/mail", pages.mailbox), web.Get(web.Mailbox, "", "/platform/mail/{name}", pages.mail))
	}
	for i := range routes {
		routes[i].Audience = web.Operators
	}
	return web.Folder{Name: "platform", Templates: files, Routes: routes}
}

// recorded makes changes as the operator who is signed in.
func recorded(q *web.Request) operations.Recorded {
	return func(ctx context.Context, operation string, of tenant.ID, change func(ctx context.Context, tx *db.Tx) (any, error), opts ...db.Option) error {
		return q.ChangeOf(ctx, of, q.Person.Name, uuid.Nil, operation, func(ctx context.Context, tx *db.Tx) (c web.Changed, err error) {
			if !of.IsZero() {
				c.Entity = of.String()
			}
			c.After, err = change(ctx, tx)
			return c, err
		}, opts...)
	}
}

// maxNames is how many names are read at once.
const maxNames = 100

// names are those of companies, by their ids.
func (pages *Pages) names(ctx context.Context, q *web.Request, ids []tenant.ID) (map[tenant.ID]string, error) {
	all := map[tenant.ID]string{}
	var unknown []uuid.UUID
	for _, id := range ids {
		if _, ok := all[id]; !ok && !id.IsZero() && len(unknown) < maxNames {
			all[id] = ""
			unknown = append(unknown, uuid.UUID(id))
		}
	}
	if len(unknown) == 0 {
		return all, nil
	}
	named := company.Filter{Params: list.Params{IDs: unknown, PageSize: len(unknown)}}
	found, err := web.CallAdmin[*list.Page[company.Company]](ctx, q, "listCompanies", web.Input{Query: web.Query(named)})
	if err != nil {
		return nil, err
	}
	for _, c := range found.Items {
		all[c.ID] = c.Name
	}
	return all, nil
}

// companyField is a field for a company, whose name is found while somebody types.
func (pages *Pages) companyField(ctx context.Context, q *web.Request, name string) (web.Field, error) {
	f := web.Field{Name: name, Label: q.T("platform.company"), Value: q.Form.Get(name), Pick: &web.Picker{Address: web.AnyCompany, Hint: q.T("pick.hint.companies")}}
	of, err := companyIn(q, name)
	if err != nil || of == nil {
		f.Pick.Text = f.Value
		return f, nil //nolint:nilerr // the page says so
	}
	names, err := pages.names(ctx, q, []tenant.ID{*of})
	f.Pick.Text = cmp.Or(names[*of], f.Value)
	return f, err
}

// companyCell leads to a company.
func companyCell(id tenant.ID, names map[tenant.ID]string) web.Cell {
	if id.IsZero() {
		return web.Text("–")
	}
	if name := names[id]; name != "" {
		return web.LinkTo(name, "/companies/"+id.String())
	}
	return web.Code(id.String(), "/companies/"+id.String())
}
