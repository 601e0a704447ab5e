package match

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/services/delivery/dispatchtest"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

func TestMatching(t *testing.T) {
	t.Parallel()
	me := uuid.New()
	all := func(s Subscription) Subscription {
		if s.Events == nil {
			s.Events = []webhook.EventPattern{webhook.Any}
		}
		if s.Scopes == nil {
			s.Scopes = access.Scopes{"*:read"}
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
		sub   Subscription
		event string
		actor uuid.UUID
		want  bool
	}{
		"everything":                       {Subscription{}, "order.created", me, true},
		"exact name":                       {Subscription{Terms: webhook.Terms{Events: patterns("order.created")}}, "order.created", me, true},
		"other name":                       {Subscription{Terms: webhook.Terms{Events: patterns("order.updated")}}, "order.created", me, false},
		"one of several":                   {Subscription{Terms: webhook.Terms{Events: patterns("lead.*", "order.*")}}, "order.created", me, true},
		"prefix of another family":         {Subscription{Terms: webhook.Terms{Events: patterns("stock.*")}}, "order.created", me, false},
		"module not active":                {Subscription{}, "stock.movement.created", me, false},
		"module always on":                 {Subscription{}, "product.created", me, true},
		"scope of the resource":            {Subscription{Terms: webhook.Terms{Scopes: access.Scopes{"orders:read"}}}, "order.created", me, true},
		"write includes read":              {Subscription{Terms: webhook.Terms{Scopes: access.Scopes{"orders:write"}}}, "order.created", me, true},
		"scope of another resource":        {Subscription{Terms: webhook.Terms{Scopes: access.Scopes{"catalog:read"}}}, "order.created", me, false},
		"no scope":                         {Subscription{Terms: webhook.Terms{Scopes: access.Scopes{}}}, "order.created", me, false},
		"own events left out":              {Subscription{Terms: webhook.Terms{ExcludeOwn: true, CreatedBy: me}}, "order.created", me, false},
		"events of others":                 {Subscription{Terms: webhook.Terms{ExcludeOwn: true, CreatedBy: me}}, "order.created", uuid.New(), true},
		"own events wanted":                {Subscription{Terms: webhook.Terms{CreatedBy: me}}, "order.created", me, true},
		"filter holds":                     {Subscription{Terms: webhook.Terms{Filter: filter(`{"data.status":["new","paid"],"data.total":1500.0}`)}}, "order.created", me, true},
		"filter fails":                     {Subscription{Terms: webhook.Terms{Filter: filter(`{"data.status":"paid"}`)}}, "order.created", me, false},
		"filter on what is not there":      {Subscription{Terms: webhook.Terms{Filter: filter(`{"data.missing":null}`)}}, "order.created", me, false},
		"filter holds, scope is too small": {Subscription{Terms: webhook.Terms{Scopes: access.Scopes{"leads:read"}, Filter: filter(`{"data.status":"new"}`)}}, "order.created", me, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw := dispatchtest.NewEvent(tenant.NewID(), c.event)
			raw.Actor = c.actor
			e, err := Decode(raw.Record(t), dispatchtest.Registry())
			require.NoError(t, err)
			c.sub.ID = uuid.New()
			has, err := dispatchtest.Components{}.Of(t.Context(), []tenant.ID{raw.Company})
			require.NoError(t, err)
			got := Match(e, []Subscription{all(c.sub)}, has[raw.Company], nil)
			if !c.want {
				require.Empty(t, got)
				return
			}
			require.Len(t, got, 1)
			require.Equal(t, webhook.DeliveryID(raw.ID, c.sub.ID, 0), got[0].DeliveryID)
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
		"too big":         {func(r *kgo.Record) { r.Value = append([]byte(`{"a":"`), append(make2MiB(), '"', '}')...) }, "limit is"},
		"unknown event":   {setHeader("ce_type", "planet.created"), `unknown event "planet.created"`},
		"newer schema":    {setHeader("schema", "2"), "header schema"},
		"no schema":       {setHeader("schema", ""), "header schema"},
		"no name":         {setHeader("ce_type", ""), "header ce_type"},
		"no company":      {setHeader("companyid", "x"), "header companyid"},
		"no event id":     {setHeader("ce_id", ""), "header ce_id"},
		"time not number": {setHeader("committed_at", "noon"), "header committed_at"},
		"no headers":      {func(r *kgo.Record) { r.Headers = nil }, "header ce_id"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := dispatchtest.NewEvent(tenant.NewID(), "order.created").Record(t)
			c.change(r)
			_, err := Decode(r, dispatchtest.Registry())
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
