package orders_test

import (
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
)

// order places an order of one item of the price.
func (s *kit) order(price int, pairs ...any) string {
	s.t.Helper()
	items := []any{map[string]any{"kind": "custom", "name": "Work", "unitPrice": price}}
	return s.create(append([]any{"items", items}, pairs...)...)["id"].(string)
}

func (s *kit) pay(order string, body any, headers ...apitest.Header) *apitest.Response {
	s.t.Helper()
	return s.Do(s.t, "POST", "/orders/"+order+"/payments", body, headers...)
}

func (s *kit) refund(order, payment string, body any, headers ...apitest.Header) *apitest.Response {
	s.t.Helper()
	return s.Do(s.t, "POST", "/orders/"+order+"/payments/"+payment+"/refund", body, headers...)
}

// payments are the entries of the list at a path, as "kind amount method", the latest first.
func (s *kit) payments(path string) (all []string) {
	s.t.Helper()
	for _, p := range s.paymentItems(path) {
		all = append(all, fmt.Sprint(p["kind"], " ", p["amount"], " ", p["method"]))
	}
	return all
}

func (s *kit) paymentItems(path string) (all []map[string]any) {
	s.t.Helper()
	for _, p := range s.Do(s.t, "GET", path, nil).OK(200)["items"].([]any) {
		all = append(all, p.(map[string]any))
	}
	return all
}

func TestPaymentsOfAnOrder(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	s.n.Users[s.Principal.Actor] = "Till"
	id := s.order(1000, "customerId", s.bea, "prepaidAmount", 100)
	list := "/orders/" + id + "/payments"
	require.Equal(t, []string{"payment 100 unspecified"}, s.payments(list))

	paidAt := time.Now().Add(-24 * time.Hour).UTC().Format(jsontype.Layout)
	res := s.pay(id, map[string]any{
		"amount": 600, "method": "card", "methodExt": " terminal 2 ", "paidAt": paidAt, "source": "psp", "externalId": "ch_1",
		"reference": "4711", "note": "first half", "metadata": map[string]any{"till": "7"},
	})
	p := res.OK(201)
	require.Equal(t, `"1"`, res.Header.Get("ETag"))
	require.Contains(t, res.Header.Get("Location"), list+"/"+p["id"].(string))
	for field, want := range map[string]any{
		"orderId": id, "kind": "payment", "amount": 600.0, "refundedAmount": 0.0, "refundOfId": nil, "method": "card", "methodExt": "terminal 2", "reason": nil,
		"paidAt": paidAt, "source": "psp", "externalId": "ch_1", "reference": "4711", "note": "first half", "metadata": map[string]any{"till": "7"},
		"createdById": s.Principal.Actor.String(), "companyId": s.Principal.Company.String(),
	} {
		require.Equal(t, want, p[field], field)
	}
	require.Equal(t, p, s.Do(t, "GET", list+"/"+p["id"].(string), nil).OK(200), "what was answered is what is stored")
	s.requirePaid(id, 700, "partial")
	require.EqualValues(t, 700, s.balance(s.bea))

	r := s.refund(id, p["id"].(string), map[string]any{"amount": 250, "reason": "broken", "reference": "R-1"}).OK(201)
	for field, want := range map[string]any{
		"kind": "refund", "amount": 250.0, "refundOfId": p["id"], "method": "card", "methodExt": "terminal 2", "reason": "broken", "reference": "R-1", "externalId": nil,
	} {
		require.Equal(t, want, r[field], field)
	}
	paid := s.Do(t, "GET", list+"/"+p["id"].(string), nil).OK(200)
	require.Equal(t, []any{250.0, 2.0}, []any{paid["refundedAmount"], paid["version"]})
	s.requirePaid(id, 450, "partial")
	rest := s.refund(id, p["id"].(string), map[string]any{"method": "cash"}).OK(201)
	require.Equal(t, []any{350.0, "cash", nil}, []any{rest["amount"], rest["method"], rest["methodExt"]}, "all that is left, by another method")
	s.requirePaid(id, 100, "partial")
	s.refund(id, p["id"].(string), nil).Fault(409, "PAYMENT_ALREADY_REFUNDED")

	s.patch(id, `{"prepaidAmount":0}`).OK(200)
	s.requirePaid(id, 0, "refunded")
	require.EqualValues(t, 0, s.balance(s.bea))
	require.Equal(t, []string{"refund 100 unspecified", "refund 350 cash", "refund 250 card", "payment 100 unspecified", "payment 600 card"}, s.payments(list))
	require.Equal(t, []string{"payment 600 card"}, s.payments(list+"?kind=payment&method=card"))
	for _, item := range s.paymentItems(list) {
		require.Equal(t, []any{1.0, "Till"}, []any{item["orderNumber"], item["createdByName"]})
	}
	require.Equal(t, []string{
		"order.created", "order.payment.created", "order.updated", "order.payment.created", "order.updated", "order.payment.refunded", "order.updated", "order.payment.refunded",
		"order.updated", "order.payment.refunded",
	}, s.events())
}

