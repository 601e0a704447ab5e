package deals

import (
	"context"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

const (
	dealStages = db.Table("deal_stages")
	dealTypes  = db.Table("deal_types")
)

// Outcomes of a deal, which the terminal stages of its type give.
const (
	Won       = "won"
	Lost      = "lost"
	Done      = "done"
	Cancelled = "cancelled"
)

// Type is a kind of deal with the stages that its deals go through; see docs/reference/rules.md#deal-types.
type Type struct {
	record.Key
	TypeFields
	record.Meta
	Stages []Stage `json:"stages" db:"-" doc:"by sortOrder"`
}

// TypeFields are the fields that the console sets.
type TypeFields struct {
	Alias      string `json:"alias" required:"true" pattern:"^[a-z][a-z0-9_]{0,31}$" patternDescription:"a name such as sales: up to 32 lower-case letters, digits and _, beginning with a letter"`
	Name       string `json:"name" required:"true" minLength:"1" maxLength:"255"`
	Component  string `json:"component" default:"deals" doc:"component that must be enabled"`
	IsDefault  bool   `json:"isDefault" doc:"one type at most; setting it clears it on the type that had it"`
	IsLeadType bool   `json:"isLeadType" doc:"type of deals that leads are converted to; one at most, as isDefault"`
	IsActive   bool   `json:"isActive" default:"true" doc:"an inactive type accepts no new deals"`
	SortOrder  int32  `json:"sortOrder"`
}

// TypeInput is the body of a new type.
type TypeInput struct {
	TypeFields
	Stages []StageInput `json:"stages" maxItems:"50" doc:"default: New, Qualification, Proposal, Won, Lost"`
}

// StageInput is a stage in the body of a new type: the fields of [StageFields], of which only the name is required.
type StageInput struct {
	Name        string   `json:"name" minLength:"1" maxLength:"255"`
	Color       *string  `json:"color,omitempty" nullable:"true" pattern:"^#[0-9A-Fa-f]{6}$" patternDescription:"a color such as #22C55E"`
	SortOrder   int32    `json:"sortOrder,omitempty"`
	IsInitial   bool     `json:"isInitial,omitempty"`
	IsTerminal  bool     `json:"isTerminal,omitempty"`
	Outcome     *string  `json:"outcome,omitempty" nullable:"true" enum:"won,lost,done,cancelled"`
	Probability *int32   `json:"probability,omitempty" nullable:"true" minimum:"0" maximum:"100"`
	SLAHours    *int32   `json:"slaHours,omitempty" nullable:"true" minimum:"0" maximum:"87600"`
	Checklist   []string `json:"checklist,omitempty" maxItems:"50" minLength:"1" maxLength:"255"`
	IsActive    bool     `json:"isActive,omitempty" default:"true"`
}

// Stage is a step of the deals of one type.
type Stage struct {
	record.Key
	TypeID uuid.UUID `json:"typeId" format:"uuid" db:",insert"`
	StageFields
	record.Meta
}

// NewStage is the body of a new stage.
type NewStage struct {
	TypeID uuid.UUID `json:"typeId" format:"uuid" required:"true"`
	StageFields
}

// StageFields are the fields that the console sets.
type StageFields struct {
	Name        string   `json:"name" required:"true" minLength:"1" maxLength:"255"`
	Color       *string  `json:"color" pattern:"^#[0-9A-Fa-f]{6}$" patternDescription:"a color such as #22C55E"`
	SortOrder   int32    `json:"sortOrder"`
	IsInitial   bool     `json:"isInitial" doc:"stage of new deals; setting it clears it on the stage that had it"`
	IsTerminal  bool     `json:"isTerminal" doc:"ends the deal with the outcome"`
	Outcome     *string  `json:"outcome" enum:"won,lost,done,cancelled" doc:"set exactly on terminal stages"`
	Probability *int32   `json:"probability" minimum:"0" maximum:"100" doc:"percent"`
	SLAHours    *int32   `json:"slaHours" minimum:"0" maximum:"87600"`
	Checklist   []string `json:"checklist" maxItems:"50" minLength:"1" maxLength:"255"`
	IsActive    bool     `json:"isActive" default:"true" doc:"deals cannot enter an inactive stage"`
}

// TransformSchema implements [huma.SchemaTransformer]. Requests accept only fixed outcomes; responses may gain others.
func (s Stage) TransformSchema(reg huma.Registry, schema *huma.Schema) *huma.Schema {
	schema.Properties["outcome"].Enum = nil
	return s.Key.TransformSchema(reg, schema)
}

var (
	types = resource.Of[Type](dealTypes, "DEAL_TYPE").OnConstraint("deal_types_alias_key",
		apierr.StateConflict("DEAL_TYPE_ALIAS_TAKEN", "alias: another deal type of the company has this alias; choose another"))
	stages = resource.Of[Stage](dealStages, "DEAL_STAGE")
)

// check checks the fields of one stage; prefix is the path of the stage in the body.
func (f *StageFields) check(prefix string, faults *apierr.Fields) {
	switch {
	case f.IsTerminal && f.Outcome == nil:
		faults.Add(prefix+"outcome", apierr.Required, "is required for a terminal stage")
	case !f.IsTerminal && f.Outcome != nil:
		faults.Add(prefix+"outcome", apierr.Conflict, "is allowed only for a terminal stage; set isTerminal or omit the outcome")
	}
	if f.IsInitial && f.IsTerminal {
		faults.Add(prefix+"isInitial", apierr.Conflict, "is not allowed for a terminal stage")
	}
}

// checkStages returns a 409 unless the active stages of a type are complete: exactly one initial stage, a terminal stage for
// success, and one for loss.
func checkStages(all []Stage) error {
	var initial, success, loss int
	for _, s := range all {
		if !s.IsActive {
			continue
		}
		if s.IsInitial {
			initial++
		}
		if s.Outcome != nil && (*s.Outcome == Won || *s.Outcome == Done) {
			success++
		}
		if s.Outcome != nil && *s.Outcome == Lost {
			loss++
		}
	}
	missing := []string{}
	if initial != 1 {
		missing = append(missing, "initial")
	}
	if success == 0 {
		missing = append(missing, Won)
	}
	if loss == 0 {
		missing = append(missing, Lost)
	}
	if len(missing) == 0 {
		return nil
	}
	return apierr.StateConflict("DEAL_STAGES_INCOMPLETE",
		"the active stages of a type must include exactly one initial stage, a terminal stage with outcome won or done, and one with outcome lost; meta.missing lists what is not there").
		With("missing", missing)
}

// initial returns the stage of new deals of the type.
func (t *Type) initial() (Stage, bool) {
	i := slices.IndexFunc(t.Stages, func(s Stage) bool { return s.IsInitial && s.IsActive })
	if i < 0 {
		return Stage{}, false
	}
	return t.Stages[i], true
}

// defaultStages are the stages of a type that names none.
func defaultStages() []StageInput {
	return []StageInput{
		{Name: "New", Color: new("#64748B"), IsInitial: true, Probability: new(int32(10)), IsActive: true},
		{Name: "Qualification", Color: new("#3B82F6"), SortOrder: 1, Probability: new(int32(30)), IsActive: true},
		{Name: "Proposal", Color: new("#8B5CF6"), SortOrder: 2, Probability: new(int32(60)), IsActive: true},
		{Name: "Won", Color: new("#22C55E"), SortOrder: 3, IsTerminal: true, Outcome: new(Won), Probability: new(int32(100)), IsActive: true},
		{Name: "Lost", Color: new("#EF4444"), SortOrder: 4, IsTerminal: true, Outcome: new(Lost), Probability: new(int32(0)), IsActive: true},
	}
}

var sqlSelectStagesOfType = "SELECT " + record.PlanOf[Stage]().SelectList("") + " FROM deal_stages WHERE company_id = $1 AND type_id = $2 ORDER BY sort_order, id"

// selectStages reads the stages of a type, the inactive ones included.
func selectStages(ctx context.Context, q db.Querier, company tenant.ID, typeID uuid.UUID) ([]Stage, error) {
	return readAll[Stage](ctx, q, sqlSelectStagesOfType, company, typeID)
}
