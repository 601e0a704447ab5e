package webhook

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

func drawMessage(t *rapid.T) *Message {
	moment := rapid.Custom(func(t *rapid.T) time.Time {
		return time.UnixMilli(rapid.Int64Range(1, 4e12).Draw(t, "ms")).UTC()
	})
	yields := rapid.Bool().Draw(t, "yields")
	gap := rapid.SampledFrom([]time.Duration{0, 1800 * time.Microsecond, time.Second}).Draw(t, "gap")
	if !yields {
		gap = 0
	}
	asked := rapid.Bool().Draw(t, "asked")
	return &Message{
		Asked: asked, Company: tenant.NewID(), DeliveryID: uuid.New(), SubscriptionID: uuid.New(), EventID: uuid.New(), Entity: rapid.SampledFrom([]uuid.UUID{{}, uuid.New()}).Draw(t, "entity"),
		Event:   rapid.StringMatching(`[a-z]+\.[a-z]+`).Draw(t, "event"),
		Attempt: rapid.IntRange(1, 7).Draw(t, "attempt"), NotBefore: moment.Draw(t, "not before"),
		ExpiresAt: moment.Draw(t, "expires"), Postponements: rapid.IntRange(0, 9).Draw(t, "parks"),
		CommittedAt: moment.Draw(t, "committed"), IsTest: rapid.Bool().Draw(t, "test"), RowFollows: rapid.Bool().Draw(t, "row follows"), Yields: yields, Gap: gap,
		TraceParent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", TraceState: "a=b",
		Body: rapid.SliceOfN(rapid.Byte(), 1, 100).Draw(t, "body"),
	}
}

func TestMessageRecordRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := drawMessage(t)
		rec := m.Record("webhook.deliveries")
		require.Equal(t, m.SubscriptionID.String(), string(rec.Key))
		got, err := DecodeMessage(rec)
		require.NoError(t, err)
		require.Equal(t, m, got)
	})
}

func TestMessageOutboxRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := drawMessage(t)
		// What the row cannot carry starts from the beginning.
		m.Postponements, m.NotBefore, m.RowFollows = 0, time.Time{}, false
		if m.Asked {
			m.Postponements = 1
		}
		payload, err := m.OutboxPayload()
		require.NoError(t, err)
		got, err := DecodeMessage(&kgo.Record{Value: payload, Headers: []kgo.RecordHeader{
			{Key: "companyid", Value: []byte(m.Company.String())},
			{Key: "committed_at", Value: strconv.AppendInt(nil, unix(m.CommittedAt, time.Time.UnixMicro), 10)},
			{Key: "traceparent", Value: []byte(m.TraceParent)},
			{Key: "tracestate", Value: []byte(m.TraceState)},
			{Key: "agg_type", Value: []byte("subscription")},
			{Key: "version", Value: []byte("3")},
		}})
		require.NoError(t, err)
		require.Equal(t, m, got)
	})
}

func TestDecodeMessageRefuses(t *testing.T) {
	t.Parallel()
	valid := &Message{
		Company: tenant.NewID(), DeliveryID: uuid.New(), SubscriptionID: uuid.New(), EventID: uuid.New(),
		Event: "order.created", Attempt: 1, ExpiresAt: time.Now(), Body: []byte(`{}`),
	}
	for name, test := range map[string]struct {
		header, value string
		want          string
	}{
		"company not a uuid":  {"companyid", "acme", "companyid must be a UUID"},
		"delivery empty":      {"delivery_id", "", "delivery_id must be a UUID"},
		"attempt a word":      {"attempt", "two", "attempt must be a non-negative integer"},
		"attempt zero":        {"attempt", "0", "must be between 1 and 1000"},
		"attempt negative":    {"attempt", "-1", "non-negative integer"},
		"no expiry":           {"expires_at", "0", "expiry time"},
		"no event":            {"event", "", "event name is missing"},
		"a fraction of parks": {"parks", "1.5", "parks must be a non-negative integer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rec := valid.Record("webhook.deliveries")
			i := slices.IndexFunc(rec.Headers, func(h kgo.RecordHeader) bool { return h.Key == test.header })
			rec.Headers[i].Value = []byte(test.value)
			_, err := DecodeMessage(rec)
			require.ErrorContains(t, err, test.want)
		})
	}
	for _, rec := range []*kgo.Record{valid.Record("deliveries"), {Headers: []kgo.RecordHeader{{Key: "schema", Value: []byte("1")}}}} {
		rec.Headers[len(rec.Headers)-1].Value = []byte("2")
		_, err := DecodeMessage(rec)
		require.ErrorIs(t, err, ErrNewer)
	}
	_, err := DecodeMessage(&kgo.Record{Value: []byte("not json")})
	require.ErrorContains(t, err, "not the JSON form")
	_, err = DecodeMessage(&kgo.Record{Value: []byte("{}")})
	require.ErrorContains(t, err, "companyid is missing")
}
