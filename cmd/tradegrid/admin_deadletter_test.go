package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/operations"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

// Operators see everything that the platform gave up, from wherever it lies.
func TestAdminDeadletterList(t *testing.T) {
	t.Parallel()
	g := rolestest.NewGraveyard(t, 2002)
	all := adminJSON[[]operations.DeadLetter](t, "deadletter", g.Brokers, "--company="+g.Company.String())
	require.Len(t, all, 5)
	seen := map[string]int{}
	for i, l := range all {
		seen[l.Source]++
		require.Equal(t, "order.created", l.Event)
		require.True(t, i == 0 || !l.At.After(all[i-1].At), "newest first")
		switch l.Source {
		case operations.DeadInOutbox:
			require.Equal(t, g.IDs[operations.DeadInOutbox], *l.EventID)
			require.Equal(t, []any{"refused", "MESSAGE_TOO_LARGE", 25, "events"}, []any{l.Reason, l.Error, l.Bytes, l.From})
		case operations.DeadEvents:
			require.Equal(t, []any{"decode", "unexpected end", "events/3/17"}, []any{l.Reason, l.Error, l.From})
			require.Regexp(t, `^events\.dlq/\d/\d$`, l.Place)
		case operations.DeadDeliveries:
			require.Equal(t, g.Sub, l.SubscriptionID.String())
			require.Equal(t, g.IDs[operations.DeadDeliveries], *l.EventID)
		}
	}
	require.Equal(t, map[string]int{operations.DeadInOutbox: 1, operations.DeadEvents: 3, operations.DeadDeliveries: 1}, seen)
	require.Len(t, adminJSON[[]operations.DeadLetter](t, "deadletter", "list", g.Brokers, "--source=events"), 4, "the one that no company is known of, too")
	require.Len(t, adminJSON[[]operations.DeadLetter](t, "deadletter", "list", g.Brokers, "--source=events", "--limit=2"), 2)
	text, err := runAdmin(t, "deadletter", "list", g.Brokers, "--company="+g.Company.String())
	require.NoError(t, err)
	require.Contains(t, text, "MESSAGE_TOO_LARGE")
	for _, wrong := range []struct {
		args []string
		says string
	}{
		{[]string{"list", g.Brokers, "--limit=1001"}, "--limit 1001: must be between 1 and 1000"},
		{[]string{"list", g.Brokers, "--company=" + uuid.NewString()}, "--company"},
		{[]string{"list"}, "--kafka-brokers"},
		{[]string{"redeliver", g.Brokers}, "--source"},
		{[]string{"purge", g.Brokers, "--source=webhooks"}, "--source"},
	} {
		_, err := runAdmin(t, append([]string{"deadletter"}, wrong.args...)...)
		require.ErrorContains(t, err, wrong.says)
	}
}

// Each kind is sent again by its own way, once, and only with --yes.
func TestAdminDeadletterRedeliver(t *testing.T) {
	t.Parallel()
	g := rolestest.NewGraveyard(t, 2002)
	of := "--company=" + g.Company.String()
	for _, c := range []struct {
		source         string
		found, without int
		arrived        string // statement that counts what was sent
	}{
		{operations.DeadInOutbox, 1, 0, `SELECT count(*) FROM outbox WHERE company_id = $1 AND id = $2 AND pos > 4711 AND key = company_id::TEXT AND payload = '{"event":"order.created"}'`},
		{operations.DeadEvents, 3, 1, `SELECT count(*) FROM outbox WHERE company_id = $1 AND id = $2 AND topic = 'events' AND agg_version = 1`},
		{operations.DeadDeliveries, 1, 0, `SELECT count(*) FROM deliveries WHERE company_id = $1 AND event_id = $2 AND state = 0 AND redelivery_no = 1`},
	} {
		want := operations.Redelivered{Source: c.source, Found: c.found, Without: c.without}
		args := []string{"deadletter", "redeliver", g.Brokers, of, "--source=" + c.source}
		require.Equal(t, want, adminJSON[operations.Redelivered](t, args...))
		text, err := runAdmin(t, args...)
		require.NoError(t, err)
		require.Contains(t, text, "Nothing was sent. Add --yes to send.")
		require.Zero(t, g.Count(t, c.arrived, g.IDs[c.source]), c.source)
		want.Sent = 1
		require.Equal(t, want, adminJSON[operations.Redelivered](t, append(args, "--yes")...))
		require.Equal(t, 1, g.Count(t, c.arrived, g.IDs[c.source]), c.source)
	}
	require.Zero(t, g.Count(t, `SELECT count(*) FROM outbox_dead WHERE company_id = $1`))
	again := adminJSON[operations.Redelivered](t, "deadletter", "redeliver", g.Brokers, of, "--source=deliveries", "--yes")
	require.Zero(t, again.Sent, "what was sent again is not sent a third time")
	require.Equal(t, 4, g.Count(t, `SELECT count(*) FROM admin_changes WHERE of_company = $1 AND operation = 'redeliverDeadLetters'`), "changes by operators are recorded")
}

// Purging deletes what is old enough and no more, and only with --yes.
func TestAdminDeadletterPurge(t *testing.T) {
	t.Parallel()
	g := rolestest.NewGraveyard(t, 2001)
	purge := func(source string, args ...string) operations.Purged {
		t.Helper()
		return adminJSON[operations.Purged](t, append([]string{"deadletter", "purge", g.Brokers, "--source=" + source}, args...)...)
	}
	old := "--before=2001-01-01T00:00:00Z" // other tests have no rows as old as that
	require.Positive(t, purge(operations.DeadInOutbox, old).Found)
	require.Zero(t, purge(operations.DeadInOutbox, "--before=2000-12-31T00:00:00Z", "--yes").Deleted)
	require.Equal(t, 1, g.Count(t, `SELECT count(*) FROM outbox_dead WHERE company_id = $1`))
	require.Positive(t, purge(operations.DeadInOutbox, old, "--yes").Deleted)
	require.Zero(t, g.Count(t, `SELECT count(*) FROM outbox_dead WHERE company_id = $1`))
	require.Positive(t, g.Count(t, `SELECT count(*) FROM admin_changes WHERE of_company = $1 AND operation = 'purgeDeadLetters'`))
	for source, n := range map[string]int64{operations.DeadEvents: 4, operations.DeadDeliveries: 1} {
		require.Equal(t, operations.Purged{Source: source, Found: n}, purge(source))
		require.Equal(t, operations.Purged{Source: source}, purge(source, fmt.Sprint("--before=", time.Now().Add(-time.Hour).Format(time.RFC3339)), "--yes"))
		before := time.Now()
		require.Equal(t, operations.Purged{Source: source, Found: n, Deleted: n}, purge(source, "--yes"))
		require.Positive(t, g.Count(t, `SELECT count(*) FROM admin_changes WHERE of_company IS DISTINCT FROM $1 AND operation = 'purgeDeadLetters' AND body LIKE $2 AND created_at >= $3`, `%"`+source+`"%`, before))
		require.Equal(t, operations.Purged{Source: source}, purge(source))
	}
	text, err := runAdmin(t, "deadletter", "purge", g.Brokers, "--source=events")
	require.NoError(t, err)
	require.Contains(t, text, "Nothing was deleted. Add --yes to delete.")
}
