package records

import (
	"maps"
	"net/url"
	"strings"

	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// ranges lead to the report of other days.
func ranges(q *web.Request, res resources.Resource, query url.Values) *web.Ranges {
	r := q.Ranges(q.T("range.title"), query.Get("from"), query.Get("to"), func(from, to string) string {
		of := maps.Clone(query)
		of.Set("from", from)
		of.Set("to", to)
		return reportAt(q, res) + "?" + addressOf(of)
	})
	return &r
}

// rangesOf lead to the list with other days of the two filters that a filter is one of; nil = it stands alone, or the form shows both and
// this is the second one.
func rangesOf(q *web.Request, in listQuery, filter, only string) *web.Ranges {
	name, ok := strings.CutSuffix(filter, "From")
	if !ok && only != "" {
		name, ok = strings.CutSuffix(filter, "To")
	}
	begins, ends := name+"From", name+"To"
	if !ok || !in.filtersBy(begins) || !in.filtersBy(ends) {
		return nil
	}
	in = in.with("cursor", "")
	r := q.Ranges(q.T("range.of", q.Label(begins), q.Label(ends)), dayOf(q, in.query.Get(begins)), dayOf(q, in.query.Get(ends)), func(from, to string) string {
		if word := wordOf(q, from); word != "" && from == to {
			from, to = word, word // so that a view of it moves on
		}
		return in.with(begins, from).with(ends, to).address(q)
	})
	return &r
}

// wordOf is the word for a day that moves on; "" = there is none.
func wordOf(q *web.Request, day string) string {
	for word := range days {
		if dayOf(q, word) == day {
			return word
		}
	}
	return ""
}

// addressOf is the query of a page of a report.
func addressOf(query url.Values) string {
	of := url.Values{}
	for name, values := range query {
		if name == "groupBy" { // boxes send one each
			of[name] = strings.Split(values[0], ",")
			continue
		}
		of[name] = values
	}
	return of.Encode()
}
