package deals

import (
	"context"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/services/business/deals"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// move moves a deal by the command of the API. The card of one that is refused shows why.
func (pages *Pages) move(ctx context.Context, q *web.Request) (web.Answer, error) {
	id, err := q.PathID("id")
	if err != nil {
		return web.Answer{}, err
	}
	d, err := web.Call[deals.Deal](ctx, q, "getDeal", web.ByID(id))
	if err != nil {
		return web.Answer{}, err
	}
	no := refused{deal: id, stage: q.Form.Get("stage"), reason: q.Form.Get("lostReason")}
	body := map[string]any{"stageId": no.stage}
	if no.reason != "" {
		body["lostReasonId"] = no.reason
	}
	in := web.ByID(id)
	in.Body, in.Version = body, q.FormVersion()
	_, no.err = web.Call[deals.Deal](ctx, q, "moveDeal", in)
	if no.err == nil {
		return web.Go(web.With(q.Path("/deals"), "type", d.TypeID.String(), "moved", id.String())), nil
	}
	if known, ok := apierr.As(no.err); !ok || known.Status >= 500 {
		return web.Answer{}, no.err
	}
	p, err := pages.fill(ctx, q, d.TypeID.String(), &no)
	if err != nil {
		return web.Answer{}, err
	}
	return web.Show("deals/board", q.T("deals.title"), p).Refuse(), nil
}
