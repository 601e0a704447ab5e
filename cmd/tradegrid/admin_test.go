package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/config"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/job"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/cli/admin"
	"github.com/tradegrid/tradegrid/services/delivery/store"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/services/operations"
	"github.com/tradegrid/tradegrid/services/platform/audit"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/services/roles"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

// runAdmin runs one command line and returns what it wrote.
func runAdmin(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var cli CLI
	var out bytes.Buffer
	loaded, err := config.Load(&cli, append([]string{"admin", "--database-url", dbtest.URL(t)}, args...), config.Options{Name: "tradegrid", Vars: roles.Vars()})
	if err != nil {
		return "", err
	}
	kctx := loaded.Context
	kctx.BindTo(t.Context(), (*context.Context)(nil))
	kctx.BindTo(&out, (*io.Writer)(nil))
	err = kctx.Run(slog.New(slog.DiscardHandler))
	return out.String(), err
}

// adminJSON runs a command line that must succeed and reads its answer.
func adminJSON[T any](t *testing.T, args ...string) (v T) {
	t.Helper()
	out, err := runAdmin(t, append(args, "--json")...)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal([]byte(out), &v))
	return v
}

func TestAdminFromCompanyToToken(t *testing.T) {
	t.Parallel()
	c := adminJSON[company.Company](t, "company", "create", "--name", "Nordic Tools", "--test", "--components", "orders,deals")
	of := "--company=" + c.ID.String()
	require.Equal(t, []string{"calendar", "catalog", "core", "deals", "messenger", "orders"}, c.Components)
	c = adminJSON[company.Company](t, "company", "component", of, "--component=deals", "--disable")
	require.NotContains(t, c.Components, "deals")
	c = adminJSON[company.Company](t, "company", "plan", of, "--plan=business")
	require.Equal(t, "business", c.Plan)
	c = adminJSON[company.Company](t, "company", "settings", of, "--stock-policy=block", "--max-in-flight=9")
	require.EqualValues(t, 9, *c.MaxInFlight)
	c = adminJSON[company.Company](t, "company", "settings", of, "--max-in-flight=0")
	require.Nil(t, c.MaxInFlight)
	require.Equal(t, "archived", adminJSON[company.Company](t, "company", "archive", of).Status)
	require.Equal(t, "active", adminJSON[company.Company](t, "company", "unarchive", of).Status)

	issued := adminJSON[company.Issued](t, "token", "issue", of, "--name=shop", "--scopes=orders:write,catalog:read",
		"--lifetime=never", "--rate-tier=custom", "--rate-refill=0.5", "--rate-burst=3", "--rate-in-flight=2")
	require.Nil(t, issued.ExpiresAt)
	short := adminJSON[company.Issued](t, "token", "issue", of, "--name=short", "--scopes=*:read", "--lifetime=10s")
	require.Equal(t, 10*time.Second, short.ExpiresAt.Std().Sub(short.CreatedAt.Std()))
	s := roles.NewDomains(dbtest.Open(t), roles.DomainConfig{Policy: rolestest.DefaultPolicy()}).Company
	p, err := s.Authenticate(t.Context(), issued.Text, netip.MustParseAddr("192.0.2.1"), true)
	require.NoError(t, err)
	require.InDelta(t, 0.5, p.Rate.RefillPerSecond, 1e-9)
	rotated := adminJSON[company.Issued](t, "token", "rotate", of, "--token="+issued.ID.String(), "--overlap=2d")
	require.NotEqual(t, issued.Text, rotated.Text)
	require.NotNil(t, adminJSON[company.Token](t, "token", "revoke", of, "--token="+issued.ID.String()).RevokedAt)
	require.Len(t, adminJSON[[]company.Token](t, "token", "list", of), 1)
	require.Len(t, adminJSON[[]company.Token](t, "token", "list", of, "--revoked"), 2)

	adminJSON[company.Branch](t, "branch", "create", of, "--name=Airport")
	require.Len(t, adminJSON[[]company.Branch](t, "branch", "list", of), 2)
	u := adminJSON[company.User](t, "user", "invite", of, "--email=anna@example.com")
	require.Equal(t, "active", adminJSON[company.User](t, "user", "activate", of, "--user="+u.ID.String()).Status)
	require.Equal(t, "blocked", adminJSON[company.User](t, "user", "block", of, "--user="+u.ID.String()).Status)
	require.Len(t, adminJSON[[]company.User](t, "user", "list", of), 1)
	require.Len(t, adminJSON[[]company.User](t, "user", "list", of, "--technical"), 3)
}

