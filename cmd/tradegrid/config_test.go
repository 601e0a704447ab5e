package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/config"
	"github.com/tradegrid/tradegrid/pkg/kit/secret"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

// command runs a command line and returns its exit code and what it wrote.
func command(args ...string) (code int, out, errs string) {
	var stdout, stderr bytes.Buffer
	code = run(args, &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

// yamlFile writes a file of settings.
func yamlFile(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tradegrid.yaml")
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	return path
}

const wrongSettings = `  --database-conns "x": must be an integer that fits in 32 bits%s
  --database-url or --database-url-file is required: set postgres://user:password@host:port/name
  --kafka-brokers is required: give at least one host:port
  --kafka-session -1s: must be above 0%s
  --log-level "loud": must be debug, info, warn or error%s
  --trace-sample 7: must be a share from 0 to 1, such as 0.05%s
`

func TestAllWrongSettingsAreNamedAtOnce(t *testing.T) {
	t.Parallel()
	keys := "--secret-keys-file=" + keysFile(t, rolestest.Key())
	code, _, errs := command("api", keys, "--database-conns=x", "--kafka-session=-1s", "--trace-sample=7", "--log-level", "loud")
	require.Equal(t, 2, code)
	want := "tradegrid api: 6 settings are invalid:\n" + fmt.Sprintf(wrongSettings, "", "", "", "") + "tradegrid api --help lists the flags\n"
	require.Equal(t, want, errs)

	path := yamlFile(t, "database-conns: x", "kafka-session: -1s", "trace-sample: 7", "log-level: loud")
	code, _, errs = command("api", "--config", path, keys)
	require.Equal(t, 2, code)
	by := func(line int) string { return fmt.Sprintf(" (set by %s line %d)", path, line) }
	require.Contains(t, errs, fmt.Sprintf(wrongSettings, by(1), by(2), by(4), by(3)))
}

func TestWrongSettingsOfTheEnvironmentAreNamed(t *testing.T) { //nolint:paralleltest // sets variables
	t.Setenv("TRADEGRID_DATABASE_CONNS", "x")
	t.Setenv("TRADEGRID_KAFKA_SESSION", "-1s")
	t.Setenv("TRADEGRID_TRACE_SAMPLE", "7")
	t.Setenv("TRADEGRID_LOG_LEVEL", "loud")
	by := func(name string) string { return " (set by TRADEGRID_" + name + ")" }
	code, _, errs := command("relay", "--config", yamlFile(t, "database-conns: 5")) // the variable goes before the file
	require.Equal(t, 2, code)
	require.Contains(t, errs, fmt.Sprintf(wrongSettings, by("DATABASE_CONNS"), by("KAFKA_SESSION"), by("LOG_LEVEL"), by("TRACE_SAMPLE")))

	t.Setenv("TRADEGRID_RELAY_BATCH_SIZE", "7")
	_, out, _ := command("relay", "--config", yamlFile(t, "relay-batch-size: 5", "relay-parallel: 6"), "--print-config")
	require.Contains(t, out, "relay-batch-size: 7 # environment TRADEGRID_RELAY_BATCH_SIZE\n")
	require.Contains(t, out, "relay-parallel: 6 # /")

	code, out, errs = command("relay", "--database-conns=3", "--log-level=warn", "--print-config") // a flag goes before all
	require.Equal(t, 2, code)
	require.NotContains(t, errs, "--database-conns")
	require.NotContains(t, errs, "--log-level")
	require.Contains(t, errs, "--trace-sample 7")
	require.Contains(t, out, "database-conns: 3 # flag\n")
}

// What the rules of a role say comes with what cannot be read at all.
func TestWrongSettingsOfEachRoleAreNamed(t *testing.T) {
	t.Parallel()
	backends := []string{"--database-url=postgres://h/x", "--kafka-brokers=h:1"}
	for _, row := range []struct {
		args, want []string
	}{
		{
			append([]string{"dispatcher", "--retry-delays=2s,1s", "--in-flight=0", "--max-attempts=-1", "--roles=router,cook", "--kafka-sasl=magic", "--egress-proxy=proxy:3128"}, backends...),
			[]string{"--retry-delays: must be 7 delays", "--in-flight 0: must be above 0", "--max-attempts -1: must be above 0", "--egress-proxy: must be http:// or https://", `--roles "router,cook": must be one of router, sender`, `--kafka-sasl "magic": must be one of plain`},
		},
		{
			append([]string{"relay", "--relay-batch-size=2000", "--relay-parallel=1000", "--event-retention=1s", "--otlp-endpoint=collector:4318"}, backends...),
			[]string{"--relay-batch-size 2000 must be", "--relay-parallel 1000 must be", "--event-retention 1s: must be at least 1h", "--otlp-endpoint"},
		},
		{
			append([]string{"relay", "--relay-batch-size=0", "--relay-renew=0s"}, backends...),
			[]string{"--relay-batch-size 0 must be 1 to 1000", "--relay-renew 0s must be above 0"},
		},
		{
			append([]string{"api"}, backends...),
			[]string{"--secret-keys-file is required: "},
		},
		{
			append([]string{"dispatcher", "--secret-keys-file=" + keysFile(t, "one:c2VjcmV0d29yZA==")}, backends...),
			[]string{"--secret-keys-file: ", " line 1: must be id:key"},
		},
		{
			append([]string{"api", "--trusted-proxies=here,10.0.0.0/8,there", "--shed-disk=85", "--shed-outbox-rows=-1", "--idempotency-lease=0s", "--public-url=https://a.example/x", "--max-connections=-1"}, backends...),
			[]string{`--trusted-proxies "here"`, `--trusted-proxies "there"`, `--public-url "https://a.example/x"`, "--max-connections", "--shed-disk", "--shed-outbox-rows", "--idempotency-lease 0s"},
		},
		{
			[]string{"console", "--database-url=postgres://h/x", "--kafka-tls"},
			[]string{"--kafka-brokers is required with the other flags of the brokers"},
		},
		{
			[]string{"console", "--database-url=postgres://h/x", "--kafka-brokers=h", "--kafka-sasl=magic", "--kafka-session=0s", "--topics-replicas=-1", "--console-url=http://console.example.com"},
			[]string{`--kafka-brokers "h" must be host:port`, `--kafka-sasl "magic": must be one of plain`, "--kafka-session 0s: must be above 0", "--topics-replicas -1: must not be below 0; 0 = the default", "--admin-tokens-file is required: ", "--console-url is given without --console-listen"},
		},
		{
			append([]string{"run", "--console-url=https://console.example.com", "--trusted-proxies=here", "--relay-batch-size=2000", "--retry-delays=2s,1s", "--event-quota=-1"}, backends...),
			[]string{"--secret-keys-file is required: ", "is given without --admin-tokens-file", `--trusted-proxies "here"`, "--relay-batch-size 2000 must be", "--retry-delays: must be 7 delays", "--event-quota -1: must not be below 0"},
		},
		{
			append([]string{"run", "--admin-tokens-file=/nowhere", "--console-listen=:8084", "--console-url=http://console.example.com"}, backends...),
			[]string{"--admin-tokens-file", "--secret-keys-file is required: ", `--console-url "http://console.example.com": must be https://`},
		},
		{
			[]string{"topics", "diff", "--kafka-brokers=h", "--kafka-ca-file=/nowhere", "--kafka-sasl=plain"},
			[]string{`--kafka-brokers "h" must be host:port`, "--kafka-tls is required", "--kafka-username is required", "--kafka-password-file is required"},
		},
		{
			[]string{"migrate", "--database-url=postgres://h/x", "--database-url-file=/a", "--database-password-file=/nowhere", "--database-cons=3"},
			[]string{"mutually exclusive", "--database-password-file: open /nowhere", "--database-cons: unknown flag; did you mean --database-conns?"},
		},
		{
			[]string{"receiver", "--behaviour=explode", "--secret=x", "--secret-file=/nowhere", "--tolerance"},
			[]string{"--behaviour: ", "--secret and --secret-file are mutually exclusive", "--tolerance: requires a value"},
		},
	} {
		code, _, errs := command(row.args...)
		require.Equal(t, 2, code, "%v", row.args)
		for _, want := range row.want {
			require.Contains(t, errs, want, "%v", row.args)
		}
	}
}

func TestPrintedSettingsCanBeFedBack(t *testing.T) {
	t.Parallel()
	path := yamlFile(t, "log-level: debug", "kafka-brokers: [a:1, b:2]", "retry-delays: 1s,2s,3s,4s,5s,6s,7s",
		"database-url: postgres://u:s3cret@h/x?password=t00", "listen: 127.0.0.1:0 # of the API, which reads the same file")
	key := secret.NewKey("one")
	keys := "--secret-keys-file=" + keysFile(t, key)
	code, first, errs := command("dispatcher", "--config", path, keys, "--in-flight=7", "--print-config")
	require.Zero(t, code, errs)
	require.Empty(t, errs)
	for _, want := range []string{
		"log-level: debug # " + path + " line 1\n", "kafka-brokers: ['a:1', 'b:2'] # " + path + " line 2\n",
		"retry-delays: [1s, 2s, 3s, 4s, 5s, 6s, 7s] # ", "in-flight: 7 # flag\n", "kafka-session: 45s # default\n",
		"database-url: postgres://u:xxxxx@h/x?password=xxxxx # ",
	} {
		require.Contains(t, first, want)
	}
	require.NotContains(t, first, "s3cret")
	require.NotContains(t, first, "t00")
	require.NotContains(t, first, strings.TrimPrefix(key, "one:"))

	again := yamlFile(t, first)
	code, _, errs = command("dispatcher", "--config", again, "--print-config")
	require.Equal(t, 2, code)
	require.Contains(t, errs, "--database-url contains a secret masked")
	code, second, errs := command("dispatcher", "--config", again, "--database-url=postgres://u:s3cret@h/x?password=t00", "--print-config")
	require.Zero(t, code, errs)
	require.Equal(t, withoutOrigin(first), withoutOrigin(second))
}

// One process of all roles has each of their settings once, so that none can differ between them.
func TestRunHasEachSettingOnce(t *testing.T) {
	t.Parallel()
	args := []string{"--database-url=postgres://h/x", "--kafka-brokers=h:1", "--print-config"}
	settings := func(role string) map[string]int {
		_, out, errs := command(slices.Concat([]string{role}, args)...)
		require.NotContains(t, errs, "unknown flag")
		found := map[string]int{}
		for line := range strings.Lines(out) {
			name, _, _ := strings.Cut(line, ":")
			found[name]++
		}
		return found
	}
	run := settings("run")
	for _, role := range []string{"api", "relay", "dispatcher", "console"} {
		for name := range settings(role) {
			require.Equal(t, 1, run[name], "%s of %s", name, role)
		}
	}
}

// A process that signs nothing needs no keys.
func TestOnlySendersNeedTheKeys(t *testing.T) {
	t.Parallel()
	backends := []string{"--database-url=postgres://h/x", "--kafka-brokers=h:1", "--print-config"}
	code, _, errs := command(append([]string{"dispatcher", "--roles=router,delay,sweeper"}, backends...)...)
	require.Zero(t, code, errs)
	code, _, errs = command(append([]string{"dispatcher", "--roles=sender"}, backends...)...)
	require.Equal(t, 2, code)
	require.Contains(t, errs, "--secret-keys-file is required")
}

// keysFile writes a file of keys.
func keysFile(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keys")
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600))
	return path
}

