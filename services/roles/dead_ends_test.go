package roles_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/pkg/testkit/statewalk"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/services/roles"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

// stateful are records with states. Bodies and requests name what they refer to in capitals, see [yard].
type stateful struct {
	path, body string
	states     int                        // that the records can be in
	state      func(r *onItsWay) string   // default: the status
	moves      func(r *onItsWay) []string // as docs/reference/states.md allows them: the last part of a path, or names of requests
	requests   map[string]string          // METHOD, path below the record or from //, and body
	ends       map[string]end             // by what happens in business
	keeps      []string                   // what may not be taken away, because the reference says that it is needed
}

// end says what settles something, which has to be possible in each state in which it can still happen.
type end struct{ settled, past func(state string) bool }

// is takes states by the words that they begin with.
func is(words ...string) func(string) bool {
	return func(state string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return state == w || strings.HasPrefix(state, w+" ") })
	}
}

// byStatus are moves of each status.
func byStatus(moves map[string][]string) func(*onItsWay) []string {
	return func(r *onItsWay) []string { return moves[r.text("status")] }
}

var statefuls = map[string]stateful{ //nolint:gochecknoglobals // a table
	"lead": {
		path: "/leads", body: `{"name":"Bo","phone":"+1 212 555 0147"}`, states: 4,
		moves: byStatus(map[string][]string{
			"new": {"in_progress", "spam", "convert"}, "in_progress": {"new", "spam", "convert"}, "spam": {"new", "convert"}, "converted": {"in_progress", "spam"},
		}),
		requests: map[string]string{
			"new": `PATCH /status {"status":"new"}`, "in_progress": `PATCH /status {"status":"in_progress"}`, "spam": `PATCH /status {"status":"spam"}`,
		},
		ends: map[string]end{"becomes a client": {is("converted"), is()}, "is of no use": {is("spam"), is()}},
	},
	"deal": {
		path: "/deals", body: `{"typeId":"TYPE","customerId":"CLIENT","items":[{"kind":"product","refId":"PRODUCT"}]}`, states: 5,
		state: func(r *onItsWay) string {
			for name, id := range r.refs {
				if id == r.text("stageId") {
					return name
				}
			}
			return "elsewhere"
		},
		moves: func(r *onItsWay) []string {
			return slices.DeleteFunc([]string{"New", "Qualification", "Proposal", "Won", "Lost"}, func(to string) bool { return r.refs[to] == r.text("stageId") })
		},
		requests: map[string]string{
			"New": `PATCH /stage {"stageId":"New"}`, "Qualification": `PATCH /stage {"stageId":"Qualification"}`, "Proposal": `PATCH /stage {"stageId":"Proposal"}`,
			"Won": `PATCH /stage {"stageId":"Won"}`, "Lost": `PATCH /stage {"stageId":"Lost","lostReasonId":"REASON"}`,
		},
		ends: map[string]end{"is won": {is("Won"), is()}, "is lost": {is("Lost"), is()}},
	},
	"order": {
		path: "/orders", body: `{"customerId":"CLIENT","warehouseId":"WAREHOUSE","deliveryMethod":"courier","items":[{"refId":"PRODUCT","qty":2}]}`, states: 34,
		state: func(r *onItsWay) string {
			return fmt.Sprint(r.got["status"], " ", r.got["deliveryStatus"], " ", r.line()["shippedQty"], " ", r.line()["returnedQty"])
		},
		moves: orderMoves,
		requests: map[string]string{
			"in_progress": "POST /status/in_progress", "completed": "POST /status/completed", "cancelled": "POST /status/cancelled", "refused": "POST /delivery-status/returned",
			"ship": `POST /shipments {"items":[{"orderLineId":"LINE","qty":1}]}`, "return": "POST /returns", "return home": `POST /returns {"warehouseId":"HOME"}`,
		},
		ends: map[string]end{
			"costs nothing": {is("cancelled"), is("completed")},
			"comes back":    {func(state string) bool { return strings.HasSuffix(state, " 2") }, is("new", "in_progress", "cancelled")},
		},
	},
	"sale": {
		path: "/sales", body: `{"shiftId":"SHIFT","paymentMethod":"cash","customerId":"CLIENT","items":[{"kind":"product","refId":"PRODUCT","qty":2}]}`, states: 3,
		state: func(r *onItsWay) string { return r.text("refundStatus") },
		moves: func(r *onItsWay) []string {
			return map[string][]string{"none": {"part", "refund", "refund home"}, "partial": {"part", "refund", "refund home"}}[r.text("refundStatus")]
		},
		requests: map[string]string{"refund home": `POST /refund {"warehouseId":"HOME"}`, "part": `POST /refund {"items":[{"saleLineId":"LINE","qty":1}]}`},
		ends:     map[string]end{"comes back": {is("full"), is()}},
	},
	"shift": {
		path: "/shifts", body: `{"openingCash":100}`, states: 2,
		moves:    byStatus(map[string][]string{"open": {"change", "close"}}),
		requests: map[string]string{"change": `POST /cash-movements {"type":"in","amount":5,"reason":"change"}`},
		ends:     map[string]end{"is over": {is("closed"), is()}},
	},
	"booking": {
		path: "/scheduling/bookings", states: 5,
		body: `{"resourceId":"RESOURCE","serviceId":"SERVICE","clientId":"CLIENT","customerName":"Bo","customerPhone":"+1 212 555 0147","startAt":"2040-01-03T10:00:00Z"}`,
		moves: byStatus(map[string][]string{
			"pending": {"confirm", "complete", "no-show", "cancel"}, "confirmed": {"complete", "no-show", "cancel"}, "completed": {"no-show"}, "no_show": {"complete"},
		}),
		ends: map[string]end{
			"takes place": {is("completed"), is("cancelled")}, "nobody comes": {is("no_show"), is("cancelled")}, "is called off": {is("cancelled"), is("completed", "no_show")},
		},
	},
	"receipt": {
		path: "/warehouse/receipts", body: `{"warehouseId":"WAREHOUSE","supplierId":"SUPPLIER","items":[{"productId":"PRODUCT","qty":2}]}`, states: 2,
		moves: byStatus(map[string][]string{"posted": {"cancel"}}), ends: map[string]end{"was a mistake": {is("cancelled"), is()}}, keeps: []string{"WAREHOUSE"},
	},
	"write-off": {
		path: "/warehouse/write-offs", body: `{"warehouseId":"WAREHOUSE","reason":"lost","items":[{"productId":"PRODUCT","qty":2}]}`, states: 2,
		moves: byStatus(map[string][]string{"posted": {"cancel"}}), ends: map[string]end{"was a mistake": {is("cancelled"), is()}}, keeps: []string{"WAREHOUSE"},
	},
	"supplier return": {
		path: "/warehouse/supplier-returns", body: `{"warehouseId":"WAREHOUSE","supplierId":"SUPPLIER","items":[{"productId":"PRODUCT","qty":2}]}`, states: 2,
		moves: byStatus(map[string][]string{"posted": {"cancel"}}), ends: map[string]end{"was a mistake": {is("cancelled"), is()}}, keeps: []string{"WAREHOUSE"},
	},
	"transfer": {
		path: "/warehouse/transfers", body: `{"warehouseId":"WAREHOUSE","toWarehouseId":"HOME","items":[{"productId":"PRODUCT","qty":2}]}`, states: 4,
		moves:    byStatus(map[string][]string{"draft": {"send", "cancel"}, "sent": {"receive", "nothing", "cancel"}}),
		requests: map[string]string{"nothing": `POST /receive {"items":[{"lineId":"LINE","qty":0}]}`},
		ends:     map[string]end{"is over": {is("received", "cancelled"), is()}},
	},
	"count": {
		path: "/warehouse/counts", body: `{"warehouseId":"WAREHOUSE","items":[{"productId":"PRODUCT"}]}`, states: 6,
		state:    func(r *onItsWay) string { return fmt.Sprint(r.got["status"], " ", r.line()["countedQty"]) },
		moves:    byStatus(map[string][]string{"counting": {"record", "post", "cancel"}}),
		requests: map[string]string{"record": `POST /record {"items":[{"lineId":"LINE","qty":3}]}`},
		ends:     map[string]end{"is over": {is("posted", "cancelled"), is()}},
	},
	"purchase order": {
		path: "/warehouse/purchase-orders", body: `{"supplierId":"SUPPLIER","warehouseId":"WAREHOUSE","items":[{"productId":"PRODUCT","qty":2}]}`, states: 6,
		state: func(r *onItsWay) string {
			return fmt.Sprint(r.got["status"], " ", r.got["receivedQty"], " closed ", r.got["closedAt"] != nil)
		},
		moves: purchaseMoves,
		requests: map[string]string{
			"arrive": `POST //warehouse/receipts {"warehouseId":"HOME","purchaseOrderId":"SELF","items":[{"productId":"PRODUCT","qty":1}]}`, "back": "POST //warehouse/receipts/LAST/cancel",
		},
		ends: map[string]end{"is over": {is("received", "cancelled"), is()}},
	},
}

