package deals

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// LostReason is a reason for which deals are lost.
type LostReason struct {
	record.Key
	EntryFields
	record.Meta
}

// LeadSource says where leads and deals come from.
type LeadSource struct {
	record.Key
	EntryFields
	record.Meta
}

// EntryFields are the fields of lost reasons and sources that the console sets.
type EntryFields struct {
	Name      string  `json:"name" required:"true" minLength:"1" maxLength:"255"`
	Alias     *string `json:"alias" maxLength:"64" doc:"unique name for integrations; the source of a lead is matched by it"`
	IsActive  bool    `json:"isActive" default:"true" doc:"an inactive entry cannot be chosen any more"`
	SortOrder int32   `json:"sortOrder"`
}

// Directory selects the entries of a directory.
type Directory struct {
	IncludeInactive bool `query:"includeInactive" doc:"also list entries that are not active"`
}

var (
	lostReasons = resource.Of[LostReason]("deal_lost_reasons", "DEAL_LOST_REASON").OnConstraint("deal_lost_reasons_alias_key",
		apierr.StateConflict("DEAL_LOST_REASON_ALIAS_TAKEN", "alias: another lost reason of the company has this alias; choose another"))
	leadSources = resource.Of[LeadSource]("lead_sources", "LEAD_SOURCE").OnConstraint("lead_sources_alias_key",
		apierr.StateConflict("LEAD_SOURCE_ALIAS_TAKEN", "alias: another source of the company has this alias; choose another"))
)

var (
	sqlSelectLostReasons = directorySQL[LostReason]("deal_lost_reasons")
	sqlSelectLeadSources = directorySQL[LeadSource]("lead_sources")
	sqlSelectTypes       = directorySQL[Type]("deal_types")
	sqlSelectStages      = "SELECT " + record.PlanOf[Stage]().SelectList("") + " FROM deal_stages WHERE company_id = $1 ORDER BY type_id, sort_order, id"
)

func directorySQL[T any](from string) string {
	return "SELECT " + record.PlanOf[T]().SelectList("") + " FROM " + from + " WHERE company_id = $1 AND (is_active OR $2) ORDER BY sort_order, id"
}

// LostReasons returns the reasons for which deals are lost.
func (s *Service) LostReasons(ctx context.Context, by access.Caller, d Directory) ([]LostReason, error) {
	return readAll[LostReason](ctx, s.cfg.DB, sqlSelectLostReasons, by.Company, d.IncludeInactive)
}

// LeadSources returns the sources of leads and deals.
func (s *Service) LeadSources(ctx context.Context, by access.Caller, d Directory) ([]LeadSource, error) {
	return readAll[LeadSource](ctx, s.cfg.DB, sqlSelectLeadSources, by.Company, d.IncludeInactive)
}

// Types returns the deal types whose component is enabled, with their stages.
func (s *Service) Types(ctx context.Context, by access.Caller, d Directory) ([]Type, error) {
	all, err := selectTypes(ctx, s.cfg.DB, by.Company, d.IncludeInactive)
	if err != nil {
		return nil, err
	}
	enabled := []Type{}
	for _, t := range all {
		if by.Has(t.Component) {
			enabled = append(enabled, t)
		}
	}
	return enabled, nil
}

// selectTypes reads the types of a company with their stages in one round trip.
func selectTypes(ctx context.Context, q db.Querier, company tenant.ID, withInactive bool) (all []Type, err error) {
	b := &pgx.Batch{}
	b.Queue(sqlSelectTypes, company, withInactive).Query(func(rows pgx.Rows) (err error) {
		all, err = pgx.CollectRows(rows, scan[Type])
		return err
	})
	b.Queue(sqlSelectStages, company).Query(func(rows pgx.Rows) error {
		stages, err := pgx.CollectRows(rows, scan[Stage])
		for i := range all {
			all[i].Stages = []Stage{}
			for _, st := range stages {
				if st.TypeID == all[i].ID && (st.IsActive || withInactive) {
					all[i].Stages = append(all[i].Stages, st)
				}
			}
		}
		return err
	})
	if err := q.SendBatch(ctx, b).Close(); err != nil {
		return nil, fmt.Errorf("select deal types: %w", err)
	}
	return all, nil
}

// readAll reads the records of a list without pages.
func readAll[T any](ctx context.Context, q db.Querier, sql string, args ...any) ([]T, error) {
	return db.Collect(ctx, q, "select directory", scan[T], sql, args...)
}

func scan[T any](row pgx.CollectableRow) (v T, err error) {
	err = row.Scan(record.PlanOf[T]().Targets(&v)...)
	return v, err
}

// CreateDefault queues the types, stages, lost reasons and sources that a new company begins with.
func CreateDefault(tx *db.Tx, company tenant.ID) {
	for i, t := range []TypeFields{
		{Alias: "lead", Name: "Leads", IsLeadType: true},
		{Alias: "sales", Name: "Sales", IsDefault: true},
	} {
		t.Component, t.IsActive, t.SortOrder = group.Component, true, int32(i)
		v := Type{TypeFields: t}
		types.Add(tx, company, &v)
		for _, f := range defaultStages() {
			stages.Add(tx, company, &Stage{TypeID: v.ID, StageFields: StageFields(f)})
		}
	}
	for i, names := range [][2]string{
		{"Price too high", "price"}, {"Chose a competitor", "competitor"}, {"No longer needed", "not_needed"}, {"No answer", "no_answer"},
	} {
		lostReasons.Add(tx, company, &LostReason{EntryFields: entry(i, names)})
	}
	for i, names := range [][2]string{
		{"Website", "webhook"}, {"Public form", "public_form"}, {"API", "api"}, {"Telegram", "telegram"}, {"Phone call", "phone"}, {"Referral", "referral"},
	} {
		leadSources.Add(tx, company, &LeadSource{EntryFields: entry(i, names)})
	}
}

func entry(i int, names [2]string) EntryFields {
	return EntryFields{Name: names[0], Alias: &names[1], IsActive: true, SortOrder: int32(i)}
}
