package invoices_test

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/numbering"
	"github.com/tradegrid/tradegrid/pkg/store/ownermail"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/codes"
	"github.com/tradegrid/tradegrid/services/business/document"
	"github.com/tradegrid/tradegrid/services/business/invoices"
	"github.com/tradegrid/tradegrid/services/business/orders"
	"github.com/tradegrid/tradegrid/services/business/trade"
	"github.com/tradegrid/tradegrid/services/business/trade/tradetest"
	"github.com/tradegrid/tradegrid/services/business/warehouse"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

type object = map[string]any

// neighbours are the other domains: the shop in memory, the warehouse as it is.
type neighbours struct {
	*tradetest.Shop
	*warehouse.Service
	buyers map[uuid.UUID]document.Buyer
}

func (n *neighbours) DocumentClient(_ context.Context, _ db.Querier, _ tenant.ID, id uuid.UUID, _ bool) (trade.Client, bool, error) {
	b, ok := n.buyers[id]
	return trade.Client{ID: id, DisplayName: b.Name, Email: b.Email, PaymentTermsDays: b.PaymentTermsDays}, ok, nil
}

func (n *neighbours) Buyer(_ context.Context, _ db.Querier, _ tenant.ID, id uuid.UUID) (document.Buyer, bool, error) {
	b, ok := n.buyers[id]
	return b, ok, nil
}

func (*neighbours) MatchClient(context.Context, db.Querier, tenant.ID, string, *string, *string) (uuid.UUID, bool, error) {
	return uuid.Nil, false, nil
}

func (*neighbours) Enter(*db.Tx, tenant.ID, uuid.UUID, trade.LedgerEntry) {}

// kit is a fresh company with goods of two tax rates and a client.
type kit struct {
	*apitest.Client
	t                     testing.TB
	d                     *db.DB
	n                     *neighbours
	seller                *invoices.Seller
	wood, bolt, fix, mill uuid.UUID
}

func open(t testing.TB, edit ...func(*access.Principal)) *kit {
	t.Helper()
	d := dbtest.Open(t)
	id := uuid.New
	n := &neighbours{Shop: tradetest.NewShop(), buyers: map[uuid.UUID]document.Buyer{}}
	n.Service = warehouse.New(warehouse.Config{DB: d, Products: n.Shop, Users: n.Shop})
	s := &kit{t: t, d: d, n: n, wood: id(), bolt: id(), fix: id(), mill: id(), seller: &invoices.Seller{Name: "Wheel & Co", Address: new("Lindenweg 4"), TaxID: new("DE 1")}}
	full, low := trade.TaxRate{ID: id(), Percent: 1900}, trade.TaxRate{ID: id(), Percent: 700}
	n.Items[tradetest.Product(s.wood)] = trade.Item{SKU: "W-1", Name: "Wood", Unit: "m", Price: 999, HasStock: true, Tax: &full}
	n.Items[tradetest.Product(s.bolt)] = trade.Item{SKU: "B-1", Name: "Bolt", Unit: "pcs", Price: 37, HasStock: true, Tax: &low}
	n.Items[trade.ItemRef{Kind: trade.KindService, ID: s.fix}] = trade.Item{SKU: "F-1", Name: "Repair", Unit: "h", Price: 3001}
	n.buyers[s.mill] = document.Buyer{Name: "North Mill Ltd", Address: new("Mill Lane 1"), INN: new("7701"), Email: new("books@mill.example"), PaymentTermsDays: new(int32(14))}
	o := orders.New(orders.Config{
		DB: d, Numbers: numbering.New(numbering.Config{DB: d}), Catalog: n.Shop, Clients: n, Stock: n.Service, Users: n.Shop, Taxes: n.TaxRates, Channels: codes.Channel, Methods: codes.DeliveryMethod,
	})
	i := invoices.New(invoices.Config{
		DB: d, Orders: o, Clients: n, Users: n.UserNames,
		Seller: func(context.Context, db.Querier, tenant.ID) (invoices.Seller, string, error) {
			return *s.seller, "EUR", nil
		},
		Letter: func(_ context.Context, _ access.Caller, i invoices.Invoice) (ownermail.Notice, error) {
			return ownermail.Notice{Kind: "invoice", Record: i.ID, Subject: "s", Text: "t", File: &ownermail.File{Name: "i.pdf", Media: "application/pdf", Bytes: []byte("pdf")}}, nil
		},
	})
	s.Client = apitest.New(t, d, o.Register, i.Register).Company(edit...)
	require.NoError(t, d.RunTx(t.Context(), "test.warehouse", func(_ context.Context, tx *db.Tx) error {
		n.CreateDefault(tx, s.Principal.Company, uuid.New(), "Depot")
		return nil
	}))
	return s
}

