package apitest

import (
	"encoding/json"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/compress"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/outbox"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/webhook"
	"github.com/tradegrid/tradegrid/topics"
)

const sqlSelectEvents = `SELECT payload FROM outbox WHERE bucket = $1 AND company_id = $2 AND topic = $3 ORDER BY pos, id`

// Events returns the events of the company in the outbox, in order of position.
// If no relay is running, these are all events raised so far.
func Events(t testing.TB, d *db.DB, company tenant.ID) []webhook.Envelope {
	t.Helper()
	rows, err := d.Query(t.Context(), sqlSelectEvents, outbox.Bucket(company), company, topics.Events)
	require.NoError(t, err)
	payloads, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	require.NoError(t, err)
	events := make([]webhook.Envelope, len(payloads))
	for i, p := range payloads {
		body, err := compress.Open(p)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(body, &events[i]))
	}
	return events
}
