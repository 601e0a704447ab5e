package orders

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/httpapi"
)

// Register adds the operations on orders.
func (s *Service) Register(api *httpapi.API) {
	r := group.On(api, s.cfg.DB)
	httpapi.List(r, "/orders", "listOrders", "List orders", s.List)
	httpapi.ChangeTogether(r, "/orders", "createOrder", "Create an order", s.httpCreate, httpapi.Answers(http.StatusCreated))
	httpapi.Upsert(r, "/orders", "upsertOrder", "Create or update an order by its external id",
		httpapi.Upserts[Input, Fields, Order]{Find: table.FindExternal, Together: s.Create, Update: s.Update})
	httpapi.View(r, "POST /orders/preview", "previewOrder", "Preview an order", s.httpPreview)
	httpapi.Get(r, "/orders/{id}", "getOrder", "Read an order", s.Get)
	httpapi.Update(r, "/orders/{id}", "updateOrder", "Update an order", s.Update)
	httpapi.Get(r, "/orders/{id}/history", "getOrderHistory", "List the changes of an order", s.History)
	httpapi.Change(r, "/orders/{id}/status/{next}", "moveOrder", "Move an order to another status", s.httpMove)
	httpapi.Change(r, "/orders/{id}/delivery-status/{next}", "moveOrderDelivery", "Move the delivery of an order to another status", s.httpMoveDelivery)
	httpapi.Get(r, "/orders/{id}/shipments", "listShipments", "List the shipments of an order", s.Shipments)
	httpapi.GetIn(r, "/orders/{id}/shipments/{shipmentId}", "getShipment", "Read a shipment of an order", s.Shipment)

	// Shipments depend on nothing but rows that they lock: the order, the counter, and stock. At SERIALIZABLE all that wait for
	// the counter would have to start again.
	locked := group.On(api, s.cfg.DB, db.ReadCommitted())
	httpapi.CreateIn(locked, "/orders/{id}/shipments", "createShipment", "Create a shipment of an order", s.Ship)
	httpapi.Change(locked, "/orders/{id}/shipments/{shipmentId}/cancel", "cancelShipment", "Cancel a shipment of an order", s.httpCancelShipment)
}

type inputRequest struct {
	httpapi.Call
	Body Input `body:"input"`
}

func (s *Service) httpCreate(ctx context.Context, in *inputRequest, store func(*db.Tx, Order, json.RawMessage) error, opts ...db.Option) error {
	_, err := s.Create(ctx, in.Caller, in.Body, store, opts...)
	return err
}

func (s *Service) httpPreview(ctx context.Context, in *inputRequest) (Preview, error) {
	return s.Preview(ctx, in.Caller, in.Body)
}

type moveRequest struct {
	httpapi.ByID
	Next string `path:"next" enum:"new,confirmed,in_progress,ready,completed,cancelled"`
}

func (s *Service) httpMove(ctx context.Context, tx *db.Tx, in *moveRequest) (Order, error) {
	return s.Move(ctx, tx, in.Caller, in.ID, in.Next)
}

type moveDeliveryRequest struct {
	httpapi.ByID
	Next string `path:"next" enum:"pending,packing,shipped,delivered,returned"`
}

func (s *Service) httpMoveDelivery(ctx context.Context, tx *db.Tx, in *moveDeliveryRequest) (Order, error) {
	return s.MoveDelivery(ctx, tx, in.Caller, in.ID, in.Next)
}

func (s *Service) httpCancelShipment(ctx context.Context, tx *db.Tx, in *httpapi.ByChild) (Shipment, error) {
	return s.CancelShipment(ctx, tx, in.Caller, in.ID, in.Child)
}
