//go:build jaeger

package e2e

import (
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/tests/role"
)

// jaeger is a running Jaeger: where it takes spans and where it is asked for them.
type jaeger struct{ otlp, query string }

// startJaeger runs the program that TRADEGRID_JAEGER names, for the time of the test.
func startJaeger(t *testing.T) jaeger {
	t.Helper()
	program := os.Getenv("TRADEGRID_JAEGER")
	require.NotEmpty(t, program, "TRADEGRID_JAEGER names Jaeger's all-in-one program: use make test-telemetry")
	ports := freePorts(t, 6)
	at := func(i int) string { return "127.0.0.1:" + ports[i] }
	cmd := exec.Command(program,
		"--collector.otlp.http.host-port="+at(0), "--query.http-server.host-port="+at(1), "--collector.otlp.grpc.host-port="+at(2),
		"--query.grpc-server.host-port="+at(3), "--admin.http.host-port="+at(4), "--collector.grpc-server.host-port="+at(5),
		"--collector.http-server.host-port=127.0.0.1:0")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.Env = append(os.Environ(), "SPAN_STORAGE_TYPE=memory")
	log, err := os.CreateTemp(t.TempDir(), "jaeger")
	require.NoError(t, err)
	cmd.Stdout, cmd.Stderr = log, log
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if said, err := os.ReadFile(log.Name()); err == nil && t.Failed() {
			t.Logf("jaeger wrote:\n%s", said)
		}
	})
	j := jaeger{"http://" + at(0), "http://" + at(1)}
	role.Eventually(t, func() bool {
		res, err := http.Get(j.query + "/api/services")
		if err != nil {
			return false
		}
		_ = res.Body.Close()
		return res.StatusCode == http.StatusOK
	}, "Jaeger answers")
	return j
}

// freePorts finds ports that nobody uses now.
func freePorts(t *testing.T, n int) (ports []string) {
	t.Helper()
	for range n {
		ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer func() { _ = ln.Close() }()
		_, port, err := net.SplitHostPort(ln.Addr().String())
		require.NoError(t, err)
		ports = append(ports, port)
	}
	return ports
}

// services are those that took part in the trace of the request, by Jaeger.
func (j jaeger) services(t *testing.T) map[string]bool {
	t.Helper()
	res, err := http.Get(j.query + "/api/traces?" + url.Values{"service": {"tradegrid-api"}, "operation": {"POST /api/external/v1/orders"}, "limit": {"10"}}.Encode())
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	var found struct {
		Data []struct {
			Spans []struct {
				OperationName string
				ProcessID     string
			}
			Processes map[string]struct{ ServiceName string }
		}
	}
	require.NoError(t, json.NewDecoder(res.Body).Decode(&found))
	took := map[string]bool{}
	for _, trace := range found.Data {
		for _, s := range trace.Spans {
			took[trace.Processes[s.ProcessID].ServiceName] = true
			took[s.OperationName] = true
		}
	}
	return took
}

// Jaeger shows the whole path of one order as one trace.
func TestJaegerShowsOneOrderAsOneTrace(t *testing.T) {
	t.Parallel()
	j := startJaeger(t)
	r := newKit(t)
	r.env = append(r.env, "TRADEGRID_OTLP_ENDPOINT="+j.otlp, "TRADEGRID_OTLP_SIGNALS=traces", "TRADEGRID_TRACE_SAMPLE=1", "OTEL_BSP_SCHEDULE_DELAY=100")
	api := r.platform()
	api.subscribe("all", "order.created")
	o := api.order(api.product())
	r.await("all", "order.created", o.ID)
	role.Eventually(t, func() bool {
		took := j.services(t)
		return took["tradegrid-api"] && took["tradegrid-dispatcher"] && took["POST /api/external/v1/orders"] && took["POST"]
	}, "the trace of the order leads from the request to the receiver")
}
