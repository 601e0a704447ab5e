package resource_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

// thing lies in the table of suppliers: any table with a key, meta and a search text would do.
type thing struct {
	record.Key
	Name string  `json:"name" search:"text"`
	Note *string `json:"note"`
	record.Meta
}

type renamed struct {
	PreviousName string `json:"previousName"`
}

var (
	things  = resource.Of[thing]("suppliers", "SUPPLIER")
	made    = event.New[thing]("thing.created", "A thing was made.")
	changed = event.WithChanges[thing]("thing.updated", "A thing was changed.")
	named   = event.With("thing.renamed", "A thing got another name.", func(before, _ *thing) renamed { return renamed{before.Name} })
	gone    = event.New[thing]("thing.deleted", "A thing was deleted.")
)

type kit struct {
	t  *testing.T
	db *db.DB
	by access.Caller
}

func setup(t *testing.T) kit {
	t.Helper()
	return kit{t, dbtest.Open(t), access.Caller{Principal: &access.Principal{Company: tenant.NewID(), Actor: uuid.New()}}}
}

func (f kit) tx(fn func(ctx context.Context, tx *db.Tx) error) error {
	f.t.Helper()
	return f.db.RunTx(f.t.Context(), "test", fn)
}

func (f kit) create(v thing) (out thing) {
	f.t.Helper()
	require.NoError(f.t, f.tx(func(ctx context.Context, tx *db.Tx) (err error) {
		out, err = things.Create(ctx, tx, f.by, v, made)
		return err
	}))
	return out
}

func (f kit) change(by access.Caller, id uuid.UUID, mutate func(before thing, v *thing) error, events ...event.Event[thing]) (out thing, err error) {
	err = f.tx(func(ctx context.Context, tx *db.Tx) (err error) {
		out, err = things.Change(ctx, tx, by, id, mutate, events...)
		return err
	})
	return out, err
}

func (f kit) events() (names []string, data []map[string]any) {
	f.t.Helper()
	for _, e := range apitest.RaisedBy(f.t, f.db, f.by.Company) {
		names, data = append(names, e.Name), append(data, e.Data)
	}
	return names, data
}

func TestChangeTakesAllSteps(t *testing.T) {
	t.Parallel()
	f := setup(t)
	v := f.create(thing{Name: " one "})
	require.Equal(t, "one", v.Name)
	require.EqualValues(t, 1, v.Version)
	got, err := things.Get(t.Context(), f.db, f.by.Company, v.ID)
	require.NoError(t, err)
	require.Equal(t, v, got)

	out, err := f.change(f.by, v.ID, func(before thing, v *thing) error {
		require.Equal(t, "one", before.Name)
		v.Name = "two"
		return nil
	}, changed, named)
	require.NoError(t, err)
	require.EqualValues(t, 2, out.Version)
	got, err = things.Get(t.Context(), f.db, f.by.Company, v.ID)
	require.NoError(t, err)
	require.Equal(t, out, got, "also the position, which is that of the last event")

	names, data := f.events()
	require.Equal(t, []string{"thing.created", "thing.updated", "thing.renamed"}, names)
	require.Equal(t, []any{"name"}, data[1]["changedFields"])
	require.Equal(t, "one", data[2]["previousName"])
	require.Equal(t, "two", data[2]["name"])
}

func TestPositionsOfEventsGrow(t *testing.T) {
	t.Parallel()
	f := setup(t)
	noon := time.Now().UTC().Truncate(time.Microsecond)
	f.db = f.db.WithClock(func() time.Time { return noon }) // a clock that stands still
	v := f.create(thing{Name: "0"})
	for _, name := range []string{"1", "2"} {
		_, err := f.change(f.by, v.ID, func(_ thing, v *thing) error { v.Name = name; return nil }, changed, named)
		require.NoError(t, err)
	}
	rows, err := f.db.Query(t.Context(), `SELECT pos FROM outbox WHERE company_id = $1 ORDER BY pos`, f.by.Company)
	require.NoError(t, err)
	defer rows.Close()
	for want := noon.UnixMicro(); rows.Next(); want++ {
		var pos int64
		require.NoError(t, rows.Scan(&pos))
		require.Equal(t, want, pos)
	}
	require.NoError(t, rows.Err())
}

