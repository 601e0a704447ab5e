package apitest

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/compress"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/topics"
)

const sqlSelectEvents = `SELECT payload FROM outbox WHERE bucket = $1 AND company_id = $2 AND topic = $3 ORDER BY pos, id`

// Events returns the events of the company in the outbox, in order of position.
// If no relay is running, these are all events raised so far.
func Events(t testing.TB, d *db.DB, company tenant.ID) []event.Envelope {
	t.Helper()
	rows, err := d.Query(t.Context(), sqlSelectEvents, outbox.Bucket(company), company, topics.Events)
	require.NoError(t, err)
	payloads, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	require.NoError(t, err)
	events := make([]event.Envelope, len(payloads))
	for i, p := range payloads {
		body, err := compress.Open(p)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(body, &events[i]))
	}
	return events
}

// Event is an event that was raised.
type Event struct {
	Name string
	By   string // the actor
	Data map[string]any
}

// Raised are events in order of position.
type Raised []Event

// RaisedBy returns the events of the company, as [Events] does, decoded.
func RaisedBy(t testing.TB, d *db.DB, company tenant.ID) Raised {
	t.Helper()
	all := Raised{}
	for _, stored := range Events(t, d, company) {
		e := Event{Name: stored.Event, By: stored.ActorID}
		require.NoError(t, json.Unmarshal(stored.Data, &e.Data))
		all = append(all, e)
	}
	return all
}

// Names returns the names of the events.
func (r Raised) Names() []string {
	names := make([]string, len(r))
	for i, e := range r {
		names[i] = e.Name
	}
	return names
}

// Of returns the events with one of the names. A name such as order. stands for all that begin with it.
func (r Raised) Of(names ...string) Raised {
	some := Raised{}
	for _, e := range r {
		if slices.ContainsFunc(names, func(n string) bool { return e.Name == n || (strings.HasSuffix(n, ".") && strings.HasPrefix(e.Name, n)) }) {
			some = append(some, e)
		}
	}
	return some
}
