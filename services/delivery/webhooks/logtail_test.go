package webhooks_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/services/delivery/store"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
)

// The log is read from its end in pages, by name, by record and among known events, and only as far as the caller may see.
func TestLogTail(t *testing.T) {
	t.Parallel()
	r := setup(t)
	s := webhooks.New(webhooks.Config{DB: r.db, Registry: registry(), Policy: policy(), Deliveries: store.Deliveries{}, Keys: apitest.Keys(t)})
	record, now := uuid.New(), time.Now().UTC().Add(-time.Hour)
	var all, ofRecord []uuid.UUID
	for i := range 25 {
		entity := uuid.New()
		if i%5 == 0 {
			entity = record
		}
		id, _ := r.log("order.created", entity, now.Add(time.Duration(i)*time.Second))
		if all = append(all, id); i%5 == 0 {
			ofRecord = append(ofRecord, id)
		}
	}
	slices.Reverse(all)
	slices.Reverse(ofRecord)
	walk := func(by access.Caller, q webhooks.TailQuery) (ids []uuid.UUID) {
		for q.Limit = 4; ; {
			found, next, err := s.Tail(t.Context(), by, q)
			require.NoError(t, err)
			require.LessOrEqual(t, len(found), q.Limit)
			for _, e := range found {
				ids = append(ids, e.ID)
			}
			if next == uuid.Nil {
				return ids
			}
			q.Before = next
		}
	}
	by := access.Caller{Principal: &access.Principal{Company: r.company(), Scopes: access.Scopes{"*:read"}}}
	require.Equal(t, all, walk(by, webhooks.TailQuery{}))
	require.Equal(t, all, walk(by, webhooks.TailQuery{Events: []string{"order.*"}}))
	require.Empty(t, walk(by, webhooks.TailQuery{Events: []string{"product.created"}}))
	require.Equal(t, ofRecord, walk(by, webhooks.TailQuery{EntityID: record}))
	require.Equal(t, all[2:7], walk(by, webhooks.TailQuery{IDs: all[2:7]}))
	require.Empty(t, walk(by, webhooks.TailQuery{IDs: []uuid.UUID{}}), "a request that caused nothing has no events, and not all of them")
	require.Equal(t, all[3:9], walk(by, webhooks.TailQuery{From: now.Add(16 * time.Second), To: now.Add(21 * time.Second)}))
	require.Equal(t, ofRecord[1:4], walk(by, webhooks.TailQuery{EntityID: record, From: now.Add(5 * time.Second), To: now.Add(19 * time.Second)}))
	token := uuid.NewString()
	var ofToken []uuid.UUID
	for i := range 6 {
		id, _ := r.logAs("order.updated", token, uuid.New(), note{}, now.Add(time.Duration(i*4)*time.Second))
		ofToken = append(ofToken, id)
	}
	slices.Reverse(ofToken)
	require.Equal(t, ofToken, walk(by, webhooks.TailQuery{Actor: token}))
	require.Equal(t, ofToken[:2], walk(by, webhooks.TailQuery{Actor: token, From: now.Add(15 * time.Second)}))
	few := access.Caller{Principal: &access.Principal{Company: r.company(), Scopes: access.Scopes{"catalog:read"}}}
	require.Empty(t, walk(few, webhooks.TailQuery{}))
	other := access.Caller{Principal: &access.Principal{Company: setup(t).company(), Scopes: access.Scopes{"*:read"}}}
	require.Empty(t, walk(other, webhooks.TailQuery{}))
	require.Empty(t, walk(other, webhooks.TailQuery{EntityID: record}))
	require.Empty(t, walk(other, webhooks.TailQuery{IDs: all}))
}
