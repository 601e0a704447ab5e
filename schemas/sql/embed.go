// Package sql holds the schema of the database, which package migrate applies: the files of release 0.1.0, one for each room that
// has tables, and the migrations of later releases.
package sql

import "embed"

// Files are the migrations: NNN_name.sql for both dialects, NNN_name.pg.sql and NNN_name.crdb.sql for one.
//
//go:embed *.sql
var Files embed.FS