// requirePaid requires the sum and status of an order's payments, and that its ledger adds up to the sum.
func (s *kit) requirePaid(order string, prepaid float64, status string) {
	s.t.Helper()
	o := s.Do(s.t, "GET", "/orders/"+order, nil).OK(200)
	require.Equal(s.t, []any{prepaid, status}, []any{o["prepaidAmount"], o["paymentStatus"]})
	var sum float64
	for _, p := range s.paymentItems("/orders/" + order + "/payments?pageSize=200") {
		if p["kind"] == "refund" {
			sum -= p["amount"].(float64)
		} else {
			sum += p["amount"].(float64)
		}
	}
	require.Equal(s.t, prepaid, sum, "the ledger adds up")
}

// Payments and refunds are facts: they are recorded in whatever status the order is.
func TestPaymentsInEveryStatus(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	way := map[string][]string{"new": nil, "confirmed": {"confirmed"}, "in_progress": {"in_progress"}, "ready": {"confirmed", "ready"}, "completed": {"in_progress", "completed"}, "cancelled": {"cancelled"}}
	for status, moves := range way {
		id := s.order(1000, "customerId", s.bea)
		for _, next := range moves {
			s.move(id, next).OK(200)
		}
		before := s.balance(s.bea)
		p := s.pay(id, `{"amount":1000,"method":"transfer"}`).OK(201)
		s.requirePaid(id, 1000, "paid")
		require.Equal(t, status, s.Do(t, "GET", "/orders/"+id, nil).OK(200)["status"])
		require.EqualValues(t, before+1000, s.balance(s.bea))
		s.refund(id, p["id"].(string), nil).OK(201)
		s.requirePaid(id, 0, "refunded")
		require.EqualValues(t, before, s.balance(s.bea))
	}
}

func TestPaymentConflicts(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	id, other := s.order(1000, "deliveryCost", 50, "prepaidAmount", 50), s.order(1000)
	got := s.pay(id, `{"amount":1001,"method":"cash"}`).Fault(409, "ORDER_OVERPAID")
	require.Equal(t, map[string]any{"payable": 1050.0, "prepaidAmount": 50.0, "amountDue": 1000.0}, got["meta"])
	p := s.pay(id, `{"amount":600,"method":"cash","externalId":"1","source":"psp"}`).OK(201)["id"].(string)

	got = s.refund(id, p, `{"amount":601}`).Fault(409, "PAYMENT_REFUND_EXCEEDED")
	require.Equal(t, map[string]any{"left": 600.0, "refundedAmount": 0.0, "prepaidAmount": 650.0}, got["meta"])
	r := s.refund(id, p, `{"amount":100}`).OK(201)["id"].(string)
	s.refund(id, r, nil).Fault(409, "PAYMENT_IS_REFUND")
	s.patch(id, `{"prepaidAmount":200}`).OK(200)
	got = s.refund(id, p, `{"amount":201}`).Fault(409, "PAYMENT_REFUND_EXCEEDED")
	require.Equal(t, map[string]any{"left": 200.0, "refundedAmount": 100.0, "prepaidAmount": 200.0}, got["meta"], "the order has no more")
	require.Equal(t, 200.0, s.refund(id, p, nil).OK(201)["amount"])
	got = s.refund(id, p, nil).Fault(409, "PAYMENT_ALREADY_REFUNDED")
	require.Equal(t, map[string]any{"refundedAmount": 300.0, "prepaidAmount": 0.0}, got["meta"])

	for _, path := range []string{"/orders/" + uuid.NewString() + "/payments", "/orders/" + uuid.NewString() + "/payments/" + p} {
		s.Do(t, "GET", path, nil).Fault(404, "ORDER_NOT_FOUND")
	}
	s.pay(uuid.NewString(), `{"amount":1,"method":"cash"}`).Fault(404, "ORDER_NOT_FOUND")
	s.Do(t, "GET", "/orders/"+other+"/payments/"+p, nil).Fault(404, "PAYMENT_NOT_FOUND")
	s.refund(other, p, nil).Fault(404, "PAYMENT_NOT_FOUND")
	s.refund(id, uuid.NewString(), nil).Fault(404, "PAYMENT_NOT_FOUND")
	stranger := s.server.Company()
	stranger.Do(t, "POST", "/orders/"+id+"/payments/"+p+"/refund", nil).Fault(404, "ORDER_NOT_FOUND")
	require.Empty(t, stranger.Do(t, "GET", "/payments", nil).OK(200)["items"])

	got = s.pay(other, `{"amount":1,"method":"cash","externalId":" 1 ","source":"psp"}`).Fault(409, "PAYMENT_EXTERNAL_ID_TAKEN")
	require.Equal(t, map[string]any{"id": p, "paymentId": p}, got["meta"])
	s.pay(other, `{"amount":1,"method":"cash","externalId":"1"}`).OK(201)
	s.pay(other, `{"amount":1,"method":"cash"}`, apitest.Header{"If-Match", `"1"`}).Fault(412, "PRECONDITION_FAILED")
	s.pay(other, `{"amount":1,"method":"cash"}`, apitest.Header{"If-Match", `"2"`}).OK(201)
	s.refund(id, p, nil, apitest.Header{"If-Match", `"9"`}).Fault(412, "PRECONDITION_FAILED")
}

