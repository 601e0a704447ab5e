package orders

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
)

// Register adds the operations on orders.
func (s *Service) Register(api *httpapi.API) {
	r := group.On(api, s.cfg.DB)
	httpapi.List(r, "/orders", "listOrders", "List orders", s.List,
		httpapi.Doc("Newest first and without lines, which `include=lines` adds; amounts are whole minor units."))
	httpapi.Rows(r, "/orders", resource.WithLines(s.cfg.DB, orderLines, s.List, lineRow), lineitem.IncludeCosts)
	httpapi.ChangeTogether(r, "/orders", "createOrder", "Create an order", s.httpCreate, httpapi.Answers(http.StatusCreated),
		httpapi.Doc("Prices, discount and totals are calculated here in minor units, the next number is taken without gaps, and stock is reserved at once. "+
			"Fails with `VALIDATION_ERROR` for lines that break a rule of the product, and with `ORDER_EXTERNAL_ID_TAKEN`, `CLIENT_ARCHIVED`, `CATALOG_ITEM_HIDDEN`, `PRODUCT_VARIANT_REQUIRED`, `ORDER_OVERPAID`, `STOCK_INSUFFICIENT` or, without a warehouse for stocked lines, `WAREHOUSE_NOT_FOUND`."))
	httpapi.Upsert(r, "/orders", "upsertOrder", "Create or update an order by its external id",
		httpapi.Upserts[Input, Fields, Order]{Find: table.FindExternal, Together: s.Create, Update: s.Update},
		httpapi.Doc("Creates the order (201), or changes the fields of the body that differ (200); if none differs, there is no new version and no event. "+
			"Fails as creation and change do: with `ORDER_ITEMS_LOCKED` or `ORDER_FINALIZED` for fields that the status locks, `ORDER_HAS_SHIPMENTS`, `ORDER_OVERPAID` or `STOCK_INSUFFICIENT`."))
	httpapi.View(r, "POST /orders/preview", "previewOrder", "Preview an order", s.httpPreview,
		httpapi.Doc("Calculates an order as its creation would, with prices, discount and totals in minor units, and stores nothing; it has no id and no number. "+
			"Fails as the creation does, for example with `CATALOG_ITEM_HIDDEN` or `PRODUCT_VARIANT_REQUIRED`; stock and the credit limit are not looked at."))
	httpapi.Batch(r, "/orders/changes/batch", "batchOrderChanges", "Move and assign up to 1 000 orders", httpapi.Writes[BatchChange, Order]{Create: s.changeOne, Created: http.StatusOK, Resource: "order-changes"},
		httpapi.Doc("Items are carried out in their order, and one that fails does not affect the others; each assigns its order, moves it to another status, or both, and the answer is 200 with a result for each item, or for more than 200 items 202 with a job. "+
			"The whole request fails with `VALIDATION_ERROR` if the list itself is wrong, and with `JOB_LIMIT_REACHED`; items fail alone, for example with `ORDER_STATUS_TRANSITION_INVALID`, `STOCK_INSUFFICIENT` or `USER_NOT_FOUND`."))
	httpapi.Sums(r, "/orders/sums", "sumOrders", "Add up orders", s.AddUp,
		httpapi.Doc("Counts and adds up all orders that the filters of `listOrders` select, cancelled ones included unless `status` leaves them out, in minor units; parameters of the page and the order change nothing. "+
			"Fails with `VALIDATION_ERROR` for a filter that does not fit, and with `QUERY_TOO_EXPENSIVE` if it takes longer than a second."))
	httpapi.GetWith(r, "/orders/{id}", "getOrder", "Read an order", s.Get,
		httpapi.Doc("The whole order with its lines; `allowedTransitions` lists the statuses that it can move to. "+
			"Fails with `ORDER_NOT_FOUND`, and with `AUTH_API_SCOPE_INSUFFICIENT` for `include=costs` without the scope `catalog:read`."))
	httpapi.Update(r, "/orders/{id}", "updateOrder", "Update an order", s.Update,
		httpapi.Doc("Fields that are not sent stay; `items` replaces all lines, of which those of the same item keep their price unless one is sent or `reprice` is true, and `prepaidAmount` is the sum of all payments so far. "+
			"Fails with `ORDER_NOT_FOUND`, `ORDER_ITEMS_LOCKED`, `ORDER_FINALIZED`, `ORDER_HAS_SHIPMENTS`, `ORDER_OVERPAID`, `ORDER_EXTERNAL_ID_TAKEN`, `ORDER_DELIVERY_TRANSITION_INVALID`, `CLIENT_ARCHIVED`, `CATALOG_ITEM_HIDDEN` or `STOCK_INSUFFICIENT`."))
	httpapi.ChangePrepared(r, "/orders/{id}/mails", "mailOrder", "Send a document of an order by e-mail", s.prepareMail, s.mail, httpapi.Discreet,
		httpapi.Answers(http.StatusAccepted), httpapi.Records("/orders"),
		httpapi.Doc("Sends the document as PDF to `email`, or else to `customerEmail` of the order, in the language of the company; the history of the order tells what was sent to whom. "+
			"Fails with `ORDER_NOT_FOUND`, with `VALIDATION_ERROR` if there is no address, and with `MAIL_LIMIT_REACHED` after 500 documents of a company in 24 hours."))
	httpapi.Get(r, "/orders/{id}/history", "getOrderHistory", "List the changes of an order", s.History,
		httpapi.Doc("Each entry names a field of the order with its value before and after and who changed it, oldest first. "+
			"Fails with `ORDER_NOT_FOUND`."))
	httpapi.Change(r, "/orders/{id}/status/{next}", "moveOrder", "Move an order to another status", s.httpMove,
		httpapi.Doc("The status table of the reference says which moves exist; `completed` takes the rest from stock and charges the client, `cancelled` releases the reserve and keeps the `reason` of the body. "+
			"Fails with `ORDER_NOT_FOUND`, `ORDER_STATUS_TRANSITION_INVALID` also for a move to the current status, `CREDIT_LIMIT_EXCEEDED`, `ORDER_HAS_SHIPMENTS`, `STOCK_INSUFFICIENT`, `WAREHOUSE_DELETED` or `CLIENT_BALANCE_OUT_OF_RANGE`."))
	httpapi.Change(r, "/orders/{id}/delivery-status/{next}", "moveOrderDelivery", "Move the delivery of an order to another status", s.httpMoveDelivery,
		httpapi.Doc("Moves `deliveryStatus` and leaves the status of the order alone; `returned` puts back on stock what shipments took. "+
			"Fails with `ORDER_NOT_FOUND`, `ORDER_DELIVERY_TRANSITION_INVALID` also for a move to the current status, `ORDER_CANCELLED` or `WAREHOUSE_DELETED`."))
	httpapi.Get(r, "/orders/{id}/shipments", "listShipments", "List the shipments of an order", s.Shipments,
		httpapi.Doc("All shipments of the order with their lines, cancelled ones included, in an array without pages. "+
			"Fails with `ORDER_NOT_FOUND`."))
	httpapi.List(r, "/shipments", "listAllShipments", "List the shipments of all orders", s.AllShipments,
		httpapi.Doc("Newest first, cancelled ones included; `updatedSince` reads on from the run before, `trackingNumber` finds one exactly and `search` by a part of it or of the carrier."))
	httpapi.UpdateIn(r, "/orders/{id}/shipments/{shipmentId}", "updateShipment", "Update the carrier and the tracking number of a shipment", s.UpdateShipment,
		httpapi.Doc("Changes `carrier`, `trackingNumber` and `note`, which a carrier gives after the goods have left, also of a shipment that is cancelled or of a completed order; what was shipped stays. "+
			"Fails with `ORDER_NOT_FOUND`, and with `SHIPMENT_NOT_FOUND` also for a shipment of another order."))
	httpapi.GetIn(r, "/orders/{id}/shipments/{shipmentId}", "getShipment", "Read a shipment of an order", s.Shipment,
		httpapi.Doc("The note of goods that left a warehouse, with its own number and the quantities of each line. "+
			"Fails with `ORDER_NOT_FOUND` or `SHIPMENT_NOT_FOUND`."))

	// Shipments and payments depend on nothing but rows that they lock: the order, the counter, stock, the payment. At SERIALIZABLE
	// all that wait for the counter or the order would have to start again.
	locked := group.On(api, s.cfg.DB, db.ReadCommitted())
	httpapi.CreateIn(locked, "/orders/{id}/shipments", "createShipment", "Create a shipment of an order", s.Ship,
		httpapi.Doc("Takes the goods from stock at once; without `items` it has everything that is not shipped yet, and the delivery becomes `shipped`. "+
			"Fails with `ORDER_NOT_FOUND`, `ORDER_LINE_NOT_FOUND`, `ORDER_CANCELLED`, `SHIPMENT_NOTHING_TO_SHIP`, `SHIPMENT_QTY_EXCEEDED`, `ORDER_DELIVERY_TRANSITION_INVALID`, `STOCK_INSUFFICIENT` or `WAREHOUSE_DELETED`."))
	httpapi.Change(locked, "/orders/{id}/shipments/{shipmentId}/cancel", "cancelShipment", "Cancel a shipment of an order", s.httpCancelShipment,
		httpapi.Doc("Puts the goods back where they came from and reserves them again unless the order is completed; the shipment stays on record as `cancelled`. "+
			"Fails with `SHIPMENT_NOT_FOUND`, `SHIPMENT_ALREADY_CANCELLED`, `WAREHOUSE_DELETED`, or `ORDER_DELIVERY_TRANSITION_INVALID` after the delivery was returned."))
	httpapi.CommandWith(locked, "/orders/{id}/cancel-unshipped", "cancelUnshipped", "Cancel what is not shipped of an order", s.Drop,
		httpapi.Doc("Takes the quantities out of the lines of an unfinished order, without `items` all that is not shipped; lines of which nothing is left go, amounts and the reserve follow. "+
			"Fails with `ORDER_NOT_FOUND`, `ORDER_LINE_NOT_FOUND`, `ORDER_CANCELLED`, `SHIPMENT_NOTHING_TO_SHIP`, `SHIPMENT_QTY_EXCEEDED`, `ORDER_WOULD_BE_EMPTY`, `ORDER_OVERPAID` and `ORDER_HAS_RETURNS`."))
	s.registerPayments(r, locked)
	s.registerReturns(r, locked)
}