// orderMoves leaves out what TestNoStateOfAnOrderIsADeadEnd of the orders has besides.
func orderMoves(r *onItsWay) (moves []string) {
	allowed, _ := r.got["allowedTransitions"].([]any)
	for _, to := range []string{"in_progress", "completed", "cancelled"} {
		if slices.Contains(allowed, any(to)) {
			moves = append(moves, to)
		}
	}
	status, delivery := r.text("status"), r.text("deliveryStatus")
	shipped, _ := r.line()["shippedQty"].(float64)
	returned, _ := r.line()["returnedQty"].(float64)
	if status == "in_progress" && delivery != "returned" && shipped < 2 {
		moves = append(moves, "ship")
	}
	if status != "cancelled" && delivery == "shipped" {
		moves = append(moves, "refused")
	}
	if has := shipped; status != "cancelled" {
		if status == "completed" {
			has = 2
		}
		if has > returned {
			moves = append(moves, "return", "return home")
		}
	}
	return moves
}

func purchaseMoves(r *onItsWay) []string {
	moves := map[string][]string{"draft": {"send", "cancel"}, "sent": {"arrive", "cancel"}, "partly_received": {"arrive", "close"}}[r.text("status")]
	if len(r.made) > 0 {
		moves = append(slices.Clone(moves), "back")
	}
	return moves
}

