package roles

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/kit/term"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/migrate"
	"github.com/tradegrid/tradegrid/pkg/store/processes"
	"github.com/tradegrid/tradegrid/schemas/sql"
)

// MigrateCmd migrates the database to the schema of this release. Several processes may run it at once.
type MigrateCmd struct {
	Plan      bool `help:"Show the pending steps, what each does, what requests notice of it, and about how long it takes. Changes nothing."`
	OnlyCheck bool `name:"check" help:"The same as --plan, and exit with code 3 if steps are pending."`
	Contract  bool `help:"Also remove what only the previous release uses. Refused while a process of that release runs."`
	Force     bool `help:"With --contract: remove it although processes of the previous release run; they fail then."`
	Regions   bool `help:"On a multi-region CockroachDB: keep the rows of each company in its home region. Rewrites tables."`
	DatabaseSource
}

// ExitPending is the exit code of `migrate --check` if steps are pending. It differs from 1, which an unreachable database
// causes too, and from 2 for invalid settings, so that scripts and the chart's test can tell them apart.
const ExitPending = 3

// PendingError means that the database does not have the schema of this release yet.
type PendingError struct{ steps int }

func (e PendingError) Error() string {
	return fmt.Sprintf("pending steps: %d; apply them with the same command without --check", e.steps)
}

// Check validates the flags.
func (c *MigrateCmd) Check() error {
	if c.Force && !c.Contract {
		return errors.New("--force: removes what --contract would; add --contract, or leave --force out")
	}
	return nil
}

// Run applies the pending steps, or lists them.
func (c *MigrateCmd) Run(ctx context.Context, log *slog.Logger, out io.Writer) error {
	return c.Migrate(ctx, sql.Files, log, out)
}

// Migrate is Run with other migrations than those of this release.
func (c *MigrateCmd) Migrate(ctx context.Context, files fs.FS, log *slog.Logger, out io.Writer) error {
	cfg := c.DatabaseConfig()
	cfg.MaxConns, cfg.Log = 4, log
	cfg.StatementTimeout = 6 * time.Hour // building an index on a large table takes long; lock waits have their own timeout
	d, err := db.Open(ctx, cfg)
	if err != nil {
		return err
	}
	defer d.Close()
	if c.Plan || c.OnlyCheck {
		return c.list(ctx, d, files, out)
	}
	applied, err := migrate.Up(ctx, d.Pool(), files, d.Dialect(), migrate.Expand, log)
	if err == nil && c.Contract {
		var removed int
		removed, err = c.contract(ctx, d, files, log)
		applied += removed
	}
	if err != nil {
		return err
	}
	log.InfoContext(ctx, "database migrated", "applied", applied, "dialect", d.Dialect())
	return c.home(ctx, d, log)
}

// contract applies the steps that remove what the previous release uses.
func (c *MigrateCmd) contract(ctx context.Context, d *db.DB, files fs.FS, log *slog.Logger) (applied int, err error) {
	steps, err := migrate.Pending(ctx, d.Pool(), files, d.Dialect(), migrate.Contract)
	if err != nil || len(steps) == 0 {
		return 0, err
	}
	relays, err := outbox.Members(ctx, d)
	if err != nil {
		return 0, err
	}
	old, err := processes.Earlier(ctx, d, migrate.ContractsOf(steps), relays)
	if err != nil {
		return 0, err
	}
	if len(old) > 0 && !c.Force {
		return 0, inUseError{old}
	}
	if len(old) > 0 {
		log.WarnContext(ctx, "schema contracted while earlier releases run", "processes", inUseError{old}.names())
	}
	return migrate.Up(ctx, d.Pool(), files, d.Dialect(), migrate.Contract, log)
}

// inUseError means that processes need what --contract would remove.
type inUseError struct{ old []processes.Process }

func (e inUseError) Error() string {
	return fmt.Sprintf("--contract would remove what running processes of earlier releases use: %s; stop them, and wait %s after one was killed; --force removes it all the same",
		e.names(), processes.Lifetime)
}

