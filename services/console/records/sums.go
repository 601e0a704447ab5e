package records

import (
	"context"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

type sumsPage struct {
	Header web.Header
	Sums   []web.Fact
	First  string // the first of them, as a list says it in its sentence
	None   string // why there are none
}

// sums says what all records of a list add up to. A list reads it after its page, which does not wait for it.
func (pages *Pages) sums(res resources.Resource) web.Handler {
	return func(ctx context.Context, q *web.Request) (web.Answer, error) {
		in := listQueryOf(q, res).with("cursor", "")
		p := sumsPage{Header: web.Header{Title: q.T("records.sum"), Crumbs: []web.Link{{Text: res.Heading(q), Href: in.address(q)}}}}
		raw, err := web.Call[web.JSON](ctx, q, res.Totals, web.Input{Query: in.with("pageSize", "").with("sort", "").with("order", "").forAPI(q)})
		if known, ok := apierr.As(err); ok {
			p.None = known.Message
			return web.Show("records/sums", p.Header.Title, p), nil
		}
		if err != nil {
			return web.Answer{}, err
		}
		var sums resources.Record
		if err := decode(raw, &sums); err != nil {
			return web.Answer{}, err
		}
		for _, f := range q.Operation(res.Totals).Answer.Fields {
			if web.IsAmount(f) {
				p.Sums = append(p.Sums, web.Fact{Label: q.Label(f.Name), Cell: web.Number(q.Money(sums.Number(f.Name)))})
			}
		}
		if len(p.Sums) > 0 {
			p.First = q.T("records.count.sum", p.Sums[0].Cell.Text)
		}
		return web.Show("records/sums", p.Header.Title, p), nil
	}
}
