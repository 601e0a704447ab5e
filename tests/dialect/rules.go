package dialect

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
)

// Hit is one reason why a statement is refused.
type Hit struct {
	Rule   string
	Advice string
}

// String is the message for people.
func (h Hit) String() string { return h.Rule + ": " + h.Advice }

// rule refuses what its pattern finds in a statement without literals, in upper case.
type rule struct {
	name    string
	pattern *regexp.Regexp
	advice  string
}

func deny(name, pattern, advice string) rule {
	return rule{name: name, pattern: regexp.MustCompile(pattern), advice: advice}
}

// denied is what parses and still does not run, or not with the same meaning, on both databases.
var denied = []rule{
	deny("advisory lock", `\bPG_(TRY_)?ADVISORY_`, "it locks nothing on CockroachDB; take a row by epoch compare-and-set"),
	deny("LISTEN/NOTIFY", `\b(LISTEN|UNLISTEN|NOTIFY|PG_NOTIFY)\b`, "CockroachDB has none; poll, and wake inside the process"),
	deny("trigger or function", `\b(TRIGGER|FUNCTION|PROCEDURE)\b|^\s*DO\b|\$\$`, "write it in Go"),
	deny("enum, domain or composite type", `\bCREATE\s+(TYPE|DOMAIN)\b|\bENUM\b`, "TEXT with a named CHECK"),
	deny("serial or identity", `\b(SMALL|BIG)?SERIAL[248]?\b|\bIDENTITY\b`, "ids are made in Go, numbers come from counters"),
	deny("INT or INTEGER", `\b(INT|INTEGER)\b`, "its size differs; write BIGINT, INT4 or SMALLINT"),
	deny("float", `\b(FLOAT[48]?|REAL|DOUBLE\s+PRECISION)\b`, "BIGINT minor units or DECIMAL(18,3)"),
	deny("type of one product", `\b(CITEXT|CIDR|TSVECTOR|TSQUERY|REGCLASS|OID)\b|(::|\bAS\s+)(MONEY|XML)\b`, "TEXT, or a type that both know"),
	deny("range type", `\b(INT[48]|NUM|TS|TSTZ|DATE)(MULTI)?RANGE\b`, "two columns"),
	deny("TIMESTAMP without zone", `\bTIMESTAMP\b`, "TIMESTAMPTZ"),
	deny("time zone in SQL", `\bAT\s+TIME\s+ZONE\b`, "compute days and hours in Go"),
	deny("exclusion constraint", `\bEXCLUDE\b`, "check inside the transaction, with a unique index behind it"),
	deny("SELECT *", `\bSELECT\s+(DISTINCT\s+|ALL\s+)?\*|,\s*\*\s*(,|\bFROM\b)|\w\.\*|\bRETURNING\s+\*`, "list the columns: prepared statements break when a column is added"),
	deny("MERGE or UPSERT", `\b(MERGE|UPSERT)\b`, "INSERT … ON CONFLICT (columns) DO …"),
	deny("SKIP LOCKED", `\bSKIP\s+LOCKED\b`, "locks are best effort on CockroachDB; take rows by epoch compare-and-set"),
	deny("LOCK TABLE", `^\s*LOCK\b`, "a conditional UPDATE"),
	deny("system column", `\b(XMIN|XMAX|CTID|TABLEOID|TXID_CURRENT\w*|PG_CURRENT_\w+)\b`, "it means nothing on CockroachDB; use version or ev_pos"),
	deny("sequence", `\b(NEXTVAL|CURRVAL|SETVAL)\b|\bCREATE\s+SEQUENCE\b`, "a counter row, or an id made in Go"),
	deny("COLLATE", `\bCOLLATE\s+([^U\s]|U[^N]|UN[^D]|UND\w)`, "und, the one collation that both know by the same name, or a column that Go has normalised"),
	deny("ESCAPE", `\bESCAPE\b`, "escape with backslashes in Go; the clause keeps CockroachDB from its index"),
	deny("full text search", `\b(\w*TO_TSQUERY|TO_TSVECTOR|TS_RANK\w*|SETWEIGHT)\b|@@`, "search_text LIKE $n"),
	deny("JSON path", `\bJSONB?_PATH\w*|@\?`, "->> and @>"),
	deny("similarity order", `<->|\bSIMILARITY\s*\(`, "search_text LIKE $n"),
	deny("named argument", `\bMAKE_INTERVAL\b|=>`, "a parameter of type INTERVAL"),
	deny("integer division operator", `//`, "divide in Go"),
	deny("NULLS NOT DISTINCT", `\bNULLS\s+NOT\s+DISTINCT\b`, "a partial unique index WHERE … IS NOT NULL"),
	deny("deferred constraint", `\bDEFERRABLE\b|\bSET\s+CONSTRAINTS\b`, "order the statements"),
	deny("cascade", `\bON\s+(DELETE|UPDATE)\s+(CASCADE|SET\s+(NULL|DEFAULT))\b`, "delete in code"),
	deny("generated column", `\bGENERATED\b`, "compute it in Go and store it"),
	deny("column type change", `\bALTER\s+(COLUMN\s+)?\w+\s+(SET\s+DATA\s+)?TYPE\b`, "add a column, write both, move readers, drop the old one"),
	deny("row security", `\bROW\s+LEVEL\s+SECURITY\b|\bCREATE\s+POLICY\b`, "company_id in every statement"),
	deny("UNLOGGED", `\bUNLOGGED\b`, "CockroachDB ignores it"),
	deny("CREATE EXTENSION", `\bCREATE\s+EXTENSION\b`, "it belongs into a .pg.sql overlay"),
	deny("index method", `\bUSING\s+(GIST|SPGIST|BRIN|HASH)\b`, "an ordinary or a GIN index; others belong into an overlay"),
	deny("partitions", `^CREATE\s+TABLE\b.*\)\s*PARTITION\s+BY\b`, "company_id leads every key; that is the partition"),
	deny("COPY", `^\s*COPY\b`, "INSERT … SELECT … FROM unnest(…)"),
	deny("NULL order in an index", `^CREATE\s+(UNIQUE\s+)?INDEX\b.*\bNULLS\s+(FIRST|LAST)\b`, "CockroachDB cannot; order in the query"),
	deny("CONCURRENTLY", `\bCONCURRENTLY\b`, "it belongs into a .pg.sql overlay"),
}