// yard is a company where records are on their way. It has what a body refers to: each record gets things of its own, which can be
// taken away.
type yard struct {
	t      *testing.T
	node   *rolestest.Node
	id     tenant.ID
	caller rolestest.Client
	common map[string]string
}

func newYard(t *testing.T) *yard {
	t.Helper()
	n := rolestest.NewNode(dbtest.Open(t), rolestest.Alone())
	c, err := n.CreateCompany(t.Context(), company.NewCompany{Name: t.Name(), Plan: "business", StockPolicy: "block"})
	require.NoError(t, err)
	y := &yard{t, n, c.ID, n.Client(n.Issue(t, c.ID, []string{"*:write"}).Text), map[string]string{}}
	houses, _ := y.caller.OK(t, "GET", "/warehouse/warehouses", "").Body["items"].([]any)
	y.common["HOME"] = idOf(houses[0])
	var types []struct {
		ID, Name string
		Stages   []struct{ ID, Name string }
	}
	require.NoError(t, json.Unmarshal([]byte(y.caller.OK(t, "GET", "/deals/types", "").Raw), &types))
	y.common["TYPE"] = types[0].ID
	for _, s := range types[0].Stages {
		y.common[s.Name] = s.ID
	}
	var reasons []struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(y.caller.OK(t, "GET", "/deals/lost-reasons", "").Raw), &reasons))
	y.common["REASON"] = reasons[0].ID
	return y
}

func idOf(record any) string { return record.(map[string]any)["id"].(string) } //nolint:forcetypeassert // the test fails