func (s *Service) registerReturns(r, locked *httpapi.Routes) {
	httpapi.List(r, "/returns", "listReturns", "List the returns of all orders", s.AllReturns,
		httpapi.Doc("The latest by `returnedAt` first, cancelled ones included and without lines; the export `returns` has the same filters. "+
			"Fails with `VALIDATION_ERROR` for a filter or cursor that does not fit, and with `QUERY_TOO_EXPENSIVE` if a page takes longer than a second."))
	httpapi.Rows(r, "/returns", s.returnRows)
	httpapi.ListIn(r, "/orders/{id}/returns", "listOrderReturns", "List the returns of an order", s.Returns,
		httpapi.Doc("The returns of one order, the latest by `returnedAt` first, cancelled ones included and without lines; the totals of those that are posted add up to `returnedAmount` of the order. "+
			"Fails with `ORDER_NOT_FOUND`, and with `VALIDATION_ERROR` for a filter that does not fit."))
	httpapi.GetIn(r, "/orders/{id}/returns/{returnId}", "getOrderReturn", "Read a return of an order", s.ReadReturn,
		httpapi.Doc("The return with its lines, the amount of each and whether it went back on stock. "+
			"Fails with `ORDER_NOT_FOUND` or `RETURN_NOT_FOUND`, also for a return of another order."))
	httpapi.CreateIn(locked, "/orders/{id}/returns", "createOrderReturn", "Create a return of an order", s.Return,
		httpapi.Doc("Records goods that came back, without `items` all that the client has: `returnedAmount`, `payable`, `amountDue` and the client's balance follow, goods go back on stock unless `restock` is false, and `refunds` return money of payments. "+
			"Fails with `ORDER_NOT_FOUND`, `ORDER_LINE_NOT_FOUND`, `ORDER_CANCELLED`, `RETURN_NOTHING_TO_RETURN`, `RETURN_QTY_EXCEEDED`, `RETURN_AMOUNT_EXCEEDED`, `RETURN_EXTERNAL_ID_TAKEN`, `WAREHOUSE_DELETED`, `PAYMENT_NOT_FOUND`, `PAYMENT_REFUND_EXCEEDED` or `PAYMENT_ALREADY_REFUNDED`."))
	httpapi.Change(locked, "/orders/{id}/returns/{returnId}/cancel", "cancelOrderReturn", "Cancel a return of an order", s.httpCancelReturn,
		httpapi.Doc("The order costs what it did before, and what the return put on stock leaves it again; refunds stay, and the return stays on record as `cancelled`. "+
			"Fails with `ORDER_NOT_FOUND`, `RETURN_NOT_FOUND`, `RETURN_ALREADY_CANCELLED`, `ORDER_CANCELLED`, `STOCK_INSUFFICIENT` or `WAREHOUSE_DELETED`."))
}

