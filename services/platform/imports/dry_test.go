package imports_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// A dry run reports what the import does: also of rows that conflict with others, near and far, and of those that refer to what does
// not exist. It leaves nothing behind.
func TestDryRunReportsWhatTheImportDoes(t *testing.T) {
	t.Parallel()
	k := setup(t)
	supplier := k.Do(t, "POST", "/warehouse/suppliers", `{"name":"Mill"}`).OK(201)["id"].(string)
	for i := range 40 {
		k.Do(t, "POST", "/catalog/products", fmt.Sprintf(`{"sku":"Old-%d","name":"Old","price":100,"barcode":"b%d","source":"erp","externalId":"e%d"}`, i, i, i)).OK(201)
	}
	k.Do(t, "POST", "/catalog/products", `{"name":"Generated","price":1}`).OK(201)
	seed := uint64(time.Now().UnixNano())
	file := randomProducts(rand.New(rand.NewPCG(seed, 1)), supplier, 450)

	before := rowsOfAll(t, k.db)
	dry, checked := k.imported(t, "resource=products&dryRun=true", csv, file)
	require.Equal(t, before, rowsOfAll(t, k.db), "seed %d", seed)
	sku := k.Do(t, "POST", "/catalog/products", `{"name":"Generated","price":1}`).OK(201)["sku"]
	require.Equal(t, "P-0002", sku, "no number is used up")

	got, made := k.imported(t, "resource=products", csv, file)
	require.Len(t, made, 450)
	outcomes := map[string]int{}
	for i := range made {
		outcomes[made[i].Outcome]++
		for _, e := range made[i].Errors {
			outcomes[e.Field+":"+e.Code]++
		}
		outcomes[made[i].Code]++
		if made[i].Outcome == "create" {
			require.Nil(t, checked[i].ID)
			require.NotNil(t, made[i].ID)
			made[i].ID = nil
		}
		require.Equal(t, made[i], checked[i], "seed %d, row %d", seed, made[i].Row)
	}
	for _, want := range []string{
		"create", "update", "unchanged", "sku:CONFLICT", "barcode:CONFLICT", "externalId:CONFLICT", "name:REQUIRED", "SUPPLIER_NOT_FOUND", "BARCODE_TAKEN", "PRODUCT_EXTERNAL_ID_TAKEN",
	} {
		require.NotZero(t, outcomes[want], "seed %d: no row is an example of %s: %v", seed, want, outcomes)
	}
	for _, name := range []string{"created", "updated", "unchanged", "failed"} {
		require.Equal(t, got["summary"].(map[string]any)[name], dry["summary"].(map[string]any)[name], "seed %d: %s", seed, name)
	}
}

// randomProducts is a file of products, some of which are there. Barcodes b0 … b39 and external ids e0 … e39 belong to those.
func randomProducts(r *rand.Rand, supplier string, n int) string {
	var file strings.Builder
	file.WriteString("sku,name,price,barcode,status,source,externalId,defaultSupplierId\n")
	for i := range n {
		sku, name, status := fmt.Sprint("New-", i), "Thing", "active"
		barcode, source, external, of := fmt.Sprint("n", r.IntN(4*n)), "erp", fmt.Sprint("x", r.IntN(4*n)), supplier
		switch r.IntN(12) {
		case 0:
			sku = strings.ToUpper(fmt.Sprint("new-", r.IntN(n)))
		case 1:
			name = ""
		case 2:
			of = uuid.NewString()
		case 3:
			barcode = fmt.Sprint("b", r.IntN(40))
		case 4:
			external = fmt.Sprint("e", r.IntN(40))
		case 5, 6: // one that is there keeps its own
			old := r.IntN(40)
			sku, barcode, external = fmt.Sprint("old-", old), fmt.Sprint("b", old), fmt.Sprint("e", old)
			if r.IntN(2) == 0 {
				name, of = "Old", ""
			}
		case 7:
			status = "hidden"
		}
		price := "2"
		if name == "Old" {
			price = "1"
		}
		fmt.Fprintf(&file, "%s,%s,%s,%s,%s,%s,%s,%s\n", sku, name, price, barcode, status, source, external, of)
	}
	return file.String()
}

// rowsOfAll counts the rows of the tables that an import may change, but for those of its own job.
func rowsOfAll(t *testing.T, d *db.DB) map[string]int64 {
	t.Helper()
	conn, err := d.Pool().Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	rows, err := conn.Query(t.Context(), `SELECT table_name::TEXT FROM information_schema.tables WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'`)
	require.NoError(t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	counts := map[string]int64{}
	for _, table := range tables {
		if strings.HasPrefix(table, "job") || table == "tx_markers" {
			continue
		}
		// All companies are counted, which no statement of the program does: a copy is none.
		tag, err := conn.Conn().PgConn().CopyTo(t.Context(), io.Discard, "COPY "+table+" TO STDOUT")
		require.NoError(t, err)
		counts[table] = tag.RowsAffected()
	}
	return counts
}
