// Command withkafka runs another command beside three real Kafka brokers, whose addresses the command finds in
// TRADEGRID_TEST_KAFKA_BROKERS:
//
//	go run ./tests/kafka/withkafka go test ./pkg/events/outbox
//
// It needs Java and Maven; see package brokers. Brokers that the variable names already are used as they are.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/tests/kafka/brokers"
)

const env = "TRADEGRID_TEST_KAFKA_BROKERS"

// startTimeout includes the download of the jars.
const startTimeout = 5 * time.Minute

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: withkafka command [argument …]")
		os.Exit(2)
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := run(ctx, os.Args[1:])
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "withkafka:", err)
	}
	os.Exit(code)
}

func run(ctx context.Context, args []string) (code int, err error) {
	address := os.Getenv(env) //nolint:forbidigo // it is how test processes are told
	if address == "" {
		cluster, stop, err := start(ctx)
		if err != nil {
			return 1, err
		}
		defer func() {
			if stopErr := stop(); stopErr != nil {
				code, err = max(code, 1), errors.Join(err, stopErr)
			}
		}()
		address = strings.Join(cluster.Brokers(), ",")
	}
	return dbtest.RunCommand(ctx, args, env+"="+address)
}

func start(ctx context.Context) (c *brokers.Cluster, stop func() error, err error) {
	dir, err := os.MkdirTemp("", "tradegrid-kafka-")
	if err != nil {
		return nil, nil, fmt.Errorf("make a folder for the brokers: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	began := time.Now()
	if c, err = brokers.Start(ctx, brokers.Config{Dir: dir}); err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	fmt.Fprintf(os.Stderr, "withkafka: three brokers at %s, started in %.1f s\n", strings.Join(c.Brokers(), ","), time.Since(began).Seconds())
	return c, func() error { return errors.Join(c.Stop(), os.RemoveAll(dir)) }, nil
}
