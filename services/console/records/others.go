package records

import (
	"slices"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// factsOf are the fields that the page of a record shows: those of the table of resources, and after them those that it does not name, so
// that a new field is shown by itself.
func factsOf(res resources.Resource, answer *httpapi.Shape) []resources.Column {
	but := []string{res.Title, res.State, "version", "updatedAt"}
	for _, c := range res.Commands {
		but = append(but, c.ForEach)
	}
	return withOthers(slices.Concat(res.Columns, res.Facts), answer, but...)
}

// columnsOf are those of a table that the record has itself, in the same way.
func columnsOf(t resources.Table, answer *httpapi.Shape) []resources.Column {
	f, _ := answer.Field(t.Field)
	all := withOthers(t.Columns, f.Item, "sortOrder")
	for i := len(t.Columns); i < len(all); i++ {
		all[i].Some, all[i].Told = true, t.Tells
	}
	return all
}

// withOthers adds the fields of an object that no column names. Their kinds follow from their types. What integrations fill in is nothing
// that people look for.
func withOthers(columns []resources.Column, object *httpapi.Shape, but ...string) []resources.Column {
	if object == nil {
		return columns
	}
	all := slices.Clone(columns)
	for _, f := range object.Fields {
		kind, ok := kindOf(f)
		owner, isID := strings.CutSuffix(f.Name, "Id")
		_, named := object.Field(owner + "Name")
		known := slices.ContainsFunc(columns, func(c resources.Column) bool {
			return c.Name == f.Name || c.ID == f.Name || slices.Contains(c.Under, f.Name) || c.Unit == f.Name
		})
		if ok && !known && (!isID || !named) && !slices.Contains(but, f.Name) && !slices.Contains(machines, f.Name) {
			all = append(all, resources.Column{Name: f.Name, Kind: kind})
		}
	}
	return all
}

// kindOf is how a value of a type is shown; ok is false for lists and objects, which need a table, and for ids that no directory has
// names for.
func kindOf(s httpapi.Shape) (kind resources.Kind, ok bool) {
	_, entry := resources.ChoicesOf(s.Name)
	switch {
	case s.Format == "uuid":
		return resources.AsEntry, entry
	case s.Type == "array":
		return resources.AsTexts, s.Item != nil && s.Item.Type == "string" && s.Item.Format != "uuid"
	case s.Type == "object":
		return 0, false
	case len(s.Enum) > 0:
		return resources.AsWord, true
	case s.Type == "boolean":
		return resources.AsYes, true
	case s.Format == "date-time":
		return resources.AsTime, true
	case s.Format == "date":
		return resources.AsDate, true
	case web.IsAmount(s):
		return resources.AsAmount, true
	case s.Type == "integer":
		return resources.AsNumber, true
	case s.Type == "number":
		return resources.AsQty, true
	}
	return resources.AsText, true
}