// What a payment provider reports twice is refused as that, and not for what the first report has changed; the upsert answers with it.
func TestPaymentsToldTwice(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	id, other := s.order(1000), s.order(1000)
	whole := map[string]any{"amount": 1000, "method": "card", "source": "psp", "externalId": "p-1"}
	p := s.pay(id, whole).OK(201)
	require.Equal(t, p["id"], s.pay(id, whole).Fault(409, "PAYMENT_EXTERNAL_ID_TAKEN")["meta"].(map[string]any)["id"])
	back := map[string]any{"source": "psp", "externalId": "r-1"}
	r := s.refund(id, p["id"].(string), back).OK(201)
	require.Equal(t, r["id"], s.refund(id, p["id"].(string), back).Fault(409, "PAYMENT_EXTERNAL_ID_TAKEN")["meta"].(map[string]any)["id"])

	put := func(order, externalID string, amount int) *apitest.Response {
		return s.Do(t, "PUT", "/orders/"+order+"/payments/by-external-id/psp/"+externalID, map[string]any{"amount": amount, "method": "card"})
	}
	made := put(id, "p-2", 1000)
	require.Equal(t, 201, made.Status)
	require.Equal(t, []any{"psp", "p-2", 1000.0}, []any{made.OK(201)["source"], made.OK(201)["externalId"], made.OK(201)["amount"]})
	again := put(id, "p-2", 999)
	require.Equal(t, made.OK(201), again.OK(200), "a payment does not change")
	require.Equal(t, "amount, method", again.Header.Get("X-Ignored-Fields"))
	require.Equal(t, made.OK(201)["id"], put(other, "p-2", 1).Fault(409, "PAYMENT_EXTERNAL_ID_TAKEN")["meta"].(map[string]any)["id"])
	put(id, "p-3", 1).Fault(409, "ORDER_OVERPAID")
	put(uuid.NewString(), "p-3", 1).Fault(404, "ORDER_NOT_FOUND")
	s.requirePaid(id, 1000, "paid")
}

