//go:build kafka

package kafka

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/dev/receiver"
	"github.com/tradegrid/tradegrid/tests/role"
)

// kit is a platform of the test's own: database, one company, a receiver in this process, and the
// roles in processes of their own.
type kit struct {
	t       *testing.T
	env     []string
	flags   []string // of every role
	brokers []string // for administrators
	admin   *kadm.Client
	db      *db.DB
	company tenant.ID
	token   string
	api     string // base URL
	hooks   *receiver.Server
	hookURL string

	mu  sync.Mutex
	got map[string][]receiver.Delivery // by event and record
	bad []receiver.Delivery            // with a signature that does not fit
}

// newKit makes a platform on the three brokers, whose topics are made by `topics apply`.
func newKit(t *testing.T) *kit {
	t.Helper()
	r := newRigAt(t, dbtest.RealBrokers(t), three.Internal())
	out, err := run(t, r.env, "topics", "apply", "--local", "--replication=3")
	require.NoError(t, err, out)
	return r
}

// newRigAt makes a platform without topics. Roles and administrators may use different listeners.
func newRigAt(t *testing.T, brokers, internal []string) *kit {
	t.Helper()
	r := &kit{t: t, brokers: internal, got: map[string][]receiver.Delivery{}}
	url := dbtest.NewDatabase(t)
	r.env = []string{"TRADEGRID_DATABASE_URL=" + url, "TRADEGRID_KAFKA_BROKERS=" + strings.Join(brokers, ","), role.SecretKeys(t)}
	client, err := kgo.NewClient(kgo.SeedBrokers(internal...))
	require.NoError(t, err)
	t.Cleanup(client.Close)
	r.admin = kadm.NewClient(client)
	r.db, err = db.Open(t.Context(), db.Config{URL: url, MaxConns: 4})
	require.NoError(t, err)
	t.Cleanup(r.db.Close)
	r.company, r.token = role.Tenant(t, r.db)
	r.receive()
	return r
}

// receive starts the receiver.
func (r *kit) receive() {
	r.hooks = receiver.New(receiver.Config{Arrived: func(d receiver.Delivery) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if !d.Verified {
			r.bad = append(r.bad, d)
		}
		r.got[d.Event+" "+d.DataID] = append(r.got[d.Event+" "+d.DataID], d)
	}})
	server := httptest.NewServer(r.hooks)
	r.hookURL = server.URL + "/hook/"
	r.t.Cleanup(func() {
		r.hooks.Close()
		server.Close()
	})
}

// launch starts a role without waiting for it. args may override the defaults.
func (r *kit) launch(args ...string) *role.Process {
	r.t.Helper()
	flags := map[string][]string{
		"api":   {"--listen=127.0.0.1:0", "--allow-insecure", "--shed-disk=0"}, // brokers may be on the disk of this machine
		"relay": {"--relay-lease-ttl=2s", "--relay-lease-margin=500ms", "--relay-renew=300ms", "--relay-full-sweep=1s"},
		"dispatcher": {
			"--allow-insecure", "--retry-delays=100ms,150ms,200ms,250ms,300ms,350ms,400ms", "--sweep-every=500ms", "--breaker-failures=1000",
		},
	}[args[0]]
	all := append([]string{args[0], "--log-format=json", "--ops-listen=127.0.0.1:0", "--kafka-session=4s"}, flags...)
	return role.Start(r.t, binary, r.env, append(append(all, r.flags...), args[1:]...)...)
}

// role starts a role and waits until it is up.
func (r *kit) role(args ...string) *role.Process {
	r.t.Helper()
	p := r.launch(args...)
	p.AwaitStart()
	if args[0] == "api" {
		r.api = p.URL
	}
	return p
}

// platform starts the API and two of each other role.
func (r *kit) platform() (api, relay *role.Process) {
	r.t.Helper()
	api = r.launch("api")
	all := []*role.Process{api, r.launch("relay"), r.launch("relay"), r.launch("dispatcher"), r.launch("dispatcher")}
	for _, p := range all {
		p.AwaitStart()
	}
	r.api = api.URL
	return api, all[1]
}

// do sends a request with a key of its own. The error is that of the connection.
func (r *kit) do(ctx context.Context, method, path string, body any) (status int, answer []byte, err error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return 0, nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, r.api+path, bytes.NewReader(raw))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+r.token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Idempotency-Key", uuid.NewString())
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = res.Body.Close() }()
	answer, err = io.ReadAll(res.Body)
	return res.StatusCode, answer, err
}

// call sends a request, which must succeed, and reads the answer into out unless that is nil.
func (r *kit) call(method, path string, body, out any) {
	r.t.Helper()
	status, answer, err := r.do(r.t.Context(), method, path, body)
	require.NoError(r.t, err)
	require.Less(r.t, status, 300, "%s %s: %s", method, path, answer)
	if out != nil {
		require.NoError(r.t, json.Unmarshal(answer, out))
	}
}

// subscribe points a subscription at the receiver.
func (r *kit) subscribe(events ...string) (id string) {
	r.t.Helper()
	var made struct{ ID, Secret string }
	r.call(http.MethodPost, "/webhooks/subscriptions", map[string]any{"url": r.hookURL + "shop", "events": events}, &made)
	require.NoError(r.t, r.hooks.SetSecret("shop", made.Secret))
	return made.ID
}

// product makes a product.
func (r *kit) product() string {
	r.t.Helper()
	var made struct{ ID string }
	r.call(http.MethodPost, "/catalog/products", map[string]any{"name": "Espresso beans", "price": 1890}, &made)
	return made.ID
}

// arrived tells how often the event about the record has come.
func (r *kit) arrived(event, record string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.got[event+" "+record])
}

// count reads a number from the database.
func (r *kit) count(sql string, args ...any) (n int) {
	r.t.Helper()
	require.NoError(r.t, r.db.QueryRow(r.t.Context(), sql, args...).Scan(&n))
	return n
}

// run runs a command of the binary to its end.
func run(t *testing.T, env []string, args ...string) (out string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Env = append(os.Environ(), env...)
	raw, err := cmd.CombinedOutput()
	return string(raw), err
}
