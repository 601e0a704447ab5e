package deals

import (
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/event"
)

var (
	created      = event.New[Deal]("deal.created", "A deal was created.").By(`$deal`)
	updated      = event.WithChanges[Deal]("deal.updated", "A deal was changed; changedFields lists the changed fields.").By(`PATCH /deals/$deal {"note":"Trigger $run, changed"}`)
	stageChanged = event.With("deal.stage_changed", "A deal moved to another stage.", previousStage).By(`PATCH /deals/$deal/stage {"stageId":"$nextStage"}`)
	won          = event.With("deal.won", "A deal was won; deal.stage_changed is sent as well.", previousStage).By(`PATCH /deals/$deal/stage {"stageId":"$wonStage"}`)
	lost         = event.With("deal.lost", "A deal was lost; deal.stage_changed is sent as well.", previousStage).By(`PATCH /deals/$deal/stage {"stageId":"$lostStage","lostReasonId":"$lostReason"}`)
)

// moved holds the fields that stage events add to the deal.
type moved struct {
	PreviousStageID uuid.UUID `json:"previousStageId" format:"uuid"`
	PreviousOutcome *string   `json:"previousOutcome"`
}

func previousStage(before, _ *Deal) moved { return moved{before.StageID, before.Outcome} }
