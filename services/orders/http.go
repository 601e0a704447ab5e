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
	r := group.On(api, s.db)
	httpapi.List(r, "/orders", "listOrders", "List orders", s.List)
	httpapi.Register(api, group.Op(http.MethodPost, "/orders", "createOrder", "Create an order", http.StatusCreated).InOneTx(), s.httpCreate)
	httpapi.Register(api, group.Op(http.MethodPost, "/orders/preview", "previewOrder", "Preview an order without storing it", http.StatusOK), s.httpPreview)
	httpapi.Get(r, "/orders/{id}", "getOrder", "Read an order", s.Get)
	httpapi.Update(r, "/orders/{id}", "updateOrder", "Change an order", s.Update)
	httpapi.Get(r, "/orders/{id}/history", "getOrderHistory", "List the changes of an order", s.History)
	httpapi.Register(api, group.Op(http.MethodPost, "/orders/{id}/status/{next}", "moveOrder", "Move an order to another status", http.StatusOK).InOneTx(), s.httpMove)
	httpapi.Register(api, group.Op(http.MethodPost, "/orders/{id}/delivery-status/{next}", "moveOrderDelivery", "Move the delivery of an order to another status", http.StatusOK).InOneTx(), s.httpMoveDelivery)
	httpapi.Get(r, "/orders/{id}/shipments", "listShipments", "List the shipments of an order", s.Shipments)
	httpapi.GetIn(r, "/orders/{id}/shipments/{shipmentId}", "getShipment", "Read a shipment of an order", s.Shipment)

	// Shipments depend on nothing but rows that they lock: the order, the counter, and stock. At SERIALIZABLE all that wait for
	// the counter would have to start again.
	locked := group.On(api, s.db, db.ReadCommitted())
	httpapi.CreateIn(locked, "/orders/{id}/shipments", "createShipment", "Post a shipment of an order", s.Ship)
	httpapi.CommandIn(locked, "/orders/{id}/shipments/{shipmentId}/cancel", "cancelShipment", "Cancel a shipment of an order", s.CancelShipment)
}

type inputRequest struct {
	httpapi.Call
	Body Input `body:"input"`
}

// httpCreate stores the response in the transaction that the order shares with others of its company.
func (s *Service) httpCreate(ctx context.Context, in *inputRequest) (reply *httpapi.Reply[Order], err error) {
	_, err = s.Create(ctx, in.Caller, in.Body, func(tx *db.Tx, o Order, raw json.RawMessage) (err error) {
		reply, err = httpapi.StoreResponseJSON(tx, &in.Call, o, raw)
		return err
	}, in.TxOptions()...)
	if err != nil {
		return nil, err
	}
	in.Committed()
	return reply, nil
}

func (s *Service) httpPreview(ctx context.Context, in *inputRequest) (*httpapi.Reply[Preview], error) {
	p, err := s.Preview(ctx, in.Caller, in.Body)
	return httpapi.OK(p), err
}

type moveRequest struct {
	httpapi.ByID
	Next string `path:"next" enum:"new,confirmed,in_progress,ready,completed,cancelled"`
}

func (s *Service) httpMove(ctx context.Context, in *moveRequest) (*httpapi.Reply[Order], error) {
	return httpapi.Mutate(ctx, s.db, &in.Call, "moveOrder", func(ctx context.Context, tx *db.Tx) (Order, error) {
		return s.Move(ctx, tx, in.Caller, in.ID, in.Next)
	})
}

type moveDeliveryRequest struct {
	httpapi.ByID
	Next string `path:"next" enum:"pending,packing,shipped,delivered,returned"`
}

func (s *Service) httpMoveDelivery(ctx context.Context, in *moveDeliveryRequest) (*httpapi.Reply[Order], error) {
	return httpapi.Mutate(ctx, s.db, &in.Call, "moveOrderDelivery", func(ctx context.Context, tx *db.Tx) (Order, error) {
		return s.MoveDelivery(ctx, tx, in.Caller, in.ID, in.Next)
	})
}
