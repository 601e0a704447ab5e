package sales

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/cleanup"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
)

const saleDrafts = db.Table("sale_drafts")

// Draft is a sale that was begun and put aside, such as the cart of somebody who has forgotten the purse. It is a note: nothing is
// reserved, and what it holds is checked when it is sold. See docs/reference/rules.md#drafts-of-sales.
type Draft struct {
	record.Key
	DraftFields
	ExpiresAt   jsontype.Time `json:"expiresAt" doc:"when it is dropped: 7 days after it was put aside"`
	CreatedByID uuid.UUID     `json:"createdById" format:"uuid" doc:"user of the token that put it aside"`
	record.Meta
}

// SchemaName implements [jsontype.Named].
func (Draft) SchemaName() string { return "SaleDraft" }

// DraftFields are the fields that API clients set.
type DraftFields struct {
	Name string    `json:"name" required:"true" minLength:"1" maxLength:"255" doc:"by which people find it again"`
	Sale DraftSale `json:"sale" required:"true" doc:"these fields of the body of the sale; references and stock are checked by the sale"`
}

// SchemaName implements [jsontype.Named].
func (DraftFields) SchemaName() string { return "SaleDraftInput" }

// DraftSale is what is known of the sale.
type DraftSale struct {
	Items           []LineInput    `json:"items" required:"true" minItems:"1" maxItems:"500"`
	DiscountPercent *money.Percent `json:"discountPercent,omitempty"`
	FixedDiscount   *money.Amount  `json:"fixedDiscount,omitempty" minimum:"0" doc:"minor units, after discountPercent"`
	CouponCode      *string        `json:"couponCode,omitempty" nullable:"true" maxLength:"64"`
	CustomerID      *uuid.UUID     `json:"customerId,omitempty" format:"uuid" nullable:"true"`
}

// DraftFilter filters and sorts drafts.
type DraftFilter struct {
	list.Params
	Sort        string     `query:"sort" enum:"createdAt"`
	CreatedByID *uuid.UUID `query:"createdById" format:"uuid" where:"created_by_id = ?"`
}

var (
	drafts     = resource.Of[Draft](saleDrafts, "SALE_DRAFT")
	draftItems = list.Of[Draft, DraftFilter](saleDrafts)
)

const (
	maxDraftsOfCompany = 200
	maxDraft           = 64 << 10 // bytes of its sale, as JSON
	maxDraftBytes      = 4 << 20  // of all drafts of a company
	keepDraft          = 7 * 24 * time.Hour
)

// Drafts returns a page of the drafts that have not expired.
func (s *Service) Drafts(ctx context.Context, by access.Caller, f DraftFilter) (*list.Page[Draft], error) {
	q, err := draftItems.Query(by.Company, f)
	if err != nil {
		return nil, err
	}
	q.WhereFound(nil, "expires_at > ?", s.cfg.DB.Now())
	return draftItems.Fetch(ctx, s.cfg.DB, q)
}

// Draft returns a draft. One that has expired is 404.
func (s *Service) Draft(ctx context.Context, by access.Caller, id uuid.UUID) (Draft, error) {
	v, err := drafts.Get(ctx, s.cfg.DB, by.Company, id)
	if err != nil {
		return v, err
	}
	return v, v.checkLive(s.cfg.DB.Now())
}

func (d Draft) checkLive(now time.Time) error {
	if d.ExpiresAt.Std().After(now) {
		return nil
	}
	return apierr.NotFound("SALE_DRAFT", d.ID.String())
}

// CreateDraft puts a sale aside: 409 SALE_DRAFT_LIMIT_REACHED.
func (s *Service) CreateDraft(ctx context.Context, tx *db.Tx, by access.Caller, in DraftFields) (Draft, error) {
	if err := lineitem.Check(in.Sale.Items); err != nil {
		return Draft{}, within(err, "sale.")
	}
	size, err := in.Sale.size()
	if err != nil {
		return Draft{}, err
	}
	if err := checkRoomForDraft(ctx, tx, by, size); err != nil {
		return Draft{}, err
	}
	return drafts.Create(ctx, tx, by, Draft{
		Key: record.Key{ID: tx.NewID(), CompanyID: by.Company}, DraftFields: in, ExpiresAt: jsontype.At(tx.Now().Add(keepDraft).Truncate(time.Millisecond)), CreatedByID: by.Actor,
	})
}

// size is how many bytes the sale takes: 400 MAX if they are too many.
func (d DraftSale) size() (int, error) {
	raw, err := jsontype.Marshal(d)
	if err != nil {
		return 0, fmt.Errorf("encode draft of a sale: %w", err)
	}
	if len(raw) > maxDraft {
		return 0, apierr.InvalidField("sale", apierr.Max, "takes %d bytes as JSON, and may take at most %d; put fewer or shorter items aside", len(raw), maxDraft)
	}
	return len(raw), nil
}

// within names the fields of an error by a longer path.
func within(err error, path string) error {
	known, ok := apierr.As(err)
	if !ok {
		return err
	}
	var faults apierr.Fields
	for _, f := range known.Fields {
		f.Field = path + f.Field
		faults = append(faults, f)
	}
	return faults.Err()
}

// DropDraft deletes a draft, which was taken up or is not wanted. Of two that take it up, one gets 404.
func (s *Service) DropDraft(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) error {
	return drafts.Delete(ctx, tx, by, id, func(d Draft) error { return d.checkLive(tx.Now()) })
}

const sqlCountDrafts = `SELECT count(*), COALESCE(sum(octet_length(CAST(sale AS TEXT))), 0)::BIGINT FROM sale_drafts WHERE company_id = $1 AND expires_at > $2`

// checkRoomForDraft returns a 409 if the company has as many drafts, or bytes of them, as it may.
func checkRoomForDraft(ctx context.Context, tx *db.Tx, by access.Caller, size int) error {
	var all, bytes int
	if err := tx.QueryRow(ctx, sqlCountDrafts, by.Company, tx.Now()).Scan(&all, &bytes); err != nil {
		return fmt.Errorf("count drafts of sales: %w", err)
	}
	if all >= maxDraftsOfCompany {
		return apierr.StateConflict("SALE_DRAFT_LIMIT_REACHED", "the company has %d drafts of sales: sell or delete some first", all).With("limit", maxDraftsOfCompany)
	}
	if bytes+size > maxDraftBytes {
		return apierr.StateConflict("SALE_DRAFTS_TOO_LARGE", "the drafts of sales of the company would take more than %d bytes: sell or delete some first", maxDraftBytes).
			With("limitBytes", maxDraftBytes)
	}
	return nil
}

// draftsExpire deletes drafts some time after they expired, which nothing waits for.
var draftsExpire = cleanup.Job{
	Keep: 10 * time.Minute, Every: time.Hour,
	Delete: saleDrafts.Delete(`WHERE (company_id, id) IN (SELECT company_id, id FROM sale_drafts WHERE expires_at < $1 LIMIT 1000)`),
}
