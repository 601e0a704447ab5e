// Command withdb runs another command beside an embedded PostgreSQL server for tests, whose address the command finds
// in TRADEGRID_TEST_DATABASE_URL:
//
//	go run ./pkg/testkit/dbtest/withdb [--durable] go test ./...
//
// All test processes then share one server. A server that the variable names already is used as it is.
// With --durable the embedded server waits for the disk at each commit, as in production: for benchmarks.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

func main() {
	args := os.Args[1:]
	durable := len(args) > 0 && args[0] == "--durable"
	if durable {
		args = args[1:]
	}
	if len(args) == 0 {
		fmt.Fprintln(os.Stderr, "usage: withdb [--durable] command [argument …]")
		os.Exit(2)
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := run(ctx, args, durable)
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "withdb:", err)
	}
	os.Exit(code)
}

func run(ctx context.Context, args []string, durable bool) (code int, err error) {
	address, stop, err := dbtest.Serve(ctx, durable)
	if err != nil {
		return 1, err
	}
	defer func() {
		if stopErr := stop(); stopErr != nil {
			code, err = max(code, 1), errors.Join(err, stopErr)
		}
	}()
	return dbtest.RunCommand(ctx, args, "TRADEGRID_TEST_DATABASE_URL="+address)
}
