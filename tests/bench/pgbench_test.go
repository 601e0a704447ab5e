package bench

import (
	_ "embed"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"
)

// orderScript is one order as the API stores it, in the words of pgbench.
//
//go:embed testdata/order.pgbench
var orderScript string

const pgbenchClients = 32

// pgBench is the yardstick: the same transaction without anything in front of the database.
type pgBench struct {
	r       *kit
	program string
	script  string
	args    []string
	env     []string
}

// newPGBench takes from an order of the shop what the script's rows are to look like.
func newPGBench(r *kit, a *api, s *shop, companies int) *pgBench {
	b := r.b
	b.Helper()
	status, answer, err := a.post(s.token, "/orders", uuid.NewString(), s.order)
	require.NoError(b, err)
	require.Equal(b, fasthttp.StatusCreated, status, "%s", answer)
	var bin string
	payloads := make([]string, 0, 4)
	for name, event := range map[string]string{"{payload}": "order.created", "{payment}": "order.payment.created"} {
		var payload string
		require.NoError(b, r.db.QueryRow(b.Context(), `SELECT encode(payload, 'hex') FROM outbox WHERE company_id = $1 AND event = $2`, s.company, event).Scan(&payload))
		payloads = append(payloads, name, payload)
	}
	require.NoError(b, r.db.QueryRow(b.Context(), `SELECT setting FROM pg_config() WHERE name = 'BINDIR'`).Scan(&bin))
	warehouses := r.insertsOf("warehouses", "company_id = $1", map[string]string{"company_id": "md5('company' || g)::uuid", "id": "md5('warehouse' || g)::uuid"}, s.company)
	before, values, _ := strings.Cut(strings.TrimSuffix(warehouses, ");\n"), " VALUES (")
	_, err = r.db.Exec(b.Context(), before+" SELECT "+values+" FROM generate_series(1, $1::BIGINT) AS g", companies) // stock refers to them
	require.NoError(b, err)
	script := filepath.Join(b.TempDir(), "order.pgbench")
	require.NoError(b, os.WriteFile(script, []byte(strings.NewReplacer(payloads...).Replace(orderScript)), 0o600))
	u, err := url.Parse(r.url)
	require.NoError(b, err)
	password, _ := u.User.Password()
	return &pgBench{
		r: r, program: filepath.Join(bin, "pgbench"), script: script,
		args: []string{
			"-h", u.Hostname(), "-p", u.Port(), "-U", u.User.Username(), "-n", "-M", "prepared", "-c", strconv.Itoa(pgbenchClients), "-j", "2",
			"-D", "companies=" + strconv.Itoa(companies), "-f", script,
		},
		env: append(os.Environ(), "PGPASSWORD="+password, "PGDATABASE="+strings.TrimPrefix(u.Path, "/")),
	}
}

var tpsPattern = regexp.MustCompile(`(?m)^tps = ([0-9.]+)`)

// run returns transactions per second.
func (p *pgBench) run() float64 {
	p.r.b.Helper()
	p.once(int(warmUp.Seconds()))
	return p.once(int(armTime.Seconds()))
}

func (p *pgBench) once(seconds int) float64 {
	p.r.b.Helper()
	cmd := exec.Command(p.program, append(p.args, "-T", strconv.Itoa(seconds))...)
	cmd.Env = p.env
	out, err := cmd.CombinedOutput()
	require.NoError(p.r.b, err, "%s", out)
	m := tpsPattern.FindSubmatch(out)
	require.NotNil(p.r.b, m, "%s", out)
	tps, err := strconv.ParseFloat(string(m[1]), 64)
	require.NoError(p.r.b, err)
	return tps
}
