package bench

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/tests/role"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

// kit is a database of the benchmark's own and the binary to run on it.
type kit struct {
	b      *testing.B
	url    string
	db     *db.DB
	binary string
	keys   string // where the roles find the keys of webhook secrets
}

func newKit(b *testing.B) *kit {
	b.Helper()
	r := &kit{b: b, url: dbtest.NewDatabase(b), binary: filepath.Join(b.TempDir(), "tradegrid"), keys: role.SecretKeys(b)}
	out, err := exec.Command("go", "build", "-o", r.binary, "../../cmd/tradegrid").CombinedOutput()
	require.NoError(b, err, "%s", out)
	r.db, err = db.Open(b.Context(), db.Config{URL: r.url, MaxConns: 4})
	require.NoError(b, err)
	b.Cleanup(r.db.Close)
	var fsync string
	require.NoError(b, r.db.QueryRow(b.Context(), `SELECT setting FROM pg_settings WHERE name = 'fsync'`).Scan(&fsync))
	if fsync != "on" {
		b.Log("the database does not wait for its disk: these figures are for nobody; use `make bench`")
	}
	return r
}

// process is a running role.
type process struct {
	*role.Process
	b *testing.B
}

// start runs a role until the benchmark ends; then it must stop by itself.
func (r *kit) start(args ...string) *process {
	r.b.Helper()
	p := &process{role.Start(r.b, r.binary, []string{r.keys}, args...), r.b}
	r.b.Cleanup(func() {
		require.NoError(r.b, p.Signal(syscall.SIGTERM))
		require.Zero(r.b, p.AwaitEnd(role.Patience), "%s", p)
	})
	return p
}

// peakMB is the most memory that the process has held, in MiB.
func (p *process) peakMB() float64 {
	p.b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
	require.NoError(p.b, err)
	for line := range strings.Lines(string(status)) {
		if text, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, err := strconv.Atoi(strings.Fields(text)[0])
			require.NoError(p.b, err)
			return float64(kb) / 1024
		}
	}
	p.b.Fatal("the system does not tell how much memory a process holds")
	return 0
}

// answers waits until the address answers.
func (p *process) answers(url string) {
	p.b.Helper()
	require.Eventually(p.b, func() bool {
		ctx, cancel := context.WithTimeout(p.b.Context(), time.Second)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		require.NoError(p.b, err)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return false
		}
		return res.Body.Close() == nil && res.StatusCode == http.StatusOK
	}, time.Minute, 20*time.Millisecond, "%s", p)
}

// metric is the sum of all series with the name among the metrics that a role shows at the address.
func (r *kit) metric(ops, name string) (sum float64) {
	r.b.Helper()
	status, body, err := fasthttp.Get(nil, "http://"+ops+"/metrics")
	require.NoError(r.b, err)
	require.Equal(r.b, fasthttp.StatusOK, status)
	for line := range strings.Lines(string(body)) {
		if !strings.HasPrefix(line, name+"{") && !strings.HasPrefix(line, name+" ") {
			continue
		}
		v, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:len(line)-1], 64)
		require.NoError(r.b, err)
		sum += v
	}
	return sum
}

// freeAddress is a loopback address that nobody listens on.
func freeAddress(b *testing.B) string {
	b.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	defer ln.Close()
	return ln.Addr().String()
}
