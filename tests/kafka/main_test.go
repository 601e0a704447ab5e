//go:build kafka

package kafka

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/tests/kafka/brokers"
)

var (
	binary string           //nolint:gochecknoglobals // the program under test, built once
	three  *brokers.Cluster //nolint:gochecknoglobals // the tests take turns with it, see dbtest.Broker
)

func TestMain(m *testing.M) { os.Exit(runAll(m)) }

func runAll(m *testing.M) int {
	dir, err := os.MkdirTemp("", "tradegrid-kafka-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "make a folder:", err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary = filepath.Join(dir, "tradegrid")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", binary, "../../cmd/tradegrid").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the binary: %v\n%s", err, out)
		return 1
	}
	stop, err := startThree(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, "start brokers:", err)
		return 1
	}
	code := dbtest.Main(m)
	if err := errors.Join(stop(), facts.write()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}

// startThree starts the cluster that most tests use, one after the other. It is their own even where the environment names
// another one: they kill its brokers.
func startThree(dir string) (stop func() error, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute) // jars may have to be fetched
	defer cancel()
	data := filepath.Join(dir, "three")
	if err := os.Mkdir(data, 0o700); err != nil {
		return nil, err
	}
	if three, err = brokers.Start(ctx, brokers.Config{Dir: data}); err != nil {
		return nil, err
	}
	return three.Stop, os.Setenv("TRADEGRID_TEST_KAFKA_BROKERS", strings.Join(three.Brokers(), ","))
}

// report is what the tests have counted, for whoever reads the run.
type report struct {
	mu    sync.Mutex
	lines []string
}

var facts report //nolint:gochecknoglobals // one for all tests

func (f *report) add(t *testing.T, format string, args ...any) {
	t.Helper()
	line := fmt.Sprintf(format, args...)
	t.Log(line)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lines = append(f.lines, t.Name()+": "+line)
}

func (f *report) write() error {
	return os.WriteFile("../../bin/kafka/report.txt", []byte(strings.Join(append(f.lines, ""), "\n")), 0o600)
}