var (
	literal      = regexp.MustCompile(`'(?:[^']|'')*'`)
	blockComment = regexp.MustCompile(`(?s)/\*.*?\*/`)
	spaces       = regexp.MustCompile(`\s+`)
)

// oneProduct are statements that the code sends to one product only, with the reason. They have to parse, no more.
var oneProduct = []struct {
	allowance
	cockroach bool
}{
	{allow(`\bFROM crdb_internal\.kv_store_status\b`, "CockroachDB tells how full its disks are"), true},
	{allow(`\bpg_database_size\(`, "PostgreSQL tells how large the database is"), false},
	{allow(`\bFROM pg_settings WHERE name = `, "PostgreSQL tells how it was built"), false},
	{allow(`\bFROM (pg_index|pg_stat_progress_create_index) AS\b`, "PostgreSQL leaves an index behind whose building was interrupted"), false},
}

// Product tells which product a statement is for: both unless it is one of the exceptions.
func Product(st Statement) (postgres, cockroach bool) {
	for _, o := range oneProduct {
		if o.pattern.MatchString(bare(st.SQL)) {
			return !o.cockroach, o.cockroach
		}
	}
	return true, true
}

// measured is a figure that is read, not kept: a float of eight bytes is the same on both.
var measured = regexp.MustCompile(`\bAS FLOAT8\)`)

// bare is a statement without literals and comments, on one line.
func bare(sql string) string {
	sql = literal.ReplaceAllString(sql, "''")
	sql = blockComment.ReplaceAllString(stripComments(sql), " ")
	return strings.TrimSpace(spaces.ReplaceAllString(sql, " "))
}

// Check tells everything that speaks against a statement on both databases.
func Check(st Statement, schema Schema) []Hit {
	var hits []Hit
	text := bare(st.SQL)
	upper := measured.ReplaceAllString(strings.ToUpper(text), ")")
	if postgres, cockroach := Product(st); !postgres || !cockroach {
		return parses(st)
	}
	for _, r := range denied {
		if r.pattern.MatchString(upper) {
			hits = append(hits, Hit{r.name, r.advice})
		}
	}
	hits = append(hits, divisions(upper)...)
	hits = append(hits, nullOrders(text, schema)...)
	hits = append(hits, twiceMutated(upper)...)
	if !st.Complete {
		return hits
	}
	stmt, err := Parse(st.SQL)
	if err != nil {
		return append(hits, Hit{"syntax", err.Error()})
	}
	return append(hits, shape(stmt)...)
}

func parses(st Statement) []Hit {
	if _, err := Parse(st.SQL); err != nil {
		return []Hit{{"syntax", err.Error()}}
	}
	return nil
}

