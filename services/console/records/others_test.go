package records

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/services/console/resources"
)

// A new field of a record is on its page without a line in the table of resources, and shown by its type.
func TestFieldsThatNoTableNamesAreShown(t *testing.T) {
	t.Parallel()
	largest := float64(money.MaxAmount)
	res := resources.Resource{
		Title: "name", State: "status", Columns: []resources.Column{{Name: "phone"}, {Name: "clientName", ID: "clientId"}},
		Commands: []resources.Command{{ForEach: "next"}},
	}
	answer := &httpapi.Shape{Fields: []httpapi.Shape{
		{Name: "id", Type: "string", Format: "uuid"},
		{Name: "version", Type: "integer"},
		{Name: "name", Type: "string"},
		{Name: "status", Type: "string", Enum: []string{"new"}},
		{Name: "phone", Type: "string"},
		{Name: "clientId", Type: "string", Format: "uuid"},
		{Name: "cashierId", Type: "string", Format: "uuid"},
		{Name: "cashierName", Type: "string"},
		{Name: "next", Type: "array", Item: &httpapi.Shape{Type: "string"}},
		{Name: "metadata", Type: "object"},
		{Name: "lines", Type: "array", Item: &httpapi.Shape{Type: "object"}},
		{Name: "position", Type: "string"},
		{Name: "size", Type: "string", Enum: []string{"s"}},
		{Name: "limit", Type: "integer", Maximum: &largest},
		{Name: "hours", Type: "integer"},
		{Name: "qty", Type: "number"},
		{Name: "open", Type: "boolean"},
		{Name: "day", Type: "string", Format: "date"},
		{Name: "at", Type: "string", Format: "date-time"},
		{Name: "tags", Type: "array", Item: &httpapi.Shape{Type: "string"}},
		{Name: "groupId", Type: "string", Format: "uuid"},
	}}
	require.Equal(t, []resources.Column{
		{Name: "phone"},
		{Name: "clientName", ID: "clientId"},
		{Name: "cashierName"},
		{Name: "position"},
		{Name: "size", Kind: resources.AsWord},
		{Name: "limit", Kind: resources.AsAmount},
		{Name: "hours", Kind: resources.AsNumber},
		{Name: "qty", Kind: resources.AsQty},
		{Name: "open", Kind: resources.AsYes},
		{Name: "day", Kind: resources.AsDate},
		{Name: "at", Kind: resources.AsTime},
		{Name: "tags", Kind: resources.AsTexts},
		{Name: "groupId", Kind: resources.AsEntry},
	}, factsOf(res, answer))
	require.Equal(t, res.Columns, factsOf(res, nil))

	lines := resources.Table{Field: "lines", Columns: []resources.Column{{Name: "amount", Hidden: true}}}
	order := &httpapi.Shape{Fields: []httpapi.Shape{{Name: "lines", Type: "array", Item: &httpapi.Shape{Type: "object", Fields: []httpapi.Shape{
		{Name: "id", Type: "string", Format: "uuid"}, {Name: "amount", Type: "integer"}, {Name: "sortOrder", Type: "integer"}, {Name: "note", Type: "string"},
	}}}}}
	require.Equal(t, []resources.Column{{Name: "amount", Hidden: true}, {Name: "note", Some: true}}, columnsOf(lines, order))
}
