package orders

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/batchloader"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/list"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// Filter is the query of a list of orders.
type Filter struct {
	list.Params
	Sort          string     `query:"sort" enum:"createdAt,number,dueAt,readyBy,payDueAt,total,status,paymentStatus"`
	Status        []string   `query:"status" enum:"new,confirmed,in_progress,ready,completed,cancelled" doc:"comma list = any of"`
	PaymentStatus []string   `query:"paymentStatus" enum:"unpaid,partial,paid,refunded" doc:"comma list = any of"`
	AssignedToID  *uuid.UUID `query:"assignedToId" format:"uuid"`
	CreatedByID   *uuid.UUID `query:"createdById" format:"uuid"`
	CustomerID    *uuid.UUID `query:"customerId" format:"uuid"`
	DateFrom      *list.From `query:"dateFrom" doc:"created at or after"`
	DateTo        *list.To   `query:"dateTo" doc:"created at or before"`
	DueFrom       *list.From `query:"dueFrom"`
	DueTo         *list.To   `query:"dueTo"`
	Include       []string   `query:"include" enum:"lines"`
}

var listSpec = list.Spec{ //nolint:gochecknoglobals // a table
	From: "orders", Columns: orderColumns + ", lines_count",
	Sorts: map[string]list.Sort{
		"createdAt":     {Column: "created_at", Type: "TIMESTAMPTZ"},
		"number":        {Column: "number", Type: "BIGINT"},
		"dueAt":         {Column: "due_at", Type: "TIMESTAMPTZ", Nullable: true},
		"readyBy":       {Column: "ready_by", Type: "TIMESTAMPTZ", Nullable: true},
		"payDueAt":      {Column: "pay_due_at", Type: "TIMESTAMPTZ", Nullable: true},
		"total":         {Column: "total", Type: "BIGINT"},
		"status":        {Column: "status", Type: "TEXT"},
		"paymentStatus": {Column: "payment_status", Type: "TEXT"},
	},
}

// List reads a page of orders.
func (s *Service) List(ctx context.Context, company tenant.ID, f Filter) (*list.Page[ListItem], error) {
	q, err := list.New(listSpec, company, f.Params, f.Sort)
	if err != nil {
		return nil, err
	}
	q.In("status", f.Status)
	q.In("payment_status", f.PaymentStatus)
	q.Equal("assigned_to_id", f.AssignedToID)
	q.Equal("created_by_id", f.CreatedByID)
	q.Equal("customer_id", f.CustomerID)
	q.Search("search_text")
	if err := q.Between("created_at", "dateFrom", f.DateFrom, "dateTo", f.DateTo); err != nil {
		return nil, err
	}
	if err := q.Between("due_at", "dueFrom", f.DueFrom, "dueTo", f.DueTo); err != nil {
		return nil, err
	}
	page, err := list.Fetch(ctx, s.db, q, func(o *ListItem) []any { return append(headerTargets(&o.Header), &o.LinesCount) })
	if err != nil {
		return nil, err
	}
	return page, s.complete(ctx, company, page.Items, slices.Contains(f.Include, "lines"))
}

// complete adds to the orders of a page what is not in their rows.
func (s *Service) complete(ctx context.Context, company tenant.ID, items []ListItem, withLines bool) error {
	ids, users := make([]uuid.UUID, len(items)), []uuid.UUID{}
	for i := range items {
		items[i].derive()
		ids[i] = items[i].ID
		if u := items[i].AssignedToID; u != nil && !slices.Contains(users, *u) {
			users = append(users, *u)
		}
	}
	var names map[uuid.UUID]string
	var lines map[uuid.UUID][]Line
	var reads []batchloader.Read
	if len(users) > 0 {
		reads = append(reads, func(ctx context.Context, q db.Querier) (err error) {
			names, err = s.cfg.Users.UserNames(ctx, q, company, users)
			return err
		})
	}
	if withLines && len(items) > 0 {
		reads = append(reads, func(ctx context.Context, q db.Querier) (err error) {
			lines, err = selectLines(ctx, q, company, ids)
			return err
		})
	}
	if len(reads) == 0 {
		return nil
	}
	if err := batchloader.Load(ctx, s.db, reads...); err != nil {
		return err
	}
	for i := range items {
		items[i].fill(names, lines, withLines)
	}
	return nil
}

func (o *ListItem) fill(names map[uuid.UUID]string, lines map[uuid.UUID][]Line, withLines bool) {
	if o.AssignedToID != nil {
		if name, ok := names[*o.AssignedToID]; ok {
			o.AssignedToName = &name
		}
	}
	if withLines {
		all := lines[o.ID]
		o.Lines = &all
	}
}
