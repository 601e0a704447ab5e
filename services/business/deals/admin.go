package deals

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// lockTypes makes changes of the types of a company wait for each other in this process: they change several rows at once.
// Between processes the isolation of the transactions does.
func lockTypes(ctx context.Context, tx *db.Tx, company tenant.ID) error {
	tx.ReadsMore()
	return tx.LockInProcess(ctx, "deal types", company)
}

// CreateType creates a type with its stages.
func (s *Service) CreateType(ctx context.Context, tx *db.Tx, by access.Caller, in TypeInput) (Type, error) {
	if len(in.Stages) == 0 {
		in.Stages = defaultStages()
	}
	var faults apierr.Fields
	s.checkComponent(in.Component, &faults)
	t := Type{TypeFields: in.TypeFields}
	for i, input := range in.Stages {
		f := StageFields(input)
		f.check(fmt.Sprintf("stages[%d].", i), &faults)
		t.Stages = append(t.Stages, Stage{StageFields: f})
	}
	if err := faults.Err(); err != nil {
		return Type{}, err
	}
	if err := checkStages(t.Stages); err != nil {
		return Type{}, err
	}
	if err := lockTypes(ctx, tx, by.Company); err != nil {
		return Type{}, err
	}
	t.ID = tx.NewID()
	unmark(tx, by.Company, &t)
	made, err := types.Create(ctx, tx, by, t)
	if err != nil {
		return Type{}, err
	}
	for i := range made.Stages {
		made.Stages[i].TypeID = made.ID
		stages.Add(tx, by.Company, &made.Stages[i])
	}
	return made, nil
}

// UpdateType changes a type, but not its stages.
func (s *Service) UpdateType(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in record.Patch[TypeFields]) (Type, error) {
	if in.Sent(&in.Value.Component) {
		var faults apierr.Fields
		if s.checkComponent(in.Value.Component, &faults); len(faults) > 0 {
			return Type{}, faults.Err()
		}
	}
	if err := lockTypes(ctx, tx, by.Company); err != nil {
		return Type{}, err
	}
	t, err := types.Change(ctx, tx, by, id, func(_ Type, t *Type) error {
		in.Apply(&t.TypeFields)
		unmark(tx, by.Company, t)
		return nil
	})
	if err != nil {
		return Type{}, err
	}
	t.Stages, err = selectStages(ctx, tx, by.Company, t.ID)
	return t, err
}

func (s *Service) checkComponent(alias string, faults *apierr.Fields) {
	if err := s.cfg.Access.CheckComponent(alias); err != nil {
		faults.Add("component", apierr.Enum, "%s", err.Error())
	}
}

var (
	sqlUnmarkDefault = dealTypes.Update(`SET is_default = false, version = version + 1, updated_at = $3 WHERE company_id = $1 AND id <> $2 AND is_default`)
	sqlUnmarkLead    = dealTypes.Update(`SET is_lead_type = false, version = version + 1, updated_at = $3 WHERE company_id = $1 AND id <> $2 AND is_lead_type`)
)

// unmark queues that no other type is the default, or the one of leads, if the type is.
func unmark(tx *db.Tx, company tenant.ID, t *Type) {
	if t.IsDefault {
		tx.Queue(sqlUnmarkDefault, company, t.ID, tx.Now())
	}
	if t.IsLeadType {
		tx.Queue(sqlUnmarkLead, company, t.ID, tx.Now())
	}
}

// CreateStage adds a stage to a type.
func (s *Service) CreateStage(ctx context.Context, tx *db.Tx, by access.Caller, in NewStage) (Stage, error) {
	st := Stage{Key: record.Key{ID: tx.NewID()}, TypeID: in.TypeID, StageFields: in.StageFields}
	err := s.changeStages(ctx, tx, by, &st)
	if apierr.Is(err, "DEAL_TYPE_NOT_FOUND") {
		return Stage{}, apierr.ReferenceNotFound("DEAL_TYPE", "typeId", in.TypeID.String())
	}
	if err != nil {
		return Stage{}, err
	}
	return stages.Create(ctx, tx, by, st)
}