// shape looks at what is easier seen in the parsed statement.
func shape(stmt tree.Statement) (hits []Hit) {
	switch s := stmt.(type) {
	case *tree.Insert:
		if len(s.Columns) == 0 {
			hits = append(hits, Hit{"INSERT without columns", "list the columns: a new column must not break it"})
		}
	case *tree.Delete:
		if s.Limit != nil || len(s.OrderBy) > 0 {
			hits = append(hits, Hit{"DELETE with LIMIT", "DELETE … WHERE (key) IN (SELECT key … LIMIT n)"})
		}
	case *tree.Update:
		if s.Limit != nil || len(s.OrderBy) > 0 {
			hits = append(hits, Hit{"UPDATE with LIMIT", "UPDATE … WHERE (key) IN (SELECT key … LIMIT n)"})
		}
	}
	return hits
}

var (
	division    = regexp.MustCompile(`[^/]/[^/]`)
	decimalLeft = regexp.MustCompile(`(AS DECIMAL(\(\d+, ?\d+\))?\)|::DECIMAL)\s*/`)
)

// divisions finds a division whose left side is not made a decimal: 7/2 is 3 on one database and 3.5 on the other.
func divisions(upper string) []Hit {
	if division.MatchString(decimalLeft.ReplaceAllString(upper, "")) {
		return []Hit{{"division", "CAST(a AS DECIMAL) / b, or divide in Go: integers divide differently"}}
	}
	return nil
}

var (
	orderBy   = regexp.MustCompile(`(?i)\bORDER\s+BY\s+`)
	orderEnd  = regexp.MustCompile(`(?i)^(LIMIT|OFFSET|FETCH|FOR|ROWS|RANGE|UNION|RETURNING)\b`)
	orderItem = regexp.MustCompile(`(?i)^(?:(\w+)\.)?(\w+)(?:\s+(?:ASC|DESC))?$`)
)

// noNulls finds the column of which the last condition before ORDER BY says that it is not null. A condition that is only
// one of several alternatives says nothing.
var (
	noNulls      = regexp.MustCompile(`(?is)\bWHERE\b(.*)\bAND\s+(?:\w+\.)?(\w+)\s+IS\s+NOT\s+NULL\s*$`)
	parentheses  = regexp.MustCompile(`\([^()]*\)`)
	alternatives = regexp.MustCompile(`(?i)\bOR\b`)
)

// neverNull returns the column that the conditions before an ORDER BY keep from being null.
func neverNull(before string) string {
	for before != parentheses.ReplaceAllString(before, " x ") {
		before = parentheses.ReplaceAllString(before, " x ")
	}
	if m := noNulls.FindStringSubmatch(before); m != nil && !alternatives.MatchString(m[1]) {
		return m[2]
	}
	return ""
}

// nullOrders finds sort columns that may be null without NULLS FIRST or LAST: the databases differ in the default.
func nullOrders(text string, schema Schema) (hits []Hit) {
	tables := tablesOf(text)
	for _, at := range orderBy.FindAllStringIndex(text, -1) {
		sure := neverNull(text[:at[0]])
		for _, item := range orderItems(text[at[1]:]) {
			m := orderItem.FindStringSubmatch(item)
			if m == nil || m[2] == sure {
				continue
			}
			for _, table := range tables {
				if schema.Tables[table][strings.ToLower(m[2])] {
					hits = append(hits, Hit{"order of nulls", fmt.Sprintf("%s of %s may be null: write NULLS FIRST or NULLS LAST", m[2], table)})
					break
				}
			}
		}
	}
	return hits
}

// orderItems cuts the list after ORDER BY at its commas, up to its end.
func orderItems(rest string) (items []string) {
	depth, from := 0, 0
	end := len(rest)
scan:
	for i, c := range rest {
		switch {
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth < 0 {
				end = i
				break scan
			}
		case depth > 0:
		case c == ',':
			items = append(items, strings.TrimSpace(rest[from:i]))
			from = i + 1
		case orderEnd.MatchString(rest[i:]) && (i == 0 || rest[i-1] == ' '):
			end = i
			break scan
		}
	}
	return append(items, strings.TrimSpace(rest[from:end]))
}

var mutation = regexp.MustCompile(`\b(?:INSERT INTO|DELETE FROM|UPDATE) (\w+)`)

// twiceMutated finds a table that one statement changes in two places, which CockroachDB refuses.
func twiceMutated(upper string) []Hit {
	upper = strings.NewReplacer("DO UPDATE SET", "", "FOR UPDATE", "", "FOR NO KEY UPDATE", "").Replace(upper)
	seen := map[string]bool{}
	for _, m := range mutation.FindAllStringSubmatch(upper, -1) {
		if seen[m[1]] {
			return []Hit{{"two changes of one table", "one statement may change " + strings.ToLower(m[1]) + " once; send two statements in a batch"}}
		}
		seen[m[1]] = true
	}
	return nil
}
