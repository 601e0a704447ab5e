package console_test

import (
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// A console whose database refuses connections says so on each page, with 503, and works again by itself.
func TestConsoleWithoutItsDatabase(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "url") // it is read for each connection
	at := dbtest.URL(t)
	require.NoError(t, os.WriteFile(file, []byte(at), 0o600))
	d, err := db.Open(t.Context(), db.Config{URLFile: file, MaxConns: 4})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	p := newPagesOn(t, d)
	s := p.emptyShop()
	owner, operator, stranger := p.signedIn(s.people["owner"]), p.operator(p.write), p.visitor()

	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, ln.Close())
	away, err := url.Parse(at)
	require.NoError(t, err)
	away.Host = ln.Addr().String()
	require.NoError(t, os.WriteFile(file, []byte(away.String()), 0o600))
	d.Pool().Reset()
	unavailable := func(got page) {
		t.Helper()
		require.Equal(t, http.StatusServiceUnavailable, got.status, got.body)
		require.Equal(t, "2", got.header.Get("Retry-After"))
		require.Contains(t, got.body, "The database cannot be reached")
	}
	for _, path := range []string{"/", "/account", "/c/" + s.id.String() + "/", "/c/" + s.id.String() + "/webhooks", "/c/" + s.id.String() + "/live/webhooks"} {
		unavailable(owner.ask(http.MethodGet, path, nil))
	}
	unavailable(operator.ask(http.MethodGet, "/companies", nil))
	unavailable(owner.ask(http.MethodPost, "/account/password", url.Values{"current": {consolePassword}, "password": {consolePassword + "!"}}))
	unavailable(stranger.ask(http.MethodPost, "/sign-in", url.Values{"email": {*s.people["owner"].Email}, "password": {consolePassword}}))
	unavailable(stranger.ask(http.MethodPost, "/sign-in/forgot", url.Values{"email": {*s.people["owner"].Email}}))
	unavailable(stranger.ask(http.MethodPost, "/sign-in/operator", url.Values{"token": {p.write}}))
	unavailable(stranger.ask(http.MethodPost, "/sign-in/operator", url.Values{"token": {"guess"}}))
	unavailable(stranger.ask(http.MethodGet, "/link/"+uuid.NewString(), nil))

	require.NoError(t, os.WriteFile(file, []byte(at), 0o600))
	require.Equal(t, http.StatusOK, owner.ask(http.MethodGet, "/account", nil).status)
}
