package notes

import (
	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// Note is a text that the company keeps.
type Note struct {
	record.Key
	Fields
	record.Meta
}

// Fields are the fields that API clients set.
type Fields struct {
	Title string  `json:"title" required:"true" minLength:"1" maxLength:"255" search:"text"`
	Body  *string `json:"body" maxLength:"4000"`
}

// Filter filters and sorts notes.
type Filter struct {
	list.Params
	Sort string `query:"sort" enum:"title,createdAt"`
}

var (
	table = resource.Of[Note]("notes", "NOTE")
	items = list.Of[Note, Filter]("notes")
)