func TestAdminWritesATable(t *testing.T) {
	t.Parallel()
	out, err := runAdmin(t, "company", "create", "--name", "Table Makers")
	require.NoError(t, err)
	require.Regexp(t, `(?m)^ID +NAME +STATUS +PLAN`, out)
	require.Regexp(t, `(?m)^[0-9a-f-]{36} +Table Makers +active +standard +false +USD`, out)
	tag := uuid.NewString()
	c := adminJSON[company.Company](t, "company", "create", "--name", tag)
	out, err = runAdmin(t, "company", "list", "--search", tag)
	require.NoError(t, err)
	require.Contains(t, out, c.ID.String())
	out, err = runAdmin(t, "token", "issue", "--company", c.ID.String(), "--name=x", "--scopes=*:read")
	require.NoError(t, err)
	require.Regexp(t, `svc_live_c1\w{6}_\w{40}`, out)
}

func TestAdminNamesTheFlag(t *testing.T) {
	t.Parallel()
	c := adminJSON[company.Company](t, "company", "create", "--name", "Faults")
	of := "--company=" + c.ID.String()
	rows := []struct {
		want string
		args []string
	}{
		{"--plan: unknown plan", []string{"company", "plan", of, "--plan=gold"}},
		{"--currency: ", []string{"company", "create", "--name=x", "--currency=usd"}},
		{"--component: core is part", []string{"company", "component", of, "--component=core", "--disable"}},
		{"--enable", []string{"company", "component", of, "--component=deals"}},
		{"--company: no company", []string{"company", "archive", "--company=" + uuid.NewString()}},
		{"--company", []string{"company", "archive", "--company=7"}},
		{"--scopes: unknown scope", []string{"token", "issue", of, "--name=x", "--scopes=orders:eat"}},
		{"--lifetime: ", []string{"token", "issue", of, "--name=x", "--scopes=*:read", "--lifetime=1096d"}},
		{"--lifetime 0s: must be above 0", []string{"token", "issue", of, "--name=x", "--scopes=*:read", "--lifetime=0d"}},
		{"--lifetime -1h0m0s: must be above 0", []string{"token", "issue", of, "--name=x", "--scopes=*:read", "--lifetime=-1h"}},
		{`--lifetime "soon": `, []string{"token", "issue", of, "--name=x", "--scopes=*:read", "--lifetime=soon"}},
		{"--ip-allowlist: ", []string{"token", "issue", of, "--name=x", "--scopes=*:read", "--ip-allowlist=here"}},
		{"--rate-burst", []string{"token", "issue", of, "--name=x", "--scopes=*:read", "--rate-burst=5"}},
		{`--accrual-percent "200": `, []string{"company", "settings", of, "--accrual-percent=200"}},
		{"--token: no token", []string{"token", "revoke", of, "--token=" + uuid.NewString()}},
		{"--user: no user", []string{"user", "block", of, "--user=" + uuid.NewString()}},
		{"--email: ", []string{"user", "invite", of, "--email=x"}},
		{"--limit: ", []string{"company", "list", "--limit=500"}},
		{"--cell: ", []string{"--cell=c_", "company", "list"}},
		{"--database-url: ", []string{"--database-url=postgres://127.0.0.1:1/x?connect_timeout=2", "company", "list"}},
	}
	for _, row := range rows {
		_, err := runAdmin(t, row.args...)
		require.ErrorContains(t, err, row.want, "%v", row.args)
	}
}

