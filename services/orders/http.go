package orders

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/httpapi"
	"github.com/tradegrid/tradegrid/pkg/list"
)

// Register adds the operations of orders (specification, section 4).
func (s *Service) Register(api *httpapi.API) {
	section := httpapi.Section{Tag: "Orders", Scope: scope, Component: component}
	httpapi.Register(api, section.Op(http.MethodGet, "/orders", "listOrders", "List orders", 200), s.httpList)
	httpapi.Register(api, section.Op(http.MethodPost, "/orders", "createOrder", "Create an order", 201), s.httpCreate)
	httpapi.Register(api, section.Op(http.MethodPost, "/orders/preview", "previewOrder", "Compute an order without storing it", 200), s.httpPreview)
	httpapi.Register(api, section.Op(http.MethodGet, "/orders/{id}", "getOrder", "Read an order", 200), s.httpGet)
	httpapi.Register(api, section.Op(http.MethodPatch, "/orders/{id}", "updateOrder", "Change an order", 200), s.httpUpdate)
	httpapi.Register(api, section.Op(http.MethodGet, "/orders/{id}/history", "getOrderHistory", "List the changes of an order", 200), s.httpHistory)
	httpapi.Register(api, section.Op(http.MethodPost, "/orders/{id}/status/{next}", "moveOrder", "Move an order to another status", 200), s.httpMove)
}

type listRequest struct {
	httpapi.Call
	Filter
}

func (s *Service) httpList(ctx context.Context, in *listRequest) (*httpapi.Reply[*list.Page[ListItem]], error) {
	return httpapi.Paged(s.List(ctx, in.Company, in.Filter))
}

type createRequest struct {
	httpapi.Call
	Body Input
}

// httpCreate stores the answer in the transaction that the order shares with others of its company.
func (s *Service) httpCreate(ctx context.Context, in *createRequest) (reply *httpapi.Reply[Order], err error) {
	_, err = s.Create(ctx, in.Caller, in.Body, func(tx *db.Tx, o Order, raw json.RawMessage) (err error) {
		reply, err = httpapi.KeepJSON(tx, &in.Call, o, raw)
		return err
	}, in.TxOptions()...)
	if err != nil {
		return nil, err
	}
	in.Committed()
	return reply, nil
}

func (s *Service) httpPreview(ctx context.Context, in *createRequest) (*httpapi.Reply[Preview], error) {
	p, err := s.Preview(ctx, in.Caller, in.Body)
	return httpapi.OK(p), err
}

func (s *Service) httpGet(ctx context.Context, in *httpapi.ByID) (*httpapi.Reply[Order], error) {
	o, err := selectOrder(ctx, s.db, in.Company, in.ID, false)
	return httpapi.OK(o), err
}

type updateRequest struct {
	httpapi.ByID
	Body Patch
}

func (s *Service) httpUpdate(ctx context.Context, in *updateRequest) (*httpapi.Reply[Order], error) {
	return httpapi.Mutate(ctx, s.db, &in.Call, "orders.update", func(ctx context.Context, tx *db.Tx) (Order, error) {
		return s.Update(ctx, tx, in.Caller, in.ID, in.Body)
	})
}

func (s *Service) httpHistory(ctx context.Context, in *httpapi.ByID) (*httpapi.Reply[[]HistoryEntry], error) {
	entries, err := s.History(ctx, in.Company, in.ID)
	return httpapi.OK(entries), err
}

type moveRequest struct {
	httpapi.ByID
	Next string `path:"next" enum:"new,confirmed,in_progress,ready,completed,cancelled"`
}

func (s *Service) httpMove(ctx context.Context, in *moveRequest) (*httpapi.Reply[Order], error) {
	return httpapi.Mutate(ctx, s.db, &in.Call, "orders.move", func(ctx context.Context, tx *db.Tx) (Order, error) {
		return s.Move(ctx, tx, in.Caller, in.ID, in.Next)
	})
}
