package orders

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
)

// ListItem is an order in a list.
type ListItem struct {
	Header
	LinesCount     int32   `json:"linesCount"`
	AssignedToName *string `json:"assignedToName" db:"-"`
	Lines          *[]Line `json:"lines,omitempty" db:"-" doc:"only with include=lines"`
}

// Filter filters and sorts orders.
type Filter struct {
	list.Params
	Sort          string     `query:"sort" enum:"createdAt,number,dueAt,readyBy,payDueAt,total,status,paymentStatus"`
	Status        []string   `query:"status" enum:"new,confirmed,in_progress,ready,completed,cancelled" where:"status = ANY(?::TEXT[])" doc:"comma-separated"`
	PaymentStatus []string   `query:"paymentStatus" enum:"unpaid,partial,paid,refunded" where:"payment_status = ANY(?::TEXT[])" doc:"comma-separated"`
	AssignedToID  *uuid.UUID `query:"assignedToId" format:"uuid" where:"assigned_to_id = ?"`
	CreatedByID   *uuid.UUID `query:"createdById" format:"uuid" where:"created_by_id = ?"`
	CustomerID    *uuid.UUID `query:"customerId" format:"uuid" where:"customer_id = ?"`
	DateFrom      *list.From `query:"dateFrom" where:"created_at >= ?" doc:"created at or after"`
	DateTo        *list.To   `query:"dateTo" where:"created_at <= ?" doc:"created at or before"`
	DueFrom       *list.From `query:"dueFrom" where:"due_at >= ?"`
	DueTo         *list.To   `query:"dueTo" where:"due_at <= ?"`
	list.ByExternal
	Number  *int64     `query:"number" minimum:"1" where:"number = ?"`
	DealID  *uuid.UUID `query:"dealId" format:"uuid" where:"deal_id = ?"`
	Include []string   `query:"include" enum:"lines"`
}

var items = list.Of[ListItem, Filter]("orders", list.Spec{Permanent: true})

// List returns a page of orders, with their lines on request.
func (s *Service) List(ctx context.Context, by access.Caller, f Filter) (*list.Page[ListItem], error) {
	page, err := items.Page(ctx, s.cfg.DB, by.Company, f)
	if err != nil {
		return nil, err
	}
	if slices.Contains(f.Include, "lines") {
		lines := orderLines.Listed()
		if err := page.ReadChildren(ctx, s.cfg.DB, lines); err != nil {
			return nil, err
		}
		for i := range page.Items {
			page.Items[i].Lines = new(lines.Of(page.Items[i].ID))
		}
	}
	assigned := func(i int) (*uuid.UUID, **string) { return page.Items[i].AssignedToID, &page.Items[i].AssignedToName }
	return page, reference.Names(s.cfg.Users.UserNames).Fill(by.Company, len(page.Items), assigned)(ctx, s.cfg.DB)
}
