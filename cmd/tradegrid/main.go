// Command tradegrid is the whole platform: one binary whose subcommands are the roles.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
)

// release is set by the build: -ldflags "-X main.release=1.2.3".
var release = "dev"

// CLI lists the roles and what all of them have in common.
type CLI struct {
	LogLevel  slog.Level `help:"Least level that is logged: debug, info, warn or error." default:"info"`
	LogFormat string     `help:"How lines are written." enum:"text,json" default:"text"`

	Dev        DevCmd           `cmd:"" help:"Run everything in one process on embedded defaults, with a demo company."`
	API        APICmd           `cmd:"" name:"api" help:"Serve the external REST API."`
	Relay      RelayCmd         `cmd:"" help:"Publish the outbox to Kafka."`
	Dispatcher DispatcherCmd    `cmd:"" help:"Route events to subscriptions and deliver webhooks."`
	Migrate    MigrateCmd       `cmd:"" help:"Bring the database to the schema of this release."`
	Topics     TopicsCmd        `cmd:"" help:"Compare the topics of a cluster with their declaration, or apply it."`
	Admin      AdminCmd         `cmd:"" help:"Create and change companies, tokens, branches and users."`
	Receiver   ReceiverCmd      `cmd:"" help:"Receive webhooks: verify, count, report, and misbehave on demand."`
	Openapi    OpenapiCmd       `cmd:"" help:"Write the API description and the event schemas."`
	Version    kong.VersionFlag `help:"Print the release and exit." env:"-"`
}

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// stopBound is how long a process may take to stop: longer than the 25 s in which it finishes what is under way, and
// shorter than the time after which an orchestrator kills it.
const stopBound = 40 * time.Second

// boundStop ends the process when it was told to stop and does not: a database or broker that never answers must not
// hold it. A second signal ends it at once.
func boundStop(ctx context.Context, restore func(), stderr io.Writer) (cancel func() bool) {
	return context.AfterFunc(ctx, func() {
		restore()
		time.AfterFunc(stopBound, func() {
			fmt.Fprintf(stderr, "tradegrid: not stopped within %s; what was under way will be repeated\n", stopBound)
			os.Exit(1)
		})
	})
}

// run is main without the process: it returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	defer boundStop(ctx, stop, stderr)()
	var cli CLI
	code, ended := 0, false // set when help or the version was asked for
	parser, err := kong.New(&cli,
		kong.Name("tradegrid"),
		kong.Description("A sharded, multi-tenant business-management platform: REST API in, signed webhooks out. Every flag can be set by the environment, as TRADEGRID_ and its name."),
		kong.DefaultEnvars("TRADEGRID"),
		kong.Vars{"version": release},
		kong.Writers(stdout, stderr),
		kong.Exit(func(c int) { code, ended = c, true }),
		kong.ShortUsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	if err != nil {
		panic(err) // the struct above is wrong
	}
	kctx, err := parser.Parse(args)
	if ended {
		return code
	}
	if err != nil {
		parser.FatalIfErrorf(err)
		return max(code, 2)
	}
	log := newLogger(stderr, cli.LogLevel, cli.LogFormat)
	kctx.BindTo(ctx, (*context.Context)(nil))
	kctx.BindTo(stdout, (*io.Writer)(nil))
	if err := kctx.Run(log); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintf(stderr, "tradegrid %s: %v\n", kctx.Command(), err)
		return 1
	}
	return 0
}

func newLogger(w io.Writer, level slog.Level, format string) *slog.Logger {
	opts := &slog.HandlerOptions{Level: level}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, opts))
	}
	return slog.New(slog.NewTextHandler(w, opts))
}