// things are made when a record refers to them, in this order. Later they are taken away, or become something else.
var things = []struct { //nolint:gochecknoglobals // a table
	name, path, body string
	away             [3]string // requests; "" = it stays
}{
	{"CLIENT", "/clients", `{"kind":"individual","displayName":"Bo"}`, [3]string{"POST /archive"}},
	{"SUPPLIER", "/warehouse/suppliers", `{"name":"Mill"}`, [3]string{"DELETE"}},
	{"SERVICE", "/catalog/services", `{"name":"Haircut","price":1000,"durationMinutes":60}`, [3]string{"DELETE", `PATCH {"durationMinutes":30,"priceModel":"per_hour"}`}},
	{"RESOURCE", "/scheduling/resources", `{"type":"staff","name":"Ann","serviceIds":["SERVICE"]}`, [3]string{
		`PATCH {"isActive":false}`, `PATCH {"workingHours":[{"weekday":1,"from":"09:00","to":"10:00"}]}`, `PATCH {"serviceIds":[]}`,
	}},
	{"PRODUCT", "/catalog/products", `{"name":"Tea","price":100,"hasStock":true}`, [3]string{"DELETE", `PATCH {"hasStock":false}`, `POST /variants {"name":"green"}`}},
	{"WAREHOUSE", "/warehouse/warehouses", `{"name":"Annex","branchId":"BRANCH"}`, [3]string{"DELETE"}},
	{"SHIFT", "/shifts", `{"openingCash":1000,"branchId":"BRANCH"}`, [3]string{"POST /close"}},
}

// needs says whether the record refers to a thing.
func (k stateful) needs(thing string) bool {
	return strings.Contains(k.body, `"`+thing+`"`) || thing == "WAREHOUSE" && k.needs("SHIFT")
}

// onItsWay is a record that goes through its states.
type onItsWay struct {
	*yard
	kind stateful
	refs map[string]string
	path string
	got  map[string]any
	made []string // by its moves
}

func (y *yard) begin(kind stateful) *onItsWay {
	y.t.Helper()
	r := &onItsWay{yard: y, kind: kind, refs: maps.Clone(y.common)}
	if kind.needs("WAREHOUSE") {
		b, err := roles.ChangeWith(y.t.Context(), y.node.DB, "test", y.id, y.node.Company.CreateBranch, company.BranchFields{Name: "Annex"})
		require.NoError(y.t, err)
		r.refs["BRANCH"] = b.ID.String()
	}
	for _, thing := range things {
		if kind.needs(thing.name) {
			r.refs[thing.name] = r.create(thing.path, thing.body)
		}
	}
	if kind.needs("PRODUCT") {
		r.adjust(10)
	}
	r.refs["SELF"] = r.create(kind.path, kind.body)
	r.path = kind.path + "/" + r.refs["SELF"]
	r.read()
	return r
}

// create makes a record and returns its id. A token has one open shift.
func (r *onItsWay) create(path, body string) string {
	r.t.Helper()
	if path == "/shifts" {
		if open := r.caller.Do(r.t, "GET", "/shifts/current", ""); open.Status == http.StatusOK {
			r.ok("/shifts/"+open.ID(r.t), "POST /close")
		}
		path += "/open"
	}
	return r.ok(path, "POST "+body).ID(r.t)
}

// adjust sets the stock of the product.
func (r *onItsWay) adjust(qty int) {
	r.t.Helper()
	house := "HOME"
	if r.refs["WAREHOUSE"] != "" {
		house = "WAREHOUSE"
	}
	r.ok("/warehouse/stocks/adjust", fmt.Sprintf(`POST {"warehouseId":"%s","productId":"PRODUCT","targetQty":%d,"reason":"count"}`, house, qty))
}

// send sends METHOD, path below base or from //, and body.
func (r *onItsWay) send(base, request string) *rolestest.Reply {
	r.t.Helper()
	method, rest, _ := strings.Cut(request, " ")
	path, body := "", rest
	if strings.HasPrefix(rest, "/") {
		path, body, _ = strings.Cut(rest, " ")
	}
	if rest, absolute := strings.CutPrefix(path, "//"); absolute {
		base, path = "", "/"+rest
	}
	refs := maps.Clone(r.refs)
	if lines, _ := r.got["lines"].([]any); len(lines) > 0 {
		refs["LINE"] = idOf(lines[0])
	}
	if len(r.made) > 0 {
		path = strings.ReplaceAll(path, "LAST", r.made[len(r.made)-1])
	}
	return r.caller.Do(r.t, method, base+path, rolestest.FillIn(body, refs))
}

