package calendar_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/calendar"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

var noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

func entry(kind string) *trade.CalendarEntry {
	status := "pending"
	return &trade.CalendarEntry{Kind: kind, OwnerID: uuid.New(), Title: "Haircut", StartAt: noon, EndAt: noon.Add(time.Hour), Status: &status}
}

// kit is the calendar of a fresh company.
type kit struct {
	t       *testing.T
	db      *db.DB
	company tenant.ID
	by      access.Caller
}

func open(t *testing.T) *kit {
	t.Helper()
	company := tenant.NewID()
	return &kit{t: t, db: dbtest.Open(t), company: company, by: access.Caller{Principal: &access.Principal{Company: company, Actor: uuid.New()}}.Expecting(7)}
}

func (k *kit) sync(before, now *trade.CalendarEntry) {
	k.t.Helper()
	err := k.db.RunTx(k.t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
		return calendar.New().Sync(ctx, tx, k.by, before, now)
	})
	require.NoError(k.t, err)
}

// raised returns the names of all events, and the data of the last one.
func (k *kit) raised() (names []string, last map[string]any) {
	k.t.Helper()
	for _, e := range apitest.RaisedBy(k.t, k.db, k.company) {
		names, last = append(names, strings.TrimPrefix(e.Name, "calendar.event.")), e.Data
	}
	return names, last
}

func TestEntryFollowsItsOwner(t *testing.T) {
	t.Parallel()
	for kind, field := range map[string]string{trade.CalendarBooking: "bookingId", trade.CalendarDeal: "dealId"} {
		k := open(t)
		first := entry(kind)
		k.sync(nil, first)
		names, data := k.raised()
		require.Equal(t, []string{"created"}, names)
		id := data["id"]
		delete(data, "id")
		want := map[string]any{
			"companyId": k.company.String(), "title": "Haircut", "kind": kind, "startAt": "2026-12-01T12:00:00.000Z", "endAt": "2026-12-01T13:00:00.000Z",
			"allDay": false, "resourceId": nil, "bookingId": nil, "dealId": nil, "clientId": nil, "status": "pending", "createdById": k.by.Actor.String(),
			"version": 1.0, "createdAt": data["createdAt"], "updatedAt": data["updatedAt"],
		}
		want[field] = first.OwnerID.String()
		require.Equal(t, want, data)

		moved, status := *first, "confirmed"
		moved.Status = &status
		k.sync(first, &moved)
		names, _ = k.raised()
		require.Len(t, names, 1, "the status alone is no change")

		resource, client := uuid.New(), uuid.New()
		for i, change := range []func(*trade.CalendarEntry){
			func(e *trade.CalendarEntry) { e.Title = strings.Repeat("ö", 300) },
			func(e *trade.CalendarEntry) { e.StartAt = noon.Add(-time.Hour) },
			func(e *trade.CalendarEntry) { e.EndAt = noon.Add(2 * time.Hour) },
			func(e *trade.CalendarEntry) { e.ResourceID = &resource },
			func(e *trade.CalendarEntry) { e.ClientID = &client },
		} {
			before := moved
			change(&moved)
			k.sync(&before, &moved)
			names, data = k.raised()
			require.Len(t, names, i+2)
			require.Equal(t, "updated", names[i+1])
			require.Equal(t, id, data["id"])
			require.EqualValues(t, i+2, data["version"])
		}
		require.Equal(t, strings.Repeat("ö", 255), data["title"])
		require.Equal(t, []any{"2026-12-01T11:00:00.000Z", "2026-12-01T14:00:00.000Z", resource.String(), client.String(), "confirmed"},
			[]any{data["startAt"], data["endAt"], data["resourceId"], data["clientId"], data["status"]})

		k.sync(&moved, nil)
		names, data = k.raised()
		require.Equal(t, []string{"created", "updated", "updated", "updated", "updated", "updated", "deleted"}, names)
		require.Equal(t, id, data["id"])
		k.sync(&moved, nil)
		k.sync(nil, nil)
		again, _ := k.raised()
		require.Len(t, again, len(names))
	}
}

func TestOwnersWithoutAnEntryGetOneWhenTheyChange(t *testing.T) {
	t.Parallel()
	k := open(t)
	before := entry(trade.CalendarDeal)
	now := *before
	now.Title = "Wedding"
	k.sync(before, &now)
	names, data := k.raised()
	require.Equal(t, []string{"created"}, names)
	require.Equal(t, "Wedding", data["title"])
}

func TestUnknownKindOfOwner(t *testing.T) {
	t.Parallel()
	k := open(t)
	require.Panics(t, func() { k.sync(nil, entry("manual")) })
}
