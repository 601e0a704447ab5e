package orders

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
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
	CustomerPhone string     `query:"customerPhone" maxLength:"32" doc:"any spelling of the number; without a country code it is one of the country of the company"`
	Number        *int64     `query:"number" minimum:"1" where:"number = ?"`
	DealID        *uuid.UUID `query:"dealId" format:"uuid" where:"deal_id = ?"`
	Channel       string     `query:"channel" maxLength:"64" where:"channel = ?" doc:"code of a channel"`
	Method        string     `query:"deliveryMethod" maxLength:"64" where:"delivery_method = ?" doc:"code of a method of delivery"`
	Include       []string   `query:"include" enum:"lines,costs" doc:"costs need the scope catalog:read"`
}

// Reveals implements [httpapi.Revealing].
func (f Filter) Reveals(by access.Caller) []string { return lineitem.Include(f.Include).Reveals(by) }

var items = list.Of[ListItem, Filter]("orders", list.Spec{Permanent: true})

// query selects the orders that a filter is about.
func (s *Service) query(ctx context.Context, by access.Caller, f Filter) (*list.Query, error) {
	q, err := items.Query(by.Company, f)
	if err != nil {
		return nil, err
	}
	return q, q.Phone(ctx, s.cfg.DB, "orders", "customer_phone", by.CountryPrefix, f.CustomerPhone)
}

// AddedUp is what orders add up to.
type AddedUp struct {
	Count     int64        `json:"count"`
	Total     money.Amount `json:"total"`
	Payable   money.Amount `json:"payable" doc:"total + deliveryCost - returnedAmount of each"`
	Paid      money.Amount `json:"paid" doc:"prepaidAmount of each: payments less refunds"`
	AmountDue money.Amount `json:"amountDue" doc:"payable - paid"`
}

// SchemaName implements [jsontype.Named].
func (AddedUp) SchemaName() string { return "OrderSums" }

// AddUp adds up the orders that a filter selects, cancelled ones included unless it leaves them out.
func (s *Service) AddUp(ctx context.Context, by access.Caller, f Filter) (t AddedUp, err error) {
	q, err := s.query(ctx, by, f)
	if err != nil {
		return t, err
	}
	count, sums, err := q.Sums(ctx, s.cfg.DB, "total", "total + delivery_cost - returned_amount", "prepaid_amount")
	if err != nil {
		return t, err
	}
	t = AddedUp{Count: count, Total: money.Amount(sums[0]), Payable: money.Amount(sums[1]), Paid: money.Amount(sums[2])}
	t.AmountDue = t.Payable - t.Paid
	return t, nil
}

// List returns a page of orders, with their lines on request.
func (s *Service) List(ctx context.Context, by access.Caller, f Filter) (*list.Page[ListItem], error) {
	shown := lineitem.Include(f.Include)
	if err := shown.Admit(by); err != nil {
		return nil, err
	}
	q, err := s.query(ctx, by, f)
	if err != nil {
		return nil, err
	}
	page, err := items.Fetch(ctx, s.cfg.DB, q)
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
	if shown.Costs() {
		for i := range page.Items {
			page.Items[i].showCosts(record.OrZero(page.Items[i].Lines))
		}
	}
	assigned := func(i int) (*uuid.UUID, **string) { return page.Items[i].AssignedToID, &page.Items[i].AssignedToName }
	return page, reference.Names(s.cfg.Users.UserNames).Fill(by.Company, len(page.Items), assigned)(ctx, s.cfg.DB)
}
