package list_test

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// note is an item of a list; its columns are those of the table notes.
type note struct {
	record.Key
	Title    string     `json:"title" search:"text"`
	Color    string     `json:"color"`
	ClientID *uuid.UUID `json:"clientId"`
	record.Meta
}

// noteFilter are the parameters of the list: what all lists have, its sorts, and its filters, each named as the field that it is about.
type noteFilter struct {
	list.Params
	Sort     string     `query:"sort" enum:"title,createdAt"`
	Color    []string   `query:"color" maxItems:"20"`
	ClientID *uuid.UUID `query:"clientId"`
}

// The list is made when the program starts; a filter or sort that does not fit a column fails there.
var notes = list.Of[note, noteFilter]("notes")

// A page is read by a method of a service, which [httpapi.List] registers.
func ExampleView() {
	page := func(ctx context.Context, d *db.DB, company tenant.ID, f noteFilter) (*list.Page[note], error) {
		return notes.Page(ctx, d, company, f)
	}
	_ = page

	q, err := notes.Query(tenant.NewID(), noteFilter{Color: []string{"red"}})
	fmt.Println(q != nil, err) // a query takes further conditions before it is fetched, by q.Where
	// Output: true <nil>
}
