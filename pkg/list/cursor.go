package list

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/apierr"
)

// cursor is the position after the last record of a page. It is opaque to clients.
type cursor struct {
	Sort  string    `json:"s"`
	Desc  bool      `json:"d,omitempty"`
	Value *string   `json:"v"`
	ID    uuid.UUID `json:"i"`
	Query string    `json:"q"` // digest of the conditions: a cursor is valid only for the same list and filters
}

func (q *Query) cursorAt(last lastRow) string {
	c := cursor{Sort: q.sort, Desc: q.desc, Value: last.sort, ID: last.id, Query: q.digest()}
	raw, err := json.Marshal(c)
	if err != nil {
		panic(err) // a struct of strings always encodes
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

// digest hashes the client's conditions, before the cursor adds its own.
func (q *Query) digest() string {
	h := sha256.New()
	for _, w := range q.where {
		fmt.Fprintf(h, "%s\n", w)
	}
	for _, a := range q.args[:q.own] {
		raw, err := json.Marshal(a) // hash the value, not the pointer
		if err != nil {
			raw = fmt.Append(nil, a)
		}
		fmt.Fprintf(h, "%s\n", raw)
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:9])
}

var errCursor = apierr.Invalid(apierr.Field{
	Field: "cursor", Code: apierr.Format,
	Message: "cursor: is not valid for this list, filters and order; start again without it",
})

// afterCursor is the condition that selects the records after the cursor, in the order of the list.
func (q *Query) afterCursor(s Sort) (string, error) {
	raw, err := base64.RawURLEncoding.DecodeString(q.params.Cursor)
	if err != nil {
		return "", errCursor
	}
	var c cursor
	if err := json.Unmarshal(raw, &c); err != nil || c.Sort != q.sort || c.Desc != q.desc || c.Query != q.digest() {
		return "", errCursor
	}
	op := ">"
	if q.desc {
		op = "<"
	}
	if c.Value == nil {
		q.args = append(q.args, c.ID)
		return fmt.Sprintf("(%s IS NULL AND %s %s $%d)", s.Column, q.spec.ID, op, len(q.args)), nil
	}
	q.args = append(q.args, *c.Value, c.ID)
	v, id := len(q.args)-1, len(q.args)
	value := fmt.Sprintf("$%d::TEXT::%s", v, s.Type)
	if !s.Nullable {
		return fmt.Sprintf("(%s, %s) %s (%s, $%d)", s.Column, q.spec.ID, op, value, id), nil
	}
	return fmt.Sprintf("(%[1]s %[2]s %[3]s OR (%[1]s = %[3]s AND %[4]s %[2]s $%[5]d) OR %[1]s IS NULL)", s.Column, op, value, q.spec.ID, id), nil
}
