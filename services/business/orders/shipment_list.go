package orders

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// ListedShipment is a shipment in the list of those of all orders.
type ListedShipment struct {
	Shipment
	OrderNumber int64 `json:"orderNumber" db:"-"`
}

// ShipmentsFilter filters and sorts the shipments of all orders.
type ShipmentsFilter struct {
	list.Params
	Sort           string     `query:"sort" enum:"shippedAt,createdAt,number"`
	Number         *int64     `query:"number" minimum:"1" where:"number = ?"`
	OrderID        *uuid.UUID `query:"orderId" format:"uuid" where:"order_id = ?"`
	Status         []string   `query:"status" enum:"posted,cancelled" where:"status = ANY(?::TEXT[])" doc:"comma-separated"`
	TrackingNumber string     `query:"trackingNumber" maxLength:"255" where:"tracking_number = ?" doc:"exact; search finds a part of it"`
	ShippedFrom    *list.From `query:"shippedFrom" where:"shipped_at >= ?" doc:"shipped at or after"`
	ShippedTo      *list.To   `query:"shippedTo" where:"shipped_at <= ?" doc:"shipped at or before"`
}

var shipmentItems = list.Of[ListedShipment, ShipmentsFilter]("shipments", list.Spec{Permanent: true})

// AllShipments returns a page of the shipments of all orders of the company.
func (s *Service) AllShipments(ctx context.Context, by access.Caller, f ShipmentsFilter) (*list.Page[ListedShipment], error) {
	q, err := shipmentItems.Query(by.Company, f)
	if err != nil {
		return nil, err
	}
	if f.Search != "" {
		q.Where("search_text <> ''") // the condition of the index
	}
	page, err := shipmentItems.Fetch(ctx, s.cfg.DB, q)
	if err != nil {
		return nil, err
	}
	return page, readNumbers(by.Company, len(page.Items), func(i int) (uuid.UUID, *int64) { return page.Items[i].OrderID, &page.Items[i].OrderNumber })(ctx, s.cfg.DB)
}

// ParcelFields are the fields of a shipment that tell where it is: a carrier gives them after the goods have left.
type ParcelFields struct {
	Carrier        *string `json:"carrier" maxLength:"255"`
	TrackingNumber *string `json:"trackingNumber" maxLength:"255"`
	Note           *string `json:"note" maxLength:"4000"`
}

// UpdateShipment changes the carrier, the tracking number and the note of a shipment of an order, whatever the state of both.
func (s *Service) UpdateShipment(ctx context.Context, tx *db.Tx, by access.Caller, order, id uuid.UUID, in record.Patch[ParcelFields]) (Shipment, error) {
	o, err := table.Lock(ctx, tx, by.Unconditional(), order) // as all that changes shipments
	if err != nil {
		return Shipment{}, err
	}
	return shipments.Change(ctx, tx, by, id, func(_ Shipment, sh *Shipment) error {
		if sh.OrderID != o.ID {
			return apierr.NotFound("SHIPMENT", id.String())
		}
		f := ParcelFields{Carrier: sh.Carrier, TrackingNumber: sh.TrackingNumber, Note: sh.Note}
		in.Apply(&f)
		sh.Carrier, sh.TrackingNumber, sh.Note = f.Carrier, f.TrackingNumber, f.Note
		return nil
	}, parcelChanged.Carrying(withOrder{summaryOf(&o)}))
}
