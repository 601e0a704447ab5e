package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/migrate"
	"github.com/tradegrid/tradegrid/schemas/sql"
)

// MigrateCmd brings the database to the schema of this release. Several may run at once.
type MigrateCmd struct {
	DryRun      bool   `help:"Only list the steps that are missing."`
	DatabaseURL string `help:"Database, as postgres://user:password@host:port/name?sslmode=verify-full." required:"" placeholder:"URL"`
}

// Run applies what is missing, or lists it.
func (c *MigrateCmd) Run(ctx context.Context, log *slog.Logger, out io.Writer) error {
	d, err := db.Open(ctx, db.Config{
		URL: c.DatabaseURL, MaxConns: 4, Log: log,
		StatementTimeout: 6 * time.Hour, // an index on a big table takes its time; waits for locks stay short
	})
	if err != nil {
		return fmt.Errorf("--database-url: %w", err)
	}
	defer d.Close()
	if !c.DryRun {
		applied, err := migrate.Up(ctx, d.Pool(), sql.Files, d.Dialect(), log)
		if err != nil {
			return err
		}
		log.InfoContext(ctx, "database migrated", "applied", applied, "dialect", d.Dialect())
		return nil
	}
	steps, err := migrate.Pending(ctx, d.Pool(), sql.Files, d.Dialect())
	if err != nil {
		return err
	}
	for _, s := range steps {
		if _, err := fmt.Fprintf(out, "%s\n", s); err != nil {
			return err
		}
	}
	return nil
}
