package migrate

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// Step is one statement of a migration.
type Step struct {
	Version  string // "001" for both dialects, "001.pg" or "001.crdb" for an overlay, "001.contract" etc.
	Number   int    // position in its file, starting at 1
	File     string
	SQL      string
	Checksum string // SHA-256 of SQL, hexadecimal
	Contract bool   // removes something that binaries of the previous release use
	Batches  bool   // an UPDATE that runs in batches of rows
}

func isContract(version string) bool { return strings.Contains(version, ".contract") }

// String returns a human-readable name of the step.
func (s Step) String() string { return fmt.Sprintf("%s, step %d", s.File, s.Number) }

var fileName = regexp.MustCompile(`^([0-9]{3})_[a-z0-9_]+(\.contract)?(\.pg|\.crdb)?\.sql$`)

var overlays = map[db.Dialect]string{db.PostgreSQL: ".pg", db.CockroachDB: ".crdb"}

// Load reads the steps for a dialect in the order in which they are applied: by number; within a number, the common file
// before its overlay, and ordinary files before contract files. Two files of the same number and kind are an error.
func Load(files fs.FS, dialect db.Dialect) ([]Step, error) {
	overlay, ok := overlays[dialect]
	if !ok {
		return nil, fmt.Errorf("no migrations for dialect %q: use %s or %s", dialect, db.PostgreSQL, db.CockroachDB)
	}
	byVersion, err := filesByVersion(files)
	if err != nil {
		return nil, err
	}
	var steps []Step
	for _, version := range slices.SortedFunc(maps.Keys(byVersion), func(a, b string) int { return strings.Compare(place(a), place(b)) }) {
		_, kind, _ := strings.Cut(version, ".")
		if kind = strings.TrimPrefix(kind, "contract"); kind != "" && "."+strings.TrimPrefix(kind, ".") != overlay {
			continue
		}
		if steps, err = appendFile(steps, files, version, byVersion[version]); err != nil {
			return nil, err
		}
	}
	return steps, nil
}

// place is the sort key of versions: "001", "001.pg", "001.contract", "001.contract.pg".
func place(version string) string { return strings.Replace(version, ".contract", "~contract", 1) }

// filesByVersion maps versions such as "001" and "001.pg" to file names.
func filesByVersion(files fs.FS) (map[string]string, error) {
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return nil, fmt.Errorf("list migrations: %w", err)
	}
	byVersion := make(map[string]string, len(names))
	for _, name := range names {
		m := fileName.FindStringSubmatch(name)
		if m == nil {
			return nil, fmt.Errorf("migration %s: the name must look like 001_name.sql, 001_name.pg.sql or 001_name.crdb.sql, with .contract before .sql, .pg or .crdb if binaries of the previous release do not work with it", name)
		}
		version := m[1] + m[2] + m[3]
		if other, taken := byVersion[version]; taken {
			return nil, fmt.Errorf("migrations %s and %s have the same number: give one of them the next free number", other, name)
		}
		if m[1] == stepBeforeRelease.version {
			return nil, fmt.Errorf("migration %s: databases from before release 0.1.0 have a migration of this number, by which they are known: give it the next free number", name)
		}
		byVersion[version] = name
	}
	return byVersion, nil
}

func appendFile(steps []Step, files fs.FS, version, name string) ([]Step, error) {
	src, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, fmt.Errorf("read migration: %w", err)
	}
	stmts, batches, err := split(string(src))
	if err != nil {
		return nil, fmt.Errorf("migration %s: %w", name, err)
	}
	for i, stmt := range stmts {
		sum := sha256.Sum256([]byte(stmt))
		step := Step{
			Version: version, Number: i + 1, File: name, SQL: stmt, Checksum: hex.EncodeToString(sum[:]),
			Contract: isContract(version), Batches: batches[i],
		}
		if _, ok := parseUpdate(stmt); step.Batches && !ok {
			return nil, fmt.Errorf("migration %s: only a change of the rows of one table with a condition runs in batches; split it, or leave out \"-- batches\"", step)
		}
		steps = append(steps, step)
	}
	return steps, nil
}
