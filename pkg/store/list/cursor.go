package list

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

// cursor is the position after the last record of a page. It is opaque to clients.
type cursor struct {
	Sort  string    `json:"s"`
	Desc  bool      `json:"d,omitempty"`
	Value *string   `json:"v"`
	ID    uuid.UUID `json:"i"`
	Query string    `json:"q"`           // digest of the conditions: a cursor is valid only for the same list and filters
	Few   int       `json:"n,omitempty"` // at most that many records on the page; see [Query.nextLimit]
}

func (q *Query) cursorAt(last lastRow, limit int) string {
	c := cursor{Sort: q.sort, Desc: q.desc, Value: last.sort, ID: last.id, Query: q.digest(), Few: limit}
	raw, err := json.Marshal(c)
	if err != nil {
		panic(err) // a struct of strings always encodes
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

// digest hashes the client's conditions.
func (q *Query) digest() string {
	where, args := slices.Clone(q.where), slices.Clone(q.args)
	if q.searching {
		where[q.searched] = "" // its arguments tell
	}
	for _, f := range slices.Backward(q.found) { // which keeps the places of the arguments before
		where[f.where] = ""
		if args = slices.Delete(args, f.from, f.to); f.asked != nil {
			args = append(args, f.asked)
		}
	}
	h := hashOf(where, args)
	return base64.RawURLEncoding.EncodeToString(h[:9])
}

// hashOf hashes statements and the values of their arguments.
func hashOf(statements []string, args []any) (sum [sha256.Size]byte) {
	h := sha256.New()
	for _, s := range statements {
		fmt.Fprintf(h, "%s\n", s)
	}
	for _, a := range args {
		raw, err := json.Marshal(a) // hash the value, not the pointer
		if err != nil {
			raw = fmt.Append(nil, a)
		}
		fmt.Fprintf(h, "%s\n", raw)
	}
	h.Sum(sum[:0])
	return sum
}

var errCursor = apierr.InvalidField("cursor", apierr.Format, "is not valid for this list, filters and order; start again without it")

// place reads the cursor of the request.
func (q *Query) place(s Sort) (*place, error) {
	raw, err := base64.RawURLEncoding.DecodeString(q.params.Cursor)
	if err != nil {
		return nil, errCursor
	}
	var c cursor
	if err := json.Unmarshal(raw, &c); err != nil || c.Sort != q.sort || c.Desc != q.desc || c.Query != q.digest() || (c.Value == nil && !s.Nullable) {
		return nil, errCursor
	}
	q.few = max(c.Few, 0)
	return &place{id: c.ID, sort: c.Value}, nil
}

// after is the condition that selects the records behind the place, among those with a value or among those without.
func (q *Query) after(s Sort, p place, args []any) (string, []any) {
	op := ">"
	if q.desc {
		op = "<"
	}
	if p.sort == nil {
		args = append(args, p.id)
		return fmt.Sprintf("%s %s $%d", q.spec.ID, op, len(args)), args
	}
	args = append(args, *p.sort, p.id)
	return fmt.Sprintf("(%s, %s) %s ($%d::TEXT::%s, $%d)", s.Column, q.spec.ID, op, len(args)-1, s.Type, len(args)), args
}
