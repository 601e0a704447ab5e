package dev

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/tradegrid/tradegrid/pkg/kit/embedded"
)

// Kinds of embedded database, as in --database; each keeps its data in the folder of its name below the state.
const (
	databaseAuto      = "auto"
	databaseCockroach = "cockroach"
	databasePostgres  = "postgres"
)

// database is an embedded server, CockroachDB's or PostgreSQL's.
type database interface {
	Done() <-chan struct{}
	Stop(ctx context.Context) error
}

// pickDatabase decides which server to start. Existing data in the state folder takes precedence over installed
// programs, so that installing CockroachDB does not hide the data of an earlier run.
func (c *Cmd) pickDatabase() (kind, cockroach string, err error) {
	cockroach, found := embedded.FindCockroach()
	kind = c.Database
	kept := c.keptDatabase()
	switch {
	case kind == databaseAuto && kept != "":
		kind = kept
	case kind == databaseAuto && found:
		kind = databaseCockroach
	case kind == databaseAuto:
		kind = databasePostgres
	case kept != "" && kept != kind:
		return "", "", fmt.Errorf("--database=%s: %s contains a %s database; omit the flag, choose another --state, or start over with --fresh", kind, c.State, kept)
	}
	if kind == databaseCockroach && !found {
		return "", "", fmt.Errorf("no cockroach on PATH to run the database in %s: install CockroachDB, or use --database=postgres with --fresh or another --state", c.State)
	}
	return kind, cockroach, nil
}

// keptDatabase returns the kind of database whose data is in the state folder; empty if there is none.
func (c *Cmd) keptDatabase() string {
	if c.Fresh {
		return ""
	}
	for _, path := range []string{"postgres/data", "postgres/location", "cockroach/data"} { // location: the data is elsewhere
		if _, err := os.Stat(filepath.Join(c.State, path)); err == nil {
			return filepath.Dir(path)
		}
	}
	return ""
}

// startDatabase starts the embedded database and returns its URL and log file.
func (c *Cmd) startDatabase(ctx context.Context, log *slog.Logger) (d database, url, logFile string, err error) {
	kind, program, err := c.pickDatabase()
	if err != nil {
		return nil, "", "", err
	}
	if err := c.dropOther(kind); err != nil {
		return nil, "", "", err
	}
	dir := filepath.Join(c.State, kind)
	if kind == databaseCockroach {
		node, err := embedded.StartCockroach(ctx, embedded.CockroachConfig{Program: program, Dir: dir, Fresh: c.Fresh, Log: log})
		if err != nil {
			return nil, "", "", err
		}
		return node, node.URL(), node.LogFile(), nil
	}
	server, err := embedded.StartPostgres(ctx, embedded.PostgresConfig{Dir: dir, Fresh: c.Fresh, Log: log})
	if err != nil {
		return nil, "", "", err
	}
	return server, server.URL(""), filepath.Join(dir, "postgres.log"), nil
}

// dropOther deletes, for --fresh, the data of the other kind of database.
func (c *Cmd) dropOther(kind string) error {
	if !c.Fresh {
		return nil
	}
	for _, other := range []string{databasePostgres, databaseCockroach} {
		if other == kind {
			continue
		}
		if err := embedded.Remove(filepath.Join(c.State, other)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("--fresh: %w", err)
		}
	}
	return nil
}