func (s *Service) httpCancelReturn(ctx context.Context, tx *db.Tx, in *httpapi.ByChild) (Return, error) {
	return s.CancelReturn(ctx, tx, in.Caller, in.ID, in.Child)
}

func (s *Service) registerPayments(r, locked *httpapi.Routes) {
	httpapi.List(r, "/payments", "listPayments", "List the payments of all orders", s.AllPayments,
		httpapi.Doc("Payments and refunds, the latest by `paidAt` first; `paidFrom` and `paidTo` select a month, whose days begin in UTC, and the export `payments` has the same filters. "+
			"Fails with `VALIDATION_ERROR` for a filter or cursor that does not fit, and with `QUERY_TOO_EXPENSIVE` if a page takes longer than a second."))
	httpapi.ListIn(r, "/orders/{id}/payments", "listOrderPayments", "List the payments of an order", s.Payments,
		httpapi.Doc("Payments and refunds of one order, the latest by `paidAt` first; their sum, with refunds negative, is `prepaidAmount` of the order. "+
			"Fails with `ORDER_NOT_FOUND`, and with `VALIDATION_ERROR` for a filter that does not fit."))
	httpapi.GetIn(r, "/orders/{id}/payments/{paymentId}", "getOrderPayment", "Read a payment of an order", s.Payment,
		httpapi.Doc("One payment or refund; `refundedAmount` tells what was refunded of a payment. "+
			"Fails with `ORDER_NOT_FOUND` or `PAYMENT_NOT_FOUND`, also for a payment of another order."))
	httpapi.CreateIn(locked, "/orders/{id}/payments", "createOrderPayment", "Record a payment of an order", s.Pay,
		httpapi.Doc("Records money that came in, whatever the status of the order; `prepaidAmount`, `paymentStatus` and the client's balance follow. "+
			"Fails with `ORDER_NOT_FOUND`, `ORDER_OVERPAID` above what is due, `PAYMENT_EXTERNAL_ID_TAKEN` looked at first and with the other one in `meta.id`, or `CLIENT_BALANCE_OUT_OF_RANGE`."))
	httpapi.UpsertIn(locked, "/orders/{id}/payments", "upsertOrderPayment", "Record a payment of an order by its external id",
		httpapi.UpsertsIn[PaymentInput, PaymentChange, Payment]{Find: findPayment, Create: s.Pay, Update: s.told},
		httpapi.Doc("Records the payment (201), or answers with the one that was recorded before (200), whatever is due by now: payments do not change, so the fields of the body are then named in `X-Ignored-Fields`. "+
			"Fails as the recording does, and with `PAYMENT_EXTERNAL_ID_TAKEN` if the external id is that of a payment of another order."))
	httpapi.Change(locked, "/orders/{id}/payments/{paymentId}/refund", "refundOrderPayment", "Refund a payment of an order", s.httpRefund,
		httpapi.Answers(http.StatusCreated), httpapi.Records("/orders/{id}/payments"),
		httpapi.Doc("Records that money of a payment went back, all that is left of it or a part, whatever the status of the order; the answer is the refund. "+
			"Fails with `ORDER_NOT_FOUND`, `PAYMENT_NOT_FOUND`, `PAYMENT_REFUND_EXCEEDED` above what is left, `PAYMENT_ALREADY_REFUNDED` if nothing is, `PAYMENT_IS_REFUND` or `PAYMENT_EXTERNAL_ID_TAKEN`."))
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
	Next string    `path:"next" enum:"new,confirmed,in_progress,ready,completed,cancelled"`
	Body MoveInput `body:"command"`
}

func (s *Service) httpMove(ctx context.Context, tx *db.Tx, in *moveRequest) (Order, error) {
	return s.Move(ctx, tx, in.Caller, in.ID, in.Next, in.Body)
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

type refundRequest struct {
	httpapi.ByChild
	Body RefundInput `body:"command"`
}

func (s *Service) httpRefund(ctx context.Context, tx *db.Tx, in *refundRequest) (Payment, error) {
	return s.Refund(ctx, tx, in.Caller, in.ID, in.Child, in.Body)
}
