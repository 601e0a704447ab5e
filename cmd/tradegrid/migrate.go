package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/migrate"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/schemas/sql"
)

// MigrateCmd brings the database to the schema of this release. Several may run at once.
type MigrateCmd struct {
	DryRun   bool `help:"Only list the missing steps."`
	Contract bool `help:"Also remove what only the previous release uses. Run it when no process of that release is left."`
	Regions  bool `help:"On a multi-region CockroachDB: keep the rows of each company in its home region. Rewrites tables."`
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
		return c.home(ctx, d, log, out)
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
	return c.home(ctx, d, log, out)
}

// homing names the tables that are read before the company is known: all regions have them.
var homing = migrate.Homing{Column: "company_id", Code: tenant.RegionCode, Global: []string{"companies", "token_secrets"}}

// home makes the rows of each company live in its region, or lists the statements for that.
func (c *MigrateCmd) home(ctx context.Context, d *db.DB, log *slog.Logger, out io.Writer) error {
	if !c.Regions {
		return nil
	}
	if d.Dialect() != db.CockroachDB {
		return fmt.Errorf("--regions: only CockroachDB keeps rows in regions; this database is %s", d.Dialect())
	}
	todo, err := migrate.PendingRegions(ctx, d.Pool(), homing)
	if err != nil {
		return fmt.Errorf("--regions: %w", err)
	}
	if c.DryRun {
		for _, stmt := range todo {
			if _, err := fmt.Fprintf(out, "%s;\n", stmt); err != nil {
				return err
			}
		}
		return nil
	}
	if err := migrate.Regions(ctx, d.Pool(), todo, log); err != nil {
		return fmt.Errorf("--regions: %w", err)
	}
	log.InfoContext(ctx, "companies are kept in their home regions", "statements", len(todo))
	return nil
}