func TestUnchangedStoresNothing(t *testing.T) {
	t.Parallel()
	f := setup(t)
	v := f.create(thing{Name: "one"})
	empty := " "
	out, err := f.change(f.by, v.ID, func(_ thing, v *thing) error { v.Name, v.Note = " one", &empty; return nil }, changed)
	require.NoError(t, err)
	require.Equal(t, v, out, "spaces and an empty text are no change")
	names, _ := f.events()
	require.Equal(t, []string{"thing.created"}, names)
}

func TestRefusedChangesLeaveNoTrace(t *testing.T) {
	t.Parallel()
	f := setup(t)
	v := f.create(thing{Name: "one"})
	refuse := errors.New("refused")
	out, err := f.change(f.by, v.ID, func(_ thing, v *thing) error { v.Name = "two"; return refuse }, changed)
	require.ErrorIs(t, err, refuse)
	require.Equal(t, "one", out.Name)

	never := func(thing, *thing) error { t.Error("the rule ran"); return nil }
	_, err = f.change(f.by.Expecting(2), v.ID, never)
	require.True(t, apierr.Is(err, "PRECONDITION_FAILED"), err)
	_, err = f.change(f.by, uuid.New(), never)
	require.True(t, apierr.Is(err, "SUPPLIER_NOT_FOUND"), err)
	_, err = f.change(setup(t).by, v.ID, never)
	require.True(t, apierr.Is(err, "SUPPLIER_NOT_FOUND"), "another company: %v", err)
	got, err := things.Get(t.Context(), f.db, f.by.Company, v.ID)
	require.NoError(t, err)
	require.Equal(t, v, got)
}

func TestDelete(t *testing.T) {
	t.Parallel()
	f := setup(t)
	v := f.create(thing{Name: "one"})
	remove := func(check func(thing) error) error {
		return f.tx(func(ctx context.Context, tx *db.Tx) error { return things.Delete(ctx, tx, f.by, v.ID, check, gone) })
	}
	refuse := errors.New("in use")
	require.ErrorIs(t, remove(func(thing) error { return refuse }), refuse)
	require.NoError(t, remove(nil))
	_, err := things.Get(t.Context(), f.db, f.by.Company, v.ID)
	require.True(t, apierr.Is(err, "SUPPLIER_NOT_FOUND"), err)
	require.True(t, apierr.Is(remove(nil), "SUPPLIER_NOT_FOUND"))
	names, data := f.events()
	require.Equal(t, []string{"thing.created", "thing.deleted"}, names)
	require.Equal(t, "one", data[1]["name"])
}

func TestConstraintsBecomeErrorsForClients(t *testing.T) {
	t.Parallel()
	f := setup(t)
	taken := apierr.StateConflict("THING_TAKEN", "taken")
	own := resource.Of[thing]("suppliers", "SUPPLIER").OnConstraint("suppliers_pkey", taken)
	v := f.create(thing{Name: "one"})
	err := f.tx(func(ctx context.Context, tx *db.Tx) error {
		_, err := own.Create(ctx, tx, f.by, thing{Key: v.Key, Name: "two"})
		return err
	})
	require.ErrorIs(t, err, taken)
}

func TestKnown(t *testing.T) {
	t.Parallel()
	f, other := setup(t), setup(t)
	v := f.create(thing{Name: "one"})
	theirs := other.create(thing{Name: "two"})
	known, err := things.Known(t.Context(), f.db, f.by.Company, []uuid.UUID{uuid.New(), v.ID, theirs.ID})
	require.NoError(t, err)
	require.Equal(t, []uuid.UUID{v.ID}, known)
}
