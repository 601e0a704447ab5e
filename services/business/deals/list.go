package deals

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
)

// ListItem is a deal in a list.
type ListItem struct {
	Header
	TypeName       string  `json:"typeName" db:"-"`
	StageName      string  `json:"stageName" db:"-"`
	StageColor     *string `json:"stageColor" db:"-"`
	AssignedToName *string `json:"assignedToName" db:"-" doc:"null if nobody is assigned or the user was removed"`
	LinesCount     int32   `json:"linesCount"`
	BoardOrder     int64   `json:"boardOrder" doc:"position among the deals of a stage: they are in the order in which they entered it"`
}

// Filter filters and sorts deals.
type Filter struct {
	list.Params
	Sort          string     `query:"sort" enum:"createdAt,number,dueAt,scheduledAt,total,boardOrder"`
	TypeID        *uuid.UUID `query:"typeId" format:"uuid" where:"type_id = ?"`
	StageID       *uuid.UUID `query:"stageId" format:"uuid" where:"stage_id = ?"`
	Outcome       []string   `query:"outcome" enum:"won,lost,done,cancelled" where:"outcome = ANY(?::TEXT[])" doc:"comma-separated"`
	OpenOnly      bool       `query:"openOnly" where:"outcome IS NULL" doc:"deals without an outcome"`
	AssignedToID  *uuid.UUID `query:"assignedToId" format:"uuid" where:"assigned_to_id = ?"`
	ClientID      *uuid.UUID `query:"clientId" format:"uuid" where:"client_id = ?"`
	AddressID     *uuid.UUID `query:"addressId" format:"uuid" where:"address_id = ?"`
	ScheduledFrom *list.From `query:"scheduledFrom" where:"scheduled_at >= ?"`
	ScheduledTo   *list.To   `query:"scheduledTo" where:"scheduled_at <= ?"`
	CustomerPhone string     `query:"customerPhone" maxLength:"32" doc:"any spelling of the number; without a country code it is one of the country of the company"`
	list.ByExternal
	Number   *int64     `query:"number" minimum:"1" where:"number = ?"`
	SourceID *uuid.UUID `query:"sourceId" format:"uuid" where:"source_id = ?"`
	Channel  string     `query:"channel" maxLength:"64" where:"channel = ?" doc:"code of a channel"`
	DateFrom *list.From `query:"dateFrom" where:"created_at >= ?" doc:"created at or after"`
	DateTo   *list.To   `query:"dateTo" where:"created_at <= ?" doc:"created at or before"`
	NoTask   bool       `query:"noTask" where:"outcome IS NULL AND next_action_at IS NULL" doc:"deals without an outcome and a next action"`
	Overdue  bool       `query:"overdue" doc:"deals without an outcome whose next action or due date has passed"`
}

var items = list.Of[ListItem, Filter]("deals", list.Spec{Permanent: true})

// List returns a page of deals.
func (s *Service) List(ctx context.Context, by access.Caller, f Filter) (*list.Page[ListItem], error) {
	q, err := items.Query(by.Company, f)
	if err != nil {
		return nil, err
	}
	if f.Overdue {
		now := s.cfg.DB.Now()
		q.WhereFound("overdue", "outcome IS NULL AND (next_action_at < ? OR due_at < ?)", now, now)
	}
	if err := q.Phone(ctx, s.cfg.DB, "deals", "customer_phone", by.CountryPrefix, f.CustomerPhone); err != nil {
		return nil, err
	}
	page, err := items.Fetch(ctx, s.cfg.DB, q)
	if err != nil || len(page.Items) == 0 {
		return page, err
	}
	return page, s.complete(ctx, by.Company, page.Items)
}

// complete fills in the names of types, stages and users, in one round trip.
func (s *Service) complete(ctx context.Context, company tenant.ID, items []ListItem) error {
	var all []Type
	assigned := func(i int) (*uuid.UUID, **string) { return items[i].AssignedToID, &items[i].AssignedToName }
	err := batchloader.Load(ctx, s.cfg.DB, func(ctx context.Context, q db.Querier) (err error) {
		all, err = selectTypes(ctx, q, company, true)
		return err
	}, reference.Names(s.cfg.Users.UserNames).Fill(company, len(items), assigned))
	for i := range items {
		items[i].name(all)
	}
	return err
}

func (it *ListItem) name(all []Type) {
	if t := slices.IndexFunc(all, func(t Type) bool { return t.ID == it.TypeID }); t >= 0 {
		it.TypeName = all[t].Name
		if st := slices.IndexFunc(all[t].Stages, func(st Stage) bool { return st.ID == it.StageID }); st >= 0 {
			it.StageName, it.StageColor = all[t].Stages[st].Name, all[t].Stages[st].Color
		}
	}
}

// LineRow is a line of a deal in a file.
type LineRow struct {
	Line
	Margin        money.Amount   `json:"margin" doc:"total without tax, less cost"`
	MarginPercent *money.Percent `json:"marginPercent" nullable:"true"`
}

func lineRow(_ access.Caller, _ *ListItem, l *Line) LineRow {
	m := lineitem.MarginsOf(l.Cost, l.Total-l.TaxAmount)
	return LineRow{*l, *m.Margin, m.MarginPercent}
}