func withoutOrigin(printed string) (lines []string) {
	for line := range strings.Lines(printed) {
		setting, _, _ := strings.Cut(line, " # ")
		lines = append(lines, setting)
	}
	return lines
}

// output is what a running role writes.
type output struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.all.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.all.String()
}

// startRole runs a role with a file of settings until the test ends.
func startRole(t *testing.T, role, file string, args ...string) *output {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	out := &output{}
	done := make(chan int, 1)
	args = append([]string{role, "--config", file, "--ops-listen=127.0.0.1:0"}, args...)
	go func() { done <- runUntil(ctx, func() {}, args, io.Discard, out) }()
	t.Cleanup(func() {
		stop()
		require.Zero(t, <-done, out)
	})
	if role == "run" {
		role = "api" // the first of its roles to say that it is up
	}
	out.await(t, `msg="`+role+" ")
	return out
}

func (o *output) await(t *testing.T, want string) {
	t.Helper()
	if !assert.Eventually(t, func() bool { return strings.Contains(o.String(), want) }, time.Minute, 10*time.Millisecond) {
		require.FailNow(t, "not written: "+want, "%s", o)
	}
}

// replace changes a file as a ConfigMap does: a symbolic link moves to another folder.
func replace(t *testing.T, link string, lines ...string) {
	t.Helper()
	next := filepath.Join(filepath.Dir(link), "next")
	require.NoError(t, os.Symlink(yamlFile(t, lines...), next))
	require.NoError(t, os.Rename(next, link))
}