// UpdateStage changes a stage.
func (s *Service) UpdateStage(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in record.Patch[StageFields]) (Stage, error) {
	if err := lockTypes(ctx, tx, by.Company); err != nil {
		return Stage{}, err
	}
	return stages.Change(ctx, tx, by, id, func(_ Stage, st *Stage) error {
		in.Apply(&st.StageFields)
		return s.changeStages(ctx, tx, by, st)
	})
}

var sqlUnmarkInitial = dealStages.Update(`SET is_initial = false, version = version + 1, updated_at = $4
WHERE company_id = $1 AND type_id = $2 AND id <> $3 AND is_initial`)

// changeStages checks the stages of a type with a new or changed one among them. The type is locked, so that two changes cannot
// each rely on the stage that the other one removes.
func (s *Service) changeStages(ctx context.Context, tx *db.Tx, by access.Caller, changed *Stage) error {
	var faults apierr.Fields
	if changed.check("", &faults); len(faults) > 0 {
		return faults.Err()
	}
	if err := lockTypes(ctx, tx, by.Company); err != nil {
		return err
	}
	t, err := types.Lock(ctx, tx, by.Unconditional(), changed.TypeID)
	if err != nil {
		return err
	}
	all, err := selectStages(ctx, tx, by.Company, t.ID)
	if err != nil {
		return err
	}
	after := []Stage{*changed}
	for _, st := range all {
		if st.ID == changed.ID {
			continue
		}
		if changed.IsInitial && changed.IsActive {
			st.IsInitial = false
		}
		after = append(after, st)
	}
	if err := checkStages(after); err != nil {
		return err
	}
	if changed.IsInitial && changed.IsActive {
		tx.Queue(sqlUnmarkInitial, by.Company, t.ID, changed.ID, tx.Now())
	}
	return nil
}

// CreateLostReason adds a lost reason.
func (s *Service) CreateLostReason(ctx context.Context, tx *db.Tx, by access.Caller, in EntryFields) (LostReason, error) {
	return lostReasons.Create(ctx, tx, by, LostReason{EntryFields: in})
}

// UpdateLostReason changes a lost reason.
func (s *Service) UpdateLostReason(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in record.Patch[EntryFields]) (LostReason, error) {
	return lostReasons.Change(ctx, tx, by, id, func(_ LostReason, v *LostReason) error { in.Apply(&v.EntryFields); return nil })
}

// CreateLeadSource adds a source.
func (s *Service) CreateLeadSource(ctx context.Context, tx *db.Tx, by access.Caller, in EntryFields) (LeadSource, error) {
	return leadSources.Create(ctx, tx, by, LeadSource{EntryFields: in})
}

// UpdateLeadSource changes a source.
func (s *Service) UpdateLeadSource(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in record.Patch[EntryFields]) (LeadSource, error) {
	return leadSources.Change(ctx, tx, by, id, func(_ LeadSource, v *LeadSource) error { in.Apply(&v.EntryFields); return nil })
}

// AllTypes returns the types of all components, with their stages.
func (s *Service) AllTypes(ctx context.Context, by access.Caller, d Directory) ([]Type, error) {
	all, err := selectTypes(ctx, s.cfg.DB, by.Company, d.IncludeInactive)
	if all == nil {
		all = []Type{}
	}
	return all, err
}

// Type reads one type with all its stages.
func (s *Service) Type(ctx context.Context, by access.Caller, id uuid.UUID) (Type, error) {
	t, err := types.Get(ctx, s.cfg.DB, by.Company, id)
	if err != nil {
		return t, err
	}
	t.Stages, err = selectStages(ctx, s.cfg.DB, by.Company, id)
	return t, err
}

// Stages returns the stages of all types.
func (s *Service) Stages(ctx context.Context, by access.Caller) ([]Stage, error) {
	return readAll[Stage](ctx, s.cfg.DB, sqlSelectStages, by.Company)
}
