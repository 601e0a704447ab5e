package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/tradegrid/tradegrid/pkg/embedded"
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

// pickDatabase decides which server this run starts. What the state folder keeps goes before what the machine
// offers: a program that was installed meanwhile must not make yesterday's data vanish.
func (c *DevCmd) pickDatabase() (kind, cockroach string, err error) {
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
		return "", "", fmt.Errorf("--database=%s: %s keeps a %s database; leave the flag out, choose another --state, or start over with --fresh", kind, c.State, kept)
	}
	if kind == databaseCockroach && !found {
		return "", "", fmt.Errorf("no cockroach on PATH to run the database in %s: install CockroachDB, or use --database=postgres with --fresh or another --state", c.State)
	}
	return kind, cockroach, nil
}

// keptDatabase is the kind of database whose data the state folder keeps, empty for none.
func (c *DevCmd) keptDatabase() string {
	if c.Fresh {
		return ""
	}
	for _, path := range []string{"postgres/data", "postgres/location", "cockroach/data"} { // location: the data lies elsewhere
		if _, err := os.Stat(filepath.Join(c.State, path)); err == nil {
			return filepath.Dir(path)
		}
	}
	return ""
}

// startDatabase starts the embedded database and gives its address and the file of its log.
func (c *DevCmd) startDatabase(ctx context.Context, log *slog.Logger) (d database, url, logFile string, err error) {
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

// dropOther throws away, for --fresh, what an earlier run on the other kind of database left.
func (c *DevCmd) dropOther(kind string) error {
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
