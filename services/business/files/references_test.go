package files_test

import (
	"context"
	"errors"
	"fmt"
	"image/color"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/blob"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

func (k kit) product(t testing.TB, fields object) object {
	t.Helper()
	fields["name"], fields["price"] = "Bike", 100
	return k.Do(t, "POST", "/catalog/products", fields).OK(201)
}

func (k kit) several(t testing.TB, n int) (ids []any) {
	t.Helper()
	for i := range n {
		ids = append(ids, id(k.upload(t, picture(t, 4+i, 4, color.White))))
	}
	return ids
}

// photoFileId is the first of photoFileIds, whichever of the two is sent.
func TestImagesOfProducts(t *testing.T) {
	t.Parallel()
	k := setup(t)
	f := k.several(t, 4)
	p := k.product(t, object{"photoFileIds": f[:3]})
	is := func(p object, ids ...any) {
		t.Helper()
		require.Equal(t, append([]any{}, ids...), p["photoFileIds"])
		if len(ids) == 0 {
			require.Nil(t, p["photoFileId"])
		} else {
			require.Equal(t, ids[0], p["photoFileId"])
		}
	}
	path := "/catalog/products/" + id(p)
	patch := func(fields object) object { return k.Do(t, "PATCH", path, fields).OK(200) }
	is(p, f[0], f[1], f[2])
	is(patch(object{"photoFileIds": []any{f[2], f[0]}}), f[2], f[0])
	is(patch(object{"photoFileId": f[3]}), f[3], f[0])
	is(patch(object{"photoFileId": f[0]}), f[0])
	is(patch(object{"photoFileIds": []any{f[1], f[0]}, "photoFileId": f[0]}), f[1], f[0]) // as it was read
	is(patch(object{"photoFileIds": []any{f[2]}, "photoFileId": f[2]}), f[2])
	is(patch(object{"photoFileId": nil}))
	is(patch(object{"photoFileId": f[0]}), f[0])
	is(patch(object{"photoFileIds": []any{}}))
	is(k.product(t, object{"photoFileId": f[0]}), f[0])
	is(k.Do(t, "GET", path, nil).OK(200))

	require.Equal(t, map[string]string{"photoFileId": "CONFLICT"}, k.Do(t, "PATCH", path, object{"photoFileIds": []any{f[0]}, "photoFileId": f[1]}).Fields())
	require.Equal(t, map[string]string{"photoFileIds[1]": "CONFLICT"}, k.Do(t, "PATCH", path, object{"photoFileIds": []any{f[0], f[0]}}).Fields())
	many := make([]any, 21)
	for i := range many {
		many[i] = uuid.NewString()
	}
	require.Contains(t, k.Do(t, "PATCH", path, object{"photoFileIds": many}).Fields(), "photoFileIds")
	events := apitest.RaisedBy(t, k.db, k.Principal.Company)
	require.Equal(t, []any{"photoFileId", "photoFileIds"}, events[1].Data["changedFields"])
}

// A file that does not exist, or belongs to another company, is not found, and the field is named.
func TestUnknownFiles(t *testing.T) {
	t.Parallel()
	k := setup(t)
	foreign := id(kit{Client: k.server.Company(), server: k.server}.upload(t, red(t)))
	own := id(k.upload(t, red(t)))
	p := k.product(t, object{"photoFileId": own})
	for _, unknown := range []string{uuid.NewString(), foreign} {
		for field, body := range map[string]object{"photoFileId": {"photoFileId": unknown}, "photoFileIds[1]": {"photoFileIds": []any{own, unknown}}} {
			fault := k.Do(t, "PATCH", "/catalog/products/"+id(p), body).Fault(404, "FILE_NOT_FOUND")
			require.Equal(t, object{"field": field, "id": unknown}, fault["meta"])
		}
		body := object{"name": "b", "price": 1, "type": "seat", "photoFileId": unknown}
		k.Do(t, "POST", "/catalog/products", body).Fault(404, "FILE_NOT_FOUND")
		k.Do(t, "POST", "/catalog/products/"+id(p)+"/variants", object{"name": "v", "photoFileId": unknown}).Fault(404, "FILE_NOT_FOUND")
		k.Do(t, "POST", "/scheduling/resources", body).Fault(404, "FILE_NOT_FOUND")
	}
}

// What refers to a file keeps it; who gives it up starts the day after which it is removed.
func TestReferencesKeepFiles(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, k kit, objects func() int) {
		t.Helper()
		f := k.several(t, 4)
		p := k.product(t, object{"photoFileIds": f[:2]})
		v := k.Do(t, "POST", "/catalog/products/"+id(p)+"/variants", object{"name": "v", "photoFileId": f[1]}).OK(201)
		r := k.Do(t, "POST", "/scheduling/resources", object{"name": "Stand", "type": "seat", "photoFileId": f[2]}).OK(201)
		require.Equal(t, f[2], r["photoFileId"])
		fault := k.Do(t, "DELETE", "/files/"+f[1].(string), nil).Fault(409, "FILE_IN_USE")
		require.Equal(t, []any{object{"entity": "product", "id": id(p)}, object{"entity": "product_variant", "id": id(v)}}, fault["meta"].(object)["usedBy"])
		k.Do(t, "DELETE", "/files/"+f[2].(string), nil).Fault(409, "FILE_IN_USE")

		sweep := func(want ...any) {
			t.Helper()
			_, err := k.files.Sweep(t.Context())
			require.NoError(t, err)
			var left []any
			for _, item := range k.Do(t, "GET", "/files?sort=createdAt", nil).OK(200)["items"].([]any) {
				left = append(left, id(item.(object)))
			}
			require.Equal(t, want, left)
			require.Equal(t, 4*len(want), objects())
		}
		sweep(f...)
		k.later(25 * time.Hour)
		sweep(f[:3]...)
		k.Do(t, "PATCH", "/catalog/products/"+id(p), object{"photoFileIds": []any{}}).OK(200)
		k.Do(t, "PATCH", "/scheduling/resources/"+id(r), object{"photoFileId": nil}).OK(200)
		sweep(f[:3]...)
		k.later(23 * time.Hour)
		k.Do(t, "PATCH", "/scheduling/resources/"+id(r), object{"photoFileId": f[2]}).OK(200)
		sweep(f[:3]...)
		k.later(2 * time.Hour)
		sweep(f[1:3]...)
		k.Do(t, "DELETE", "/files/"+f[1].(string), nil).Fault(409, "FILE_IN_USE")
		k.Do(t, "PATCH", "/catalog/products/"+id(p)+"/variants/"+id(v), object{"photoFileId": nil}).OK(200)
		k.Do(t, "DELETE", "/files/"+f[1].(string), nil).OK(204)
		sweep(f[2])
	})
}

