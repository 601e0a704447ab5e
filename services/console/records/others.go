package records

import (
	"slices"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/services/console/resources"
)

// others are the fields of a record that the table of resources does not name, so that the page of a record shows a new one by itself.
// Their kinds follow from their types.
func others(res resources.Resource, answer *httpapi.Shape) (all []resources.Column) {
	if answer == nil {
		return nil
	}
	for _, f := range answer.Fields {
		kind, ok := kindOf(f)
		owner, isID := strings.CutSuffix(f.Name, "Id")
		if _, named := answer.Field(owner + "Name"); !ok || isID && named || knows(res, f.Name) {
			continue
		}
		all = append(all, resources.Column{Name: f.Name, Kind: kind})
	}
	return all
}

// knows reports whether a field stands on the page for another reason, or is nothing that people look for there.
func knows(res resources.Resource, name string) bool {
	return slices.Contains([]string{res.Title, res.State, "version", "updatedAt"}, name) || slices.Contains(machines, name) ||
		slices.ContainsFunc(slices.Concat(res.Columns, res.Facts), func(c resources.Column) bool { return c.Name == name || c.ID == name }) ||
		slices.ContainsFunc(res.Commands, func(c resources.Command) bool { return c.Each == name })
}

// kindOf is how a value of a type is shown; ok is false for lists and objects, which need a table, and for ids that no directory has
// names for.
func kindOf(s httpapi.Shape) (kind resources.Kind, ok bool) {
	_, entry := resources.ChoicesOf(s.Name)
	switch {
	case s.Format == "uuid":
		return resources.AsEntry, entry
	case s.Type == "array":
		return resources.AsWords, s.Item != nil && s.Item.Type == "string" && s.Item.Format != "uuid"
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
	case isAmount(s):
		return resources.AsAmount, true
	case s.Type == "integer":
		return resources.AsNumber, true
	case s.Type == "number":
		return resources.AsQty, true
	}
	return resources.AsText, true
}
