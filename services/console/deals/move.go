package deals

import (
	"context"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/services/business/deals"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// move moves a deal by the command of the API. A script gets the columns that have changed; without one, the board is shown again.
func (pages *Pages) move(ctx context.Context, q *web.Request) (web.Answer, error) {
	id, err := q.PathID("id")
	if err != nil {
		return web.Answer{}, err
	}
	was, err := web.Call[deals.Deal](ctx, q, "getDeal", web.ByID(id))
	if err != nil {
		return web.Answer{}, err
	}
	body := map[string]any{"stageId": q.Form.Get("stage")}
	if reason := q.Form.Get("lostReason"); reason != "" {
		body["lostReasonId"] = reason
	}
	in := web.ByID(id)
	in.Body, in.Version = body, q.FormVersion()
	now, err := web.Call[deals.Deal](ctx, q, "moveDeal", in)
	script := q.HTTP.Header.Get("HX-Request") != ""
	switch {
	case web.Refused(err):
		return pages.refuse(ctx, q, was, q.Fault(err), script)
	case err != nil:
		return web.Answer{}, err
	case !script:
		return web.Go(web.With(q.Path("/deals"), "type", was.TypeID.String(), "moved", id.String(), "from", was.StageID.String(), "reason", reasonOf(was))), nil
	}
	v := shown{only: []uuid.UUID{was.StageID, now.StageID}, focus: id}
	if v.toast, err = pages.tell(ctx, q, now, was.StageID, reasonOf(was)); err != nil {
		return web.Answer{}, err
	}
	return pages.answer(ctx, q, was, v)
}

// refuse shows what the API says of a move, and the columns as they are.
func (pages *Pages) refuse(ctx context.Context, q *web.Request, d deals.Deal, fault string, script bool) (web.Answer, error) {
	v := shown{focus: d.ID, fault: fault}
	if script {
		v.only = []uuid.UUID{d.StageID}
	}
	answer, err := pages.answer(ctx, q, d, v)
	return answer.Refuse(), err
}

func (pages *Pages) answer(ctx context.Context, q *web.Request, d deals.Deal, v shown) (web.Answer, error) {
	p, err := pages.fill(ctx, q, d.TypeID.String(), v)
	if err != nil {
		return web.Answer{}, err
	}
	return web.Show("deals/board", q.T("deals.title"), p), nil
}

// moved is what the address of a board says was moved.
func (pages *Pages) moved(ctx context.Context, q *web.Request) (v shown, err error) {
	id, err := q.FormID("moved")
	if err != nil || id == nil {
		return v, err
	}
	from, err := q.FormID("from")
	if err != nil || from == nil {
		return v, err
	}
	d, err := web.Call[deals.Deal](ctx, q, "getDeal", web.ByID(*id))
	if err != nil {
		return v, err
	}
	v.focus = *id
	v.toast, err = pages.tell(ctx, q, d, *from, q.Form.Get("reason"))
	return v, err
}

// tell says where a deal is now, and offers to move it back to the stage that it came from, with the reason that it had there.
func (pages *Pages) tell(ctx context.Context, q *web.Request, d deals.Deal, from uuid.UUID, reason string) (*web.Toast, error) {
	stages, err := stagesOf(ctx, q, d)
	if err != nil {
		return nil, err
	}
	said := &web.Toast{Text: titleOf(q, d.Header)}
	if i := slices.IndexFunc(stages, func(s deals.Stage) bool { return s.ID == d.StageID }); i >= 0 {
		said.Text = q.T("deals.moved", said.Text, stages[i].Name)
	}
	if from != d.StageID && q.MayCall("moveDeal") {
		said.Undo = &web.Action{Text: q.T("deals.undo"), Post: q.Path("/deals/" + d.ID.String() + "/move"), Small: true, Values: map[string]string{
			"stage": from.String(), "lostReason": reason, "version": strconv.FormatInt(d.Version, 10),
		}}
	}
	return said, nil
}

// reasonOf is why a deal is lost; "" = it is not.
func reasonOf(d deals.Deal) string {
	if d.LostReasonID == nil {
		return ""
	}
	return d.LostReasonID.String()
}

// stagesOf are the stages that a deal can be in.
func stagesOf(ctx context.Context, q *web.Request, d deals.Deal) ([]deals.Stage, error) {
	types, err := web.Call[[]deals.Type](ctx, q, "listDealTypes", web.Input{})
	if err != nil {
		return nil, err
	}
	t, _ := chosen(types, d.TypeID.String())
	return t.Stages, nil
}
