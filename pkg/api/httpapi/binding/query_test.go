package binding

import (
	"net/url"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/list"
)

func TestQueryHasWhatAFilterSets(t *testing.T) {
	t.Parallel()
	type filter struct {
		list.Params
		Sort     string        `query:"sort"`
		Day      jsontype.Date `query:"day"`
		From     *list.From    `query:"from"`
		Owner    *uuid.UUID    `query:"owner"`
		Free     bool          `query:"free" default:"true"`
		Archived bool          `query:"archived"`
		Minutes  *int32        `query:"minutes"`
		internal int
	}
	id, none := uuid.New(), int32(0)
	at := time.Date(2026, 3, 1, 9, 30, 0, 0, time.FixedZone("", 3600))
	from := list.From(at)
	got := Query(filter{Params: list.Params{PageSize: 7, IDs: []uuid.UUID{id, id}}, Day: jsontype.Date(at), From: &from, Owner: &id, Minutes: &none, internal: 1})
	require.Equal(t, url.Values{
		"pageSize": {"7"}, "ids": {id.String() + "," + id.String()}, "day": {"2026-03-01"}, "from": {"2026-03-01T08:30:00Z"}, "owner": {id.String()}, "free": {"false"}, "minutes": {"0"},
	}, got)
}
