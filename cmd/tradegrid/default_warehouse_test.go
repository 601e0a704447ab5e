package main

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/dbtest"
	"github.com/tradegrid/tradegrid/pkg/migrate"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/schemas/sql"
	"github.com/tradegrid/tradegrid/services/company"
)

// place is a branch or a warehouse as it is stored; seen is its creation in days after the first.
type place struct {
	name      string
	inactive  bool
	isDefault bool
	branch    string // of a warehouse; "" = none
	seen      int
}

// stored is what the migration leaves of a place.
type stored struct {
	Name      string
	IsDefault bool
	Branch    string
	Version   int64
}

const (
	sqlClearBranches   = `DELETE FROM branches WHERE company_id = $1`
	sqlClearWarehouses = `DELETE FROM warehouses WHERE company_id = $1`
	sqlAddBranch       = `INSERT INTO branches (company_id, id, name, is_active, is_default, version, ev_pos, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, 1, 7, $6, $6)`
	sqlAddWarehouse = `INSERT INTO warehouses (company_id, id, name, is_default, branch_id, search_text, version, ev_pos, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, '', 1, 7, $6, $6)`
	sqlStoredBranches   = `SELECT name, is_default, '', version FROM branches WHERE company_id = $1 ORDER BY name`
	sqlStoredWarehouses = `SELECT w.name, w.is_default, COALESCE(b.name, ''), w.version FROM warehouses w
LEFT JOIN branches b ON b.company_id = w.company_id AND b.id = w.branch_id WHERE w.company_id = $1 ORDER BY w.name`
	sqlSearchText  = `SELECT search_text FROM warehouses WHERE company_id = $1 AND is_default`
	sqlForgetSteps = `DELETE FROM schema_steps WHERE version = $1`
)

// Companies that were made before get what new ones are made with, whatever they have of it, and nothing twice.
func TestMigrationGivesCompaniesADefaultWarehouse(t *testing.T) {
	t.Parallel()
	rows := map[string]struct {
		branches, warehouses         []place
		wantBranches, wantWarehouses []stored
	}{
		"a branch only": {
			branches:     []place{{name: "Main", isDefault: true}},
			wantBranches: []stored{{"Main", true, "", 1}}, wantWarehouses: []stored{{"Main", true, "Main", 1}},
		},
		"nothing": {
			wantBranches: []stored{{"Main", true, "", 1}}, wantWarehouses: []stored{{"Main", true, "Main", 1}},
		},
		"branches and no default": {
			branches:     []place{{name: "Closed", inactive: true}, {name: "New", seen: 2}, {name: "Old", seen: 1}},
			wantBranches: []stored{{"Closed", false, "", 1}, {"New", false, "", 1}, {"Old", true, "", 2}}, wantWarehouses: []stored{{"Main", true, "Old", 1}},
		},
		"closed branches only": {
			branches:     []place{{name: "Closed", inactive: true}},
			wantBranches: []stored{{"Closed", false, "", 1}, {"Main", true, "", 1}}, wantWarehouses: []stored{{"Main", true, "Main", 1}},
		},
		"a default warehouse in no branch": {
			branches: []place{{name: "Centre", isDefault: true}}, warehouses: []place{{name: "Depot", isDefault: true}},
			wantBranches: []stored{{"Centre", true, "", 1}}, wantWarehouses: []stored{{"Depot", true, "Centre", 2}},
		},
		"a default warehouse in no branch, and another in the default branch": {
			branches: []place{{name: "Centre", isDefault: true}}, warehouses: []place{{name: "Depot", isDefault: true}, {name: "Shop", branch: "Centre"}},
			wantBranches: []stored{{"Centre", true, "", 1}}, wantWarehouses: []stored{{"Depot", true, "", 1}, {"Shop", false, "Centre", 1}},
		},
		"warehouses and no default, one of them in the default branch": {
			branches: []place{{name: "Centre", isDefault: true}, {name: "North"}}, warehouses: []place{{name: "A", branch: "North"}, {name: "B", branch: "Centre", seen: 1}},
			wantBranches: []stored{{"Centre", true, "", 1}, {"North", false, "", 1}}, wantWarehouses: []stored{{"A", false, "North", 1}, {"B", true, "Centre", 2}},
		},
		"warehouses and no default, all elsewhere": {
			branches: []place{{name: "Centre", isDefault: true}}, warehouses: []place{{name: "New", seen: 2}, {name: "Old", seen: 1}},
			wantBranches: []stored{{"Centre", true, "", 1}}, wantWarehouses: []stored{{"New", false, "", 1}, {"Old", true, "Centre", 3}},
		},
		"both": {
			branches: []place{{name: "Centre", isDefault: true}}, warehouses: []place{{name: "Depot", isDefault: true, branch: "Centre"}},
			wantBranches: []stored{{"Centre", true, "", 1}}, wantWarehouses: []stored{{"Depot", true, "Centre", 1}},
		},
	}
	d := dbtest.OpenNew(t)
	all := newDomains(d, domainConfig{Policy: defaultPolicy()})
	made := map[string]tenant.ID{}
	for name, row := range rows {
		c, err := all.createCompany(t.Context(), company.NewCompany{Name: name})
		require.NoError(t, err)
		made[name] = c.ID
		storePlaces(t, d, c.ID, row.branches, row.warehouses)
	}
	for range 2 { // a step that was applied and not recorded is applied again
		runMigration(t, d, "041")
		for name, row := range rows {
			require.Equal(t, row.wantBranches, readStored(t, d, sqlStoredBranches, made[name]), name)
			require.Equal(t, row.wantWarehouses, readStored(t, d, sqlStoredWarehouses, made[name]), name)
		}
	}
	var search string
	require.NoError(t, d.QueryRow(t.Context(), sqlSearchText, made["nothing"]).Scan(&search))
	require.Equal(t, "main", search)
}

