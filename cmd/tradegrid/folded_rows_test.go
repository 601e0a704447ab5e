package main

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/dbtest"
	"github.com/tradegrid/tradegrid/pkg/sku"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// Rows as the release before wrote them.
const (
	sqlOldSKU      = `INSERT INTO skus (company_id, sku_key, entity, entity_id, sku) VALUES ($1, $2, 'product', $3, $2)`
	sqlOldBarcode  = `INSERT INTO barcodes (company_id, barcode, entity, entity_id) VALUES ($1, $2, 'product', $3)`
	sqlOldSupplier = `INSERT INTO suppliers (company_id, id, name, search_text, version, ev_pos, created_at, updated_at) VALUES ($1, $2, $3, $3, 1, 7, now(), now())`
	sqlFoldedTexts = `SELECT search_text FROM suppliers WHERE company_id = $1 AND id = $2`
	sqlFoldedKeys  = `SELECT count(*) FROM skus WHERE company_id = $1 AND fold_key IS NOT NULL`
)

// What was stored before case was folded is found in all its spellings after the migration, once and for all.
func TestMigrationFoldsTheCaseOfOldRows(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenNew(t)
	id := tenant.NewID()
	exec := func(sql string, args ...any) {
		t.Helper()
		_, err := d.Exec(t.Context(), sql, args...)
		require.NoError(t, err)
	}
	items := map[string]uuid.UUID{"straße-1": uuid.New(), "ａｂ－２": uuid.New(), "καφες": uuid.New(), "plain-1": uuid.New()}
	for text, item := range items {
		exec(sqlOldSKU, id, text, item)
		exec(sqlOldBarcode, id, "B"+text, item)
	}
	texts := map[string]string{"straße 7\ncafé": "straße 7\ncafé\n\x1fstrasse 7\ncafé", "καφες": "καφες\n\x1fκαφεσ", "plain": "plain"}
	suppliers := map[string]uuid.UUID{}
	for text := range texts {
		suppliers[text] = uuid.New()
		exec(sqlOldSupplier, id, suppliers[text], text)
	}
	for range 2 { // a step that was applied and not recorded is applied again
		runMigration(t, d, "340")
		runMigration(t, d, "341")
		for text, spelling := range map[string]string{"straße-1": "STRASSE-1", "ａｂ－２": "AB-2", "καφες": "ΚΑΦΕΣ", "plain-1": "Plain-1"} {
			got, err := sku.Find(t.Context(), d, id, sku.Product, spelling)
			require.NoError(t, err)
			require.Equal(t, items[text], got, spelling)
			_, got, err = sku.BarcodeOwner(t.Context(), d, id, "b"+spelling)
			require.NoError(t, err)
			require.Equal(t, items[text], got, spelling)
		}
		for text, want := range texts {
			var stored string
			require.NoError(t, d.QueryRow(t.Context(), sqlFoldedTexts, id, suppliers[text]).Scan(&stored))
			require.Equal(t, want, stored)
		}
	}
	var folded int
	require.NoError(t, d.QueryRow(t.Context(), sqlFoldedKeys, id).Scan(&folded))
	require.Equal(t, 3, folded, "ASCII needs no key")
}
