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

	"github.com/tradegrid/tradegrid/pkg/kit/config"
	"github.com/tradegrid/tradegrid/pkg/kit/telemetry"
	"github.com/tradegrid/tradegrid/services/cli"
	"github.com/tradegrid/tradegrid/services/cli/admin"
	"github.com/tradegrid/tradegrid/services/dev"
	"github.com/tradegrid/tradegrid/services/roles"
)

// CLI has the commands and their common flags.
type CLI struct {
	StopWithin  time.Duration `help:"Maximum time for shutdown; after it the process exits with code 1. Set it above 25 s, the time for draining, and below the grace period of the orchestrator." default:"40s"`
	LogLevel    slog.Level    `help:"Minimum log level: debug, info, warn or error." default:"info" reload:"true"`
	LogFormat   string        `help:"Log format: text or json." enum:"text,json" default:"text"`
	Config      string        `help:"YAML file with settings, named like the flags without dashes. Flags and environment take precedence. Read again when it changes and on SIGHUP." type:"path" placeholder:"FILE"`
	PrintConfig bool          `help:"Print the effective settings as YAML, each with its origin, and exit." env:"-"`

	Dev        dev.Cmd             `cmd:"" help:"Run everything in one process on embedded defaults, with a demo company."`
	Run        roles.RunCmd        `cmd:"" help:"Run API, relay, dispatcher and console in one process, on a database and brokers of your own."`
	API        roles.APICmd        `cmd:"" name:"api" help:"Serve the external REST API."`
	Console    roles.ConsoleCmd    `cmd:"" help:"Serve the admin API for the operators of the platform."`
	Relay      roles.RelayCmd      `cmd:"" help:"Publish the outbox to Kafka."`
	Dispatcher roles.DispatcherCmd `cmd:"" help:"Route events to subscriptions and deliver webhooks."`
	Migrate    roles.MigrateCmd    `cmd:"" help:"Migrate the database to the schema of this release."`
	Topics     roles.TopicsCmd     `cmd:"" help:"Compare the topics of a cluster with their declaration, or apply it."`
	Admin      admin.Cmd           `cmd:"" help:"Create and change companies, tokens, branches and users."`
	Egress     roles.EgressCmd     `cmd:"" help:"The guard of requests to receivers."`
	Receiver   dev.ReceiverCmd     `cmd:"" help:"Receive webhooks: verify, count, report, and misbehave on demand."`
	Login      cli.LoginCmd        `cmd:"" help:"Keep the URL and the token of a company for the commands below."`
	Listen     cli.ListenCmd       `cmd:"" help:"Forward the events of a company to a receiver on this machine."`
	Trigger    cli.TriggerCmd      `cmd:"" help:"Make an event happen in a test company."`
	Events     cli.EventsCmd       `cmd:"" help:"The event log of a company."`
	Deliveries cli.DeliveriesCmd   `cmd:"" help:"The webhook deliveries of a company."`
	Explain    cli.ExplainCmd      `cmd:"" help:"Explain what became of an event, for each subscription."`
	Metrics    roles.MetricsCmd    `cmd:"" hidden:"" help:"List the metrics of all roles."`
	Openapi    roles.OpenapiCmd    `cmd:"" help:"Write the API description and the event schemas."`
	Version    kong.VersionFlag    `help:"Print the release and exit." env:"-"`
}

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// boundStop exits the process if shutdown takes too long, because a database or broker may never respond. A second
// signal exits immediately.
func boundStop(ctx context.Context, within time.Duration, restore func(), stderr io.Writer) (stopped func()) {
	done := make(chan struct{})
	context.AfterFunc(ctx, func() {
		restore()
		select {
		case <-done:
		case <-time.After(within):
			fmt.Fprintf(stderr, "tradegrid: shutdown did not finish within %s; work in flight will be repeated\n", within)
			os.Exit(1)
		}
	})
	return func() { close(done) }
}

// run is main, but returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return runUntil(ctx, stop, args, stdout, stderr)
}

// runUntil runs a command until it returns or ctx is done; restore restores the default effect of signals.
func runUntil(ctx context.Context, restore func(), args []string, stdout, stderr io.Writer) int {
	load := func(to *CLI) (*config.Loaded, error) {
		return config.Load(to, args, config.Options{
			Name: "tradegrid", Release: roles.Release, Vars: roles.Vars(), Stdout: stdout, Stderr: stderr,
			Description: "A sharded, multi-tenant business-management platform: REST API in, signed webhooks out. Every flag can be set by the environment, as TRADEGRID_ and its name, and in the file of --config.",
		})
	}
	var cli CLI
	loaded, err := load(&cli)
	if cli.PrintConfig && loaded.Context != nil {
		err = errors.Join(err, loaded.Print(stdout))
	}
	switch {
	case err != nil:
		fmt.Fprintln(stderr, err)
		return 2
	case loaded.Context == nil || cli.PrintConfig:
		return 0
	}
	defer boundStop(ctx, cli.StopWithin, restore, stderr)()
	level := new(slog.LevelVar)
	level.Set(cli.LogLevel)
	log := newLogger(stderr, level, cli.LogFormat)
	live := config.NewWatcher(loaded, load, log)
	live.OnChange(func(next *CLI) { level.Set(next.LogLevel) })
	kctx := loaded.Context
	kctx.BindTo(ctx, (*context.Context)(nil))
	kctx.BindTo(stdout, (*io.Writer)(nil))
	if err := kctx.Run(log, config.Part(live, func(c *CLI) *roles.RunCmd { return &c.Run }),
		config.Part(live, func(c *CLI) *roles.APICmd { return &c.API }), config.Part(live, func(c *CLI) *roles.ConsoleCmd { return &c.Console }),
		config.Part(live, func(c *CLI) *roles.RelayCmd { return &c.Relay }), config.Part(live, func(c *CLI) *roles.DispatcherCmd { return &c.Dispatcher })); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintf(stderr, "tradegrid %s: %v\n", kctx.Command(), err)
		return exitCode(err)
	}
	return 0
}

// exitCode is 1 unless a check has its own answer.
func exitCode(err error) int {
	if _, pending := errors.AsType[roles.PendingError](err); pending {
		return roles.ExitPending
	}
	return 1
}

func newLogger(w io.Writer, level slog.Leveler, format string) *slog.Logger {
	opts := &slog.HandlerOptions{Level: level}
	var lines slog.Handler = slog.NewTextHandler(w, opts)
	if format == "json" {
		lines = slog.NewJSONHandler(w, opts)
	}
	return slog.New(telemetry.Handler(lines, level))
}
