package db_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/dbtest"
)

// Nothing is written compressed before the schema has been contracted, and at once afterwards.
func TestBodiesAreCompressedAfterTheContraction(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenNew(t)
	compresses := func() (on bool) {
		t.Helper()
		require.NoError(t, d.RunTx(t.Context(), "test", func(_ context.Context, tx *db.Tx) error {
			on = tx.Compresses()
			return nil
		}))
		return on
	}
	require.True(t, compresses(), "the schema of tests is contracted")
	_, err := d.Exec(t.Context(), `DELETE FROM schema_features`)
	require.NoError(t, err)
	require.NoError(t, d.ReadFeatures(t.Context()))
	require.False(t, compresses(), "the schema is expanded only")
	_, err = d.Exec(t.Context(), `DROP TABLE schema_features`)
	require.NoError(t, err)
	require.NoError(t, d.ReadFeatures(t.Context()), "the schema of the release before")
	require.False(t, compresses())
}
