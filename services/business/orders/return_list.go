package orders

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
)

// ReturnItemOfList is a return in a list.
type ReturnItemOfList struct {
	ReturnHeader
	OrderNumber   int64   `json:"orderNumber" db:"-"`
	CreatedByName *string `json:"createdByName" db:"-"`
}

// SchemaName implements [jsontype.Named].
func (ReturnItemOfList) SchemaName() string { return "OrderReturnListItem" }

// ReturnFilter filters and sorts the returns of an order.
type ReturnFilter struct {
	list.Params
	list.ByExternal
	Sort         string     `query:"sort" enum:"returnedAt,number"`
	Status       string     `query:"status" enum:"posted,cancelled" where:"status = ?"`
	Number       *int64     `query:"number" minimum:"1" where:"number = ?"`
	ReturnedFrom *list.From `query:"returnedFrom" where:"returned_at >= ?" doc:"returned at or after"`
	ReturnedTo   *list.To   `query:"returnedTo" where:"returned_at <= ?" doc:"returned at or before"`
}

// ReturnsFilter filters and sorts the returns of all orders.
type ReturnsFilter struct {
	ReturnFilter
	OrderID *uuid.UUID `query:"orderId" format:"uuid" where:"order_id = ?"`
}

var returnItems = list.Of[ReturnItemOfList, ReturnsFilter]("order_returns", list.Spec{Default: "returnedAt", Permanent: true})

// AllReturns returns a page of the returns of all orders of the company.
func (s *Service) AllReturns(ctx context.Context, by access.Caller, f ReturnsFilter) (*list.Page[ReturnItemOfList], error) {
	q, err := returnItems.Query(by.Company, f)
	if err != nil {
		return nil, err
	}
	if f.Search != "" {
		q.Where("search_text <> ''") // the condition of the index
	}
	page, err := returnItems.Fetch(ctx, s.cfg.DB, q)
	if err != nil {
		return nil, err
	}
	who := func(i int) (*uuid.UUID, **string) { return page.Items[i].CreatedByID, &page.Items[i].CreatedByName }
	numbers := readNumbers(by.Company, len(page.Items), func(i int) (uuid.UUID, *int64) { return page.Items[i].OrderID, &page.Items[i].OrderNumber })
	return page, batchloader.Load(ctx, s.cfg.DB, reference.Names(s.cfg.Users.UserNames).Fill(by.Company, len(page.Items), who), numbers)
}

// Returns returns a page of the returns of an order.
func (s *Service) Returns(ctx context.Context, by access.Caller, order uuid.UUID, f ReturnFilter) (*list.Page[ReturnItemOfList], error) {
	if err := s.checkExists(ctx, by.Company, order); err != nil {
		return nil, err
	}
	return s.AllReturns(ctx, by, ReturnsFilter{ReturnFilter: f, OrderID: &order})
}

// ReadReturn returns one return of an order with its lines.
func (s *Service) ReadReturn(ctx context.Context, by access.Caller, order, id uuid.UUID) (Return, error) {
	if err := s.checkExists(ctx, by.Company, order); err != nil {
		return Return{}, err
	}
	r, err := returns.Get(ctx, s.cfg.DB, by.Company, id)
	if err == nil && r.OrderID != order {
		err = apierr.NotFound("RETURN", id.String())
	}
	return r, err
}

const (
	sqlSelectReturnSizes = `SELECT id, octet_length(lines::TEXT)::INT8 FROM order_returns WHERE company_id = $1 AND id = ANY($2::UUID[])`
	sqlSelectReturnLines = `SELECT id, lines FROM order_returns WHERE company_id = $1 AND id = ANY($2::UUID[])`
)

// returnLines are the lines of the returns on a page; see [list.Page.ReadRows].
type returnLines map[uuid.UUID][]ReturnLine

// QueueSizes implements [list.Children].
func (l returnLines) QueueSizes(b *pgx.Batch, company tenant.ID, returns []uuid.UUID, each func(of uuid.UUID, bytes int)) {
	b.Queue(sqlSelectReturnSizes, company, returns).Query(func(rows pgx.Rows) error {
		var id uuid.UUID
		var bytes int
		_, err := pgx.ForEachRow(rows, []any{&id, &bytes}, func() error {
			each(id, bytes)
			return nil
		})
		return err
	})
}

// QueueRead implements [list.Children]. With a limit it reads none, so that all are read when their size is known.
func (l returnLines) QueueRead(b *pgx.Batch, company tenant.ID, returns []uuid.UUID, limit int) (read *int) {
	read = new(int)
	if limit > 0 {
		return read
	}
	b.Queue(sqlSelectReturnLines, company, returns).Query(func(rows pgx.Rows) error {
		defer rows.Close()
		for rows.Next() {
			var id uuid.UUID
			var lines []ReturnLine
			if err := rows.Scan(&id, &lines); err != nil {
				return err
			}
			l[id], *read = lines, *read+len(lines)
		}
		return rows.Err()
	})
	return read
}

// returnRows returns a page of returns with their lines, for files.
func (s *Service) returnRows(ctx context.Context, by access.Caller, f ReturnsFilter) (*list.Page[ReturnItemOfList], func(i int) []ReturnLine, error) {
	page, err := s.AllReturns(ctx, by, f)
	if err != nil {
		return nil, nil, err
	}
	lines := returnLines{}
	err = page.ReadRows(ctx, s.cfg.DB, lines)
	return page, func(i int) []ReturnLine { return lines[page.Items[i].ID] }, err
}