func (r *onItsWay) ok(base, request string) *rolestest.Reply {
	r.t.Helper()
	reply := r.send(base, request)
	require.Less(r.t, reply.Status, 300, "%s %s: %s", base, request, reply.Raw)
	return reply
}

func (r *onItsWay) read() { r.got = r.ok(r.path, "GET").Body }

func (r *onItsWay) text(field string) string {
	text, _ := r.got[field].(string)
	return text
}

func (r *onItsWay) line() map[string]any {
	lines, _ := r.got["lines"].([]any)
	line, _ := lines[0].(map[string]any)
	return line
}

// State implements [statewalk.Record].
func (r *onItsWay) State() (name string, moves []string) {
	name = r.text("status")
	if r.kind.state != nil {
		name = r.kind.state(r)
	}
	return name, r.kind.moves(r)
}

// try makes a move, which may be refused.
func (r *onItsWay) try(move string) *rolestest.Reply {
	r.t.Helper()
	request := r.kind.requests[move]
	if request == "" {
		request = "POST /" + move
	}
	reply := r.send(r.path, request)
	if reply.Status < http.StatusMultipleChoices {
		switch move {
		case "arrive":
			r.made = append(r.made, reply.ID(r.t))
		case "back":
			r.made = r.made[:len(r.made)-1]
		}
		r.read()
	}
	return reply
}

// Take implements [statewalk.Record].
func (r *onItsWay) Take(move string) {
	r.t.Helper()
	reply := r.try(move)
	state, _ := r.State()
	require.Less(r.t, reply.Status, 300, "%s in %s: %s", move, state, reply.Raw)
}

// takeAway takes things away that the record refers to, as far as the platform lets them go, and reports whether it did.
func (r *onItsWay) takeAway(how int) (gone []string) {
	r.t.Helper()
	for _, thing := range things {
		if !r.kind.needs(thing.name) || thing.away[how] == "" || slices.Contains(r.kind.keeps, thing.name) {
			continue
		}
		at := thing.path + "/" + r.refs[thing.name]
		if thing.name != "WAREHOUSE" {
			r.ok(at, thing.away[how])
			if thing.name == "SHIFT" {
				r.create(thing.path, `{"openingCash":1000}`) // the next day
			}
			gone = append(gone, thing.name)
			continue
		}
		r.adjust(0)
		if r.send(at, thing.away[how]).Status >= http.StatusMultipleChoices {
			r.adjust(10) // it holds a reserve
			continue
		}
		gone = append(gone, thing.name)
	}
	return gone
}

// settle makes moves until something is settled, and goes around those that are refused.
func (r *onItsWay) settle(found statewalk.States, settled func(string) bool, what string) {
	r.t.Helper()
	refused, avoid := "", map[statewalk.Edge]bool{}
	for {
		state, _ := r.State()
		way, ok := found.Way(state, settled, avoid)
		require.True(r.t, ok, "%s: no way from %s: %s", what, state, refused)
		if len(way) == 0 {
			return
		}
		if reply := r.try(way[0]); reply.Status >= http.StatusMultipleChoices {
			refused, avoid[statewalk.Edge{State: state, Move: way[0]}] = way[0]+" "+reply.Raw, true
		}
	}
}

// TestNoStateIsADeadEnd goes through all states of records by the moves that the reference allows: none is refused. From each state
// there is a way to everything that can happen in business, also when what the record refers to is gone or has become something else.
func TestNoStateIsADeadEnd(t *testing.T) {
	t.Parallel()
	for name, kind := range statefuls {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			y := newYard(t)
			found := statewalk.All(func() statewalk.Record { return y.begin(kind) })
			require.Len(t, slices.Collect(maps.Keys(found)), kind.states)
			for state, at := range found {
				for what, end := range kind.ends {
					if end.past(state) || end.settled(state) {
						continue
					}
					_, ok := found.Way(state, end.settled, nil)
					require.True(t, ok, "%s: no way from %s", what, state)
					for how := range things[0].away {
						r := y.begin(kind)
						for _, move := range at.Path {
							r.Take(move)
						}
						if gone := r.takeAway(how); len(gone) > 0 {
							r.settle(found, end.settled, fmt.Sprintf("%s, from %s, without %s (%d)", what, state, gone, how))
						}
					}
				}
			}
		})
	}
}
