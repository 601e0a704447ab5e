package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/services/dev/receiver"
	"github.com/tradegrid/tradegrid/tests/role"
)

// kit is a platform of the test's own: database, broker, one company and a receiver in this process, and
// the roles in processes of their own.
type kit struct {
	t       *testing.T
	env     []string
	brokers []string
	db      *db.DB
	company tenant.ID
	token   string
	hooks   *receiver.Server
	hookURL string

	mu     sync.Mutex
	bodies map[string][]byte // by delivery id
}

func newKit(t *testing.T) *kit {
	t.Helper()
	r := &kit{t: t, brokers: dbtest.Broker(t), bodies: map[string][]byte{}}
	url := dbtest.NewDatabase(t)
	r.env = []string{"TRADEGRID_DATABASE_URL=" + url, "TRADEGRID_KAFKA_BROKERS=" + strings.Join(r.brokers, ","), role.SecretKeys(t)}
	var err error
	r.db, err = db.Open(t.Context(), db.Config{URL: url, MaxConns: 4})
	require.NoError(t, err)
	t.Cleanup(r.db.Close)
	r.company, r.token = role.Tenant(t, r.db)
	r.receive()
	return r
}

// receive starts the receiver.
func (r *kit) receive() {
	r.hooks = receiver.New(receiver.Config{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return // the sender went away
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
		r.mu.Lock()
		r.bodies[req.Header.Get(webhook.HeaderDeliveryID)] = body
		r.mu.Unlock()
		r.hooks.ServeHTTP(w, req)
	}))
	r.hookURL = server.URL + "/hook/"
	r.t.Cleanup(func() {
		r.hooks.Close()
		server.Close()
	})
}

// role starts a role and waits until it is up. args may override the defaults.
func (r *kit) role(env []string, args ...string) *role.Process {
	r.t.Helper()
	p := r.launch(env, args...)
	p.AwaitStart()
	return p
}

// launch starts a role.
func (r *kit) launch(env []string, args ...string) *role.Process {
	r.t.Helper()
	return r.launchFrom(binary, env, args...)
}

// launchFrom starts a role of another binary.
func (r *kit) launchFrom(binary string, env []string, args ...string) *role.Process {
	r.t.Helper()
	flags := map[string][]string{
		"api":   {"--listen=127.0.0.1:0", "--allow-insecure", "--idempotency-lease=2s", "--shed-disk=0"}, // brokers may be on the disk of this machine
		"relay": {"--relay-lease-ttl=2s", "--relay-lease-margin=500ms", "--relay-renew=300ms", "--relay-full-sweep=1s"},
		"dispatcher": {
			"--allow-insecure", "--retry-delays=100ms,150ms,200ms,250ms,300ms,350ms,400ms", "--sweep-every=300ms",
			"--breaker-failures=1000",
		},
	}
	flags["run"] = slices.Concat(flags["api"], flags["relay"], flags["dispatcher"][1:]) // the flag that two of them have once
	all := append([]string{args[0], "--log-format=json", "--ops-listen=127.0.0.1:0", "--kafka-session=2s"}, flags[args[0]]...)
	return spawnFrom(r.t, binary, append(r.env, env...), append(all, args[1:]...)...)
}

// platform starts one process of each role. roles of the dispatcher may be named.
func (r *kit) platform(roles ...string) (api *client) {
	r.t.Helper()
	a, relay, d := r.launch(nil, "api"), r.launch(nil, "relay"), r.launch(nil, dispatcher(roles...)...)
	for _, p := range []*role.Process{a, relay, d} {
		p.AwaitStart()
	}
	return r.client(a)
}

func dispatcher(roles ...string) []string {
	if len(roles) == 0 {
		return []string{"dispatcher"}
	}
	return []string{"dispatcher", "--roles=" + strings.Join(roles, ",")}
}

// client talks to one API process.
type client struct {
	r    *kit
	base string
}

func (r *kit) client(api *role.Process) *client { return &client{r: r, base: api.URL} }

// answer is what the API said.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// do sends a request. The error is that of the connection.
func (c *client) do(method, path, key string, body any) (answer, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return answer{}, err
	}
	req, err := http.NewRequestWithContext(c.r.t.Context(), method, c.base+path, bytes.NewReader(raw))
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Authorization", "Bearer "+c.r.token)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		req.Header.Set("X-Idempotency-Key", key)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = res.Body.Close() }()
	all, err := io.ReadAll(res.Body)
	return answer{res.StatusCode, res.Header, all}, err
}

