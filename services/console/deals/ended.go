package deals

import (
	"net/http"
	"net/url"
	"time"

	"github.com/tradegrid/tradegrid/services/console/web"
)

// Names of the first and the last day on which the deals ended that a board adds up.
const (
	endedFrom = "endedFrom"
	endedTo   = "endedTo"
)

// ending is when deals ended: from From, and before To.
type ending struct {
	From, To time.Time
	from, to string // days
}

// periodOf is the days that the address asks for; the days of this month so far if it has none that can be read. A move is answered for the
// page that it came from.
func periodOf(q *web.Request) ending {
	asked := q.Form
	if at, err := url.Parse(q.HTTP.Header.Get("HX-Current-URL")); err == nil && q.HTTP.Method == http.MethodPost {
		asked = at.Query()
	}
	e, ok := between(q.Zone, asked.Get(endedFrom), asked.Get(endedTo))
	if !ok {
		now := q.Now.In(q.Zone)
		e, _ = between(q.Zone, now.AddDate(0, 0, 1-now.Day()).Format(time.DateOnly), now.Format(time.DateOnly))
	}
	return e
}

func between(zone *time.Location, from, to string) (ending, bool) {
	first, err := time.ParseInLocation(time.DateOnly, from, zone)
	if err != nil {
		return ending{}, false
	}
	last, err := time.ParseInLocation(time.DateOnly, to, zone)
	return ending{first, last.AddDate(0, 0, 1), from, to}, err == nil && !last.Before(first)
}

// endedRanges lead to the sums of other days.
func endedRanges(q *web.Request, board string, e ending) web.Ranges {
	return q.Ranges(q.T("deals.ended"), e.from, e.to, func(from, to string) string {
		return web.With(board, "type", q.Form.Get("type"), endedFrom, from, endedTo, to)
	})
}
