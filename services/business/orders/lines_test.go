package orders

import (
	"reflect"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// A body whose lines differ from those of the order in one field changes them, whichever field that is.
func TestEachFieldOfALineIsAChange(t *testing.T) {
	t.Parallel()
	item, variant, option := uuid.New(), uuid.New(), uuid.New()
	name, note, qty, price := "Lamp", "fragile", money.Units(2), money.Amount(900)
	percent, fixed, rate := money.Percent(500), money.Amount(30), uuid.New()
	in := LineInput{LineFields: LineFields{Note: &note}, Input: lineitem.Input{
		Kind: trade.KindProduct, RefID: &item, VariantID: &variant, Name: &name, Qty: &qty, UnitPrice: &price,
		DiscountPercent: &percent, FixedDiscount: &fixed, TaxRateID: &rate, Modifiers: []lineitem.ModifierInput{{OptionID: option}},
	}}
	o := Order{Lines: []Line{{LineFields: LineFields{Note: &note}, Line: lineitem.Line{
		Kind: trade.KindProduct, RefID: &item, VariantID: &variant, Name: name, Qty: qty, UnitPrice: price,
		DiscountPercent: percent, FixedDiscount: fixed, TaxRateID: &rate, Modifiers: []lineitem.Modifier{{OptionID: option, Qty: money.Units(1)}},
	}}}}
	require.NotEmpty(t, o.fieldsFor(Fields{Items: []LineInput{in}}).Items, "they are the same")
	for _, f := range reflect.VisibleFields(reflect.TypeFor[LineInput]()) {
		if _, naming := reflect.TypeFor[lineitem.Naming]().FieldByName(f.Name); f.Anonymous || naming { // names beside an id decide nothing
			continue
		}
		other := in
		switch v := reflect.ValueOf(&other).Elem().FieldByIndex(f.Index); {
		case v.Kind() == reflect.Slice:
			v.SetZero()
		case v.Kind() == reflect.Pointer: // another value, which null would not be for a name, a quantity or a price
			v.Set(reflect.New(f.Type.Elem()))
		default:
			v.SetZero()
		}
		require.Empty(t, o.fieldsFor(Fields{Items: []LineInput{other}}).Items, f.Name)
	}
}
