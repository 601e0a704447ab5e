package company

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/compress"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// newOwned is a company with an owner, in a database of its own: notices are looked for in all companies.
func newOwned(t *testing.T) (office, *clock, tenant.ID) {
	t.Helper()
	c := &clock{at: time.Date(2026, 11, 20, 9, 30, 0, 123_456_000, time.UTC)}
	o := newService(dbtest.OpenNew(t).WithClock(c.now))
	id := create(t, o, NewCompany{}).ID
	owner, err := o.InviteUser(t.Context(), id, uuid.Nil, Invitation{Email: "anna@example.com", Role: "owner"})
	require.NoError(t, err)
	_, err = o.ActivateUser(t.Context(), id, owner.ID, uuid.Nil)
	require.NoError(t, err)
	return o, c, id
}

func (o office) issue(t *testing.T, id tenant.ID, lifetime time.Duration) Issued {
	t.Helper()
	made, err := o.IssueToken(t.Context(), id, NewToken{Name: "Shop\nBcc: x", Scopes: []string{"orders:read"}, Lifetime: lifetime})
	require.NoError(t, err)
	return made
}

func notices(t *testing.T, o office, id tenant.ID) (subjects []string) {
	t.Helper()
	rows, err := o.cfg.DB.Query(t.Context(), `SELECT subject FROM notices WHERE company_id = $1 ORDER BY created_at, subject`, id)
	require.NoError(t, err)
	subjects, err = pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return subjects
}

func TestOwnersLearnOfTokensThatExpire(t *testing.T) {
	t.Parallel()
	o, c, id := newOwned(t)
	issued := c.at
	made := o.issue(t, id, 60*day)
	before := made.Version
	tell := func(left time.Duration) []string {
		c.at = issued.Add(60*day - left)
		require.NoError(t, o.TellExpiring(t.Context()))
		return notices(t, o, id)
	}
	const text = ": Shop Bcc: x"
	require.Empty(t, tell(31*day))
	require.Empty(t, tell(30*day+time.Second))
	want := []string{"API token expires in 30 days" + text}
	require.Equal(t, want, tell(30*day))
	require.Equal(t, want, tell(29*day), "once")
	require.Equal(t, want, tell(8*day))
	want = append(want, "API token expires in 7 days"+text)
	require.Equal(t, want, tell(7*day-time.Hour))
	require.Equal(t, want, tell(2*day))
	want = append(want, "API token expires in 1 day"+text)
	require.Equal(t, want, tell(time.Hour))
	require.Equal(t, want, tell(time.Minute))
	require.Equal(t, want, tell(-time.Hour), "it has expired")

	got, err := o.Token(t.Context(), id, made.ID)
	require.NoError(t, err)
	require.Equal(t, before+3, got.Version)
	var body string
	require.NoError(t, o.cfg.DB.QueryRow(t.Context(), `SELECT body FROM notices WHERE company_id = $1 LIMIT 1`, id).Scan(&body))
	require.Contains(t, body, "expires on Tue, 19 Jan 2027 09:30:00 UTC")
	require.NotContains(t, body, made.Text)

	rows, err := o.cfg.DB.Query(t.Context(), `SELECT payload FROM outbox WHERE bucket = $1 AND company_id = $2 AND event = 'token.expiring' ORDER BY pos`, outbox.Bucket(id), id)
	require.NoError(t, err)
	payloads, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	require.NoError(t, err)
	require.Len(t, payloads, 3)
	for i, days := range []int{30, 7, 1} {
		raw, err := compress.Open(payloads[i])
		require.NoError(t, err)
		require.NotContains(t, string(raw), made.Text)
		var e struct {
			ActorID string
			Data    map[string]any
		}
		require.NoError(t, json.Unmarshal(raw, &e))
		require.Equal(t, access.ActorSystem, e.ActorID)
		require.EqualValues(t, days, e.Data["daysLeft"])
		require.Equal(t, "2027-01-19T09:30:00.123Z", e.Data["expiresAt"])
		require.EqualValues(t, before+1+int64(i), e.Data["version"])
		require.Equal(t, made.ID.String(), e.Data["id"])
		require.Len(t, e.Data, 8, "and nothing else: %v", e.Data)
	}
}

func TestNothingIsToldOfTokens(t *testing.T) {
	t.Parallel()
	o, c, id := newOwned(t)
	_, err := o.IssueToken(t.Context(), id, NewToken{Name: "Forever", Scopes: []string{"orders:read"}, NeverExpires: true})
	require.NoError(t, err)
	revoked := o.issue(t, id, 40*day)
	_, err = o.RevokeToken(t.Context(), id, revoked.ID)
	require.NoError(t, err)
	o.issue(t, id, 400*day)
	c.at = c.at.Add(10 * day)
	o.issue(t, id, 30*day) // its owner knows
	require.NoError(t, o.TellExpiring(t.Context()))
	require.Empty(t, notices(t, o, id))

	made := o.issue(t, id, 8*day)
	_, err = o.Archive(t.Context(), id)
	require.NoError(t, err)
	c.at = c.at.Add(2 * day)
	require.NoError(t, o.TellExpiring(t.Context()))
	require.Empty(t, notices(t, o, id), "the company is archived")
	_, err = o.Unarchive(t.Context(), id)
	require.NoError(t, err)

	// Its expiry was put off, and is near again: that is another occasion.
	require.NoError(t, o.TellExpiring(t.Context()))
	require.Len(t, notices(t, o, id), 1)
	_, err = o.cfg.DB.Exec(t.Context(), `UPDATE tokens SET expires_at = $3 WHERE company_id = $1 AND id = $2`, id, made.ID, c.at.Add(20*day))
	require.NoError(t, err)
	require.NoError(t, o.TellExpiring(t.Context()))
	require.Len(t, notices(t, o, id), 1)
	c.at = c.at.Add(14 * day)
	require.NoError(t, o.TellExpiring(t.Context()))
	require.Len(t, notices(t, o, id), 2)
}

// More tokens than a page holds are all found.
func TestManyTokensExpire(t *testing.T) {
	t.Parallel()
	o, c, id := newOwned(t)
	made := o.issue(t, id, 40*day)
	_, err := o.cfg.DB.Exec(t.Context(), `INSERT INTO tokens (company_id, id, name, prefix, scopes, actor_id, expires_at, ip_allowlist, rate_tier, rate_refill_milli, rate_burst, rate_in_flight, version, ev_pos, created_at, updated_at)
SELECT company_id, gen_random_uuid(), 'T' || g, prefix, scopes, actor_id, expires_at, ip_allowlist, rate_tier, 0, 0, 0, 1, ev_pos, created_at, updated_at
FROM tokens, generate_series(1, 250) AS g WHERE company_id = $1 AND id = $2`, id, made.ID)
	require.NoError(t, err)
	c.at = c.at.Add(10 * day)
	require.NoError(t, o.TellExpiring(t.Context()))
	require.Len(t, notices(t, o, id), 251)
}
