package dbtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/cockroachdb/cockroach-go/v2/testserver"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/store/db"
)

const (
	envProduct = "TRADEGRID_TEST_DATABASE"
	envProgram = "TRADEGRID_COCKROACH"
)

const (
	productPostgres  = "postgres"
	productCockroach = "cockroach"
)

// product returns which server to embed.
func product() (string, error) {
	switch p := os.Getenv(envProduct); p {
	case "", productPostgres:
		return productPostgres, nil
	case productCockroach:
		return p, nil
	default:
		return "", fmt.Errorf("%s must be %s or %s, not %q", envProduct, productPostgres, productCockroach, p)
	}
}

// cockroachProgram finds the program. It never downloads it.
func cockroachProgram() (string, error) {
	if named := os.Getenv(envProgram); named != "" {
		path, err := exec.LookPath(named)
		if err != nil {
			return "", fmt.Errorf("%s must be the path of an executable: %w", envProgram, err)
		}
		return path, nil
	}
	path, err := exec.LookPath("cockroach")
	if err != nil {
		return "", fmt.Errorf("%s=%s requires CockroachDB: put its program cockroach on PATH, or set %s to its path", envProduct, productCockroach, envProgram)
	}
	return path, nil
}

// startCockroach starts an insecure single-node cluster on free ports. Its data is in memory,
// or if durable in a temporary folder. If the process is killed, the node keeps running.
func startCockroach(ctx context.Context, durable bool) (testserver.TestServer, error) {
	program, err := cockroachProgram()
	if err != nil {
		return nil, err
	}
	opts := []testserver.TestServerOpt{
		testserver.CockroachBinaryPathOpt(program),
		testserver.EnvVarOpt([]string{"COCKROACH_SKIP_ENABLING_DIAGNOSTIC_REPORTING=true"}),
	}
	if durable {
		opts = append(opts, testserver.StoreOnDiskOpt())
	}
	node, err := testserver.NewTestServer(opts...)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	if err := configureForTests(ctx, node.PGURL().String(), durable); err != nil {
		node.Stop()
		return nil, err
	}
	return node, nil
}

// fastSettings speed up schema changes and disable automatic statistics; for tests only.
var fastSettings = []string{ //nolint:gochecknoglobals // a constant
	"SET CLUSTER SETTING kv.range_merge.queue_interval = '50ms'",
	"SET CLUSTER SETTING jobs.registry.interval.gc = '30s'",
	"SET CLUSTER SETTING jobs.registry.interval.cancel = '180s'",
	"SET CLUSTER SETTING jobs.retention_time = '15s'",
	"SET CLUSTER SETTING sql.stats.automatic_collection.enabled = false",
	"ALTER RANGE default CONFIGURE ZONE USING gc.ttlseconds = 600",
	"ALTER DATABASE system CONFIGURE ZONE USING gc.ttlseconds = 600",
}

// configureForTests prepares a cluster for tests, which create and drop databases all the time. A setting that the release
// does not know only costs time, so it is printed and ignored. A durable cluster keeps the settings of production.
func configureForTests(ctx context.Context, address string, durable bool) error {
	if durable {
		return nil
	}
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return fmt.Errorf("connect to CockroachDB: %w", err)
	}
	for _, stmt := range fastSettings {
		if _, err := conn.Exec(ctx, stmt); err != nil {
			fmt.Fprintf(os.Stderr, "dbtest: setting not applied, tests are slower: %s: %v\n", stmt, err)
		}
	}
	if err := conn.Close(ctx); err != nil {
		return fmt.Errorf("prepare CockroachDB for tests: %w", err)
	}
	return nil
}

// Dialect returns the database product that the tests of this process use.
func Dialect(t testing.TB) db.Dialect {
	t.Helper()
	current.mu.Lock()
	defer current.mu.Unlock()
	return current.need(t).dialect
}

// Only skips a test unless the database is the given product, and prints the reason. The summary of each run has the
// number of skipped tests.
func Only(t testing.TB, on db.Dialect, reason string) {
	t.Helper()
	if got := Dialect(t); got != on {
		t.Skipf("runs on %s only, this is %s: %s", on, got, reason)
	}
}

// Cluster starts three CockroachDB nodes, each in its own region, for a test of regions. It returns the URL of the first
// node's default database. The nodes are stopped at the end of the test.
func Cluster(t testing.TB, regions [3]string) (address string) {
	t.Helper()
	program, err := cockroachProgram()
	if err != nil {
		t.Fatal(err)
	}
	var localities []string
	for _, region := range regions {
		localities = append(localities, "region="+region)
	}
	node, err := testserver.NewTestServer(
		testserver.CockroachBinaryPathOpt(program), testserver.ThreeNodeOpt(), testserver.LocalityFlagsOpt(localities...))
	if err != nil {
		t.Fatalf("start three nodes of %s: %v", program, err)
	}
	t.Cleanup(node.Stop)
	return node.PGURL().String()
}
