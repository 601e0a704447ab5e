// Package e2e tests the whole path from a request to the receiver: the real binary, each role in a process of its
// own, which is killed or frozen where it hurts.
package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// binary is the program under test. Its failpoints are armed by the environment.
var binary string //nolint:gochecknoglobals // built once for all tests

func TestMain(m *testing.M) { os.Exit(build(m)) }

func build(m *testing.M) int {
	dir, err := os.MkdirTemp("", "tradegrid-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "make a folder for the binary:", err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary = filepath.Join(dir, "tradegrid")
	const obey = "-s -X github.com/tradegrid/tradegrid/pkg/kit/failpoint.obeysEnvironment=yes"
	out, err := exec.Command("go", "build", "-ldflags", obey, "-buildvcs=false", "-o", binary, "../../cmd/tradegrid").CombinedOutput()
	if err != nil {
		fmt.Fprintf(os.Stderr, "build the binary: %v\n%s", err, out)
		return 1
	}
	return dbtest.Main(m)
}

// lookAtSources lists what the binary is made of: `go test` takes a result from its cache unless a file that a test
// has looked at, while tests run, or a package that it imports, has changed.
var lookAtSources = sync.OnceValue(func() error { //nolint:gochecknoglobals // once is enough
	for _, root := range []string{"cmd", "pkg", "schemas", "services", "topics"} {
		if err := filepath.WalkDir(filepath.Join("../..", root), func(_ string, _ os.DirEntry, err error) error { return err }); err != nil {
			return err
		}
	}
	return nil
})