// storePlaces replaces the branches and warehouses of a company.
func storePlaces(t *testing.T, d *db.DB, id tenant.ID, branches, warehouses []place) {
	t.Helper()
	exec := func(sql string, args ...any) {
		t.Helper()
		_, err := d.Exec(t.Context(), sql, args...)
		require.NoError(t, err)
	}
	exec(sqlClearBranches, id)
	exec(sqlClearWarehouses, id)
	first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	ids := map[string]*uuid.UUID{"": nil}
	for _, b := range branches {
		ids[b.name] = new(uuid.New())
		exec(sqlAddBranch, id, ids[b.name], b.name, !b.inactive, b.isDefault, first.AddDate(0, 0, b.seen))
	}
	for _, w := range warehouses {
		exec(sqlAddWarehouse, id, uuid.New(), w.name, w.isDefault, ids[w.branch], first.AddDate(0, 0, w.seen))
	}
}

// runMigration applies the steps of a migration again.
func runMigration(t *testing.T, d *db.DB, version string) {
	t.Helper()
	forgotten, err := d.Exec(t.Context(), sqlForgetSteps, version)
	require.NoError(t, err)
	pool, err := pgxpool.New(t.Context(), d.Pool().Config().ConnString()) // its statements are those of the migration, which are checked there
	require.NoError(t, err)
	defer pool.Close()
	applied, err := migrate.Up(t.Context(), pool, sql.Files, d.Dialect(), migrate.Expand, nil)
	require.NoError(t, err)
	require.Positive(t, applied)
	require.EqualValues(t, forgotten.RowsAffected(), applied)
}

func readStored(t *testing.T, d *db.DB, sql string, id tenant.ID) []stored {
	t.Helper()
	rows, err := d.Query(t.Context(), sql, id)
	require.NoError(t, err)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[stored])
	require.NoError(t, err)
	return list
}
