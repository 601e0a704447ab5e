// Package sql holds the migrations of the database, which package migrate applies.
package sql

import "embed"

// Files are the migrations: NNN_name.sql for both dialects, NNN_name.pg.sql and NNN_name.crdb.sql for one.
//
//go:embed *.sql
var Files embed.FS
