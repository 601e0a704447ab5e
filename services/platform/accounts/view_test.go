package accounts

import (
	"context"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

func (o *office) save(owner Owner, in ViewInput) (v View, err error) {
	err = o.tx(func(ctx context.Context, tx *db.Tx) (err error) {
		v, err = o.SaveView(ctx, tx, owner, in)
		return err
	})
	return v, err
}

func (o *office) deleteView(owner Owner, id uuid.UUID) error {
	return o.tx(func(ctx context.Context, tx *db.Tx) error {
		_, err := o.DeleteView(ctx, tx, owner, id)
		return err
	})
}

func (o *office) viewNames(owner Owner, list string) (names []string) {
	o.t.Helper()
	found, err := o.Views(o.t.Context(), owner, list)
	require.NoError(o.t, err)
	for _, v := range found {
		names = append(names, v.Name)
	}
	return names
}

func TestViewsAreOnesOwnUnlessShared(t *testing.T) {
	t.Parallel()
	o := setup(t)
	ann := Owner{tenant.NewID(), uuid.New()}
	bob, stranger := Owner{ann.Company, uuid.New()}, Owner{tenant.NewID(), uuid.New()}
	mine, err := o.save(ann, ViewInput{List: "orders", Query: "status=new", Name: " Mine "})
	require.NoError(t, err)
	_, err = o.save(ann, ViewInput{List: "orders", Name: "For all", Shared: true})
	require.NoError(t, err)
	_, err = o.save(ann, ViewInput{List: "deals", Name: "Deals", Shared: true})
	require.NoError(t, err)
	require.Equal(t, []string{"Mine", "For all"}, o.viewNames(ann, "orders"))
	require.Equal(t, []string{"For all"}, o.viewNames(bob, "orders"))
	require.Empty(t, o.viewNames(stranger, "orders"))
	own, err := o.OwnViews(t.Context(), ann)
	require.NoError(t, err)
	require.Len(t, own, 3)
	require.Equal(t, "status=new", own[0].Query)

	change := func(owner Owner, name string, shared bool) (before, after View, err error) {
		err = o.tx(func(ctx context.Context, tx *db.Tx) (err error) {
			before, after, err = o.ChangeView(ctx, tx, owner, mine.ID, name, shared)
			return err
		})
		return before, after, err
	}
	for _, other := range []Owner{bob, stranger, {stranger.Company, ann.User}} {
		_, _, err = change(other, "Taken", false)
		require.ErrorIs(t, err, ErrView)
		require.ErrorIs(t, o.deleteView(other, mine.ID), ErrView)
	}
	before, after, err := change(ann, "Ours", true)
	require.NoError(t, err)
	require.Equal(t, "Mine", before.Name)
	require.True(t, after.Shared)
	require.Equal(t, []string{"Ours", "For all"}, o.viewNames(bob, "orders"))
	require.NoError(t, o.deleteView(ann, mine.ID))
	require.Equal(t, []string{"For all"}, o.viewNames(ann, "orders"))
}

func TestViewsAreBounded(t *testing.T) {
	t.Parallel()
	o := setup(t)
	ann := Owner{tenant.NewID(), uuid.New()}
	for name, in := range map[string]ViewInput{
		"no name": {Name: " "}, "long name": {Name: strings.Repeat("x", maxViewName+1)}, "two lines": {Name: "a\nb"}, "long": {Name: "a", Query: strings.Repeat("x", maxViewQuery+1)},
	} {
		_, err := o.save(ann, in)
		require.True(t, apierr.Is(err, "VALIDATION_ERROR"), name)
	}
	full := ViewInput{List: "orders", Name: strings.Repeat("ü", maxViewName), Shared: true}
	for range maxViews {
		_, err := o.save(ann, full)
		require.NoError(t, err)
	}
	_, err := o.save(ann, ViewInput{List: "deals", Name: "one more"})
	require.ErrorContains(t, err, "you have 50 views")
	bob := Owner{ann.Company, uuid.New()}
	_, err = o.save(bob, full)
	require.ErrorContains(t, err, "are shared already")
	full.Shared = false
	_, err = o.save(bob, full)
	require.NoError(t, err)
}
