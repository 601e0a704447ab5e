package dbtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/cockroachdb/cockroach-go/v2/testserver"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/db"
)

const (
	envProduct = "TRADEGRID_TEST_DATABASE"
	envProgram = "TRADEGRID_COCKROACH"
)

const (
	productPostgres  = "postgres"
	productCockroach = "cockroach"
)

// product reads which server to embed.
func product() (string, error) {
	switch p := os.Getenv(envProduct); p {
	case "", productPostgres:
		return productPostgres, nil
	case productCockroach:
		return p, nil
	default:
		return "", fmt.Errorf("%s is %s or %s, not %q", envProduct, productPostgres, productCockroach, p)
	}
}

// cockroachProgram finds the program. Nothing is ever downloaded.
func cockroachProgram() (string, error) {
	if named := os.Getenv(envProgram); named != "" {
		path, err := exec.LookPath(named)
		if err != nil {
			return "", fmt.Errorf("%s names no program that can be run: %w", envProgram, err)
		}
		return path, nil
	}
	path, err := exec.LookPath("cockroach")
	if err != nil {
		return "", fmt.Errorf("%s=%s needs CockroachDB: put its program cockroach on PATH, or name it in %s", envProduct, productCockroach, envProgram)
	}
	return path, nil
}

// startCockroach starts a cluster of one node, without passwords and encryption, on free ports. Its data lies in memory,
// or when durable in a temporary folder. A process that is killed hard leaves the node running.
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
	if err := hurry(ctx, node.PGURL().String(), durable); err != nil {
		node.Stop()
		return nil, err
	}
	return node, nil
}

// hasteSettings make schema changes fast and statistics rare; fit for tests only.
var hasteSettings = []string{ //nolint:gochecknoglobals // a constant
	"SET CLUSTER SETTING kv.range_merge.queue_interval = '50ms'",
	"SET CLUSTER SETTING jobs.registry.interval.gc = '30s'",
	"SET CLUSTER SETTING jobs.registry.interval.cancel = '180s'",
	"SET CLUSTER SETTING jobs.retention_time = '15s'",
	"SET CLUSTER SETTING sql.stats.automatic_collection.enabled = false",
	"ALTER RANGE default CONFIGURE ZONE USING gc.ttlseconds = 600",
	"ALTER DATABASE system CONFIGURE ZONE USING gc.ttlseconds = 600",
}

// hurry prepares a cluster for tests, which make and drop databases all the time. A setting that a release does not
// know costs time only, so it is told and no more. A durable cluster keeps the settings of production.
func hurry(ctx context.Context, address string, durable bool) error {
	if durable {
		return nil
	}
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return fmt.Errorf("connect to CockroachDB: %w", err)
	}
	for _, stmt := range hasteSettings {
		if _, err := conn.Exec(ctx, stmt); err != nil {
			fmt.Fprintf(os.Stderr, "dbtest: not taken, tests are slower: %s: %v\n", stmt, err)
		}
	}
	if err := conn.Close(ctx); err != nil {
		return fmt.Errorf("prepare CockroachDB for tests: %w", err)
	}
	return nil
}

// Dialect is the product that the databases of this process are on.
func Dialect(t testing.TB) db.Dialect {
	t.Helper()
	current.mu.Lock()
	defer current.mu.Unlock()
	return current.need(t).dialect
}

// Only leaves a test out where the database is another product, for a reason that is printed. The number of tests that
// were left out is part of the summary of each run.
func Only(t testing.TB, on db.Dialect, reason string) {
	t.Helper()
	if got := Dialect(t); got != on {
		t.Skipf("runs on %s only, this is %s: %s", on, got, reason)
	}
}

// Cluster starts three nodes of CockroachDB, each in a region of its own, for one test that is about regions, and gives
// the address of the first one's default database. They are stopped at the end of the test.
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
