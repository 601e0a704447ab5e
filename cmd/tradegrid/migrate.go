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
	DryRun   bool `help:"Only list the steps that are missing."`
	Contract bool `help:"Also take away what binaries of the release before use: once all of them are gone."`
	DatabaseSource
}

// Run applies what is missing, or lists it.
func (c *MigrateCmd) Run(ctx context.Context, log *slog.Logger, out io.Writer) error {
	cfg := c.databaseConfig()
	cfg.MaxConns, cfg.Log = 4, log
	cfg.StatementTimeout = 6 * time.Hour // an index on a big table takes its time; waits for locks stay short
	d, err := db.Open(ctx, cfg)
	if err != nil {
		return err
	}
	defer d.Close()
	phase := migrate.Expand
	if c.Contract {
		phase = migrate.Contract
	}
	if !c.DryRun {
		applied, err := migrate.Up(ctx, d.Pool(), sql.Files, d.Dialect(), phase, log)
		if err != nil {
			return err
		}
		log.InfoContext(ctx, "database migrated", "applied", applied, "dialect", d.Dialect())
		return nil
	}
	steps, err := migrate.Pending(ctx, d.Pool(), sql.Files, d.Dialect(), phase)
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