// What the command line changes is in the record of changes, with who ran it and the flags.
func TestAdminIsAudited(t *testing.T) {
	t.Parallel()
	c := adminJSON[company.Company](t, "company", "create", "--name", "Audited")
	of := "--company=" + c.ID.String()
	adminJSON[company.Company](t, "company", "plan", of, "--plan=business")
	issued := adminJSON[company.Issued](t, "token", "issue", of, "--name=shop", "--scopes=*:read")
	adminJSON[company.Token](t, "token", "revoke", of, "--token="+issued.ID.String())
	_, err := runAdmin(t, "company", "plan", of, "--plan=gold")
	require.Error(t, err)
	adminJSON[company.Company](t, "company", "show", of)

	s := roles.NewDomains(dbtest.Open(t), roles.DomainConfig{Policy: rolestest.DefaultPolicy()}).Console
	page, err := s.Changes(t.Context(), access.Caller{Principal: &access.Principal{}}, audit.Filter{CompanyID: &c.ID, Params: list.Params{Page: 1, PageSize: 50}})
	require.NoError(t, err)
	type line struct{ operation, entity, body string }
	var got []line
	for _, change := range page.Items {
		require.Equal(t, admin.CLIOperator(), change.Operator)
		require.Regexp(t, "^cli:.", change.Operator)
		got = append(got, line{change.Operation, *change.EntityID, *change.Body})
		require.NotContains(t, *change.Body, issued.Text)
	}
	id, token := c.ID.String(), issued.ID.String()
	require.ElementsMatch(t, []line{
		{"createCompany", id, `{"branch-name":"Main","country-prefix":"+1","currency":"USD","locale":"en","name":"Audited","plan":"standard","stock-policy":"allow_negative","time-zone":"UTC"}`},
		{"updateCompany", id, `{"company":"` + id + `","plan":"business"}`},
		{"issueToken", token, `{"company":"` + id + `","lifetime":"8760h0m0s","name":"shop","rate-tier":"standard","scopes":["*:read"]}`},
		{"revokeToken", token, `{"company":"` + id + `","token":"` + token + `"}`},
	}, got)
}

func TestAdminRestored(t *testing.T) {
	t.Parallel()
	url := dbtest.NewDatabase(t)
	restored := func() (epoch struct{ Before, Epoch int64 }) {
		t.Helper()
		var out, errs bytes.Buffer
		require.Zero(t, run([]string{"admin", "restored", "--database-url=" + url, "--json", "--cause=backup of noon"}, &out, &errs), errs.String())
		require.NoError(t, json.Unmarshal(out.Bytes(), &epoch))
		return epoch
	}
	first := restored()
	require.Zero(t, first.Before)
	second := restored()
	require.Equal(t, first.Epoch, second.Before)
	require.NotEqual(t, first.Epoch, second.Epoch)
	var recorded int
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	require.NoError(t, conn.QueryRow(t.Context(), `SELECT count(*) FROM admin_changes WHERE operation = 'databaseRestored' AND operator LIKE 'cli:%'`).Scan(&recorded))
	require.Equal(t, 2, recorded, "changes by operators are recorded")
}

// An operator can account for every event of an interval.
func TestAdminReconcile(t *testing.T) {
	t.Parallel()
	n := rolestest.NewNode(dbtest.Open(t), rolestest.Alone())
	owner, id := n.Owner(t)
	of := "--company=" + id.String()
	sub := owner.OK(t, "POST", "/webhooks/subscriptions", `{"url":"http://127.0.0.1:9/hook","events":["*"]}`).ID(t)
	from := "--from=" + time.Now().Add(-time.Hour).Format(time.RFC3339)
	to := "--to=" + time.Now().Add(time.Hour).Format(time.RFC3339)
	even := adminJSON[admin.Reconciled](t, "reconcile", of, from, to)
	require.True(t, even.Even())
	require.Empty(t, even.MissingDeliveries)

	_, err := n.DB.Exec(t.Context(), `UPDATE webhook_subscriptions SET updated_at = $3 WHERE company_id = $1 AND id = $2`, id, sub, time.Now().Add(-time.Hour))
	require.NoError(t, err)
	_, err = n.DB.Exec(t.Context(), `UPDATE companies SET updated_at = $2 WHERE id = $1`, id, time.Now().Add(-time.Hour))
	require.NoError(t, err)
	_, err = n.DB.Exec(t.Context(), `UPDATE company_components SET updated_at = $2 WHERE company_id = $1`, id, time.Now().Add(-time.Hour))
	require.NoError(t, err)
	event := uuid.Must(uuid.NewV7())
	_, err = n.DB.Exec(t.Context(), `INSERT INTO events (company_id, seq, id, event, agg_type, agg_id, agg_version, body, occurred_at, expires_at)
VALUES ($1, 1, $2, 'order.created', 'order', $2, 1, '{"event":"order.created"}', $3, $4)`, id, event, time.Now(), time.Now().Add(time.Hour))
	require.NoError(t, err)
	out, err := runAdmin(t, "reconcile", of, from, to)
	require.ErrorIs(t, err, admin.ErrUneven)
	require.Contains(t, out, event.String())
	require.Contains(t, out, sub)
	require.Regexp(t, `MISSING\n1 +1 +0 +0 +0 +0 +0 +0 +1\n`, out)

	_, err = runAdmin(t, "reconcile", of, to)
	require.ErrorContains(t, err, "--from")
	_, err = runAdmin(t, "reconcile", of, "--from="+time.Now().Add(time.Hour).Format(time.RFC3339))
	require.ErrorContains(t, err, "must be before --to")
	_, err = runAdmin(t, "reconcile", "--company="+uuid.NewString(), from)
	require.ErrorContains(t, err, "--company: ")
}

