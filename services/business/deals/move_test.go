package deals_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/services/business/deals"
)

// fullType creates a type with a stage of every kind.
func (k kit) fullType() dealType {
	k.t.Helper()
	made, err := run(k, func(ctx context.Context, tx *db.Tx) (deals.Type, error) {
		return k.service.CreateType(ctx, tx, k.by(), deals.TypeInput{
			TypeFields: deals.TypeFields{Alias: "full", Name: "Full", Component: "deals", IsActive: true},
			Stages: []deals.StageInput{
				{Name: "start", IsInitial: true, IsActive: true, Checklist: []string{"call", "visit"}},
				{Name: "middle", SortOrder: 1, IsActive: true, Checklist: []string{"offer"}},
				{Name: "won", SortOrder: 2, IsTerminal: true, Outcome: new(deals.Won), IsActive: true},
				{Name: "won twice", SortOrder: 3, IsTerminal: true, Outcome: new(deals.Won), IsActive: true},
				{Name: "lost", SortOrder: 4, IsTerminal: true, Outcome: new(deals.Lost), IsActive: true},
				{Name: "done", SortOrder: 5, IsTerminal: true, Outcome: new(deals.Done), IsActive: true},
				{Name: "cancelled", SortOrder: 6, IsTerminal: true, Outcome: new(deals.Cancelled), IsActive: true},
				{Name: "closed", SortOrder: 7},
			},
		})
	})
	require.NoError(k.t, err)
	return k.typeOf(made.Alias)
}

// outcomes are the outcomes of the stages of fullType.
var outcomes = map[string]any{
	"start": nil, "middle": nil, "won": "won", "won twice": "won", "lost": "lost", "done": "done", "cancelled": "cancelled",
}

func TestEveryPairOfStages(t *testing.T) {
	t.Parallel()
	k, _ := setup(t)
	full, reason := k.fullType(), k.reason("price")
	for from, before := range outcomes {
		for to, after := range outcomes {
			t.Run(from+" to "+to, func(t *testing.T) {
				t.Parallel()
				k := kit{k.server.Caller(k.Principal.Company), k.neighbours, t, k.db, k.service, k.server}
				id := k.post(object{"typeId": full.ID})["id"]
				k.patch(id, object{"nextActionAt": "2027-01-01T00:00:00Z"})
				k.move(id, object{"stageId": full.stages[from], "lostReasonId": reason}).OK(200)
				if before != nil {
					require.Nil(t, k.read(id)["nextActionAt"], "an ended deal has no task")
				}
				start := k.read(id)
				got := k.move(id, object{"stageId": full.stages[to], "lostReasonId": reason}).OK(200)
				if from == to {
					require.Equal(t, start, got, "the same stage is no change")
					return
				}
				var lostReason any
				if after == "lost" {
					lostReason = reason
				}
				require.Equal(t, []any{full.stages[to], after, lostReason, got["updatedAt"], start["version"].(float64) + 1},
					[]any{got["stageId"], got["outcome"], got["lostReasonId"], got["stageEnteredAt"], got["version"]})
				require.Equal(t, got, k.read(id))
				k.checkMove(id, start, got, before, after)
			})
		}
	}
}

// checkMove checks the events and the history of the last move.
func (k kit) checkMove(id any, start, got object, before, after any) {
	k.t.Helper()
	var events apitest.Raised
	for _, e := range k.raised() {
		if e.Data["id"] == id && e.Data["version"] == got["version"] {
			events = append(events, e)
		}
	}
	want := []string{"deal.stage_changed"}
	if (after == "won" || after == "lost") && before != after {
		want = append(want, "deal."+after.(string))
	}
	require.Equal(k.t, want, events.Names())
	for _, e := range events {
		require.Equal(k.t, []any{start["stageId"], before}, []any{e.Data["previousStageId"], e.Data["previousOutcome"]})
		delete(e.Data, "previousStageId")
		delete(e.Data, "previousOutcome")
		require.Equal(k.t, got, e.Data)
	}
	var history []object
	k.Do(k.t, "GET", "/deals/"+id.(string)+"/history", nil).Decode(&history)
	require.Equal(k.t, object{
		"fromStageId": start["stageId"], "toStageId": got["stageId"], "fromOutcome": before, "toOutcome": after, "lostReasonId": got["lostReasonId"],
		"actorId": k.Principal.Actor.String(), "at": got["updatedAt"],
	}, history[len(history)-1])
}

