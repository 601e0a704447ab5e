// Package resources is what the console knows of each list of the API: where its pages are, what its columns, tabs and commands are, and
// how its records are found. Fields, their help and their faults are those of the operations. All pages on records follow from it.
package resources

import (
	"cmp"
	"slices"
	"sync"
)

// All are the lists, in the order in which the find field shows what it found in them, and in which those of one area stand side by side.
func All() []Resource { return slices.Clone(all()) }

var all = sync.OnceValue(func() []Resource {
	lists := []Resource{
		orders(), sales(), shifts(), saleDrafts(), bookings(), holds(), deals(), stocks(), movements(), receipts(), transfers(), counts(), purchaseOrders(), supplierReturns(), writeOffs(), clients(), leads(), products(), variants(), services(), categories(),
		suppliers(), invoices(), payments(), shipments(), returns(),
	}
	for _, r := range lists {
		if r.Find != nil {
			r.Find.Title, r.Find.Page, r.Find.ID = cmp.Or(r.Find.Title, r.Title), cmp.Or(r.Find.Page, r.Page), cmp.Or(r.Find.ID, "id")
		}
	}
	return lists
})

// lines are the columns of the lines of documents.
func lines(own ...Column) Table {
	columns := []Column{
		{Name: "name", To: "products", ID: "refId", Under: []string{"sku"}},
		state("kind").Less(),
		{Name: "qty", Kind: AsQty, Unit: "unit"},
		amount("unitPrice"),
		amount("amount").Less(),
		{Name: "discountAmount", Kind: AsAmount, Some: true},
		percent("taxRate").Less(), amount("taxAmount").Less(), amount("total"),
	}
	own = append(own, percent("discountPercent"), amount("fixedDiscount").Less())
	return Table{Name: "lines", Field: "lines", Columns: append(columns, told(own...)...), Tells: true}
}

// taxes is the table of the taxes of a document.
func taxes() Table {
	return Table{Name: "taxes", Field: "taxes", Columns: []Column{entry("taxRateId"), percent("rate"), amount("base"), amount("amount")}, Sums: []string{"base", "amount"}}
}

// taxesReturned is the table of the taxes of a document as it was before its returns, whose tax is in a field.
func taxesReturned(field string) Table {
	t := taxes()
	t.Returned = field
	return t
}

// sums are the amounts of a document below its lines, with those of its kind behind them.
func sums(own ...Sum) []Sum {
	added := func(r Record) bool { return r.Text("taxMode") == "added" }
	return append([]Sum{{Name: "subtotal"}, {Name: "discountAmount", Less: true}, {Name: "taxAmount", When: added}}, own...)
}

// is reports whether the status of a record is one of these.
func is(statuses ...string) func(Record) bool {
	return func(r Record) bool { return slices.Contains(statuses, r.Text("status")) }
}