// order places an order of the mill, changed by pairs of field and value.
func (s *kit) order(pairs ...any) object {
	s.t.Helper()
	b := object{"customerId": s.mill, "items": []any{object{"refId": s.wood, "qty": 3, "discountPercent": 5}, object{"refId": s.bolt, "qty": 7.5}}, "deliveryMethod": "courier", "deliveryCost": 490}
	for i := 0; i < len(pairs); i += 2 {
		b[pairs[i].(string)] = pairs[i+1]
	}
	return s.Do(s.t, "POST", "/orders", b).OK(201)
}

func (s *kit) complete(order object) {
	s.t.Helper()
	for _, next := range []string{"in_progress", "completed"} {
		s.Do(s.t, "POST", "/orders/"+order["id"].(string)+"/status/"+next, nil).OK(200)
	}
}

func (s *kit) issue(order object, body ...any) *apitest.Response {
	s.t.Helper()
	return s.Do(s.t, "POST", "/orders/"+order["id"].(string)+"/invoices", append(body, nil)[0])
}

func (s *kit) get(path string) object {
	s.t.Helper()
	return s.Do(s.t, "GET", path, nil).OK(200)
}

func (s *kit) cancel(invoice object) *apitest.Response {
	s.t.Helper()
	return s.Do(s.t, "POST", "/invoices/"+invoice["id"].(string)+"/cancel", object{"reason": " wrong address "})
}

func (s *kit) events(name string) (all []object) {
	s.t.Helper()
	for _, e := range apitest.RaisedBy(s.t, s.d, s.Principal.Company).Of(name) {
		all = append(all, e.Data)
	}
	return all
}