func TestMovesThatAreRefused(t *testing.T) {
	t.Parallel()
	k, _ := setup(t)
	full, sales := k.fullType(), k.typeOf("sales")
	inactive := k.reason("competitor")
	_, err := run(k, func(ctx context.Context, tx *db.Tx) (deals.LostReason, error) {
		return k.service.UpdateLostReason(ctx, tx, k.by(), uuid.MustParse(inactive), record.PatchOf(deals.EntryFields{}, "isActive"))
	})
	require.NoError(t, err)
	d := k.post(object{"typeId": full.ID})
	before := k.raised()
	unknown := uuid.NewString()
	for _, row := range []struct {
		name   string
		body   object
		status int
		code   string
		meta   object
	}{
		{"another type", object{"stageId": sales.stages["Won"]}, 409, "DEAL_STAGE_TYPE_MISMATCH", object{"field": "stageId", "typeId": full.ID, "stageTypeId": sales.ID}},
		{"inactive", object{"stageId": full.stages["closed"]}, 409, "DEAL_STAGE_INACTIVE", object{"field": "stageId", "id": full.stages["closed"]}},
		{"unknown", object{"stageId": unknown}, 404, "DEAL_STAGE_NOT_FOUND", object{"field": "stageId", "id": unknown}},
		{"unknown reason", object{"stageId": full.stages["lost"], "lostReasonId": unknown}, 404, "DEAL_LOST_REASON_NOT_FOUND", object{"field": "lostReasonId", "id": unknown}},
		{"inactive reason", object{"stageId": full.stages["lost"], "lostReasonId": inactive}, 404, "DEAL_LOST_REASON_NOT_FOUND", object{"field": "lostReasonId", "id": inactive}},
		{"another type before the reason", object{"stageId": sales.stages["Lost"]}, 409, "DEAL_STAGE_TYPE_MISMATCH", nil},
	} {
		for _, method := range []string{"PATCH", "POST"} {
			got := k.Do(t, method, "/deals/"+d["id"].(string)+"/stage", row.body).Fault(row.status, row.code)
			if row.meta != nil {
				require.Equal(t, row.meta, got["meta"], row.name)
			}
		}
	}
	for _, body := range []object{{"stageId": full.stages["lost"]}, {"stageId": full.stages["lost"], "lostReasonId": nil}} {
		require.Equal(t, map[string]string{"lostReasonId": "REQUIRED"}, k.move(d["id"], body).Fields())
	}
	for body, want := range map[string]map[string]string{
		`{}`: {"stageId": "REQUIRED"}, `{"stageId":null}`: {"stageId": "TYPE"}, `{"stageId":"Won","lostReasonId":"x"}`: {"stageId": "FORMAT", "lostReasonId": "FORMAT"},
	} {
		require.Equal(t, want, k.Do(t, "POST", "/deals/"+d["id"].(string)+"/stage", body).Fields(), body)
	}
	k.Do(t, "PATCH", "/deals/"+d["id"].(string)+"/stage", object{"stageId": full.stages["won"]}, apitest.Header{"If-Match", `"7"`}).Fault(412, "PRECONDITION_FAILED")
	require.Equal(t, d, k.read(d["id"]))
	require.Equal(t, before, k.raised())
	require.JSONEq(t, `[]`, string(k.Do(t, "GET", "/deals/"+d["id"].(string)+"/history", nil).Body))
	// A reason is ignored elsewhere, also one that does not exist.
	got := k.move(d["id"], object{"stageId": full.stages["won"], "lostReasonId": unknown}).OK(200)
	require.Nil(t, got["lostReasonId"])
}

func TestChecklist(t *testing.T) {
	t.Parallel()
	k, _ := setup(t)
	full, sales := k.fullType(), k.typeOf("sales")
	id := k.post(object{"typeId": full.ID})["id"]
	key := func(stage string, i int) string { return fmt.Sprintf("%s:%d", full.stages[stage], i) }
	got := k.patch(id, object{"checklistDone": []string{key("middle", 0), key("start", 1), key("middle", 0)}})
	require.Equal(t, []any{key("middle", 0), key("start", 1)}, got["checklistDone"])
	bad := []string{key("start", 2), key("start", -1), key("won", 0), full.stages["start"], "x:0", sales.stages["New"] + ":0", key("start", 0) + "0", key("start", 0) + " ", full.stages["start"] + ":00", key("start", 0)}
	want := map[string]string{}
	for i := range 7 {
		want[fmt.Sprintf("checklistDone[%d]", i)] = "ENUM"
	}
	want["checklistDone[8]"] = "ENUM"
	require.Equal(t, want, k.Do(t, "PATCH", "/deals/"+id.(string), object{"checklistDone": bad}).Fields())
	require.Equal(t, got, k.read(id))
	// Entries that are done stay, although the checklist became shorter.
	_, err := run(k, func(ctx context.Context, tx *db.Tx) (deals.Stage, error) {
		return k.service.UpdateStage(ctx, tx, k.by(), uuid.MustParse(full.stages["middle"]), record.PatchOf(deals.StageFields{}, "checklist"))
	})
	require.NoError(t, err)
	require.Equal(t, []any{key("middle", 0), key("start", 0)}, k.patch(id, object{"checklistDone": []string{key("middle", 0), key("start", 0)}})["checklistDone"])
	require.Equal(t, []any{}, k.patch(id, object{"checklistDone": []string{}})["checklistDone"])
	k.Do(t, "PATCH", "/deals/"+id.(string), object{"checklistDone": []string{key("middle", 0)}}).Fields()
}

