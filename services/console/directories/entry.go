package directories

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// entry is a record of a directory as the API shows it.
type entry struct {
	raw    json.RawMessage
	fields map[string]any
}

func (e *entry) UnmarshalJSON(raw []byte) error {
	e.raw = append(e.raw[:0], raw...)
	return json.Unmarshal(raw, &e.fields)
}

func (e entry) id() string { return e.text("id") }

// title is what people call it.
func (e entry) title() string {
	if label := e.text("label"); label != "" {
		return label
	}
	return e.text("name")
}

func (e entry) text(field string) string {
	s, _ := e.fields[field].(string)
	return s
}

func (e entry) is(field string) bool {
	b, _ := e.fields[field].(bool)
	return b
}

func (e entry) number(field string) int64 {
	n, _ := e.fields[field].(float64)
	return int64(n)
}

// inUse reports whether an entry can be chosen.
func (e entry) inUse() bool { return e.fields["isActive"] == nil || e.is("isActive") }

// builtIn reports whether an entry belongs to the platform, which nobody changes.
func (e entry) builtIn() bool {
	company, has := e.fields["companyId"]
	return has && company == nil
}

// names are the texts of choices, by the id that records have.
type names map[string]string

// cell shows a field of an entry. choices are those of the field, where its values are ids.
func (e entry) cell(q *web.Request, field string, choices names) web.Cell {
	switch v := e.fields[field].(type) {
	case nil:
		return web.Text(cmp.Or(choices[""], "–"))
	case bool:
		if v {
			return web.Text(q.T("form.yes"))
		}
		return web.Text(q.T("form.no"))
	case float64:
		return web.Text(strconv.FormatFloat(v, 'f', -1, 64))
	case string:
		switch {
		case choices != nil && choices[v] != "":
			return web.Text(choices[v])
		case choices != nil:
			return web.Code(v, "")
		case strings.HasPrefix(field, "date"):
			if day, err := time.Parse(time.DateOnly, v); err == nil {
				return web.Text(q.Date(day, "2 Jan 2006"))
			}
		case field == "type" || field == "outcome":
			return web.Text(q.Word(v))
		}
		return web.Text(v)
	case []any:
		return web.Text(cmp.Or(textOf(intervalsOf(e, field)), q.T("directories.closed")))
	default:
		return web.Text(fmt.Sprint(v))
	}
}

// page is a list as the API answers it: an array, or the items of a page.
type page struct {
	items []entry
	next  string
}

func pageOf(d resources.Directory, raw web.JSON) (p page, err error) {
	if !d.Paged {
		err = web.Decode(raw, &p.items)
		return p, err
	}
	var got struct {
		Items      []entry `json:"items"`
		NextCursor *string `json:"nextCursor"`
	}
	if err = web.Decode(raw, &got); err == nil && got.NextCursor != nil {
		p.next = *got.NextCursor
	}
	p.items = got.Items
	return p, err
}
