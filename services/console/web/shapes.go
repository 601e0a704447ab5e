package web

import (
	"strconv"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
)

// maxShapeRows is how many fields a page lists.
const maxShapeRows = 200

// ShapeRows are the fields of a value as rows of a table: name, type and meaning. Those of objects within follow, with their paths.
func ShapeRows(q *Request, s *httpapi.Shape) [][]Cell {
	var rows [][]Cell
	if s != nil {
		shapeRows(q, *s, "", &rows)
	}
	return rows
}

func shapeRows(q *Request, s httpapi.Shape, at string, rows *[][]Cell) {
	for _, f := range s.Fields {
		if len(*rows) >= maxShapeRows {
			return
		}
		name := at + f.Name
		cell := Code(name, "")
		if f.Required {
			cell = cell.With(q.T("shape.required"))
		}
		*rows = append(*rows, []Cell{cell, Text(shapeType(q, f)), Text(f.Doc)})
		if f.Item != nil {
			shapeRows(q, *f.Item, name+"[].", rows)
			continue
		}
		shapeRows(q, f, name+".", rows)
	}
}

// shapeType is the type of a field in words, with its limits.
func shapeType(q *Request, s httpapi.Shape) string {
	kind := s.Type
	if s.Format != "" {
		kind = s.Format
	}
	if s.Item != nil {
		kind = q.T("shape.array", shapeType(q, *s.Item))
	}
	parts := []string{kind}
	if len(s.Enum) > 0 {
		parts = append(parts, strings.Join(s.Enum, " | "))
	}
	if s.MaxLength != nil {
		parts = append(parts, q.T("shape.max_length", *s.MaxLength))
	}
	const exact = 1<<53 - 1 // the limits of numbers that all languages can read are nothing to say
	if s.Minimum != nil && *s.Minimum > -exact {
		parts = append(parts, "≥ "+strconv.FormatFloat(*s.Minimum, 'f', -1, 64))
	}
	if s.Maximum != nil && *s.Maximum < exact {
		parts = append(parts, "≤ "+strconv.FormatFloat(*s.Maximum, 'f', -1, 64))
	}
	if s.Nullable {
		parts = append(parts, q.T("shape.nullable"))
	}
	return strings.Join(parts, ", ")
}
