package match_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/services/delivery/dispatchtest"
	"github.com/tradegrid/tradegrid/services/delivery/match"
)

// What only a later release can read is told from what nobody can.
func TestDecodeTellsNewerFromBroken(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*kgo.Record)
		newer  bool
	}{
		"event":      {func(r *kgo.Record) { dispatchtest.SetHeader(r, "ce_type", "planet.created") }, true},
		"schema":     {func(r *kgo.Record) { dispatchtest.SetHeader(r, "schema", "2") }, true},
		"cut":        {func(r *kgo.Record) { r.Value = r.Value[:9] }, false},
		"compressed": {func(r *kgo.Record) { r.Value = []byte{1, 0xff} }, false},
		"no id":      {func(r *kgo.Record) { dispatchtest.SetHeader(r, "ce_id", "") }, false},
		"no name":    {func(r *kgo.Record) { dispatchtest.SetHeader(r, "ce_type", "") }, false},
		"no schema":  {func(r *kgo.Record) { dispatchtest.SetHeader(r, "schema", "") }, false},
		"schema 0":   {func(r *kgo.Record) { dispatchtest.SetHeader(r, "schema", "0") }, false},
		"no headers": {func(r *kgo.Record) { r.Headers = nil }, false},
		"foreign":    {func(r *kgo.Record) { r.Headers, r.Value = nil, []byte{7} }, false},
		"schema, no id": {func(r *kgo.Record) {
			dispatchtest.SetHeader(r, "ce_id", "")
			dispatchtest.SetHeader(r, "schema", "2")
		}, false},
		"event, cut": {func(r *kgo.Record) {
			dispatchtest.SetHeader(r, "ce_type", "planet.created")
			r.Value = r.Value[:9]
		}, false},
	} {
		rec := dispatchtest.NewEvent(tenant.NewID(), "order.created").Record(t)
		c.change(rec)
		_, err := match.Decode(rec, dispatchtest.Registry())
		require.Error(t, err, name)
		if c.newer {
			require.ErrorIs(t, err, match.ErrNewer, name)
		} else {
			require.NotErrorIs(t, err, match.ErrNewer, name)
		}
	}
}