func TestLifeOfAnInvoice(t *testing.T) {
	t.Parallel()
	s := open(t, func(p *access.Principal) { p.Settings.TimeZone = "Europe/Berlin" })
	o := s.order()
	made := s.issue(o, object{"note": " thanks "})
	i := made.OK(201)
	require.Contains(t, made.Header.Get("Location"), "/invoices/"+i["id"].(string))
	zone, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	at, err := time.Parse(time.RFC3339, i["issuedAt"].(string))
	require.NoError(t, err)
	for field, want := range map[string]any{
		"number": 1.0, "kind": "invoice", "status": "issued", "orderId": o["id"], "orderNumber": o["number"], "clientId": s.mill.String(), "buyerName": "North Mill Ltd",
		"currency": "EUR", "note": "thanks", "payable": o["payable"], "total": o["total"], "taxes": o["taxes"], "taxAmount": o["taxAmount"], "subtotal": o["subtotal"],
		"discountAmount": o["discountAmount"], "deliveryCost": 490.0, "returnFees": 0.0, "invoiceId": nil, "creditNoteId": nil, "reason": nil, "version": 1.0,
		"dueDate": at.In(zone).AddDate(0, 0, 14).Format(time.DateOnly),
		"seller":  object{"name": "Wheel & Co", "address": "Lindenweg 4", "contact": nil, "taxId": "DE 1", "bank": nil, "footer": nil},
		"buyer":   object{"name": "North Mill Ltd", "address": "Mill Lane 1", "inn": "7701", "kpp": nil, "email": "books@mill.example"},
	} {
		require.Contains(t, i, field)
		require.Equal(t, want, i[field], field)
	}
	require.Len(t, i["lines"], 2)
	require.Equal(t, i, s.get("/invoices/"+i["id"].(string)))
	require.Equal(t, []object{i}, s.events("invoice.issued"))

	fault := s.issue(o).Fault(409, "INVOICE_EXISTS")
	require.Equal(t, object{"id": i["id"], "number": 1.0}, fault["meta"])

	// What it says stays, whatever becomes of the company, the client and the order.
	s.seller.Name = "Other"
	b := s.n.buyers[s.mill]
	b.Name = "Anonymized client"
	s.n.buyers[s.mill] = b
	s.Do(t, "PATCH", "/orders/"+o["id"].(string), object{"items": []any{object{"refId": s.fix, "kind": "service", "qty": 1}}}).OK(200)
	require.Equal(t, i, s.get("/invoices/"+i["id"].(string)))

	s.Do(t, "POST", "/invoices/"+i["id"].(string)+"/cancel", nil).Fault(400, "VALIDATION_ERROR")
	c := s.cancel(i).OK(200)
	require.Equal(t, []any{"cancelled", 2.0, "wrong address", 2.0}, []any{c["status"], c["version"], c["reason"], c["creditNoteNumber"]})
	require.Equal(t, []object{c}, s.events("invoice.cancelled"))
	note := s.get("/invoices/" + c["creditNoteId"].(string))
	require.Equal(t, note, s.events("invoice.issued")[1])
	require.Equal(t, []any{"credit_note", "issued", 2.0, i["id"], 1.0, "wrong address", nil, nil, nil},
		[]any{note["kind"], note["status"], note["number"], note["invoiceId"], note["invoiceNumber"], note["reason"], note["dueDate"], note["note"], note["creditNoteId"]})
	for _, same := range []string{"seller", "buyer", "lines", "taxes", "total", "payable", "currency", "orderId", "clientId"} {
		require.Equal(t, i[same], note[same], same)
	}
	require.Equal(t, object{"creditNoteId": note["id"], "creditNoteNumber": 2.0}, s.cancel(i).Fault(409, "INVOICE_ALREADY_CANCELLED")["meta"])
	s.cancel(note).Fault(409, "INVOICE_IS_CREDIT_NOTE")
	again := s.issue(o).OK(201)
	require.Equal(t, []any{3.0, 3001.0, "Anonymized client", "Other"}, []any{again["number"], again["total"], again["buyer"].(object)["name"], again["seller"].(object)["name"]})
}

func TestWhatCannotBeInvoiced(t *testing.T) {
	t.Parallel()
	s := open(t, func(p *access.Principal) { p.Settings.BackdateDays = 3 })
	s.issue(object{"id": uuid.NewString()}).Fault(404, "ORDER_NOT_FOUND")
	s.Do(t, "GET", "/invoices/"+uuid.NewString(), nil).Fault(404, "INVOICE_NOT_FOUND")
	s.cancel(object{"id": uuid.NewString()}).Fault(404, "INVOICE_NOT_FOUND")
	gone := s.order()
	s.Do(t, "POST", "/orders/"+gone["id"].(string)+"/status/cancelled", nil).OK(200)
	s.issue(gone).Fault(409, "ORDER_CANCELLED")
	empty := s.order("items", []any{object{"refId": s.fix, "kind": "service", "qty": 1}})
	s.complete(empty)
	s.Do(t, "POST", "/orders/"+empty["id"].(string)+"/returns", nil).OK(201)
	s.issue(empty).Fault(409, "INVOICE_NOTHING_TO_CHARGE")

	o := s.order("customerId", nil, "customerName", "Bo", "customerEmail", "bo@example.com", "payDueAt", "2040-03-01T12:00:00Z")
	day := func(n int) string { return time.Now().UTC().AddDate(0, 0, n).Format(time.DateOnly) }
	for field, bad := range map[string][]any{"issuedAt": {day(1) + "T23:00:00Z", day(-5) + "T00:00:00Z"}, "dueDate": {day(-2), day(4000)}} {
		for _, v := range bad {
			require.Contains(t, s.issue(o, object{field: v}).Fields(), field)
		}
	}
	s.Do(t, "POST", "/orders/"+o["id"].(string)+"/invoices", nil, apitest.Header{"If-Match", `"7"`}).Fault(412, "PRECONDITION_FAILED")
	i := s.issue(o, object{"issuedAt": day(-2) + "T10:00:00Z"}).OK(201)
	require.Equal(t, []any{1.0, day(-2) + "T10:00:00.000Z", "2040-03-01", "Bo"}, []any{i["number"], i["issuedAt"], i["dueDate"], i["buyerName"]}, "what is not issued takes no number")
	require.Equal(t, object{"name": "Bo", "address": nil, "inn": nil, "kpp": nil, "email": "bo@example.com"}, i["buyer"])
}

