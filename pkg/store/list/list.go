// Package list translates the query parameters shared by all lists into SQL, and rows into a page: pages and cursors,
// stable sorting, incremental reads, and selection of ids and fields.
// A resource adds a [Spec] with its sorts, and its own conditions.
//
// Start with [Of]: it derives the list of a resource, a [View], from the struct of its items and that of its filters, which embeds
// [Params]. [View.Page] reads a page. Where a condition follows from no field, [View.Query] returns the [Query], which takes it by
// [Query.Where], and [View.Fetch] reads it. A [Node] holds what the lists of one process share: totals that were counted, and how
// many pages are read at a time. Filters of requests never become SQL text; they are parameters.
package list

import (
	"cmp"
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// SinceParam is the parameter of lists that a client synchronizes by, and HeaderWatermark the header that has its next value.
const (
	SinceParam      = "updatedSince"
	HeaderWatermark = "X-Sync-Watermark"
)

// Params are the query parameters of every list; embed it in the input of the operation.
// The resource adds a field Sort, with an enum of its sorts, and its filters.
type Params struct {
	Page         int            `query:"page" minimum:"1" maximum:"2147483647" doc:"page number, from 1; cannot be combined with cursor"`
	PageSize     int            `query:"pageSize" minimum:"1" maximum:"200" default:"50"`
	Search       string         `query:"search" minLength:"1" maxLength:"200" doc:"case-insensitive text search"`
	Order        string         `query:"order" enum:"asc,desc" doc:"default asc if sort is set, otherwise desc"`
	Cursor       string         `query:"cursor" maxLength:"2000" doc:"nextCursor of the previous page; total is returned only with withTotal=true"`
	WithTotal    bool           `query:"withTotal" doc:"return total when reading by cursor, too"`
	UpdatedSince *jsontype.Time `query:"updatedSince" doc:"only records changed at or after this time, oldest change first; X-Sync-Watermark returns the value for the next request"`
	IDs          []uuid.UUID    `query:"ids" format:"uuid" maxItems:"100" doc:"comma-separated ids"`
	Fields       []string       `query:"fields" maxItems:"100" doc:"comma-separated top-level fields to return; id is always returned"`

	node  *Node // of the process that serves the list; nil = none
	fresh bool  // nothing that the node remembers is used

	callingCode string // of the company, by which a search reads phone numbers; "" = they need a country code

	reserve func(ctx context.Context, bytes int) error // reserves the memory of a page; nil = not bounded
}

// PageLimit is the size of a page of those lists that are read by cursor only.
type PageLimit struct {
	Limit    int `query:"limit" minimum:"1" maximum:"200" default:"50"`
	PageSize int `query:"pageSize" minimum:"1" maximum:"200" doc:"the same as limit, under the name that it has in other lists"`
}

// Records is the number of records on a page.
func (l PageLimit) Records() int { return cmp.Or(l.PageSize, l.Limit) }

// On has the node serve the list. With fresh, nothing that it remembers is used: total is counted anew.
func (p *Params) On(n *Node, fresh bool) { p.node, p.fresh = n, fresh }

// ReadPhonesOf has a search read phone numbers as in the country of a calling code, such as +49.
func (p *Params) ReadPhonesOf(callingCode string) { p.callingCode = callingCode }

// ReserveBy has the page reserve its memory before what is listed with its records is read.
func (p *Params) ReserveBy(reserve func(ctx context.Context, bytes int) error) { p.reserve = reserve }

// Read sets the number of records on the page for readers within the process, beyond the limit for requests.
func (p *Params) Read(size int) { p.PageSize = size }

// Shows reports whether a record on the page has any of these fields. What only they need is not read otherwise.
func (p *Params) Shows(fields ...string) bool {
	return len(p.Fields) == 0 || slices.ContainsFunc(fields, func(f string) bool { return slices.Contains(p.Fields, f) })
}

// Sort is a sort order of a list. The column may be an expression.
type Sort struct {
	Column   string
	Type     string // SQL type of the column, to cast cursor values: TEXT, BIGINT, TIMESTAMPTZ, DECIMAL
	Nullable bool   // nulls sort last in both directions
}

// Spec describes the query of a list. In a query with joins, all columns are qualified, including ID and Company.
type Spec struct {
	From    string     // table, with joins if any
	Reads   []db.Table // that From and Count name; default From
	Count   string     // what total is counted from, if that takes less, such as the same with LEFT JOINs that need not be made; default From
	Columns string     // of the SELECT
	Company string     // default company_id
	ID      string     // default id
	Updated string     // default updated_at
	Sorts   map[string]Sort
	Default string // sort used, descending, when the client names none; default createdAt

	Platform bool // a list over all companies: no condition on the company
	Summed   bool // From sums up records, so that a page reads all of the company

	// The records are never deleted, each change of a column that a condition may name sets Updated, and From is a table.
	// Large totals are corrected by what has changed then, not counted again, and tell where deep pages begin; see docs/architecture.md#lists.
	Permanent bool
}
