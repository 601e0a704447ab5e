package reference_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
)

var (
	ann, nobody, stranger = uuid.New(), uuid.New(), uuid.New()

	names reference.Names = func(_ context.Context, _ db.Querier, _ tenant.ID, ids []uuid.UUID) (map[uuid.UUID]string, error) {
		found := map[uuid.UUID]string{}
		for _, id := range ids {
			if name, ok := map[uuid.UUID]string{ann: "Ann", nobody: ""}[id]; ok {
				found[id] = name
			}
		}
		return found, nil
	}
)

// A record without a name, one that is gone, and no reference at all are all shown as null.
func TestFill(t *testing.T) {
	t.Parallel()
	ids := []*uuid.UUID{&ann, &nobody, &stranger, nil, &ann}
	got := []*string{nil, new("old"), new("old"), new("old"), nil}
	at := func(i int) (*uuid.UUID, **string) { return ids[i], &got[i] }
	require.NoError(t, names.Fill(tenant.ID{}, len(ids), at)(t.Context(), nil))
	require.Equal(t, []*string{new("Ann"), nil, nil, nil, new("Ann")}, got)

	never := reference.Names(func(context.Context, db.Querier, tenant.ID, []uuid.UUID) (map[uuid.UUID]string, error) {
		return nil, errors.New("nothing was to be read")
	})
	require.NoError(t, never.Fill(tenant.ID{}, 1, func(int) (*uuid.UUID, **string) { return nil, &got[0] })(t.Context(), nil))
	require.Error(t, never.Fill(tenant.ID{}, 1, func(int) (*uuid.UUID, **string) { return &ann, &got[0] })(t.Context(), nil))
}

func TestNamedReferences(t *testing.T) {
	t.Parallel()
	var name string
	check := func(id *uuid.UUID) error {
		var refs reference.Set
		refs.AddNamed("WAREHOUSE", "warehouseId", id, names, &name)
		return refs.Check(t.Context(), nil, tenant.ID{})
	}
	require.NoError(t, check(nil))
	require.NoError(t, check(&ann))
	require.Equal(t, "Ann", name)
	err := check(&stranger)
	require.True(t, apierr.Is(err, "WAREHOUSE_NOT_FOUND"), err)
	e, _ := apierr.As(err)
	require.Equal(t, "warehouseId", e.Meta["field"])
}
