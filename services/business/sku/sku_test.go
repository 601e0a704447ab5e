package sku_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/numbering"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/sku"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

type kit struct {
	t       *testing.T
	db      *db.DB
	company tenant.ID
}

func setup(t *testing.T) kit {
	t.Helper()
	return kit{t, dbtest.Open(t), tenant.NewID()}
}

// store reserves as a domain does: it looks for other owners first.
func (f kit) store(now, before sku.Item) error {
	f.t.Helper()
	return f.db.RunTx(f.t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
		if err := batchloader.Load(ctx, tx, now.Checks(f.company, before)...); err != nil {
			return err
		}
		now.Claim(tx, f.company, before)
		return nil
	})
}

// next takes n generated SKUs and reserves them.
func (f kit) next(prefix string) (text string) {
	f.t.Helper()
	require.NoError(f.t, f.db.RunTx(f.t.Context(), "test", func(ctx context.Context, tx *db.Tx) (err error) {
		if err = sku.Prepare(ctx, tx, f.company); err != nil {
			return err
		}
		if text, err = sku.Next(ctx, tx, f.company, prefix); err == nil {
			sku.Item{Entity: sku.Product, ID: uuid.New(), SKU: text, Status: "active"}.Claim(tx, f.company, sku.Item{})
		}
		return err
	}))
	return text
}

func TestGenerated(t *testing.T) {
	t.Parallel()
	f := setup(t)
	require.Equal(t, []string{"AB-0001", "AB-0002", "C-0001"}, []string{f.next("AB"), f.next("AB"), f.next("C")})
	for _, text := range []string{"ab-0003", "AB-0004", "AB-10000"} {
		require.NoError(t, f.store(sku.Item{Entity: sku.Service, ID: uuid.New(), SKU: text, Status: "hidden"}, sku.Item{}))
	}
	require.Equal(t, "AB-0005", f.next("AB"), "SKUs of other entities are skipped, too")
	require.NoError(t, f.db.RunTx(t.Context(), "test", func(_ context.Context, tx *db.Tx) error {
		numbering.Skip(tx, f.company, "sku:AB", 9998)
		return nil
	}))
	require.Equal(t, []string{"AB-9999", "AB-10001", "AB-10002"}, []string{f.next("AB"), f.next("AB"), f.next("AB")})
	require.Equal(t, "AB-0001", kit{t, f.db, tenant.NewID()}.next("AB"), "each company counts by itself")

	failed := f.db.RunTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
		if _, err := sku.Next(ctx, tx, f.company, "C"); err != nil {
			return err
		}
		return context.Canceled
	})
	require.ErrorIs(t, failed, context.Canceled)
	require.Equal(t, "C-0002", f.next("C"), "what is not stored takes no number")
}

func TestGeneratedAtOnce(t *testing.T) {
	t.Parallel()
	f := setup(t)
	const n = 30
	got := make([]string, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { got[i] = f.next("X") })
	}
	wg.Wait()
	slices.Sort(got)
	for i, text := range got {
		require.Equal(t, fmt.Sprintf("X-%04d", i+1), text, "no gap and no repeat")
	}
}

