package main

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/cli"
	"github.com/tradegrid/tradegrid/services/console/quickstart"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

// laptop is a developer's machine beside an installation of the platform.
type laptop struct {
	t     *testing.T
	node  *rolestest.Node
	owner rolestest.Client
	url   string
	flags []string // profile
	file  string
}

func newLaptop(t *testing.T) *laptop {
	t.Helper()
	d := dbtest.OpenNew(t)
	n := rolestest.NewNode(d, rolestest.Alone())
	rolestest.StartRelay(t, d, dbtest.Broker(t))
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	apitest.Background(t, func(ctx context.Context) error { return n.API.Serve(ctx, ln) })
	owner, _ := n.Owner(t)
	l := &laptop{t: t, node: n, owner: owner, url: "http://" + ln.Addr().String(), file: filepath.Join(t.TempDir(), "settings", "profile.json")}
	l.flags = []string{"--profile", l.file}
	return l
}

// run runs a command to its end.
func (l *laptop) run(want int, args ...string) (stdout, stderr string) {
	l.t.Helper()
	var out, errs output
	code := runUntil(l.t.Context(), func() {}, append(args, l.flags...), &out, &errs)
	require.Equal(l.t, want, code, "%v: %s%s", args, out.String(), errs.String())
	return out.String(), errs.String()
}

// start runs a command until it is stopped.
func (l *laptop) start(args ...string) (out *output, stop func()) {
	l.t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(l.t.Context()))
	out = &output{}
	done := make(chan int, 1)
	go func() { done <- runUntil(ctx, func() {}, append(args, l.flags...), out, out) }()
	once := sync.OnceFunc(func() {
		cancel()
		require.Zero(l.t, <-done, "%v: %s", args, out)
	})
	l.t.Cleanup(once)
	return out, once
}

func (l *laptop) login() {
	l.t.Helper()
	out, _ := l.run(0, "login", "--url", l.url, "--token", l.owner.Token)
	require.Contains(l.t, out, "company "+l.t.Name())
}

func TestLoginKeepsAProfile(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	_, errs := l.run(1, "explain", "0192d3a5-6f0e-7c1a-9b1e-2f6d8a4c1e55")
	require.Contains(t, errs, "--url and --token: must be given, or run `tradegrid login` once")
	_, errs = l.run(1, "login", "--url", l.url, "--token", "svc_live_wrong")
	require.Contains(t, errs, "401 AUTH_API_TOKEN_INVALID")
	_, errs = l.run(1, "login", "--url", "example.com", "--token", "x")
	require.Contains(t, errs, `--url "example.com": must be a scheme and a host`)
	_, err := os.Stat(l.file)
	require.ErrorIs(t, err, os.ErrNotExist, "a token that does not work is not kept")
	require.NoError(t, os.MkdirAll(filepath.Dir(l.file), 0o755))
	require.NoError(t, os.WriteFile(l.file, []byte(`{"secret":""}`), 0o644))
	l.login()
	info, err := os.Stat(l.file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	var p cli.Profile
	raw, err := os.ReadFile(l.file)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &p))
	require.Equal(t, cli.Profile{URL: l.url, Token: l.owner.Token, Secret: p.Secret}, p)
	require.NoError(t, webhook.CheckSecret(p.Secret))
	l.login()
	again, err := os.ReadFile(l.file)
	require.NoError(t, err)
	require.Equal(t, string(raw), string(again), "the receiver on this machine knows the secret")
	require.NoError(t, os.WriteFile(l.file, []byte(`{`), 0o600))
	_, errs = l.run(1, "deliveries", "list")
	require.Contains(t, errs, "write it anew with `tradegrid login`")
}

