package catalog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// previewedPrices is how many products a preview shows.
const previewedPrices = 100

// RepricePreview is what a job that changes prices would do now.
type RepricePreview struct {
	Count int64           `json:"count" doc:"products that the filter selects, with those whose price would stay"`
	Items []PreviewedItem `json:"items" doc:"the first 100 of them by id"`
}

// PreviewedItem is a product of a [RepricePreview].
type PreviewedItem struct {
	ID       uuid.UUID    `json:"id" format:"uuid"`
	SKU      string       `json:"sku"`
	Name     string       `json:"name"`
	OldPrice money.Amount `json:"oldPrice"`
	NewPrice money.Amount `json:"newPrice"`
}

type repriceRequest struct {
	httpapi.Call
	Body RepriceInput `body:"input"`
}

func (s *Service) httpPreviewReprice(ctx context.Context, in *repriceRequest) (RepricePreview, error) {
	return s.PreviewReprice(ctx, in.Caller, in.Body)
}

const sqlPreviewReprice = `SELECT id, sku, name, price` + sqlToReprice + ` ORDER BY company_id, id LIMIT $7`

// PreviewReprice is what [Service.RepriceProducts] would do; it changes nothing, and fails as that does.
func (s *Service) PreviewReprice(ctx context.Context, by access.Caller, in RepriceInput) (p RepricePreview, err error) {
	o, err := newRepriceOrder(in, time.Now().Add(time.Hour)) // products that another node has just made are seen, however its clock goes
	if err != nil {
		return p, err
	}
	if err := s.selectCategories(ctx, by.Company, in.Filter.CategoryID, &o); err != nil {
		return p, err
	}
	if p.Count, err = s.countToReprice(ctx, by.Company, o); err != nil {
		return p, err
	}
	b := &pgx.Batch{}
	b.Queue(sqlPreviewReprice, o.args(by.Company, previewedPrices)...).Query(func(rows pgx.Rows) (err error) {
		p.Items, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (i PreviewedItem, err error) {
			if err = row.Scan(&i.ID, &i.SKU, &i.Name, &i.OldPrice); err != nil {
				return i, err
			}
			after, ok := o.Rule.price(i.OldPrice)
			if i.NewPrice = after; !ok {
				i.NewPrice = i.OldPrice // as the job does with a price that was changed after the check
			}
			return i, nil
		})
		return err
	})
	if err := s.cfg.DB.ReadWithTimeout(ctx, repriceCountLimit, db.PlanForValues, b); errors.Is(err, db.ErrTooLong) {
		return p, errRepriceTooLong
	} else if err != nil {
		return p, fmt.Errorf("select products to preview: %w", err)
	}
	return p, nil
}
