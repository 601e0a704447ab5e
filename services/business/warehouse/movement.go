package warehouse

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

const stockMovements = db.Table("stock_movements")

// Movement is one change of a physical quantity. Movements are immutable. Names are those at the time of the movement.
type Movement struct {
	record.Key
	Type           string        `json:"type" doc:"adjustment, receipt, receipt_cancel, sale, refund, shipment, shipment_cancel, order_completion, order_return, order_return_cancel, transfer_out, transfer_in, transfer_cancel, write_off, write_off_cancel, count, supplier_return, supplier_return_cancel"`
	ProductID      uuid.UUID     `json:"productId" format:"uuid"`
	ProductName    string        `json:"productName"`
	ProductSKU     string        `json:"productSku" db:"product_sku"`
	VariantID      *uuid.UUID    `json:"variantId" format:"uuid"`
	VariantSKU     *string       `json:"variantSku" db:"variant_sku"`
	WarehouseID    uuid.UUID     `json:"warehouseId" format:"uuid"`
	WarehouseName  string        `json:"warehouseName"`
	Delta          money.Qty     `json:"delta"`
	QtyBefore      money.Qty     `json:"qtyBefore"`
	QtyAfter       money.Qty     `json:"qtyAfter"`
	DocumentType   *string       `json:"documentType" enum:"order,shipment,return,sale,receipt,stock_transfer,write_off,stock_count,supplier_return"`
	DocumentID     *uuid.UUID    `json:"documentId" format:"uuid"`
	DocumentNumber *int64        `json:"documentNumber"`
	Reason         *string       `json:"reason"`
	CreatedByID    *uuid.UUID    `json:"createdById" format:"uuid"`
	CreatedAt      jsontype.Time `json:"createdAt"`
}

// SchemaName implements [jsontype.Named].
func (Movement) SchemaName() string { return "StockMovement" }

// MovementFilter filters and sorts movements.
type MovementFilter struct {
	list.Params
	Sort        string     `query:"sort" enum:"createdAt"`
	ProductID   *uuid.UUID `query:"productId" format:"uuid" where:"product_id = ?"`
	VariantID   *uuid.UUID `query:"variantId" format:"uuid" where:"variant_id = ?"`
	WarehouseID *uuid.UUID `query:"warehouseId" format:"uuid" where:"warehouse_id = ?"`
	Type        []string   `query:"type" enum:"adjustment,receipt,receipt_cancel,sale,refund,shipment,shipment_cancel,order_completion,order_return,order_return_cancel,transfer_out,transfer_in,transfer_cancel,write_off,write_off_cancel,count,supplier_return,supplier_return_cancel" where:"type = ANY(?::TEXT[])" doc:"comma-separated"`
	DateFrom    *list.From `query:"dateFrom" where:"created_at >= ?"`
	DateTo      *list.To   `query:"dateTo" where:"created_at <= ?"`
}

var movementItems = list.Of[Movement, MovementFilter](stockMovements, list.Spec{Updated: "created_at", Permanent: true})

// Movements returns a page of movements.
func (s *Service) Movements(ctx context.Context, by access.Caller, f MovementFilter) (*list.Page[Movement], error) {
	return movementItems.Page(ctx, s.cfg.DB, by.Company, f)
}

// newMovement is the movement that led to the stock record.
func newMovement(tx *db.Tx, by access.Caller, doc trade.StockDocument, st Stock, delta money.Qty) Movement {
	m := Movement{
		Key: record.Key{ID: record.NewID(), CompanyID: by.Company}, Type: doc.Movement, ProductID: st.ProductID, ProductName: st.ProductName, ProductSKU: st.ProductSKU,
		VariantID: st.VariantID, VariantSKU: st.VariantSKU, WarehouseID: st.WarehouseID, WarehouseName: st.WarehouseName,
		Delta: delta, QtyBefore: st.Qty - delta, QtyAfter: st.Qty, CreatedAt: jsontype.At(tx.Now()),
	}
	if by.Actor != uuid.Nil {
		m.CreatedByID = &by.Actor
	}
	if doc.Type != "" {
		m.DocumentType, m.DocumentID, m.DocumentNumber = &doc.Type, &doc.ID, &doc.Number
	}
	if doc.Reason != "" {
		m.Reason = &doc.Reason
	}
	return m
}

// record stores a movement and raises its event.
func (s *Service) record(ctx context.Context, tx *db.Tx, by access.Caller, m Movement) error {
	insertMovement(tx, m)
	return outbox.Raise(ctx, tx, by.Company, outbox.Event{
		Name: movementCreated.Name, Actor: by.ActorID(), Type: aggregateMovement, ID: m.ID, Meta: record.New(m.CreatedAt.Std()), Data: m,
	})
}