// An operator counts what an incident left behind, sends it again, and stops what goes wrong.
func TestAdminReplay(t *testing.T) {
	t.Parallel()
	n := rolestest.NewNode(dbtest.Open(t), rolestest.Alone())
	owner, id := n.Owner(t)
	of, from := "--company="+id.String(), "--from="+time.Now().Add(-time.Hour).Format(time.RFC3339)
	sub := owner.OK(t, "POST", "/webhooks/subscriptions", `{"url":"http://127.0.0.1:9/hook","events":["order.*"]}`).ID(t)
	owner.OK(t, "POST", "/webhooks/subscriptions", `{"url":"http://127.0.0.1:9/other","events":["deal.*"]}`)
	for i := range 3 {
		event := uuid.Must(uuid.NewV7())
		_, err := n.DB.Exec(t.Context(), `INSERT INTO events (company_id, seq, id, event, agg_type, agg_id, agg_version, body, occurred_at, expires_at)
VALUES ($1, $2, $3, 'order.created', 'order', $3, 1, '{"event":"order.created"}', $4, $5)`, id, i+1, event, time.Now(), time.Now().Add(time.Hour))
		require.NoError(t, err)
		_, err = n.DB.Exec(t.Context(), `INSERT INTO deliveries (company_id, subscription_id, id, event_id, event, state, attempt, expires_at, is_test, created_at, updated_at)
VALUES ($1, $2, $3, $4, 'order.created', 3, 7, $5, false, $5, $5)`, id, sub, webhook.DeliveryID(event, uuid.MustParse(sub), 0), event, time.Now())
		require.NoError(t, err)
	}
	replays := func(args ...string) []admin.Replayed {
		t.Helper()
		return adminJSON[[]admin.Replayed](t, append([]string{"replay"}, args...)...)
	}
	want := admin.Replayed{CompanyID: id, SubscriptionID: uuid.MustParse(sub), Selected: 3, Seconds: 2}
	require.Equal(t, []admin.Replayed{want}, replays(of, from, "--rate=2"))
	require.Empty(t, unfinished(t, id), "nothing was started")
	require.Empty(t, replays(of, from, "--to="+time.Now().Add(-time.Minute).Format(time.RFC3339)))
	out, err := runAdmin(t, "replay", of, from)
	require.NoError(t, err)
	require.Contains(t, out, "Add --yes to start.")

	started := replays(of, from, "--subscription="+sub, "--status=all", "--yes")
	require.Len(t, started, 1)
	job := started[0].JobID.String()
	require.Equal(t, []string{job}, unfinished(t, id))
	status := func() any { return owner.OK(t, "GET", "/jobs/"+job, "").Body["status"] }
	require.Equal(t, "pending", status())
	for _, step := range []struct{ command, status string }{{"pause", "paused"}, {"resume", "pending"}, {"cancel", "canceled"}} {
		out, err := runAdmin(t, "replay", step.command, of, "--job="+job)
		require.NoError(t, err)
		require.Contains(t, out, job)
		require.Equal(t, step.status, status())
	}
	require.Empty(t, unfinished(t, id))
	var recorded int
	require.NoError(t, n.DB.QueryRow(t.Context(), `SELECT count(*) FROM admin_changes WHERE of_company = $1 AND operation IN ('replayWebhookEvents', 'pauseJob', 'resumeJob', 'cancelJob')`, id).Scan(&recorded))
	require.Equal(t, 4, recorded, "changes by operators are recorded")

	for _, wrong := range []struct {
		args []string
		says string
	}{
		{[]string{of}, "--from"},
		{[]string{from, "--subscription=" + sub}, "--subscription: needs --company"},
		{[]string{of, from, "--rate=501"}, "--rate 501: must be between 1 and 500"},
		{[]string{of, from, "--to=2020-01-01T00:00:00Z"}, "must not be after --to"},
		{[]string{from, "--company=" + uuid.NewString()}, "--company: "},
		{[]string{"cancel"}, "say which replays"},
	} {
		_, err := runAdmin(t, append([]string{"replay"}, wrong.args...)...)
		require.ErrorContains(t, err, wrong.says)
	}
}

