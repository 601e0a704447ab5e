package sales

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/httpapi"
)

// Register adds the operations on sales and shifts.
func (s *Service) Register(api *httpapi.API) {
	r := group.On(api, s.cfg.DB)
	httpapi.List(r, "/sales", "listSales", "List sales and refunds", s.List)
	httpapi.ChangeTogether(r, "/sales", "createSale", "Create a sale", s.httpCreate, httpapi.Answers(http.StatusCreated))
	httpapi.Upsert(r, "/sales", "upsertSale", "Create a sale by its external id, or update what identifies it",
		httpapi.Upserts[Input, ChangeFields, Sale]{Find: table.FindExternal, Together: s.Create, Update: s.Update})
	httpapi.Get(r, "/sales/{id}", "getSale", "Read a sale", s.Get)
	httpapi.Update(r, "/sales/{id}", "updateSale", "Update what identifies a sale in other systems", s.Update)
	httpapi.ChangeTogether(r, "/sales/{id}/refund", "refundSale", "Refund a sale", s.httpRefund)
	httpapi.List(r, "/shifts", "listShifts", "List shifts", s.Shifts)
	httpapi.Create(r, "/shifts/open", "openShift", "Open a shift", s.OpenShift, httpapi.Records("/shifts"))
	// A fixed path comes before {id}, which would match it.
	httpapi.Read(r, "/shifts/current", "getCurrentShift", "Read the open shift of the caller", s.CurrentShift)
	httpapi.Get(r, "/shifts/{id}", "getShift", "Read a shift", s.Shift)
	httpapi.CommandWith(r, "/shifts/{id}/close", "closeShift", "Close a shift", s.CloseShift)
}

type createRequest struct {
	httpapi.Call
	Body Input `body:"input"`
}

func (s *Service) httpCreate(ctx context.Context, in *createRequest, store func(*db.Tx, Sale, json.RawMessage) error, opts ...db.Option) error {
	_, err := s.Create(ctx, in.Caller, in.Body, store, opts...)
	return err
}

func (s *Service) httpRefund(ctx context.Context, in *httpapi.ByID, store func(*db.Tx, Sale, json.RawMessage) error, opts ...db.Option) error {
	_, err := s.Refund(ctx, in.Caller, in.ID, store, opts...)
	return err
}
