package list_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// party lies in the table of suppliers.
type party struct {
	record.Key
	Name string  `json:"name" search:"text"`
	Note *string `json:"note"`
	record.Meta
}

type partyFilter struct {
	list.Params
	Sort     string        `query:"sort" enum:"name,note,createdAt"`
	Note     string        `query:"note" where:"note = ?"`
	NoNote   bool          `query:"noNote" where:"note IS NULL"`
	DateFrom *list.From    `query:"dateFrom" where:"created_at >= ?"`
	DateTo   *list.To      `query:"dateTo" where:"created_at <= ?"`
	SizeMin  *money.Amount `query:"sizeMin" where:"length(name) >= ?"`
	SizeMax  *money.Amount `query:"sizeMax" where:"length(name) <= ?"`
}

var parties = list.Of[party, partyFilter]("suppliers")

func seedParties(t *testing.T, company tenant.ID) {
	t.Helper()
	for i, p := range []struct{ name, note string }{{"apple", "x"}, {"Banana", ""}, {"Äpfel", "x"}, {"cherry pie", "y"}} {
		m := record.New(time.Date(2026, 1, i+1, 0, 0, 0, 0, time.UTC))
		var note *string
		if p.note != "" {
			note = &p.note
		}
		_, err := dbtest.Open(t).Exec(t.Context(), `INSERT INTO suppliers (company_id, id, name, note, search_text, version, ev_pos, created_at, updated_at)
			VALUES ($1, $2, $3, $4, $5, 1, 1, $6, $6)`, company, record.NewID(), p.name, note, list.SearchText([]string{p.name}), m.CreatedAt)
		require.NoError(t, err)
	}
}

func names(page *list.Page[party]) []string {
	names := make([]string, len(page.Items))
	for i, item := range page.Items {
		names[i] = item.Name
	}
	return names
}

func TestViewFiltersAndSorts(t *testing.T) {
	t.Parallel()
	d, company := dbtest.Open(t), tenant.NewID()
	seedParties(t, company)
	from, to := list.From(time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)), list.To(time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC))
	five, six := money.Amount(5), money.Amount(6)
	for what, row := range map[string]struct {
		filter partyFilter
		want   []string
	}{
		"by name as people expect": {partyFilter{Sort: "name"}, []string{"Äpfel", "apple", "Banana", "cherry pie"}},
		"the last one first":       {partyFilter{}, []string{"cherry pie", "Äpfel", "Banana", "apple"}},
		"null comes last":          {partyFilter{Sort: "note"}, []string{"apple", "Äpfel", "cherry pie", "Banana"}},
		"a switch":                 {partyFilter{Sort: "name", NoNote: true}, []string{"Banana"}},
		"a filter":                 {partyFilter{Sort: "createdAt", Note: "x"}, []string{"apple", "Äpfel"}},
		"an interval":              {partyFilter{Sort: "createdAt", DateFrom: &from, DateTo: &to}, []string{"Banana", "Äpfel"}},
		"both bounds count":        {partyFilter{Sort: "createdAt", SizeMin: &five, SizeMax: &five}, []string{"apple", "Äpfel"}},
		"a search":                 {partyFilter{Params: list.Params{Search: "APP"}}, []string{"apple"}},
	} {
		row.filter.PageSize = 10
		page, err := parties.Page(t.Context(), d, company, row.filter)
		require.NoError(t, err, what)
		require.Equal(t, row.want, names(page), what)
		require.EqualValues(t, len(row.want), *page.Total, what)
	}
	require.Nil(t, mustPage(t, company, partyFilter{Sort: "note"}).Items[3].Note, "an item has nothing of the one before")

	_, err := parties.Page(t.Context(), d, company, partyFilter{SizeMin: &six, SizeMax: &five})
	f, ok := apierr.As(err)
	require.True(t, ok)
	require.Equal(t, "sizeMin", f.Fields[0].Field)
}

func mustPage(t *testing.T, company tenant.ID, f partyFilter) *list.Page[party] {
	t.Helper()
	f.PageSize = 10
	page, err := parties.Page(t.Context(), dbtest.Open(t), company, f)
	require.NoError(t, err)
	return page
}

func TestViewCursorsFollowTheCollation(t *testing.T) {
	t.Parallel()
	company := tenant.NewID()
	seedParties(t, company)
	var walked []string
	f := partyFilter{Params: list.Params{PageSize: 1}, Sort: "name"}
	for {
		page, err := parties.Page(t.Context(), dbtest.Open(t), company, f)
		require.NoError(t, err)
		walked = append(walked, names(page)...)
		if page.NextCursor == nil {
			break
		}
		f.Cursor = *page.NextCursor
	}
	require.Equal(t, []string{"Äpfel", "apple", "Banana", "cherry pie"}, walked)
}

func TestViewsRefuseMistakes(t *testing.T) {
	t.Parallel()
	type unknownSort struct {
		list.Params
		Sort string `query:"sort" enum:"size"`
	}
	type noSort struct{ list.Params }
	type misspelt struct {
		list.Params
		Sort string `query:"sort" enum:"name"`
		Note string `query:"note" were:"note = ?"`
	}
	require.Panics(t, func() { list.Of[party, unknownSort]("suppliers") })
	require.Panics(t, func() { list.Of[party, noSort]("suppliers") })
	require.Panics(t, func() { list.Of[party, misspelt]("suppliers") })
	require.Len(t, parties.Statements(), 38)
}
