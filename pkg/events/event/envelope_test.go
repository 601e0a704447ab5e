package event_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

func envelope(t *testing.T, data string) event.Envelope {
	t.Helper()
	company, err := tenant.Parse("7d9f3c52-6a0e-4f6b-9d0e-0c6f3f0a1b2c")
	require.NoError(t, err)
	return event.Envelope{
		Event: "order.created", CompanyID: company, ActorID: "system", EventID: "e-1", Data: json.RawMessage(data),
		OccurredAt: time.Date(2026, 11, 20, 12, 30, 0, 7_654_321, time.FixedZone("", 3*3600)),
	}
}

func TestFreezeKeepsDataVerbatim(t *testing.T) {
	t.Parallel()
	body, err := envelope(t, `{"b":1.50, "a":"<&>"}`).Freeze()
	require.NoError(t, err)
	require.Equal(t, `{"event":"order.created","companyId":"7d9f3c52-6a0e-4f6b-9d0e-0c6f3f0a1b2c",`+
		`"occurredAt":"2026-11-20T09:30:00.007Z","actorId":"system","data":{"b":1.50, "a":"<&>"},"eventId":"e-1"}`, string(body))
	var back event.Envelope
	require.NoError(t, json.Unmarshal(body, &back))
	again, err := back.Freeze()
	require.NoError(t, err)
	require.Equal(t, body, again)
	marshalled, err := json.Marshal(back)
	require.NoError(t, err)
	require.JSONEq(t, string(body), string(marshalled))
}

func TestFreezeEscapesAndRefuses(t *testing.T) {
	t.Parallel()
	e := envelope(t, "")
	e.ActorID = "a\"\\\n\u2028"
	body, err := e.Freeze()
	require.NoError(t, err)
	var back event.Envelope
	require.NoError(t, json.Unmarshal(body, &back))
	require.Equal(t, e.ActorID, back.ActorID)
	require.Equal(t, "null", string(back.Data))
	_, err = envelope(t, `{"a":`).Freeze()
	require.ErrorContains(t, err, "not valid JSON")
}

func TestFreezeCutsWhatIsTooBig(t *testing.T) {
	t.Parallel()
	fill := func(id string, bytes int) string {
		return `{"id":` + id + `,"note":"` + strings.Repeat("x", bytes) + `"}`
	}
	empty, err := envelope(t, fill(`"o-1"`, 0)).Freeze()
	require.NoError(t, err)
	room := event.MaxBody - len(empty)
	for _, tt := range []struct{ data, want string }{
		{fill(`"o-1"`, room), ""},
		{fill(`"o-1"`, room+1), `{"id":"o-1","truncated":true}`},
		{`{"note":"` + strings.Repeat("x", event.MaxBody) + `"}`, `{"id":null,"truncated":true}`},
		{`["` + strings.Repeat("x", event.MaxBody) + `"]`, `{"id":null,"truncated":true}`},
		{`{"id":"` + strings.Repeat("x", event.MaxBody) + `"}`, `{"id":null,"truncated":true}`},
	} {
		body, err := envelope(t, tt.data).Freeze()
		require.NoError(t, err)
		require.LessOrEqual(t, len(body), event.MaxBody)
		var back event.Envelope
		require.NoError(t, json.Unmarshal(body, &back))
		if tt.want == "" {
			tt.want = tt.data
		}
		require.Equal(t, tt.want, string(back.Data))
		require.Equal(t, "e-1", back.EventID)
	}
}
