package list

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

// Page is the envelope of a list; see docs/reference/conventions.md#lists.
type Page[T any] struct {
	Items      []T     `json:"items"`
	Total      *int64  `json:"total,omitempty" doc:"number of matching records; absent when reading by cursor without withTotal"`
	Page       *int    `json:"page,omitempty" doc:"absent when reading by cursor"`
	PageSize   int     `json:"pageSize"`
	NextCursor *string `json:"nextCursor" nullable:"true" doc:"cursor of the next page; null on the last page"`
	HasMore    bool    `json:"hasMore" doc:"more records follow; a page that would be too large has fewer than pageSize, and nextCursor reads the rest"`

	fields    []string
	query     *Query
	ends      []lastRow // of the items
	Watermark string    `json:"-"` // value of [HeaderWatermark] if updatedSince is set
}

// end sets what tells how the page ends.
func (p *Page[T]) end(last lastRow) {
	if p.HasMore = last.more; p.HasMore {
		c := p.query.cursorAt(last, p.query.nextLimit(len(p.Items), last.cut))
		p.NextCursor = &c
	}
}

// lastRow holds the cursor values of a row, or of the last one of a page.
type lastRow struct {
	more  bool
	cut   bool // the page ends because it is large
	id    uuid.UUID
	sort  *string
	bytes int
}

// take appends rows to the page until it is full.
func (p *Page[T]) take(rows pgx.Rows, read func(pgx.Rows, ...any) (T, error), end *lastRow) error {
	bytes := end.bytes
	for rows.Next() {
		if end.more {
			continue // the connection has to be read to the end
		}
		size := 0
		for _, v := range rows.RawValues() {
			size += len(v)
		}
		bytes += size
		end.cut = bytes > MaxPageBytes && len(p.Items) > 0
		if end.more = end.cut || len(p.Items) == p.query.limit(); end.more {
			continue
		}
		row := lastRow{bytes: size}
		also := []any{&row.id, &row.sort}
		if p.query.hits != nil {
			also = append(also, p.query.hits)
		}
		item, err := read(rows, also...)
		if err != nil {
			return fmt.Errorf("read row of list: %w", err)
		}
		p.Items, p.ends = append(p.Items, item), append(p.ends, row)
		end.id, end.sort, end.bytes = row.id, row.sort, bytes
	}
	return rows.Err()
}

// MarshalJSON implements [json.Marshaler]. It writes only the fields that the client selected.
func (p Page[T]) MarshalJSON() ([]byte, error) {
	v, err := p.Encodable()
	if err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

// Encodable returns a value with the JSON of the page. Encoding it makes fewer copies of the page than [Page.MarshalJSON].
func (p *Page[T]) Encodable() (any, error) {
	type plain Page[T]
	if len(p.fields) == 0 {
		return (*plain)(p), nil
	}
	items := make([]map[string]json.RawMessage, len(p.Items))
	for i := range p.Items {
		var err error
		if items[i], err = selected(&p.Items[i], p.fields); err != nil {
			return nil, err
		}
	}
	return &struct {
		Items      []map[string]json.RawMessage `json:"items"`
		Total      *int64                       `json:"total,omitempty"`
		Page       *int                         `json:"page,omitempty"`
		PageSize   int                          `json:"pageSize"`
		NextCursor *string                      `json:"nextCursor"`
		HasMore    bool                         `json:"hasMore"`
	}{items, p.Total, p.Page, p.PageSize, p.NextCursor, p.HasMore}, nil
}

// selected returns the fields of an item that the client selected.
func selected(item any, fields []string) (map[string]json.RawMessage, error) {
	raw, err := json.Marshal(item)
	if err != nil {
		return nil, fmt.Errorf("encode list item: %w", err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, fmt.Errorf("select fields of list item: %w", err)
	}
	some := map[string]json.RawMessage{"id": all["id"]}
	for _, name := range fields {
		if v, ok := all[name]; ok {
			some[name] = v
		}
	}
	return some, nil
}

// Encode writes item i as MarshalJSON does, and a newline.
func (p *Page[T]) Encode(to *json.Encoder, i int) error {
	if len(p.fields) == 0 {
		return to.Encode(&p.Items[i])
	}
	some, err := selected(&p.Items[i], p.fields)
	if err != nil {
		return err
	}
	return to.Encode(some)
}

// Item returns item i with all its fields.
func (p *Page[T]) Item(i int) reflect.Value { return reflect.ValueOf(&p.Items[i]).Elem() }

// ResponseHeaders tells a client that synchronizes where its next request begins.
func (p *Page[T]) ResponseHeaders() map[string]string {
	if p.Watermark == "" {
		return nil
	}
	return map[string]string{HeaderWatermark: p.Watermark}
}

func checkFields[T any](fields []string) error {
	if len(fields) == 0 {
		return nil
	}
	known := map[string]bool{}
	addFields(reflect.TypeFor[T](), known)
	var faults apierr.Fields
	for _, f := range fields {
		if !known[f] {
			faults.Add("fields", apierr.Enum, "%s is not a field of this record; use its top-level fields", f)
		}
	}
	return faults.Err()
}

func addFields(t reflect.Type, known map[string]bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous && f.Type.Kind() == reflect.Struct {
			addFields(f.Type, known)
			continue
		}
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			known[name] = true
		}
	}
}
