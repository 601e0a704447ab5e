//go:build unix

package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// oldestMajor is the first version of PostgreSQL that the platform supports.
const oldestMajor = 15

// programs are the two programs of one installation.
type programs struct {
	initdb, postgres string
	major            int
}

// programsList is a non-empty list of installations, the preferred one first.
type programsList []programs

func (l programsList) best() programs { return l[0] }

// usualPlaces are the folders where packages install the programs on Linux and macOS.
var usualPlaces = []string{
	"/usr/lib/postgresql/*/bin",
	"/usr/pgsql-*/bin",
	"/opt/homebrew/opt/postgresql*/bin",
	"/usr/local/opt/postgresql*/bin",
	"/home/linuxbrew/.linuxbrew/opt/postgresql*/bin",
	"/Applications/Postgres.app/Contents/Versions/*/bin",
}

// findPrograms looks for installations that the account can run: first on PATH, then in the usual places
// from newest to oldest. If there are none, it downloads one.
func findPrograms(ctx context.Context, cfg PostgresConfig, place string, acct *account) (programsList, error) {
	found := installed(ctx, acct, filepath.SplitList(os.Getenv("PATH")), usualPlaces) //nolint:forbidigo // PATH is a property of the machine
	if len(found) > 0 {
		return found, nil
	}
	cfg.Log.InfoContext(ctx, "no PostgreSQL found on this machine, downloading it")
	fetched, err := fetchPrograms(ctx, place, acct)
	if err != nil {
		return nil, fmt.Errorf("no PostgreSQL %d or newer found on PATH or in the usual places, and downloading it failed (%w): "+
			"install PostgreSQL (Debian: apt install postgresql; macOS: brew install postgresql), or give a database URL", oldestMajor, err)
	}
	return programsList{fetched}, nil
}

func installed(ctx context.Context, acct *account, path, places []string) programsList {
	var found, rest programsList
	for _, dir := range path {
		if p, ok := programsIn(ctx, dir, acct); ok {
			found = append(found, p)
		}
	}
	for _, pattern := range places {
		dirs, _ := filepath.Glob(pattern) // the patterns are well-formed
		for _, dir := range dirs {
			if p, ok := programsIn(ctx, dir, acct); ok {
				rest = append(rest, p)
			}
		}
	}
	slices.SortStableFunc(rest, func(a, b programs) int { return b.major - a.major })
	return append(found, rest...)
}

// programsIn looks for the programs in one folder. They may be symbolic links into the folder of the installation.
func programsIn(ctx context.Context, dir string, acct *account) (programs, bool) {
	postgres, err := filepath.EvalSymlinks(filepath.Join(dir, "postgres"))
	if err != nil || !filepath.IsAbs(postgres) {
		return programs{}, false
	}
	p := programs{postgres: postgres, initdb: filepath.Join(filepath.Dir(postgres), "initdb")}
	if _, err := os.Stat(p.initdb); err != nil {
		return programs{}, false
	}
	out, err := acct.command(ctx, postgres, "--version").Output()
	if err != nil {
		return programs{}, false
	}
	p.major = majorVersion(string(out))
	return p, p.major >= oldestMajor
}

var versionPattern = regexp.MustCompile(`PostgreSQL\) (\d+)`)

// majorVersion parses the output of `postgres --version`; it returns 0 for anything else.
func majorVersion(out string) int {
	m := versionPattern.FindStringSubmatch(out)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1]) // the pattern matches digits only
	return n
}

// matching keeps the installations that can run the data, which requires the major version that created it.
func (l programsList) matching(data string) (programsList, error) {
	b, err := os.ReadFile(filepath.Join(data, "PG_VERSION"))
	if errors.Is(err, os.ErrNotExist) {
		return l, nil
	} else if err != nil {
		return nil, fmt.Errorf("read the version of the data: %w", err)
	}
	made := strings.TrimSpace(string(b))
	fit := slices.DeleteFunc(slices.Clone(l), func(p programs) bool { return strconv.Itoa(p.major) != made })
	if len(fit) == 0 {
		return nil, fmt.Errorf("the data was created by PostgreSQL %s and only version %d is installed: install version %s or start fresh", made, l.best().major, made)
	}
	return fit, nil
}