func TestParallelMoves(t *testing.T) {
	t.Parallel()
	k, _ := setup(t)
	peer, _ := setup(t) // another process: it shares only the database
	full := k.fullType()
	same := kit{peer.server.Caller(k.Principal.Company), k.neighbours, t, peer.db, peer.service, peer.server}
	id := k.post(object{"typeId": full.ID})["id"].(string)
	stages := []string{"middle", "won", "done", "won twice", "cancelled"}
	var wg sync.WaitGroup
	statuses := make([]int, 10)
	for i := range statuses {
		wg.Go(func() {
			caller := []kit{k, same}[i%2]
			statuses[i] = caller.Do(t, "PATCH", "/deals/"+id+"/stage", object{"stageId": full.stages[stages[i%5]]}).Status
		})
	}
	wg.Wait()
	for _, status := range statuses {
		require.Equal(t, 200, status)
	}
	var history []object
	k.Do(t, "GET", "/deals/"+id+"/history", nil).Decode(&history)
	at := full.stages["start"]
	for _, h := range history {
		require.Equal(t, at, h["fromStageId"], "moves follow each other")
		at = h["toStageId"].(string)
	}
	got := k.read(id)
	require.Equal(t, at, got["stageId"])
	require.Equal(t, float64(len(history)+1), got["version"])
	moves := 0
	for _, e := range k.raised() {
		if e.Name == "deal.stage_changed" {
			moves++
		}
	}
	require.Equal(t, len(history), moves)

	// With a condition exactly one move succeeds.
	other := k.post(object{"typeId": full.ID})["id"].(string)
	won := make([]int, 8)
	for i := range won {
		wg.Go(func() {
			caller := []kit{k, same}[i%2]
			won[i] = caller.Do(t, "POST", "/deals/"+other+"/stage", object{"stageId": full.stages[stages[i%5]]}, apitest.Header{"If-Match", `"1"`}).Status
		})
	}
	wg.Wait()
	count := map[int]int{}
	for _, status := range won {
		count[status]++
	}
	require.Equal(t, map[int]int{200: 1, 412: 7}, count)
}

func TestVenue(t *testing.T) {
	t.Parallel()
	k, s := setup(t)
	full := k.fullType()
	at := func(from, to int) object {
		return object{
			"typeId": full.ID, "venueResourceId": s.hall, "scheduledAt": fmt.Sprintf("2027-03-01T%02d:00:00Z", from), "dueAt": fmt.Sprintf("2027-03-01T%02d:00:00Z", to),
		}
	}
	id := k.post(at(10, 12))["id"].(string)
	k.Do(t, "POST", "/deals", at(11, 13)).Fault(409, "BOOKING_SLOT_TAKEN")
	k.post(at(12, 13))
	big := at(14, 15)
	big["headcount"] = 51
	k.Do(t, "POST", "/deals", big).Fault(409, "VENUE_CAPACITY_EXCEEDED")
	k.Do(t, "PATCH", "/deals/"+id, object{"headcount": 51}).Fault(409, "VENUE_CAPACITY_EXCEEDED")
	k.patch(id, object{"headcount": 50})
	require.Equal(t, map[string]string{"dueAt": "CONFLICT"}, k.Do(t, "PATCH", "/deals/"+id, object{"dueAt": "2027-03-01T09:00:00Z"}).Fields())
	k.Do(t, "PATCH", "/deals/"+id, object{"dueAt": "2027-03-01T12:30:00Z"}).Fault(409, "BOOKING_SLOT_TAKEN")
	free := object{"venueResourceId": s.hall, "scheduledAt": "2027-03-01T10:00:00Z"}
	k.post(free) // without an end it takes nothing

	// A deal that does not take place frees its venue, and its place in the calendar.
	k.move(id, object{"stageId": full.stages["lost"], "lostReasonId": k.reason("price")}).OK(200)
	require.Equal(t, "calendar.event.deleted", k.inCalendar(id))
	second := k.post(at(11, 12))["id"].(string)
	k.move(id, object{"stageId": full.stages["middle"]}).Fault(409, "BOOKING_SLOT_TAKEN")
	require.Equal(t, "lost", k.read(id)["outcome"], "nothing was stored")
	k.move(second, object{"stageId": full.stages["cancelled"]}).OK(200)
	k.move(id, object{"stageId": full.stages["won"]}).OK(200)
	require.Equal(t, "calendar.event.created", k.inCalendar(id))
	k.Do(t, "POST", "/deals", at(11, 12)).Fault(409, "BOOKING_SLOT_TAKEN")
	k.patch(id, object{"venueResourceId": nil})
	k.post(at(11, 12))
}