// call sends a request, which must succeed, and reads the answer into out unless that is nil.
func (c *client) call(method, path string, body, out any) {
	c.r.t.Helper()
	key := ""
	if method != http.MethodGet {
		key = uuid.NewString()
	}
	a, err := c.do(method, path, key, body)
	require.NoError(c.r.t, err)
	require.Less(c.r.t, a.status, 300, "%s %s: %s", method, path, a.body)
	if out != nil {
		require.NoError(c.r.t, json.Unmarshal(a.body, out))
	}
}

// subscribe points a subscription at the receiver's inbox of the name and returns its id.
func (c *client) subscribe(name string, events ...string) (id string) {
	c.r.t.Helper()
	var made struct{ ID, Secret string }
	c.call(http.MethodPost, "/webhooks/subscriptions", map[string]any{"url": c.r.hookURL + name, "events": events}, &made)
	require.NoError(c.r.t, c.r.hooks.SetSecret(name, made.Secret))
	return made.ID
}

// product makes a product that is kept on stock.
func (c *client) product() string {
	c.r.t.Helper()
	var made struct{ ID string }
	c.call(http.MethodPost, "/catalog/products", map[string]any{"name": "Espresso beans", "price": 1890, "hasStock": true}, &made)
	return made.ID
}

func orderOf(product string) map[string]any {
	return map[string]any{"customerName": "Erika", "items": []map[string]any{{"refId": product, "qty": 2}}}
}

type order struct {
	ID     string
	Number int64
	Status string
}

// order places an order.
func (c *client) order(product string) (o order) {
	c.r.t.Helper()
	c.call(http.MethodPost, "/orders", orderOf(product), &o)
	return o
}

// deliveries lists what the receiver's inbox of the name got, oldest first.
func (r *kit) deliveries(name string) []receiver.Delivery {
	r.t.Helper()
	w := httptest.NewRecorder()
	r.hooks.ServeHTTP(w, httptest.NewRequestWithContext(r.t.Context(), http.MethodGet, "/deliveries/"+name+"?limit=1000", nil))
	require.Equal(r.t, http.StatusOK, w.Code, w.Body.String())
	var all []receiver.Delivery
	require.NoError(r.t, json.Unmarshal(w.Body.Bytes(), &all))
	for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 {
		all[i], all[j] = all[j], all[i]
	}
	return all
}

// await waits for a delivery of the event about the record.
func (r *kit) await(name, event, dataID string) (found receiver.Delivery) {
	r.t.Helper()
	role.Eventually(r.t, func() bool {
		for _, d := range r.deliveries(name) {
			if d.Event == event && d.DataID == dataID {
				found = d
				return true
			}
		}
		return false
	}, "%s of %s at %s", event, dataID, name)
	require.True(r.t, found.Verified, "the signature of %s: %s", event, found.Error)
	return found
}

// bytesOf are the bytes of the delivery as they came over the wire.
func (r *kit) bytesOf(delivery string) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.bodies[delivery]
}

// count reads a number from the database.
func (r *kit) count(sql string, args ...any) (n int) {
	r.t.Helper()
	require.NoError(r.t, r.db.QueryRow(r.t.Context(), sql, args...).Scan(&n))
	return n
}

// contextFor bounds a wait.
func contextFor(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithTimeout(t.Context(), role.Patience)
}

// accounted requires that `tradegrid admin reconcile` finds a delivery for each event and subscription that has to have one.
func (r *kit) accounted() {
	r.t.Helper()
	role.Eventually(r.t, func() bool {
		return r.count(`SELECT (SELECT count(*) FROM outbox) + (SELECT count(*) FROM stock_changes)`) == 0
	}, "all is published and in the log, also what is told of stock")
	cmd := exec.CommandContext(r.t.Context(), binary, "admin", "reconcile", "--json", "--from="+time.Now().Add(-time.Hour).Format(time.RFC3339), "--to="+time.Now().Format(time.RFC3339Nano))
	cmd.Env = append(os.Environ(), r.env...)
	out, err := cmd.Output()
	require.NoError(r.t, err, "%s", out)
	var b struct{ Events, Unpublished, Delivered, Changed, Missing int }
	require.NoError(r.t, json.Unmarshal(out, &b))
	require.Positive(r.t, b.Events)
	require.Positive(r.t, b.Delivered)
	require.Zero(r.t, b.Unpublished+b.Missing+b.Changed, "%s", out) // the subscriptions are too young for the command to be sure
}