// Operators see deliveries across companies, those of the newest events first, and one with all that is known of it.
func TestAdminDeliveries(t *testing.T) {
	t.Parallel()
	n := rolestest.NewNode(dbtest.Open(t), rolestest.Alone())
	deliver := func(id tenant.ID, sub string, ago time.Duration) string {
		event := uuid.Must(uuid.NewV7())
		low, _ := record.IDsBetween(time.Now().Add(-ago), time.Now())
		copy(event[:6], low[:])
		d := webhook.DeliveryID(event, uuid.MustParse(sub), 0)
		_, err := n.DB.Exec(t.Context(), `INSERT INTO deliveries (company_id, subscription_id, id, event_id, event, state, attempt, expires_at, is_test, error, created_at, updated_at)
VALUES ($1, $2, $3, $4, 'order.created', 3, 7, $5, false, $6, $5, $5)`, id, sub, d, event, time.Now().Add(-ago), "bad\x1b[2J\tbyte")
		require.NoError(t, err)
		return d.String()
	}
	one, first := n.Owner(t)
	two, second := n.Owner(t)
	body := `{"url":"http://127.0.0.1:9/hook","events":["order.*"]}`
	a, b := one.OK(t, "POST", "/webhooks/subscriptions", body).ID(t), two.OK(t, "POST", "/webhooks/subscriptions", body).ID(t)
	old, middle, recent := deliver(first, a, 3*time.Hour), deliver(second, b, 2*time.Hour), deliver(first, a, time.Hour)
	ids := func(args ...string) (ids []string) {
		for _, d := range adminJSON[[]operations.Delivery](t, append([]string{"deliveries", "--status=failed"}, args...)...) {
			if d.CompanyID == first || d.CompanyID == second {
				ids = append(ids, d.ID.String())
			}
		}
		return ids
	}
	require.Equal(t, []string{recent, middle, old}, ids("--limit=1000"))
	require.Equal(t, []string{recent, old}, ids("--company="+first.String()))
	require.Equal(t, []string{recent}, ids("--company="+first.String(), "--limit=1"))
	require.Equal(t, []string{recent}, ids("--company="+first.String(), "--last=90m"))
	require.Empty(t, ids("--company="+first.String(), "--events=deal.*"))
	out, err := runAdmin(t, "deliveries", "--company="+first.String(), "--subscription="+a)
	require.NoError(t, err)
	require.Contains(t, out, "bad\ufffd[2J\ufffdbyte", "what receivers make of a message does not reach the terminal")
	out, err = runAdmin(t, "deliveries", "show", "--company="+first.String(), recent)
	require.NoError(t, err)
	require.Contains(t, out, `"attempts": []`)
	for _, wrong := range []struct {
		args []string
		says string
	}{
		{[]string{"--subscription=" + a}, "--subscription: needs --company"},
		{[]string{"--limit=0"}, "--limit 0: must be between 1 and 1000"},
		{[]string{"--company=" + uuid.NewString()}, "--company: "},
		{[]string{"show", "--company=" + second.String(), recent}, "no webhook delivery with id"},
	} {
		_, err := runAdmin(t, append([]string{"deliveries"}, wrong.args...)...)
		require.ErrorContains(t, err, wrong.says)
	}
}

