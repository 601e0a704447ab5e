package e2e

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/tests/role"
)

// notReady checks that the process is alive and not ready, and says why.
func notReady(t *testing.T, p *role.Process, condition, why string) {
	t.Helper()
	status, body := p.Ask("/livez")
	require.Equal(t, http.StatusOK, status, body)
	role.Eventually(t, func() bool {
		status, body = p.Ask("/readyz")
		return status == http.StatusServiceUnavailable && strings.Contains(body, `"`+condition+`"`) && strings.Contains(body, why)
	}, "%s is not ready for %s (%s)", p, condition, why)
}

func ready(t *testing.T, p *role.Process) {
	t.Helper()
	role.Eventually(t, func() bool {
		status, _ := p.Ask("/readyz")
		return status == http.StatusOK
	}, "%s is ready", p)
}

// Roles that start before their database wait for it, not ready, and go on by themselves.
func TestRolesWaitForTheDatabase(t *testing.T) {
	t.Parallel()
	r := newKit(t)
	l := r.throughLink()
	l.setCut(true)
	var all []*role.Process
	for _, name := range []string{"api", "relay", "dispatcher"} {
		all = append(all, r.launch(nil, name))
	}
	for _, p := range all {
		p.AwaitWaiting()
		notReady(t, p, "database", "connect")
		require.NoError(t, p.Signal(syscall.SIGHUP), "a reload is no end")
	}
	role.Eventually(t, func() bool { return l.refusals() >= 12 }, "they go on trying")
	l.setCut(false)
	for _, p := range all {
		p.AwaitStart()
		ready(t, p)
		require.Contains(t, p.Said(), "the database is up")
		require.Equal(t, 1, strings.Count(p.Said(), "waiting for the database"), "said once:\n%s", p)
	}
	api := r.client(all[0])
	api.subscribe("all", "order.created")
	r.await("all", "order.created", api.order(api.product()).ID)
}

// A role that is told to stop while it waits ends at once, and well.
func TestStopWhileWaiting(t *testing.T) {
	t.Parallel()
	r := newKit(t)
	l := r.throughLink()
	l.setCut(true)
	for _, name := range []string{"api", "relay", "dispatcher"} {
		p := r.launch(nil, name)
		p.AwaitWaiting()
		require.NoError(t, p.Signal(syscall.SIGTERM))
		require.Zero(t, p.AwaitEnd(5*time.Second), p.Tail())
	}
	l.setCut(false)
	l.hang() // a connection that is made and never answered
	p := r.launch(nil, "relay")
	role.Eventually(t, func() bool { return l.swallowed() > 0 }, "the relay waits for an answer")
	require.NoError(t, p.Signal(syscall.SIGTERM))
	require.Zero(t, p.AwaitEnd(5*time.Second), p.Tail())
}

// A user or a database that does not exist yet may be about to be made: the role waits, and says what to mend.
func TestRolesWaitForUserAndDatabase(t *testing.T) {
	t.Parallel()
	dbtest.Only(t, db.PostgreSQL, "the test makes users in its way")
	name := "wait_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	for what, tc := range map[string]struct {
		change func(*url.URL)
		mend   string // what an operator reads
		make   string // what ends the wait
		drop   string
	}{
		"user": {
			func(u *url.URL) { u.User = url.UserPassword(name, "secret") }, "the server rejected the user or its credentials",
			`CREATE ROLE %s SUPERUSER LOGIN PASSWORD 'secret'`, `DROP ROLE IF EXISTS %s`,
		},
		"database": {
			func(u *url.URL) { u.Path = "/" + name }, "the database does not exist",
			`CREATE DATABASE %s`, `DROP DATABASE IF EXISTS %s WITH (FORCE)`,
		},
	} {
		r := newKit(t)
		r.changeURL(tc.change)
		p := r.launch(nil, "relay")
		p.AwaitWaiting()
		require.Contains(t, p.Said(), `"level":"ERROR"`, what)
		require.Contains(t, p.Said(), tc.mend, what)
		notReady(t, p, "database", name)
		_, err := r.db.Exec(t.Context(), fmt.Sprintf(tc.make, name))
		require.NoError(t, err)
		p.AwaitStart()
		p.Kill()
		_, err = r.db.Exec(t.Context(), fmt.Sprintf(tc.drop, name))
		require.NoError(t, err)
	}
}

// Roles that start before the brokers run and are not ready; once the brokers are there, what has waited is delivered.
func TestRolesWaitForKafka(t *testing.T) {
	t.Parallel()
	r := newKit(t)
	l := newLink(t, r.brokers[0])
	l.setCut(true)
	env := []string{"TRADEGRID_KAFKA_BROKERS=" + l.Addr().String()}
	var all []*role.Process
	for _, name := range []string{"api", "relay", "dispatcher"} {
		all = append(all, r.launch(env, name))
	}
	for _, p := range all {
		p.AwaitStart()
	}
	api := r.client(all[0])
	api.subscribe("all", "order.created")
	placed := api.order(api.product())
	for _, p := range all[1:] {
		notReady(t, p, "kafka", "")
	}
	l.setCut(false)
	for _, p := range all {
		ready(t, p)
	}
	r.await("all", "order.created", placed.ID)
}