func TestLists(t *testing.T) {
	t.Parallel()
	s := open(t)
	first, second := s.order(), s.order("customerId", nil)
	i := s.issue(first, object{"note": "Framework contract"}).OK(201)
	s.cancel(s.issue(second).OK(201)).OK(200)
	for query, want := range map[string][]any{
		"sort=number&order=asc": {1.0, 2.0, 3.0}, "sort=issuedAt&order=desc": {3.0, 2.0, 1.0}, "number=2": {2.0}, "kind=credit_note": {3.0}, "status=cancelled": {2.0},
		"status=issued&kind=invoice": {1.0}, "orderId=" + first["id"].(string): {1.0}, "clientId=" + s.mill.String(): {1.0}, "search=MILL": {1.0}, "search=framework": {1.0},
		"issuedFrom=2020-01-01&issuedTo=2099-01-01&order=asc": {1.0, 2.0, 3.0}, "issuedTo=2020-01-01": {}, "search=nobody": {}, "kind=invoice": {2.0, 1.0},
	} {
		got := []any{}
		for _, row := range s.get("/invoices?" + query)["items"].([]any) {
			got = append(got, row.(object)["number"])
		}
		require.Equal(t, want, got, query)
	}
	row := s.get("/invoices?number=1")["items"].([]any)[0].(object)
	for _, parts := range []string{"seller", "buyer", "lines"} {
		require.NotContains(t, row, parts)
		delete(i, parts)
	}
	require.Equal(t, i, row)
}

func TestMails(t *testing.T) {
	t.Parallel()
	s := open(t)
	send := func(i object, body any) *apitest.Response {
		return s.Do(t, "POST", "/invoices/"+i["id"].(string)+"/mails", body)
	}
	send(s.issue(s.order()).OK(201), nil).OK(202)
	nobody := s.issue(s.order("customerId", nil)).OK(201)
	require.Equal(t, map[string]string{"email": "REQUIRED"}, send(nobody, nil).Fields())
	send(nobody, object{"email": "bo@example.com"}).OK(202)
	send(object{"id": uuid.NewString()}, nil).Fault(404, "INVOICE_NOT_FOUND")
}

// Invoices that are issued and cancelled at the same time have the numbers from 1 without a gap, and an order has one at most that is
// not cancelled.
func TestNumbersHaveNoGaps(t *testing.T) {
	t.Parallel()
	const placed = 12
	s := open(t)
	all := make([]object, placed)
	for i := range all {
		all[i] = s.order()
	}
	var wg sync.WaitGroup
	for _, o := range all {
		for range 2 {
			wg.Go(func() {
				if r := s.issue(o); r.Status == 201 {
					s.cancel(r.OK(201))
				}
			})
		}
		wg.Go(func() { s.issue(object{"id": uuid.NewString()}) })
	}
	wg.Wait()
	var numbers []int
	open, notes := map[any]int{}, 0
	for _, row := range s.get("/invoices?sort=number&order=asc&pageSize=100")["items"].([]any) {
		i := row.(object)
		numbers = append(numbers, int(i["number"].(float64)))
		switch {
		case i["kind"] == "credit_note":
			notes++
		case i["status"] == "cancelled":
			notes--
		default:
			open[i["orderId"]]++
		}
	}
	require.GreaterOrEqual(t, len(numbers), placed)
	for i, n := range numbers {
		require.Equal(t, i+1, n, "%v", numbers)
	}
	require.Zero(t, notes, "each cancelled invoice has a credit note")
	for order, n := range open {
		require.Equal(t, 1, n, order)
	}
}

func amount(o object, field string) money.Amount { return money.Amount(o[field].(float64)) }
