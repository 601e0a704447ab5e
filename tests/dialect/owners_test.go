package dialect

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// elsewhere are the tables that a part of the program reads although another one writes them, with the reason.
var elsewhere = map[[2]string]string{
	{"services/delivery", "events"}:                     "the body of a delivery is that of its event, read in the same statement",
	{"services/delivery", "companies"}:                  "receivers of archived companies are left out while all that fail are looked for",
	{"pkg/store", "files"}:                              "domains that refer to files look whether these exist, and stand beside the domain of files",
	{"services/business/catalog", "tax_rates"}:          "items of documents are read with the percentages of their rates, in the same statement",
	{"services/business/servicecatalog", "tax_rates"}:   "the same of services",
	{"services/business/sales", "channels"}:             "sales of a day are summed by the channels that were in the directory then, in the same statement",
	{"services/business/warehouse", "products"}:         "stock is listed by the category and found by the words of its product, in the statement of the page",
	{"services/business/warehouse", "product_variants"}: "the same of variants",
}

// A table is read where it is written; others ask the package that writes it, since no rule of imports sees what SQL reads.
func TestTablesAreReadWhereTheyAreWritten(t *testing.T) {
	t.Parallel()
	schema := schemaOf(t)
	owners, readings, err := TableUses(root)
	require.NoError(t, err)
	used, read := map[[2]string]bool{}, map[string]bool{}
	for _, r := range readings {
		if _, exists := schema.Tables[r.Table]; !exists {
			continue // a name that the statement makes
		}
		read[r.Table] = true
		pair := [2]string{Part(r.Origin), r.Table}
		if slices.Contains(owners[r.Table], pair[0]) {
			continue
		}
		if used[pair] = true; elsewhere[pair] == "" {
			t.Errorf("%s reads %s, which %v writes: let that package offer a function, and hand it in", r.Origin, r.Table, owners[r.Table])
		}
	}
	require.Greater(t, len(read), 50)
	for pair, reason := range elsewhere {
		require.True(t, used[pair], "%v is not read there any more (%s): delete the exception", pair, reason)
	}
	for table, want := range map[string]string{
		"orders": "services/business/orders", "order_lines": "services/business/orders", "outbox": "pkg/events", "companies": "services/platform/company",
	} {
		require.Equal(t, []string{want}, owners[table], table)
	}
}

func TestTablesInTextsAreFound(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"SELECT x FROM orders AS o JOIN\n  clients AS c ON c.id = o.client_id, skus AS s": {"orders", "clients", "skus"},
		"id IN (SELECT id FROM products WHERE company_id = ?)":                            {"products"},
		"UPDATE a SET x = 1 WHERE y = 2":                                                  nil,
	} {
		require.Equal(t, want, named(text), text)
	}
}