// hangup tells all roles that run in this process to look at their settings.
func hangup(t *testing.T) {
	t.Helper()
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
}

// reloaded is how often settings were read again in this process.
func reloaded(t *testing.T) (n float64) {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(config.Metrics()...)
	families, err := registry.Gather()
	require.NoError(t, err)
	for _, m := range families[0].GetMetric() {
		if m.GetLabel()[0].GetValue() == "ok" {
			n += m.GetCounter().GetValue()
		}
	}
	return n
}

// A relay, an API and a process of all roles follow the log level in the file; a wrong file changes nothing; what needs a restart is named.
func TestRunningRolesFollowTheFile(t *testing.T) {
	t.Parallel()
	backends := []string{"database-url: " + dbtest.NewDatabase(t), "kafka-brokers: [" + strings.Join(dbtest.Broker(t), ", ") + "]"}
	file := filepath.Join(t.TempDir(), "tradegrid.yaml")
	replace(t, file, append(backends, "log-level: info")...)
	keys := "--secret-keys-file=" + keysFile(t, rolestest.Key())
	roles := []*output{startRole(t, "relay", file), startRole(t, "api", file, "--listen=127.0.0.1:0", keys), startRole(t, "run", file, "--listen=127.0.0.1:0", keys)}
	replace(t, file, append(backends, "log-level: debug", "trace-sample: 8", "relay-batch-size: 7", "log-levl: info")...)
	for _, out := range roles {
		out.await(t, "new settings rejected, keeping the old ones")
		require.Contains(t, out.String(), "--trace-sample 8: must be")
		require.Contains(t, out.String(), "log-levl is not a setting; did you mean log-level?")
		require.NotContains(t, out.String(), "settings changed")
	}
	replace(t, file, append(backends, "log-level: error", "database-conns: 9")...)
	for _, out := range roles {
		out.await(t, `msg="changed settings need a restart" settings=[database-conns]`)
		require.Contains(t, out.String(), `msg="settings changed" settings="[log-level=error]"`, "also when such lines end with it")
	}
	before := reloaded(t)
	hangup(t)
	require.Eventually(t, func() bool { return reloaded(t) >= before+float64(len(roles)) }, time.Minute, 5*time.Millisecond)
	replace(t, file, append(backends, "log-level: debug", "database-conns: 9")...)
	for _, out := range roles {
		out.await(t, `msg="settings changed" settings="[log-level=debug]"`)
		require.Equal(t, 1, strings.Count(out.String(), "changed settings need a restart"), "told once")
		meanwhile, _, _ := strings.Cut(out.String(), `settings="[log-level=debug]"`) // other tests ask all roles, too
		require.NotContains(t, meanwhile, "settings unchanged", "less than an error")
	}
	hangup(t)
	for _, out := range roles {
		out.await(t, `msg="settings unchanged" need_restart=[database-conns]`)
	}
}

