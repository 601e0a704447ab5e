package orders_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/statewalk"
)

// deliveryMoves are those that docs/reference/states.md#order-delivery allows.
var deliveryMoves = map[any][]string{ //nolint:gochecknoglobals // a table
	nil: {"pending"}, "pending": {"packing", "shipped"}, "packing": {"pending", "shipped"}, "shipped": {"delivered", "returned"}, "delivered": {"returned"}, "returned": {},
}

// TestNoStateOfAnOrderIsADeadEnd goes through all states of orders, by the moves that the orders show: none of them is refused, and
// unless it is completed, some lead from each state to an end that does not charge the client.
func TestNoStateOfAnOrderIsADeadEnd(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	s.receive(s.wood, 1000)
	found := statewalk.All(func() statewalk.Record {
		return &walker{kit: s, stock: s.stock(s.wood), order: s.create("items", []any{map[string]any{"refId": s.wood, "qty": 2}})}
	})
	require.Greater(t, len(found), 30)
	cancelled := func(name string) bool { return strings.HasPrefix(name, "cancelled") }
	for name, at := range found {
		_, ends := found.Way(name, cancelled, nil)
		require.True(t, strings.HasPrefix(name, "completed") || ends, "%s, after %s, cannot be cancelled", name, at.Path)
	}
}

// walker is an order on its way.
type walker struct {
	*kit
	stock  string // before
	order  map[string]any
	posted []string // shipments
	path   []string
}

// Take makes a move, which may not be refused.
func (w *walker) Take(move string) {
	w.t.Helper()
	id := w.order["id"].(string)
	what, to, _ := strings.Cut(move, " ")
	var res *apitest.Response
	switch what {
	case "ship":
		res = w.ship(id, map[string]any{"items": []any{item(w.order, 0, 1)}})
		w.posted = append(w.posted, fmt.Sprint(res.OK(201)["id"]))
	case "unship":
		res = w.cancel(id, w.posted[len(w.posted)-1])
		w.posted = w.posted[:len(w.posted)-1]
	case "return":
		res = w.giveBack(id, nil)
	case "deliver":
		res = w.deliver(id, to)
	default:
		res = w.move(id, to)
	}
	require.Less(w.t, res.Status, 300, "%s after %s", move, w.path)
	w.order, w.path = w.read(id), append(w.path, move)
	if w.order["status"] == "cancelled" {
		require.Equal(w.t, w.stock, w.kit.stock(w.wood), "what was taken and reserved is back once after %s", w.path)
	}
}

// State names the state of the order, and the moves that it shows.
func (w *walker) State() (name string, moves []string) {
	o := w.order
	for _, to := range o["allowedTransitions"].([]any) {
		moves = append(moves, "move "+to.(string))
	}
	shipped, returned := line(o, 0)["shippedQty"].(float64), line(o, 0)["returnedQty"].(float64)
	name = fmt.Sprint(o["status"], " ", o["deliveryStatus"], " ", shipped, " ", returned)
	if o["status"] == "cancelled" {
		return name, moves
	}
	for _, to := range deliveryMoves[o["deliveryStatus"]] {
		moves = append(moves, "deliver "+to)
	}
	if d := o["deliveryStatus"]; o["status"] != "completed" && d != "delivered" && d != "returned" && shipped < 2 {
		moves = append(moves, "ship")
	}
	if shipped > returned {
		moves = append(moves, "return")
	}
	if shipped > 0 && o["deliveryStatus"] != "returned" && returned == 0 {
		moves = append(moves, "unship")
	}
	return name, moves
}

// A parcel that the customer refused is closed without charge, and says why.
func TestRefusedParcel(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	s.receive(s.wood, 10)
	id := s.create("customerId", s.bea, "prepaidAmount", 500)["id"].(string)
	s.move(id, "in_progress").OK(200)
	s.ship(id, nil).OK(201)
	require.NotContains(t, s.read(id)["allowedTransitions"], "cancelled", "while the goods are out")
	s.move(id, "cancelled").Fault(409, "ORDER_HAS_SHIPMENTS")
	s.deliver(id, "returned").OK(200)
	listed := s.Do(t, "GET", "/orders", nil).OK(200)["items"].([]any)[0].(map[string]any)
	for _, o := range []map[string]any{listed, s.read(id)} {
		require.Contains(t, o["allowedTransitions"], "cancelled")
		require.Nil(t, o["cancelReason"])
	}

	s.Do(t, "POST", "/orders/"+id+"/status/ready", map[string]any{"reason": "waiting"}).Fault(400, "VALIDATION_ERROR")
	o := s.Do(t, "POST", "/orders/"+id+"/status/cancelled", map[string]any{"reason": " refused at the door "}).OK(200)
	require.Equal(t, []any{"cancelled", "refused at the door"}, []any{o["status"], o["cancelReason"]})
	require.Equal(t, "10/0", s.stock(s.wood))
	require.EqualValues(t, 500, s.balance(s.bea), "only the payment counts")
	var history []map[string]any
	s.Do(t, "GET", "/orders/"+id+"/history", nil).Decode(&history)
	require.Equal(t, []any{"cancelReason", nil, "refused at the door"}, []any{history[len(history)-2]["field"], history[len(history)-2]["from"], history[len(history)-2]["to"]})
	_, data := s.lastEvents(len(s.events()) - 1)
	require.Equal(t, "refused at the door", data[0]["cancelReason"])
}
