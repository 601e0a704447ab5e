// Package resources is what the console knows of each list of the API: where its pages are, what its columns, tabs and commands are, and
// how its records are found. Fields, their help and their faults are those of the operations. All pages on records follow from it.
package resources

import "slices"

// All are the lists, in the order in which the find field shows what it found in them, and in which those of one area stand side by side.
func All() []Resource {
	return []Resource{
		orders(), sales(), shifts(), bookings(), deals(), stocks(), movements(), receipts(), clients(), leads(), products(), services(), categories(),
		suppliers(), payments(),
	}
}

// lines are the columns of the lines of documents.
func lines(own ...Column) Table {
	columns := []Column{text("name").Of("products", "refId"), state("kind").Less(), code("sku"), qty("qty"), text("unit")}
	columns = append(append(columns, own...), amount("unitPrice"), amount("amount").Less(), amount("discountAmount"), amount("total"))
	return Table{Name: "lines", Field: "lines", Columns: columns, Sums: []string{"discountAmount", "total"}}
}

// is reports whether the status of a record is one of these.
func is(statuses ...string) func(Record) bool {
	return func(r Record) bool { return slices.Contains(statuses, r.Text("status")) }
}