// A receiver on this machine gets what a subscription would send it, signed, in order, and without a gap when it or the API is away
// for a moment.
func TestListenForwardsEvents(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.login()
	var p cli.Profile
	raw, err := os.ReadFile(l.file)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &p))
	var mu sync.Mutex
	var got []string
	down := true
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		if down { // as if it were just being restarted
			down = false
			panic(http.ErrAbortHandler)
		}
		if err := webhook.Verify(p.Secret, r.Header, body, time.Now(), time.Minute); err != nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		var e cli.Logged
		if json.Unmarshal(body, &e) == nil {
			got = append(got, e.Event+" "+e.Data.ID.(string))
		}
		if strings.Contains(string(body), "refuse me") {
			w.WriteHeader(http.StatusTeapot)
		}
	}))
	t.Cleanup(receiver.Close)
	arrived := func() []string {
		mu.Lock()
		defer mu.Unlock()
		return got
	}
	before := l.owner.OK(t, "POST", "/catalog/products", `{"name":"Before","price":1}`)
	require.Eventually(t, func() bool { return strings.Contains(l.owner.OK(t, "GET", "/events", "").Raw, before.ID(t)) }, time.Minute, 20*time.Millisecond)

	out, stop := l.start("listen", "--forward-to", receiver.URL+"/hook", "--events", "product.*", "--filter", `{"data.price":[100,200]}`, "--every", "20ms")
	require.Eventually(t, func() bool {
		return strings.Contains(out.String(), "forwarding to "+receiver.URL+"/hook; signing secret "+p.Secret)
	}, time.Minute, 5*time.Millisecond)
	create := func(name, price string) string {
		return l.owner.OK(t, "POST", "/catalog/products", `{"name":"`+name+`","price":`+price+`}`).ID(t)
	}
	first := create("One", "100")
	create("Filtered out", "150")
	l.owner.OK(t, "POST", "/clients", `{"kind":"individual","displayName":"Not asked for"}`)
	second := create("refuse me", "200")
	want := []string{"product.created " + first, "product.created " + second}
	require.Eventually(t, func() bool { return strings.Contains(out.String(), "→ 418 in ") }, time.Minute, 20*time.Millisecond, "%s", out)
	stop()
	require.Equal(t, want, arrived())
	require.Contains(t, out.String(), "→ 200 in ")
	require.Contains(t, out.String(), "forwarded 2 events, 1 of them were refused; go on with --from ")
	_, cursor, _ := strings.Cut(out.String(), "--from ")

	third := create("While nobody listens", "100")
	out, stop = l.start("listen", "--forward-to", receiver.URL, "--events", "product.*", "--from", strings.TrimSpace(cursor), "--every", "20ms")
	require.Eventually(t, func() bool { return strings.Contains(out.String(), "→ 200 in ") }, time.Minute, 20*time.Millisecond, "%s", out)
	stop()
	require.Equal(t, append(want, "product.created "+third), arrived())

	signedItself := httptest.NewTLSServer(receiver.Config.Handler)
	t.Cleanup(signedItself.Close)
	last := []string{"listen", "--forward-to", signedItself.URL, "--events", "product.*", "--from", strings.TrimSpace(cursor), "--every", "20ms"}
	out, stop = l.start(last...)
	require.Eventually(t, func() bool { return strings.Contains(out.String(), "--insecure takes any certificate") }, time.Minute, 20*time.Millisecond, "%s", out)
	stop()
	out, stop = l.start(append(last, "--insecure")...)
	require.Eventually(t, func() bool { return strings.Contains(out.String(), "→ 200 in ") }, time.Minute, 20*time.Millisecond, "%s", out)
	stop()
	require.Equal(t, append(want, "product.created "+third, "product.created "+third), arrived())

	for args, why := range map[string]string{
		"--forward-to=localhost":                            "must be a URL such as http://localhost:3000/hook",
		"--forward-to=" + receiver.URL + " --filter={":      "--filter:",
		"--forward-to=" + receiver.URL + " --secret=x":      "--secret:",
		"--forward-to=" + receiver.URL + " --events=orders": "400 VALIDATION_ERROR",
		"--forward-to=" + receiver.URL + " --from=nowhere":  "400 VALIDATION_ERROR",
		"--forward-to=" + receiver.URL + " --token=nobody":  "401 AUTH_API_TOKEN_INVALID",
	} {
		_, errs := l.run(1, append([]string{"listen"}, strings.Fields(args)...)...)
		require.Contains(t, errs, why)
	}
}