// maxNamed is the maximum number of processes that an error names.
const maxNamed = 20

func (e inUseError) names() string {
	names := make([]string, 0, maxNamed)
	for _, p := range e.old[:min(len(e.old), maxNamed)] {
		names = append(names, fmt.Sprintf("%s on %s (release %s)", p.Role, p.Node, cmp.Or(p.Release, "not announced")))
	}
	if more := len(e.old) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

// list writes the pending steps and, with --regions, the pending statements. With --check it fails if there are any.
func (c *MigrateCmd) list(ctx context.Context, d *db.DB, files fs.FS, out io.Writer) error {
	phase := migrate.Expand
	if c.Contract {
		phase = migrate.Contract
	}
	steps, err := migrate.Plan(ctx, d.Pool(), files, d.Dialect(), phase)
	if err != nil {
		return err
	}
	stmts, err := c.pendingRegions(ctx, d)
	if err != nil {
		return err
	}
	if len(steps) > 0 {
		err = writePlan(out, steps)
	} else {
		err = sayCurrent(ctx, d, files, out)
	}
	if err != nil {
		return err
	}
	for _, stmt := range stmts {
		if _, err := fmt.Fprintf(out, "%s;\n", stmt); err != nil {
			return err
		}
	}
	if n := len(steps) + len(stmts); c.OnlyCheck && n > 0 {
		return PendingError{n}
	}
	return nil
}

// sayCurrent writes that no step of the schema is pending, and what is left to contract.
func sayCurrent(ctx context.Context, d *db.DB, files fs.FS, out io.Writer) error {
	left, err := migrate.Pending(ctx, d.Pool(), files, d.Dialect(), migrate.Contract)
	if err != nil {
		return err
	}
	says := "The schema is that of this release, and nothing is left to contract."
	if n := len(left); n > 0 {
		says = fmt.Sprintf("The schema is that of this release. Steps left to contract: %d; --contract --plan lists them.", n)
	}
	_, err = fmt.Fprintln(out, says)
	return err
}

// writePlan writes a row for each step. Rows and durations are rough: the database estimates how many rows a table has.
func writePlan(out io.Writer, steps []migrate.Planned) error {
	rows := make([][]any, len(steps))
	for i, s := range steps {
		size, takes := "-", "-"
		if s.Rows >= 0 {
			size = strconv.FormatInt(s.Rows, 10)
		}
		if s.Takes > 0 {
			takes = s.Takes.String()
		}
		rows[i] = []any{s.String(), s.Does, cmp.Or(s.Table, "-"), size, takes, s.Writers}
	}
	return term.Table(out, "STEP DOES TABLE ROWS TAKES WRITERS", rows)
}

// homing makes the tables global that are read before the company is known.
var homing = migrate.Homing{Column: "company_id", Code: tenant.RegionCode, Global: []string{"companies", "token_secrets"}}

// pendingRegions lists the statements that move each company's rows to its home region; none without --regions.
func (c *MigrateCmd) pendingRegions(ctx context.Context, d *db.DB) ([]string, error) {
	if !c.Regions {
		return nil, nil
	}
	if d.Dialect() != db.CockroachDB {
		return nil, fmt.Errorf("--regions: only CockroachDB keeps rows in regions; this database is %s", d.Dialect())
	}
	todo, err := migrate.PendingRegions(ctx, d.Pool(), homing)
	if err != nil {
		return nil, fmt.Errorf("--regions: %w", err)
	}
	return todo, nil
}

// home moves the rows of each company to its home region.
func (c *MigrateCmd) home(ctx context.Context, d *db.DB, log *slog.Logger) error {
	todo, err := c.pendingRegions(ctx, d)
	if err != nil || !c.Regions {
		return err
	}
	if err := migrate.Regions(ctx, d.Pool(), todo, log); err != nil {
		return fmt.Errorf("--regions: %w", err)
	}
	log.InfoContext(ctx, "companies are kept in their home regions", "statements", len(todo))
	return nil
}