// inCalendar is the last event of the calendar about the deal.
func (k kit) inCalendar(deal string) (last string) {
	k.t.Helper()
	for _, e := range k.raised() {
		if e.Data["dealId"] == deal {
			last = e.Name
		}
	}
	return last
}

func TestTwoDealsForOneVenue(t *testing.T) {
	t.Parallel()
	k, s := setup(t)
	peer, _ := setup(t)
	peer.venues[s.hall] = nil
	same := kit{peer.server.Caller(k.Principal.Company), k.neighbours, t, peer.db, peer.service, peer.server}
	body := object{"typeId": k.typeOf("sales").ID, "venueResourceId": s.hall, "scheduledAt": "2027-03-01T10:00:00Z", "dueAt": "2027-03-01T11:00:00Z"}
	var wg sync.WaitGroup
	statuses := make([]int, 8)
	for i := range statuses {
		wg.Go(func() { statuses[i] = []kit{k, same}[i%2].Do(t, "POST", "/deals", body).Status })
	}
	wg.Wait()
	count := map[int]int{}
	for _, status := range statuses {
		count[status]++
	}
	require.Equal(t, map[int]int{201: 1, 409: 7}, count)
	require.Equal(t, 2.0, k.post(object{})["number"], "the others took no number")
}

func TestNumbersHaveNoGaps(t *testing.T) {
	t.Parallel()
	k, _ := setup(t)
	peer, _ := setup(t)
	same := kit{peer.server.Caller(k.Principal.Company), k.neighbours, t, peer.db, peer.service, peer.server}
	sales := k.typeOf("sales").ID
	const n = 20
	numbers := make([]bool, n+1)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i := range n + 5 {
		wg.Go(func() {
			body := object{"typeId": sales}
			if i >= n {
				body["assignedToId"] = uuid.New() // is refused
			}
			res := []kit{k, same}[i%2].Do(t, "POST", "/deals", body)
			mu.Lock()
			defer mu.Unlock()
			if res.Status == 201 {
				numbers[int(res.OK(201)["number"].(float64))] = true
			}
		})
	}
	wg.Wait()
	for i := 1; i <= n; i++ {
		require.True(t, numbers[i], i)
	}
}

func TestCalendarFollowsTheDeal(t *testing.T) {
	t.Parallel()
	k, _ := setup(t)
	d := k.post(object{"customerName": "Ann"})
	k.patch(d["id"], object{"scheduledAt": "2027-01-01T10:00:00Z"})
	k.patch(d["id"], object{"note": "nothing that the calendar shows"})
	k.patch(d["id"], object{"dueAt": "2027-01-01T12:00:00Z", "customerName": "Bob"})
	k.patch(d["id"], object{"dueAt": "2026-01-01T12:00:00Z"}) // before the beginning: a deadline
	k.patch(d["id"], object{"scheduledAt": nil})
	var got [][4]any
	for _, e := range k.raised() {
		if e.Data["kind"] == "deal" {
			got = append(got, [4]any{e.Name, e.Data["title"], e.Data["startAt"], e.Data["endAt"]})
		}
	}
	start, end := "2027-01-01T10:00:00.000Z", "2027-01-01T12:00:00.000Z"
	require.Equal(t, [][4]any{
		{"calendar.event.created", "Deal 1: Ann", start, start},
		{"calendar.event.updated", "Deal 1: Bob", start, end},
		{"calendar.event.updated", "Deal 1: Bob", start, start},
		{"calendar.event.deleted", "Deal 1: Bob", start, start},
	}, got)
}
