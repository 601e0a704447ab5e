// Package embedded runs the database and the Kafka broker of `tradegrid dev` and the tests: a private PostgreSQL or
// CockroachDB server with its data in a folder, and a broker in the process.
// No server outlives the process that started it, however that process ends.
// It leaves schemas to package migrate and topics to package topics.
package embedded

import (
	"errors"
	"log/slog"
)

// DefaultDatabase is the database that [StartPostgres] creates.
const DefaultDatabase = "tradegrid"

// ErrInUse is wrapped by the error of starting a second server on a folder.
var ErrInUse = errors.New("folder is in use")

// PostgresConfig configures an embedded PostgreSQL server.
type PostgresConfig struct {
	Dir   string       // folder of data, password and log; created if missing
	Fresh bool         // delete existing data
	Fast  bool         // tests only: no fsync, so a crash of the machine loses data, and cheap authentication
	Log   *slog.Logger // nil: no logging

	relocateRoot string // where the data goes if the server's user cannot access Dir; set by tests
}

// CockroachConfig configures a CockroachDB node.
type CockroachConfig struct {
	Program string       // path of the program; see [FindCockroach]
	Dir     string       // folder of data and log; created if missing
	Fresh   bool         // delete existing data
	Log     *slog.Logger // nil: no logging
}