// A file is either deleted or referred to, whoever is first: by a client, or by the sweeper.
func TestDeletionAgainstReference(t *testing.T) {
	t.Parallel()
	k := alone(t)
	p := k.product(t, object{})
	for round := range 20 {
		f := id(k.upload(t, picture(t, 5, 5, color.Black)))
		if round%2 == 1 {
			_, err := k.db.Exec(t.Context(), `UPDATE file_blobs SET due_at = '2000-01-01' WHERE company_id = $1 AND file_id = $2`, k.Principal.Company, f)
			require.NoError(t, err)
		}
		var used, deleted *apitest.Response
		var wg sync.WaitGroup
		wg.Go(func() { used = k.Do(t, "PATCH", "/catalog/products/"+id(p), object{"photoFileId": f}) })
		wg.Go(func() {
			if round%2 == 0 {
				deleted = k.Do(t, "DELETE", "/files/"+f, nil)
			} else if _, err := k.files.Sweep(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		})
		wg.Wait()
		exists := k.Do(t, "GET", "/files/"+f+"/content", nil).Status
		switch used.Status {
		case 200:
			require.Equal(t, 200, exists, "round %d", round)
			if deleted != nil {
				deleted.Fault(409, "FILE_IN_USE")
			}
		case 404:
			require.Equal(t, 404, exists, "round %d", round)
			if deleted != nil {
				deleted.OK(204)
			}
		default:
			t.Fatalf("round %d: %s", round, used.Body)
		}
	}
}

// breaking is a store that fails.
type breaking struct {
	blob.Store
	put, remove int // how many calls succeed
}

var errBroken = errors.New("broken")

func (b *breaking) Put(ctx context.Context, key blob.Key, media string, size int64, body io.ReadSeeker) error {
	if b.put--; b.put < 0 {
		return errBroken
	}
	return b.Store.Put(ctx, key, media, size, body)
}

func (b *breaking) Delete(ctx context.Context, key blob.Key) error {
	if b.remove--; b.remove < 0 {
		return errBroken
	}
	return b.Store.Delete(ctx, key)
}

// Whatever is interrupted leaves nothing behind.
func TestInterruptions(t *testing.T) {
	t.Parallel()
	for n := range 4 {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			d, err := db.Open(t.Context(), db.Config{URL: dbtest.NewDatabase(t), MaxConns: 4}) // only the store fails
			require.NoError(t, err)
			t.Cleanup(d.Close)
			tries := 1
			if dbtest.Chaotic() {
				tries = apitest.MaxTries
			}
			store := &breaking{Store: blob.NewDatabase(d), put: n, remove: n}
			k := setupOn(t, d, store)
			left := func() (chunks, blobs int) {
				require.NoError(t, k.db.QueryRow(t.Context(), `SELECT count(*) FROM file_chunks WHERE company_id = $1`, k.Principal.Company).Scan(&chunks))
				require.NoError(t, k.db.QueryRow(t.Context(), `SELECT count(*) FROM file_blobs WHERE company_id = $1`, k.Principal.Company).Scan(&blobs))
				return chunks, blobs
			}
			k.Do(t, "POST", "/files", red(t), as("image/jpeg")).Fault(503, "SERVICE_UNAVAILABLE")
			chunks, blobs := left()
			require.Equal(t, [2]int{n, tries}, [2]int{chunks, blobs})
			require.Empty(t, k.Do(t, "GET", "/files", nil).OK(200)["items"])
			_, err = k.files.Sweep(t.Context())
			require.ErrorIs(t, err, errBroken)
			_, blobs = left()
			require.Equal(t, tries, blobs)
			store.remove = 1000
			_, err = k.files.Sweep(t.Context())
			require.NoError(t, err)
			chunks, blobs = left()
			require.Zero(t, chunks+blobs)

			// The content that is lost is told, and so is one that comes back.
			store.put = 1000
			f := k.upload(t, red(t))
			_, err = k.db.Exec(t.Context(), `DELETE FROM file_chunks WHERE company_id = $1`, k.Principal.Company)
			require.NoError(t, err)
			k.Do(t, "GET", "/files/"+id(f)+"/content", nil).Fault(404, "FILE_CONTENT_MISSING")
		})
	}
}
