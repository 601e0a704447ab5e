package paper

import (
	"bytes"
	"context"
	"io"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/business/clients"
	"github.com/tradegrid/tradegrid/services/business/invoices"
	"github.com/tradegrid/tradegrid/services/business/orders"
	"github.com/tradegrid/tradegrid/services/business/purchases"
	"github.com/tradegrid/tradegrid/services/business/sales"
	"github.com/tradegrid/tradegrid/services/business/suppliers"
	"github.com/tradegrid/tradegrid/services/business/transfers"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// document is a kind of document: the line by which its page exists.
type document struct {
	records, name    string // of the address
	area             web.Area
	scope, component string
	write            func(ctx context.Context, q *web.Request, w Writer, ids []uuid.UUID) ([]Sheet, error)
}

func documents() []document {
	ofOrders := func(name string, write func(context.Context, *web.Request, Writer, []uuid.UUID) ([]Sheet, error)) document {
		return document{records: "orders", name: name, area: web.Orders, scope: "orders", component: "orders", write: write}
	}
	return []document{
		ofOrders("confirmation", each(func(ctx context.Context, q *web.Request, w Writer, id uuid.UUID) (Sheet, error) {
			return ofOrder(ctx, q, id, w.Confirmation)
		})),
		ofOrders("delivery-note", each(func(ctx context.Context, q *web.Request, w Writer, id uuid.UUID) (Sheet, error) {
			return ofOrder(ctx, q, id, w.DeliveryNote)
		})),
		ofOrders("receipt", each(orderReceipt)),
		ofOrders("pick-list", pickList),
		{records: "invoices", name: "invoice", area: web.Orders, scope: "orders", component: "orders", write: each(invoice)},
		{records: "sales", name: "receipt", area: web.Sales, scope: "sales", component: "cashier", write: each(receipt)},
		{records: "shifts", name: "report", area: web.Sales, scope: "sales", component: "cashier", write: each(shiftReport)},
		{records: "purchase-orders", name: "order", area: web.Warehouse, scope: "warehouse", component: "warehouse", write: each(purchaseOrder)},
		{records: "transfers", name: "list", area: web.Warehouse, scope: "warehouse", component: "warehouse", write: each(transferList)},
	}
}

// each writes one sheet for each record.
func each(write func(context.Context, *web.Request, Writer, uuid.UUID) (Sheet, error)) func(context.Context, *web.Request, Writer, []uuid.UUID) ([]Sheet, error) {
	return func(ctx context.Context, q *web.Request, w Writer, ids []uuid.UUID) (sheets []Sheet, err error) {
		for _, id := range ids {
			s, err := write(ctx, q, w, id)
			if err != nil {
				return nil, err
			}
			sheets = append(sheets, s)
		}
		return sheets, nil
	}
}

// ofOrder writes a document of an order for its client, who is not named to those who may not see clients.
func ofOrder(ctx context.Context, q *web.Request, id uuid.UUID, write func(orders.Order, *clients.Client) Sheet) (Sheet, error) {
	o, err := web.Call[orders.Order](ctx, q, "getOrder", web.ByID(id))
	if err != nil || o.CustomerID == nil || !q.MayCall("getClient") {
		return write(o, nil), err
	}
	c, err := web.Call[clients.Client](ctx, q, "getClient", web.ByID(*o.CustomerID))
	if web.Refused(err) {
		return write(o, nil), nil // the client was removed
	}
	return write(o, &c), err
}

func orderReceipt(ctx context.Context, q *web.Request, w Writer, id uuid.UUID) (Sheet, error) {
	o, err := web.Call[orders.Order](ctx, q, "getOrder", web.ByID(id))
	if err != nil {
		return Sheet{}, err
	}
	in := web.ByID(id)
	in.Query = web.Query(orders.PaymentFilter{Params: list.Params{PageSize: 50}})
	paid, err := web.Call[*list.Page[orders.PaymentItem]](ctx, q, "listOrderPayments", in)
	if err != nil {
		return Sheet{}, err
	}
	payments := make([]orders.Payment, len(paid.Items))
	for i, p := range paid.Items {
		payments[i] = p.Payment
	}
	return w.OrderReceipt(o, payments), nil
}

func invoice(ctx context.Context, q *web.Request, w Writer, id uuid.UUID) (Sheet, error) {
	i, err := web.Call[invoices.Invoice](ctx, q, "getInvoice", web.ByID(id))
	if err != nil {
		return Sheet{}, err
	}
	return w.Invoice(i), nil
}

func pickList(ctx context.Context, q *web.Request, w Writer, ids []uuid.UUID) ([]Sheet, error) {
	all := make([]orders.Order, len(ids))
	for i, id := range ids {
		var err error
		if all[i], err = web.Call[orders.Order](ctx, q, "getOrder", web.ByID(id)); err != nil {
			return nil, err
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	return []Sheet{w.PickList(all)}, nil
}

func receipt(ctx context.Context, q *web.Request, w Writer, id uuid.UUID) (Sheet, error) {
	v, err := web.Call[sales.Sale](ctx, q, "getSale", web.ByID(id))
	if err != nil {
		return Sheet{}, err
	}
	return w.Receipt(v), nil
}

func shiftReport(ctx context.Context, q *web.Request, w Writer, id uuid.UUID) (Sheet, error) {
	v, err := web.Call[sales.Shift](ctx, q, "getShift", web.ByID(id))
	if err != nil {
		return Sheet{}, err
	}
	return w.ShiftReport(v), nil
}

func purchaseOrder(ctx context.Context, q *web.Request, w Writer, id uuid.UUID) (Sheet, error) {
	o, err := web.Call[purchases.Order](ctx, q, "getPurchaseOrder", web.ByID(id))
	if err != nil {
		return Sheet{}, err
	}
	s, err := web.Call[suppliers.Supplier](ctx, q, "getSupplier", web.ByID(o.SupplierID))
	if web.Refused(err) {
		return w.PurchaseOrder(o, nil), nil // the supplier was removed
	}
	return w.PurchaseOrder(o, &s), err
}

func transferList(ctx context.Context, q *web.Request, w Writer, id uuid.UUID) (Sheet, error) {
	t, err := web.Call[transfers.Transfer](ctx, q, "getTransfer", web.ByID(id))
	if err != nil {
		return Sheet{}, err
	}
	return w.TransferList(t), nil
}

type sheetsPage struct {
	Header web.Header
	Note   *web.Note
	Sheets []Sheet
}

// asPDF begins the choice of the file in the address.
const asPDF = "pdf"

// show is the page of a kind of document, or its PDF.
func (pages *Pages) show(d document) web.Handler {
	return func(ctx context.Context, q *web.Request) (web.Answer, error) {
		ids, more := recordsIn(q)
		file := q.Form.Get("format") == asPDF && len(ids) > 0
		w, err := pages.writer(ctx, q, file)
		if err != nil {
			return web.Answer{}, err
		}
		sheets, err := d.write(ctx, q, w, ids)
		if err != nil {
			return web.Answer{}, err
		}
		p := sheetsPage{Header: web.Header{Title: q.T("paper.doc." + d.records + "." + d.name), Crumbs: []web.Link{{Text: q.Named("resource."+d.records, d.records), Href: q.Path("/" + d.records)}}}, Sheets: sheets}
		switch {
		case len(ids) == 0:
			p.Note = &web.Note{Kind: web.Info, Title: q.T("paper.none"), Text: q.T("paper.none.text")}
		case tooLong(sheets):
			p.Sheets, p.Note = nil, &web.Note{Kind: web.Warn, Title: q.T("paper.long"), Text: q.T("paper.long.text", maxRows)}
		case file:
			raw, err := PDF(sheets[0].Title, sheets, q.Now)
			return sent(sheets[0].Title, raw), err
		default:
			p.Header.Print = q.T("paper.print")
			p.Header.Links = []web.Link{{Text: q.T("paper.pdf"), Href: web.With(q.HTTP.URL.Path, "ids", q.Form.Get("ids"), "format", asPDF)}}
		}
		if more {
			p.Note = &web.Note{Kind: web.Warn, Title: q.T("paper.many", maxRecords)}
		}
		return web.Show("paper/sheets", p.Header.Title, p), nil
	}
}

// tooLong reports whether there is too much for one request.
func tooLong(sheets []Sheet) bool {
	rows := 0
	for _, s := range sheets {
		rows += len(s.Rows)
	}
	return rows > maxRows
}

// sent answers with a PDF.
func sent(title string, raw []byte) web.Answer {
	return web.Send(httpapi.File{Media: "application/pdf", Name: title + ".pdf", Size: int64(len(raw)), Body: io.NopCloser(bytes.NewReader(raw))})
}
