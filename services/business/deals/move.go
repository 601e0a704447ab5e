package deals

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// Move moves a deal to another stage of its type; see docs/reference/states.md#deal. Moving it to the stage that it has changes
// nothing.
func (s *Service) Move(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in MoveInput) (Deal, error) {
	d, err := table.Lock(ctx, tx, by, id)
	if err != nil || d.StageID == in.StageID {
		return d, err
	}
	snapshot := table.Snapshot(d)
	before := &snapshot.Before
	stage, reason, err := target(ctx, tx, by.Company, in)
	if err != nil {
		return Deal{}, err
	}
	if err := stage.checkEntry(before, in.LostReasonID, reason); err != nil {
		return Deal{}, err
	}
	d.enter(stage, in.LostReasonID, jsontype.At(tx.Now()))
	if err := s.useVenue(ctx, tx, by, before.venue(), d.venue()); err != nil {
		return Deal{}, err
	}
	if err := table.Store(ctx, tx, by, snapshot, &d, d.moves(before)...); err != nil {
		return Deal{}, err
	}
	return d, s.cfg.Calendar.Sync(ctx, tx, by, before.entry(), d.entry())
}

const sqlSelectActiveReason = `SELECT EXISTS (SELECT 1 FROM deal_lost_reasons WHERE company_id = $1 AND id = $2 AND is_active)`

// target reads the stage that a deal is to enter, and whether the lost reason can be chosen, in one round trip.
func target(ctx context.Context, q db.Querier, company tenant.ID, in MoveInput) (stage Stage, reason bool, err error) {
	reads := []batchloader.Read{func(ctx context.Context, q db.Querier) (err error) {
		stage, err = stages.Get(ctx, q, company, in.StageID)
		if apierr.Is(err, "DEAL_STAGE_NOT_FOUND") {
			return apierr.ReferenceNotFound("DEAL_STAGE", "stageId", in.StageID.String())
		}
		return err
	}}
	if in.LostReasonID != nil {
		reads = append(reads, func(ctx context.Context, q db.Querier) error {
			if err := q.QueryRow(ctx, sqlSelectActiveReason, company, *in.LostReasonID).Scan(&reason); err != nil {
				return fmt.Errorf("look up lost reason: %w", err)
			}
			return nil
		})
	}
	return stage, reason, batchloader.Load(ctx, q, reads...)
}

// checkEntry checks that a deal can enter the stage; active reports whether the lost reason exists and can be chosen.
func (st *Stage) checkEntry(d *Deal, reason *uuid.UUID, active bool) error {
	switch {
	case st.TypeID != d.TypeID:
		return apierr.StateConflict("DEAL_STAGE_TYPE_MISMATCH", "stageId: the stage belongs to another deal type; choose a stage of the type in meta.typeId").
			With("field", "stageId").With("typeId", d.TypeID).With("stageTypeId", st.TypeID)
	case !st.IsActive:
		return apierr.StateConflict("DEAL_STAGE_INACTIVE", "stageId: the stage is not active; choose another").With("field", "stageId").With("id", st.ID)
	case st.Outcome == nil || *st.Outcome != Lost:
		return nil
	case reason == nil:
		return apierr.InvalidField("lostReasonId", apierr.Required, "is required, because the outcome of the stage is lost")
	case !active:
		return apierr.ReferenceNotFound("DEAL_LOST_REASON", "lostReasonId", reason.String())
	}
	return nil
}

// enter sets the fields that depend on the stage.
func (d *Deal) enter(st Stage, reason *uuid.UUID, now jsontype.Time) {
	d.StageID, d.Outcome, d.LostReasonID, d.StageEnteredAt = st.ID, st.Outcome, nil, &now
	if st.Outcome != nil && *st.Outcome == Lost {
		d.LostReasonID = reason
	}
	if st.IsTerminal {
		d.NextActionAt = nil
	}
}

// moves are the events of a move.
func (d *Deal) moves(before *Deal) []event.Event[Deal] {
	events := []event.Event[Deal]{stageChanged}
	if d.Outcome != nil && !record.Same(before.Outcome, d.Outcome) {
		switch *d.Outcome {
		case Won:
			events = append(events, won)
		case Lost:
			events = append(events, lost)
		}
	}
	return events
}

// StageMove is a move of a deal between stages.
type StageMove struct {
	FromStageID  uuid.UUID     `json:"fromStageId" format:"uuid"`
	ToStageID    uuid.UUID     `json:"toStageId" format:"uuid"`
	FromOutcome  *string       `json:"fromOutcome"`
	ToOutcome    *string       `json:"toOutcome"`
	LostReasonID *uuid.UUID    `json:"lostReasonId" format:"uuid"`
	ActorID      string        `json:"actorId"`
	At           jsontype.Time `json:"at"`
}

const dealHistory = db.Table("deal_history")

var sqlInsertHistory = dealHistory.Insert(`(company_id, deal_id, version, from_stage_id, to_stage_id, from_outcome, to_outcome, lost_reason_id, actor_id, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`)

// insertHistory queues the history entry of a change, if it is a move.
func insertHistory(tx *db.Tx, by access.Caller, before, d *Deal, _ []string) {
	if before.StageID == d.StageID {
		return
	}
	tx.Queue(sqlInsertHistory, d.CompanyID, d.ID, d.Version, before.StageID, d.StageID, before.Outcome, d.Outcome, d.LostReasonID, by.ActorID(), d.UpdatedAt)
}

const (
	sqlSelectDealID  = `SELECT id FROM deals WHERE company_id = $1 AND id = $2`
	sqlSelectHistory = `SELECT from_stage_id, to_stage_id, from_outcome, to_outcome, lost_reason_id, actor_id, created_at FROM deal_history
WHERE company_id = $1 AND deal_id = $2 ORDER BY version`
)

// History returns the moves of a deal, oldest first.
func (s *Service) History(ctx context.Context, by access.Caller, id uuid.UUID) ([]StageMove, error) {
	moves := []StageMove{}
	b := &pgx.Batch{}
	b.Queue(sqlSelectDealID, by.Company, id).QueryRow(func(row pgx.Row) error { return row.Scan(&id) })
	b.Queue(sqlSelectHistory, by.Company, id).Query(func(rows pgx.Rows) (err error) {
		moves, err = pgx.AppendRows(moves, rows, pgx.RowToStructByPos[StageMove])
		return err
	})
	err := s.cfg.DB.SendBatch(ctx, b).Close()
	if db.IsNoRows(err) {
		return nil, apierr.NotFound("DEAL", id.String())
	}
	if err != nil {
		return nil, fmt.Errorf("read history of deal: %w", err)
	}
	return moves, nil
}