// A running dispatcher lets more requests through when the file says so.
func TestRunningDispatcherFollowsItsLimits(t *testing.T) {
	t.Parallel()
	url, brokers := dbtest.NewDatabase(t), dbtest.Broker(t)
	d, err := db.Open(t.Context(), db.Config{URL: url, MaxConns: 4})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	n := rolestest.NewNode(d, rolestest.Alone())
	owner, _ := n.Owner(t)
	var requests, now, most atomic.Int64
	full, end := make(chan struct{}), make(chan struct{})
	hooks := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == 1 {
			return // a receiver that has answered nothing yet gets one request at a time
		}
		at := now.Add(1)
		defer now.Add(-1)
		for seen := most.Load(); at > seen && !most.CompareAndSwap(seen, at); seen = most.Load() {
		}
		if at == 3 {
			close(full)
		}
		select {
		case <-end:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(hooks.Close)
	defer close(end)
	owner.OK(t, "POST", "/webhooks/subscriptions", `{"url":"`+hooks.URL+`/","events":["order.created"]}`)
	backends := []string{"database-url: " + url, "kafka-brokers: [" + strings.Join(brokers, ", ") + "]", "allow-insecure: true", "attempt-timeout: 1m"}
	file := filepath.Join(t.TempDir(), "tradegrid.yaml")
	replace(t, file, append(backends, "receiver-in-flight: 1")...)
	rolestest.StartRelay(t, d, brokers)
	out := startRole(t, "dispatcher", file, "--secret-keys-file="+keysFile(t, rolestest.Key()))
	for range 5 {
		owner.OK(t, "POST", "/orders", `{"items":[{"kind":"custom","name":"Mill","unitPrice":1}]}`)
	}
	require.Eventually(t, func() bool { return now.Load() == 1 }, time.Minute, 5*time.Millisecond)
	replace(t, file, append(backends, "receiver-in-flight: 3")...)
	out.await(t, `msg="settings changed" settings="[receiver-in-flight=3]"`)
	select {
	case <-full:
	case <-time.After(time.Minute):
		require.FailNow(t, "the limit did not grow", "%d at a time", most.Load())
	}
	require.EqualValues(t, 3, most.Load())
}
