package roles

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// column is a column as the database has it.
type column struct {
	Type       string
	Nullable   bool
	HasDefault bool
}

const sqlSelectColumns = `SELECT column_name, udt_name, is_nullable = 'YES', column_default IS NOT NULL FROM information_schema.columns WHERE table_name = $1`

func columnsOf(t *testing.T, d *db.DB, table string) map[string]column {
	t.Helper()
	rows, err := d.Query(t.Context(), sqlSelectColumns, table)
	require.NoError(t, err)
	defer rows.Close()
	columns := map[string]column{}
	for rows.Next() {
		var name string
		var c column
		require.NoError(t, rows.Scan(&name, &c.Type, &c.Nullable, &c.HasDefault))
		columns[name] = c
	}
	require.NoError(t, rows.Err())
	return columns
}

// sqlTypes are the column types that can hold a Go kind; types that the platform makes itself say theirs below.
func sqlTypes(t reflect.Type) []string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t.ConvertibleTo(reflect.TypeFor[time.Time]()) && t.Kind() == reflect.Struct:
		return []string{"timestamptz", "date"}
	case t.ConvertibleTo(reflect.TypeFor[uuid.UUID]()):
		return []string{"uuid"}
	}
	switch t.Kind() {
	case reflect.String:
		return []string{"text", "varchar", "bpchar", "jsonb"}
	case reflect.Bool:
		return []string{"bool"}
	case reflect.Int, reflect.Int64:
		return []string{"int8", "numeric"}
	case reflect.Int16, reflect.Int32:
		return []string{"int4", "int2"}
	case reflect.Float64:
		return []string{"float8", "numeric"}
	case reflect.Slice:
		return []string{"_text", "_varchar", "_uuid", "_int4", "_int8", "jsonb", "bytea"}
	default:
		return []string{"jsonb"}
	}
}

// Every record fits its table: each field has a column of its type that is NULL exactly for pointers, every column that
// must be filled is filled, and the database takes all statements that are made from the records and the lists.
func TestRecordsFitTheirTables(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	tables := 0 // of lines
	for _, domain := range Declared() {
		for _, table := range domain.Tables {
			checkTable(t, d, table)
			prepareAll(t, d, table.Statements())
			for _, lines := range table.Parts() {
				tables++
				checkTable(t, d, lines)
				prepareAll(t, d, lines.Statements())
			}
		}
		for _, l := range domain.Lists {
			prepareAll(t, d, l.Statements())
		}
	}
	require.Positive(t, tables)
}

func checkTable(t *testing.T, d *db.DB, table resource.Described) {
	t.Helper()
	columns := columnsOf(t, d, table.Name())
	require.NotEmpty(t, columns, "there is no table %s", table.Name())
	filled := map[string]record.Column{}
	for _, c := range table.Columns() {
		name := strings.Trim(c.Name, `"`)
		filled[name] = c
		has, ok := columns[name]
		require.True(t, ok, "%s has no column %s, which %s asks for: add a migration, or tag the field db:\"-\"", table.Name(), name, table.RecordType())
		require.Equal(t, c.Type.Kind() == reflect.Pointer, has.Nullable, "%s.%s: a column is NULL exactly when its field is a pointer", table.Name(), name)
		require.Contains(t, sqlTypes(c.Type), has.Type, "%s.%s of %s", table.Name(), name, c.Type)
	}
	for name, c := range columns {
		if _, ok := filled[name]; !ok {
			require.True(t, c.Nullable || c.HasDefault, "%s.%s must not be null and nobody fills it", table.Name(), name)
		}
	}
}

// prepareAll lets the database plan the statements; they also reach the log that `make dialect` checks.
func prepareAll(t *testing.T, d *db.DB, statements []string) {
	t.Helper()
	conn, err := d.Pool().Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	for _, sql := range statements {
		_, err := conn.Conn().Prepare(t.Context(), "", sql)
		require.NoError(t, err, sql)
	}
}
