package orders

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
)

// orderToShip is an order of three of a product, five of a bundle of components that do not divide evenly, a service and
// something custom.
func orderToShip() Order {
	warehouse := uuid.New()
	tier := func(kind string, qty money.Qty, stock ...lineitem.StockItem) Line {
		return Line{Line: lineitem.Line{ID: uuid.New(), Kind: kind, Qty: qty, Stock: stock}}
	}
	item := func(qty money.Qty) lineitem.StockItem { return lineitem.StockItem{Product: uuid.New(), Qty: qty} }
	o := Order{Header: Header{Status: statusConfirmed, WarehouseID: &warehouse}, Lines: []Line{
		tier("product", 3000, item(3000)), tier("product", 5000, item(1), item(3), item(12501)), tier("service", 1000), tier("custom", 2000),
	}}
	o.reserve()
	return o
}

func TestWhatAShipmentContains(t *testing.T) {
	t.Parallel()
	o := orderToShip()
	id := func(i int) uuid.UUID { return o.Lines[i].ID }
	for name, row := range map[string]struct {
		edit   func(o *Order)
		items  []ShipmentItem
		want   []part
		code   string
		fields map[string]string
	}{
		"everything":         {nil, nil, []part{{0, 3000}, {1, 5000}, {3, 2000}}, "", nil},
		"what is left":       {func(o *Order) { o.Lines[0].ShippedQty, o.Lines[3].ShippedQty = 1000, 2000 }, nil, []part{{0, 2000}, {1, 5000}}, "", nil},
		"some":               {nil, []ShipmentItem{{id(3), 1}, {id(0), 3000}}, []part{{3, 1}, {0, 3000}}, "", nil},
		"nothing":            {func(o *Order) { o.Lines = o.Lines[2:3] }, nil, nil, "SHIPMENT_NOTHING_TO_SHIP", nil},
		"after completion":   {func(o *Order) { o.Status = statusCompleted }, nil, nil, "SHIPMENT_NOTHING_TO_SHIP", nil},
		"some of nothing":    {func(o *Order) { o.Status = statusCompleted }, []ShipmentItem{{id(0), 1}}, nil, "SHIPMENT_NOTHING_TO_SHIP", nil},
		"too much":           {func(o *Order) { o.Lines[0].ShippedQty = 1 }, []ShipmentItem{{id(0), 3000}}, nil, "SHIPMENT_QTY_EXCEEDED", nil},
		"a service":          {nil, []ShipmentItem{{id(2), 1}}, nil, "VALIDATION_ERROR", map[string]string{"items[0].orderLineId": "CONFLICT"}},
		"a line twice":       {nil, []ShipmentItem{{id(0), 1}, {id(0), 1}}, nil, "VALIDATION_ERROR", map[string]string{"items[1].orderLineId": "CONFLICT"}},
		"another line":       {nil, []ShipmentItem{{uuid.New(), 1}}, nil, "ORDER_LINE_NOT_FOUND", nil},
		"of a cancelled one": {func(o *Order) { o.Status = statusCancelled }, nil, nil, "ORDER_CANCELLED", nil},
		"of a delivered one": {func(o *Order) { o.DeliveryStatus = new(deliveryDelivered) }, nil, nil, "ORDER_DELIVERY_TRANSITION_INVALID", nil},
		"of a returned one":  {func(o *Order) { o.DeliveryStatus = new(deliveryReturned) }, nil, nil, "ORDER_DELIVERY_TRANSITION_INVALID", nil},
		"of a shipped one":   {func(o *Order) { o.DeliveryStatus = new(deliveryShipped) }, []ShipmentItem{{id(0), 1}}, []part{{0, 1}}, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := o
			o.Lines = append([]Line(nil), o.Lines...)
			if row.edit != nil {
				row.edit(&o)
			}
			got, err := o.shipping(row.items)
			meta := requireFault(t, row.code, err)
			switch row.code {
			case "":
				require.Equal(t, row.want, got)
			case "SHIPMENT_QTY_EXCEEDED":
				require.Equal(t, []map[string]any{{"orderLineId": id(0), "name": "", "qty": money.Qty(3000), "left": money.Qty(2999)}}, meta["lines"])
			}
			if row.fields != nil {
				require.Equal(t, row.fields, fieldsOf(t, err))
			}
		})
	}
}

// TestEveryUnitLeavesOnce ships and cancels in any order: what is out and what is reserved always make the whole, no shipment
// takes back or takes more than there is, and in the end everything has left exactly once.
func TestEveryUnitLeavesOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o := orderToShip()
		var posted []Shipment
		check := func() {
			outs := map[uuid.UUID]money.Qty{}
			for _, sh := range posted {
				for _, d := range sh.deltas(1) {
					outs[d.Product] += d.Qty
				}
			}
			for _, l := range o.Lines {
				for _, it := range l.Stock {
					require.Equal(t, outs[it.Product], it.Out)
					require.True(t, it.Out >= 0 && it.Out <= it.Qty)
					if l.ShippedQty == l.Qty {
						require.Equal(t, it.Qty, it.Out, "all of the line is out")
					}
				}
			}
			reserved := o.reserved(1)
			for i, d := range o.leaving() {
				require.Equal(t, d.Reserved, -reserved[i].Reserved, "completion releases what is reserved")
				require.Equal(t, d.Qty, d.Reserved, "and takes just that")
			}
		}
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			if len(posted) > 0 && rapid.Bool().Draw(t, "cancel") {
				i := rapid.IntRange(0, len(posted)-1).Draw(t, "which")
				o.unship(&posted[i])
				posted = append(posted[:i], posted[i+1:]...)
			} else if left, err := o.left(); err == nil {
				p := left[rapid.IntRange(0, len(left)-1).Draw(t, "line")]
				p.qty = money.Qty(rapid.Int64Range(1, int64(p.qty)).Draw(t, "qty"))
				var sh Shipment
				sh.Lines, sh.Taken = o.ship([]part{p})
				posted = append(posted, sh)
			}
			o.reserve()
			check()
		}
		if left, err := o.left(); err == nil {
			var sh Shipment
			sh.Lines, sh.Taken = o.ship(left)
			posted = append(posted, sh)
		}
		o.reserve()
		check()
		for _, d := range o.leaving() {
			require.Zero(t, d.Qty)
			require.Zero(t, d.Reserved)
		}
	})
}

func TestDeliveryMoves(t *testing.T) {
	t.Parallel()
	allowed := map[string][]string{
		"": {"pending"}, "pending": {"packing", "shipped"}, "packing": {"pending", "shipped"}, "shipped": {"delivered", "returned"},
		"delivered": {"returned"}, "returned": {},
	}
	require.Equal(t, allowed, deliveryTransitions)
}
