package receipts

import (
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// Receipt is a stock receipt with its lines; see docs/reference/rules.md#receipts. Money is in minor units.
type Receipt struct {
	Header
	Lines []Line `json:"lines" db:"-"`

	LinesCount int32  `json:"-"`
	Digits     string `json:"-" db:"-" search:"text"` // the number, for searches
}

// Header is a receipt without its lines. Names are those at the time of the receipt.
type Header struct {
	record.Key
	Number          int64         `json:"number" db:",insert" doc:"sequential number per company, from 1, without gaps"`
	Status          string        `json:"status" enum:"posted,cancelled"`
	Date            jsontype.Time `json:"date"`
	WarehouseID     uuid.UUID     `json:"warehouseId" format:"uuid"`
	WarehouseName   string        `json:"warehouseName"`
	SupplierID      *uuid.UUID    `json:"supplierId" format:"uuid"`
	SupplierName    *string       `json:"supplierName" search:"text"`
	PurchaseOrderID *uuid.UUID    `json:"purchaseOrderId" format:"uuid"`
	Note            *string       `json:"note" search:"text"`
	record.External
	TotalQty      money.Qty      `json:"totalQty" doc:"sum of the quantities"`
	TotalAmount   money.Amount   `json:"totalAmount" doc:"sum of the amounts"`
	CreatedByID   uuid.UUID      `json:"createdById" format:"uuid" db:",insert"`
	CreatedByName *string        `json:"createdByName" db:"-" doc:"null for a token, or if the user was removed"`
	CancelledAt   *jsontype.Time `json:"cancelledAt"`
	record.Meta
}

// ListItem is a receipt in a list.
type ListItem struct {
	Header
	LinesCount int32 `json:"linesCount"`
}

// Input is the body of a new receipt.
type Input struct {
	WarehouseID     uuid.UUID      `json:"warehouseId" required:"true" format:"uuid"`
	Items           []LineInput    `json:"items" required:"true" minItems:"1" maxItems:"500"`
	SupplierID      *uuid.UUID     `json:"supplierId" format:"uuid"`
	PurchaseOrderID *uuid.UUID     `json:"purchaseOrderId" format:"uuid" doc:"stored as it is"`
	Date            *jsontype.Time `json:"date" doc:"default now; at most 24 hours in the future"`
	Note            *string        `json:"note" maxLength:"4000"`
	record.External
}

// ChangeFields are the fields of a receipt that API clients can change: what is on stock stays as it was posted.
type ChangeFields struct{ record.External }

// Filter filters and sorts receipts.
type Filter struct {
	list.Params
	list.ByExternal
	Number      *int64     `query:"number" minimum:"1" where:"number = ?"`
	Sort        string     `query:"sort" enum:"createdAt,date,number,totalQty,totalAmount"`
	Status      []string   `query:"status" enum:"posted,cancelled" where:"status = ANY(?::TEXT[])" doc:"comma-separated"`
	WarehouseID *uuid.UUID `query:"warehouseId" format:"uuid" where:"warehouse_id = ?"`
	SupplierID  *uuid.UUID `query:"supplierId" format:"uuid" where:"supplier_id = ?"`
	DateFrom    *list.From `query:"dateFrom" where:"date >= ?" doc:"date at or after"`
	DateTo      *list.To   `query:"dateTo" where:"date <= ?" doc:"date at or before"`
}

// States of a receipt; see docs/reference/states.md#receipt.
const (
	statusPosted    = "posted"
	statusCancelled = "cancelled"
)

var (
	table = resource.Of[Receipt]("receipts", "RECEIPT", resource.LinesOf[Line]("receipt_lines", "receipt_id"))
	items = list.Of[ListItem, Filter]("receipts", list.Spec{Permanent: true})
)

// Derive implements [record.Deriver].
func (r *Receipt) Derive() {
	r.LinesCount, r.Digits = int32(len(r.Lines)), strconv.FormatInt(r.Number, 10)
}

// maxAhead is how far in the future the date of a receipt may be.
const maxAhead = 24 * time.Hour

// dateOf returns the date of a new receipt.
func dateOf(in *jsontype.Time, now time.Time) (jsontype.Time, error) {
	if in == nil {
		return jsontype.At(now), nil
	}
	if in.Std().After(now.Add(maxAhead)) {
		return *in, apierr.InvalidField("date", apierr.Max, "must be at most 24 hours in the future")
	}
	return *in, nil
}

var errCancelled = apierr.StateConflict("RECEIPT_ALREADY_CANCELLED", "the receipt is cancelled already; nothing was changed")