func TestOwners(t *testing.T) {
	t.Parallel()
	f := setup(t)
	code := "400"
	first := sku.Item{Entity: sku.Variant, ID: uuid.New(), SKU: "Abc", Barcode: &code, Status: "active"}
	require.NoError(t, f.store(first, sku.Item{}))
	meta := func(err error, code string) map[string]any {
		t.Helper()
		e, ok := apierr.As(err)
		require.True(t, ok, err)
		require.Equal(t, code, e.Code)
		return e.Meta
	}
	other := sku.Item{Entity: sku.Service, ID: uuid.New(), SKU: "aBC", Status: "active"}
	require.Equal(t, map[string]any{"sku": "Abc", "entity": "variant", "id": first.ID, "status": "active"}, meta(f.store(other, sku.Item{}), "SKU_TAKEN"))
	product := sku.Item{Entity: sku.Product, ID: uuid.New(), SKU: "p", Barcode: &code, Status: "active"}
	require.Equal(t, map[string]any{"barcode": "400", "entity": "variant", "id": first.ID}, meta(f.store(product, sku.Item{}), "BARCODE_TAKEN"))

	hidden := first
	hidden.Status = "hidden"
	require.NoError(t, f.store(hidden, first))
	require.Equal(t, "hidden", meta(f.store(other, sku.Item{}), "SKU_TAKEN")["status"])
	require.NoError(t, f.store(product, sku.Item{}), "a hidden item releases its barcode")
	meta(f.store(first, hidden), "BARCODE_TAKEN")
	renamed := hidden
	renamed.SKU = "ABC"
	require.NoError(t, f.store(renamed, hidden), "the case of one's own SKU may change")
	renamed.SKU = "d"
	require.NoError(t, f.store(renamed, sku.Item{ID: renamed.ID, SKU: "ABC", Status: "hidden"}))
	require.NoError(t, f.store(other, sku.Item{}))

	for text, want := range map[string]uuid.UUID{"ABC ": other.ID, "abc": other.ID, "d": uuid.Nil, "none": uuid.Nil} {
		id, err := sku.Find(t.Context(), f.db, f.company, sku.Service, text)
		require.NoError(t, err)
		require.Equal(t, want, id, text)
	}
	id, err := sku.Find(t.Context(), f.db, tenant.NewID(), sku.Service, "abc")
	require.NoError(t, err)
	require.Equal(t, uuid.Nil, id)
}

// SKUs and barcodes that differ in case or in the forms of characters only are the same.
func TestFoldedCase(t *testing.T) {
	t.Parallel()
	for _, spellings := range [][]string{{"Straße-1", "STRASSE-1", "strasse-1", "ＳＴＲＡＳＳＥ－１"}, {"ΚΑΦΕΣ", "καφες", "Καφεσ"}, {"ab-1", "ＡＢ－１"}, {"Kg5", "kg5", "\u212ag5"}} {
		for _, first := range spellings {
			f := setup(t)
			kept := sku.Item{Entity: sku.Product, ID: uuid.New(), SKU: first, Barcode: &first, Status: "active"}
			require.NoError(t, f.store(kept, sku.Item{}))
			for _, other := range spellings {
				require.True(t, sku.Equal(first, other))
				id, err := sku.Find(t.Context(), f.db, f.company, sku.Product, other)
				require.NoError(t, err)
				require.Equal(t, kept.ID, id, "%s is stored, %s is looked for", first, other)
				_, id, err = sku.BarcodeOwner(t.Context(), f.db, f.company, other)
				require.NoError(t, err)
				require.Equal(t, kept.ID, id, "%s is stored, %s is looked for", first, other)
				require.ErrorContains(t, f.store(sku.Item{Entity: sku.Service, ID: uuid.New(), SKU: other, Status: "active"}, sku.Item{}), "belongs to another product")
				require.ErrorContains(t, f.store(sku.Item{Entity: sku.Product, ID: uuid.New(), SKU: "x", Barcode: &other, Status: "active"}, sku.Item{}), "belongs to another active product")
			}
			renamed := kept
			renamed.SKU, renamed.Barcode = spellings[0], &spellings[0]
			require.NoError(t, f.store(renamed, kept), "one's own may be written in another way")
			require.NoError(t, f.store(sku.Item{Entity: sku.Product, ID: kept.ID, SKU: "other", Status: "hidden"}, renamed))
			require.NoError(t, f.store(sku.Item{Entity: sku.Service, ID: uuid.New(), SKU: first, Status: "active"}, sku.Item{}), "it is free again")
		}
	}
}

// Of those who want the same SKU at once, in two spellings, one gets it.
func TestFoldedCaseAtOnce(t *testing.T) {
	t.Parallel()
	f := setup(t)
	errs := make([]error, 8)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			errs[i] = f.store(sku.Item{Entity: sku.Product, ID: uuid.New(), SKU: []string{"Straße", "STRASSE"}[i%2], Status: "active"}, sku.Item{})
		})
	}
	wg.Wait()
	stored := 0
	for _, err := range errs {
		if err == nil {
			stored++
		} else {
			require.ErrorContains(t, err, "belongs to another product")
		}
	}
	require.Equal(t, 1, stored)
}