// Usage is counted from what is there; what is no longer kept is not shown as nothing.
func TestAdminCompanyUsage(t *testing.T) {
	t.Parallel()
	n := rolestest.NewNode(dbtest.Open(t), rolestest.Alone())
	_, id := n.Owner(t)
	now, body := time.Now().UTC(), `{"event":"order.created"}`
	today, before := now.Truncate(24*time.Hour), now.AddDate(0, 0, -9)
	sub := uuid.New()
	for i, at := range []time.Time{today, today.Add(time.Millisecond), today.Add(-time.Millisecond), before} {
		event := uuid.Must(uuid.NewV7())
		low, _ := record.IDsBetween(at, at)
		copy(event[:6], low[:])
		_, err := n.DB.Exec(t.Context(), `INSERT INTO events (company_id, seq, id, event, agg_type, agg_id, agg_version, body, occurred_at, expires_at)
VALUES ($1, $2, $3, 'order.created', 'order', $3, 1, $4, $5, $6)`, id, i+1, event, body, at, now.Add(time.Hour))
		require.NoError(t, err)
		_, err = n.DB.Exec(t.Context(), `INSERT INTO deliveries (company_id, subscription_id, id, event_id, event, state, attempt, expires_at, is_test, created_at, updated_at)
VALUES ($1, $2, $3, $4, 'order.created', $5, $6, $7, false, $7, $7)`, id, sub, webhook.DeliveryID(event, sub, 0), event, 2+i%2, 1+6*(i%2), at)
		require.NoError(t, err)
		_, err = n.DB.Exec(t.Context(), `INSERT INTO api_requests (company_id, id, created_at, method, route, operation, scope, path, status, duration_ms, token_id, token_name, address, represents, body_bytes)
VALUES ($1, $2, $3, 'GET', '/orders', 'listOrders', 'orders', '/orders', $4, 1, $2, 'shop', '192.0.2.1', 100, 0)`, id, event, at, 200+i%2*204)
		require.NoError(t, err)
	}
	of := "--company=" + id.String()
	found := adminJSON[[]operations.Usage](t, "company", "usage", of, "--days=10")
	require.Len(t, found, 10)
	last := found[9]
	require.Equal(t, today.Format(time.DateOnly), last.Day)
	require.Equal(t, []int64{200, 100, 2, int64(2 * len(body)), 2, 1, 1, 8},
		[]int64{*last.Requests, *last.Refused, last.Events, last.Bytes, last.Deliveries, last.Arrived, last.Failed, last.Attempts})
	require.EqualValues(t, 1, found[8].Events)
	require.EqualValues(t, 100, *found[8].Requests)
	require.Nil(t, found[0].Requests)
	require.EqualValues(t, 1, found[0].Events)
	require.EqualValues(t, 7, found[0].Attempts)
	out, err := runAdmin(t, "company", "usage", of, "--days=10")
	require.NoError(t, err)
	require.Regexp(t, before.Format(time.DateOnly)+` +- +- +1 `, out)
	_, err = runAdmin(t, "company", "usage", of, "--days=31")
	require.ErrorContains(t, err, "--days 31: must be between 1 and 30")
}

// unfinished are the ids of the replays of a company that an operator sees.
func unfinished(t *testing.T, company tenant.ID) (ids []string) {
	t.Helper()
	for _, r := range adminJSON[[]job.Record](t, "replay", "list") {
		if r.CompanyID == company {
			ids = append(ids, r.ID.String())
		}
	}
	return ids
}

// The pipeline is one screen: what is in the outbox, how far the dispatchers are behind, what deliveries wait for, and whose circuit is open.
func TestAdminPipeline(t *testing.T) {
	t.Parallel()
	n := rolestest.NewNode(dbtest.Open(t), rolestest.Alone())
	owner, id := n.Owner(t)
	sub := owner.OK(t, "POST", "/webhooks/subscriptions", `{"url":"http://127.0.0.1:9/hook","events":["*"]}`).ID(t)
	_, err := n.DB.Exec(t.Context(), `UPDATE webhook_subscriptions SET breaker_opens = 3, failing_since = $3, breaker_open_until = $4 WHERE company_id = $1 AND id = $2`,
		id, sub, time.Now().Add(-100*24*time.Hour), time.Now().Add(time.Hour))
	require.NoError(t, err)
	_, err = n.DB.Exec(t.Context(), `INSERT INTO deliveries (company_id, subscription_id, id, event_id, event, state, attempt, expires_at, is_test, waiting_for, created_at, updated_at)
VALUES ($1, $2, $2, $2, 'order.created', 0, 1, $3, false, 'circuit_open', $3, $3)`, id, sub, time.Now())
	require.NoError(t, err)
	brokers := "--kafka-brokers=" + strings.Join(dbtest.Broker(t), ",")
	s := adminJSON[operations.Pipeline](t, "pipeline", brokers)
	require.Positive(t, s.OutboxRows)
	require.NotNil(t, s.OutboxOldest)
	require.True(t, slices.ContainsFunc(s.Waiting, func(w store.WaitingCount) bool { return w.For == "circuit_open" && w.Count > 0 }))
	require.True(t, slices.ContainsFunc(s.OpenCircuits, func(r store.OpenCircuit) bool { return r.SubscriptionID.String() == sub && r.Opens == 3 }))
	text, err := runAdmin(t, "pipeline", brokers)
	require.NoError(t, err)
	for _, want := range []string{"OUTBOX", "GROUP", "circuit_open", sub, "2400h"} {
		require.Contains(t, text, want)
	}
	_, err = runAdmin(t, "pipeline")
	require.ErrorContains(t, err, "--kafka-brokers")
}