func TestPaymentInputFaults(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	id := s.order(1000)
	p := s.pay(id, `{"amount":10,"method":"cash"}`).OK(201)["id"].(string)
	late := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	soon := time.Now().Add(3 * time.Minute).UTC().Format(time.RFC3339)
	keys := `{"k0":"v"`
	for i := range 50 {
		keys += fmt.Sprintf(`,"x%d":"v"`, i)
	}
	for body, want := range map[string]map[string]string{
		`{}`:                             {"amount": "REQUIRED", "method": "REQUIRED"},
		`{"amount":0,"method":"cheque"}`: {"amount": "MIN", "method": "ENUM"},
		`{"amount":-5,"method":"mixed"}`: {"amount": "MIN", "method": "ENUM"},
		`{"amount":1.5,"method":null}`:   {"amount": "STEP", "method": "TYPE"},
		`{"amount":1,"method":"cash","paidAt":"` + late + `"}`:                                {"paidAt": "MAX"},
		`{"amount":1,"method":"cash","paidAt":"yesterday"}`:                                   {"paidAt": "FORMAT"},
		`{"amount":1,"method":"unspecified"}`:                                                 {"method": "ENUM"},
		`{"amount":1,"method":"cash","metadata":` + keys + `}}`:                               {"metadata": "MAX"},
		`{"amount":1,"method":"cash","reference":"` + strings.Repeat("x", 256) + `"}`:         {"reference": "LENGTH"},
		`{"amount":1,"method":"cash","methodExt":"` + strings.Repeat("x", 65) + `","note":5}`: {"methodExt": "LENGTH", "note": "TYPE"},
	} {
		require.Equal(t, want, s.pay(id, body).Fields(), body)
	}
	for body, want := range map[string]map[string]string{
		`{"amount":0}`:              {"amount": "MIN"},
		`{"method":"gold"}`:         {"method": "ENUM"},
		`{"paidAt":"` + late + `"}`: {"paidAt": "MAX"},
	} {
		require.Equal(t, want, s.refund(id, p, body).Fields(), body)
	}
	s.pay(id, `{"amount":1,"method":"cash","paidAt":"`+soon+`"}`).OK(201)
	s.requirePaid(id, 11, "partial")
}

