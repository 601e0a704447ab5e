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
	r := group.On(api, s.db)
	httpapi.List(r, "/sales", "listSales", "List sales and refunds", s.List)
	httpapi.Register(api, group.Op(http.MethodPost, "/sales", "createSale", "Sell", http.StatusCreated).InOneTx(), s.httpCreate)
	httpapi.Get(r, "/sales/{id}", "getSale", "Read a sale", s.Get)
	httpapi.Register(api, group.Op(http.MethodPost, "/sales/{id}/refund", "refundSale", "Refund a whole sale", http.StatusOK).InOneTx(), s.httpRefund)
	httpapi.List(r, "/shifts", "listShifts", "List shifts", s.Shifts)
	httpapi.Create(r, "/shifts/open", "openShift", "Open a shift", s.OpenShift, httpapi.Records("/shifts"))
	// A fixed path comes before {id}, which would match it.
	httpapi.Read(r, "/shifts/current", "getCurrentShift", "Read the open shift of the token", s.CurrentShift)
	httpapi.Get(r, "/shifts/{id}", "getShift", "Read a shift", s.Shift)
	httpapi.CommandWith(r, "/shifts/{id}/close", "closeShift", "Close a shift", s.CloseShift)
}

type createRequest struct {
	httpapi.Call
	Body Input `body:"input"`
}

func (s *Service) httpCreate(ctx context.Context, in *createRequest) (*httpapi.Reply[Sale], error) {
	return answer(&in.Call, func(keep Keep) error {
		_, err := s.Create(ctx, in.Caller, in.Body, keep, in.TxOptions()...)
		return err
	})
}

func (s *Service) httpRefund(ctx context.Context, in *httpapi.ByID) (*httpapi.Reply[Sale], error) {
	return answer(&in.Call, func(keep Keep) error {
		_, err := s.Refund(ctx, in.Caller, in.ID, keep, in.TxOptions()...)
		return err
	})
}

// answer stores the response in the transaction that the document shares with others of its company.
func answer(call *httpapi.Call, change func(keep Keep) error) (reply *httpapi.Reply[Sale], err error) {
	err = change(func(tx *db.Tx, v Sale, raw json.RawMessage) (err error) {
		reply, err = httpapi.StoreResponseJSON(tx, call, v, raw)
		return err
	})
	if err != nil {
		return nil, err
	}
	call.Committed()
	return reply, nil
}
