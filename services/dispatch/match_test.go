package dispatch

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/kafka"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/webhook"
	"github.com/tradegrid/tradegrid/services/dispatch/dispatchtest"
)

func TestMatching(t *testing.T) {
	t.Parallel()
	me := uuid.New()
	all := func(s subscription) subscription {
		if s.patterns == nil {
			s.patterns = []webhook.EventPattern{webhook.Any}
		}
		if s.scopes == nil {
			s.scopes = access.Scopes{"*:read"}
		}
		return s
	}
	filter := func(text string) *webhook.Filter {
		f, faults := webhook.CompileFilter([]byte(text))
		require.Empty(t, faults)
		return f
	}
	patterns := func(list ...webhook.EventPattern) []webhook.EventPattern { return list }
	cases := map[string]struct {
		sub   subscription
		event string
		actor uuid.UUID
		want  bool
	}{
		"everything":                       {subscription{}, "order.created", me, true},
		"exact name":                       {subscription{patterns: patterns("order.created")}, "order.created", me, true},
		"other name":                       {subscription{patterns: patterns("order.updated")}, "order.created", me, false},
		"one of several":                   {subscription{patterns: patterns("lead.*", "order.*")}, "order.created", me, true},
		"prefix of another family":         {subscription{patterns: patterns("stock.*")}, "order.created", me, false},
		"module not active":                {subscription{}, "stock.movement.created", me, false},
		"module always on":                 {subscription{}, "product.created", me, true},
		"scope of the resource":            {subscription{scopes: access.Scopes{"orders:read"}}, "order.created", me, true},
		"write includes read":              {subscription{scopes: access.Scopes{"orders:write"}}, "order.created", me, true},
		"scope of another resource":        {subscription{scopes: access.Scopes{"catalog:read"}}, "order.created", me, false},
		"no scope":                         {subscription{scopes: access.Scopes{}}, "order.created", me, false},
		"own events left out":              {subscription{excludeOwn: true, ownActor: me}, "order.created", me, false},
		"events of others":                 {subscription{excludeOwn: true, ownActor: me}, "order.created", uuid.New(), true},
		"own events wanted":                {subscription{ownActor: me}, "order.created", me, true},
		"filter holds":                     {subscription{filter: filter(`{"data.status":["new","paid"],"data.total":1500.0}`)}, "order.created", me, true},
		"filter fails":                     {subscription{filter: filter(`{"data.status":"paid"}`)}, "order.created", me, false},
		"filter on what is not there":      {subscription{filter: filter(`{"data.missing":null}`)}, "order.created", me, false},
		"filter holds, scope is too small": {subscription{filter: filter(`{"data.status":"new"}`), scopes: access.Scopes{"leads:read"}}, "order.created", me, false},
	}
	router := &Router{modules: dispatchtest.Modules{}, registry: dispatchtest.Registry()}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw := dispatchtest.NewEvent(tenant.NewID(), c.event)
			raw.Actor = c.actor
			e, err := decodeEvent(&kafka.Record{Record: raw.Record(t)}, router.registry)
			require.NoError(t, err)
			c.sub.id = uuid.New()
			got, err := router.matchOne(t.Context(), e, []subscription{all(c.sub)}, nil)
			require.NoError(t, err)
			if !c.want {
				require.Empty(t, got)
				return
			}
			require.Len(t, got, 1)
			require.Equal(t, webhook.DeliveryID(raw.ID, c.sub.id, 0), got[0].id)
		})
	}
}

func TestDecodeEventNamesTheFault(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		change func(r *kgo.Record)
		want   string
	}{
		"bad json":        {func(r *kgo.Record) { r.Value = r.Value[:len(r.Value)-1] }, "not a JSON object"},
		"empty":           {func(r *kgo.Record) { r.Value = nil }, "not a JSON object"},
		"array":           {func(r *kgo.Record) { r.Value = []byte(`[]`) }, "not a JSON object"},
		"too big":         {func(r *kgo.Record) { r.Value = append([]byte(`{"a":"`), append(make2MiB(), '"', '}')...) }, "more than the"},
		"unknown event":   {setHeader("ce_type", "planet.created"), `unknown event "planet.created"`},
		"newer schema":    {setHeader("schema", "2"), "header schema"},
		"no company":      {setHeader("companyid", "x"), "header companyid"},
		"no event id":     {setHeader("ce_id", ""), "header ce_id"},
		"time not number": {setHeader("committed_at", "noon"), "header committed_at"},
		"no headers":      {func(r *kgo.Record) { r.Headers = nil }, "header schema"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := dispatchtest.NewEvent(tenant.NewID(), "order.created").Record(t)
			c.change(r)
			_, err := decodeEvent(&kafka.Record{Record: r}, dispatchtest.Registry())
			require.ErrorContains(t, err, c.want)
		})
	}
}

func make2MiB() []byte {
	b := make([]byte, 2<<20)
	for i := range b {
		b[i] = 'x'
	}
	return b
}

func setHeader(key, value string) func(*kgo.Record) {
	return func(r *kgo.Record) { dispatchtest.SetHeader(r, key, value) }
}