// Many parallel payments of one order: as many succeed as fit, whatever fails in between, and a repeated key pays once.
func TestParallelPaymentsNeverOverpay(t *testing.T) {
	t.Parallel()
	open(t, nil)
	s := open(t, chaotic(t, 0.1))
	var id string
	for id == "" { // while transactions fail
		body := s.body("items", []any{map[string]any{"kind": "custom", "name": "Work", "unitPrice": 1000}}, "customerId", s.bea, "prepaidAmount", 100)
		if res := s.Do(t, "POST", "/orders", body); res.Status == 201 {
			id = res.OK(201)["id"].(string)
		}
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	paid := map[string]bool{}
	for range 24 {
		wg.Go(func() {
			key := apitest.Header{"X-Idempotency-Key", uuid.NewString()}
			for range 2 { // the second time is a repetition
				for {
					res := s.pay(id, `{"amount":100,"method":"card"}`, key)
					if res.Status == 503 {
						continue
					}
					if res.Status != 201 {
						res.Fault(409, "ORDER_OVERPAID")
						break
					}
					mu.Lock()
					paid[res.OK(201)["id"].(string)] = true
					mu.Unlock()
					break
				}
			}
		})
	}
	wg.Wait()
	require.Len(t, paid, 9, "900 were due")
	s.requirePaid(id, 1000, "paid")
	require.EqualValues(t, 1000, s.balance(s.bea))

	var one string
	for one = range paid {
		break
	}
	for range 12 {
		wg.Go(func() {
			for {
				res := s.refund(id, one, `{"amount":30}`)
				if res.Status == 503 {
					continue
				}
				if res.Status != 201 {
					res.Fault(409, "PAYMENT_REFUND_EXCEEDED")
				}
				return
			}
		})
	}
	wg.Wait()
	s.requirePaid(id, 910, "partial")
	require.EqualValues(t, 910, s.balance(s.bea))
	require.Len(t, apitest.RaisedBy(t, s.d, s.Principal.Company).Of("order.payment.refunded"), 3)
	s.checkEvents()
}

// An accountant reads the payments of a month of all orders.
func TestListOfPayments(t *testing.T) {
	t.Parallel()
	s := open(t, nil, func(p *access.Principal) { p.Settings.BackdateDays = 36_600 })
	a, b := s.order(1000), s.order(1000)
	paid := func(order string, at, method, more string) string {
		return s.pay(order, `{"amount":10,"method":"`+method+`","paidAt":"`+at+`"`+more+`}`).OK(201)["id"].(string)
	}
	paid(a, "2026-01-31T23:59:59.999Z", "cash", "")
	paid(a, "2026-02-01T00:00:00Z", "card", `,"reference":"4711"`)
	last := paid(b, "2026-02-28T23:59:59Z", "sbp", `,"externalId":"e","source":"bank","metadata":{"run":"5"},"note":"Überweisung"`)
	paid(b, "2026-03-01T00:00:00Z", "transfer", "")
	r := s.refund(b, last, `{"amount":4,"reason":"Kulanz","paidAt":"2026-02-28T23:59:59.500Z"}`).OK(201)["id"].(string)
	month := "/payments?paidFrom=2026-02-01&paidTo=2026-02-28"
	require.Equal(t, []string{"refund 4 sbp", "payment 10 sbp", "payment 10 card"}, s.payments(month))
	require.Equal(t, []string{"payment 10 card", "payment 10 sbp", "refund 4 sbp"}, s.payments(month+"&sort=paidAt"))
	for query, want := range map[string][]string{
		"&kind=refund":                       {"refund 4 sbp"},
		"&kind=payment":                      {"payment 10 sbp", "payment 10 card"},
		"&method=card,cash":                  {"payment 10 card"},
		"&method=unspecified":                nil,
		"&orderId=" + b:                      {"refund 4 sbp", "payment 10 sbp"},
		"&reference=4711":                    {"payment 10 card"},
		"&externalId=e&source=bank":          {"payment 10 sbp"},
		"&metadata[run]=5":                   {"payment 10 sbp"},
		"&search=" + url.QueryEscape("ÜBER"): {"payment 10 sbp"},
		"&search=kulanz":                     {"refund 4 sbp"},
		"&search=471":                        {"payment 10 card"},
		"&ids=" + r:                          {"refund 4 sbp"},
		"&updatedSince=2000-01-01T00:00:00Z": {"payment 10 card", "payment 10 sbp", "refund 4 sbp"},
	} {
		require.ElementsMatch(t, want, s.payments(month+query), query)
	}
	for _, query := range []string{"kind=refund", "search=kulanz"} {
		require.Equal(t, []string{"refund 4 sbp"}, s.payments("/payments?"+query), query)
	}
	require.Equal(t, []string{"payment 10 transfer"}, s.payments("/payments?pageSize=1"))
	require.Equal(t, map[string]string{"paidFrom": "CONFLICT"}, s.Do(t, "GET", "/payments?paidFrom=2026-02-02&paidTo=2026-02-01", nil).Fields())
	require.Equal(t, map[string]string{"methode": "UNKNOWN"}, s.Do(t, "GET", "/payments?methode=card", nil).Fields())
	for _, item := range s.paymentItems(month) {
		require.Contains(t, []string{a, b}, item["orderId"])
		require.Equal(t, s.Do(t, "GET", "/orders/"+item["orderId"].(string), nil).OK(200)["number"], item["orderNumber"])
	}
	require.Equal(t, []string{"payment 10 card", "payment 10 cash"}, s.payments("/orders/"+a+"/payments"))
}

func TestEventsOfPayments(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	id := s.order(1000, "customerId", s.bea, "prepaidAmount", 100)
	p := s.pay(id, `{"amount":900,"method":"card"}`).OK(201)
	r := s.refund(id, p["id"].(string), `{"amount":900,"reason":"late"}`).OK(201)
	raised := apitest.RaisedBy(t, s.d, s.Principal.Company)
	require.ElementsMatch(t, []any{"prepaidAmount", "paymentStatus", "amountDue"}, raised.Of("order.updated")[0].Data["changedFields"])
	got := raised.Of("order.payment.")
	require.Equal(t, []string{"order.payment.created", "order.payment.created", "order.payment.refunded"}, got.Names())
	for i, want := range []map[string]any{
		{"amount": 100.0, "method": "unspecified", "status": "partial", "prepaid": 100.0, "due": 900.0},
		{"amount": 900.0, "method": "card", "status": "paid", "prepaid": 1000.0, "due": 0.0},
		{"amount": 900.0, "method": "card", "status": "partial", "prepaid": 100.0, "due": 900.0},
	} {
		e := got[i]
		require.Equal(t, map[string]any{
			"id": id, "number": 1.0, "status": "new", "customerId": s.bea.String(), "payable": 1000.0, "paymentStatus": want["status"], "prepaidAmount": want["prepaid"], "amountDue": want["due"],
		}, e.Data["order"])
		require.Equal(t, []any{want["amount"], want["method"]}, []any{e.Data["amount"], e.Data["method"]})
		require.Equal(t, s.Principal.Actor.String(), e.By)
	}
	for i, answer := range []map[string]any{p, r} {
		data := got[1+i].Data
		delete(data, "order")
		require.Equal(t, answer, data, "the event has what was answered")
	}
}