// The log can be followed, and what became of an event asked, without a console.
func TestQuestionsFromALaptop(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.login()
	out, stop := l.start("events", "tail", "--every", "20ms")
	asJSON, stopJSON := l.start("events", "tail", "--json", "--every", "20ms")
	sub := l.owner.OK(t, "POST", "/webhooks/subscriptions", `{"url":"http://127.0.0.1:9/hook","events":["order.*"]}`).ID(t)
	// Both may begin after the first products.
	require.Eventually(t, func() bool {
		l.owner.OK(t, "POST", "/catalog/products", `{"name":"Saw","price":1}`)
		return strings.Contains(out.String(), "product.created") && strings.Contains(asJSON.String(), "product.created")
	}, time.Minute, 50*time.Millisecond)
	stop()
	stopJSON()
	var e cli.Logged
	line, _, _ := strings.Cut(asJSON.String(), "\n")
	require.NoError(t, json.Unmarshal([]byte(line), &e))

	text, _ := l.run(0, "explain", e.EventID.String())
	require.Contains(t, text, sub+"  not_subscribed -")
	text, _ = l.run(0, "explain", e.EventID.String(), "--subscription", sub, "--json")
	require.Contains(t, text, `"outcome": "not_subscribed"`)
	_, errs := l.run(1, "explain", e.EventID.String(), "--subscription", e.EventID.String())
	require.Contains(t, errs, "--subscription: the company has no subscription")
	_, errs = l.run(1, "explain", sub)
	require.Contains(t, errs, "404 EVENT_NOT_FOUND")

	sent := l.owner.OK(t, "POST", "/webhooks/subscriptions/"+sub+"/test", `{}`).Body["deliveryId"].(string)
	text, _ = l.run(0, "deliveries", "list", "--status", "pending", "--subscription", sub)
	require.Contains(t, text, sent)
	require.Contains(t, text, "webhook.test")
	text, _ = l.run(0, "deliveries", "list", "--answer", "5xx")
	require.NotContains(t, text, sent)
	text, _ = l.run(0, "deliveries", "list", "--json", "--limit", "1")
	require.Contains(t, text, `"hasMore"`)
	text, _ = l.run(0, "deliveries", "show", sent)
	require.Contains(t, text, `"attempts": []`)
	text, _ = l.run(0, "deliveries", "redeliver", sent)
	require.Contains(t, text, `"redeliveryOfId": "`+sent+`"`)
	_, errs = l.run(1, "deliveries", "show", sub)
	require.Contains(t, errs, "404 WEBHOOK_DELIVERY_NOT_FOUND")
}

// The first calls of docs/quick-start.md work as they stand there, in each language that is installed.
func TestFirstCallsOfTheQuickStart(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	for lang, run := range map[string][]string{"curl": {"sh", "first.sh"}, "go": {"go", "run", "main.go"}, "node": {"node", "first.mjs"}, "python": {"python3", "first.py"}} {
		needs := run[0]
		if lang == "curl" {
			needs = lang
		}
		t.Run(lang, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(needs); err != nil {
				t.Skipf("the first call in %s is not run: %s is not installed", lang, needs)
			}
			dir := t.TempDir()
			code := quickstart.FirstCall(tradegrid.Docs(), lang)
			require.NotEmpty(t, code)
			require.NoError(t, os.WriteFile(filepath.Join(dir, run[len(run)-1]), []byte(code+"\n"), 0o600))
			cmd := exec.CommandContext(t.Context(), run[0], run[1:]...)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "BASE="+l.url+httpapi.BasePath, "TOKEN="+l.owner.Token)
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.Contains(t, string(out), `"currency"`)
		})
	}
}
