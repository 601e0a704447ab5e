package receiver_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/services/dev/receiver"
)

func TestPromisesAreComparedWithArrivals(t *testing.T) {
	t.Parallel()
	f := setup(t, receiver.Config{})
	early, late, lost, extra := uuid.NewString(), uuid.NewString(), uuid.NewString(), uuid.NewString()
	f.post("/hook/a", "d-0", f.body("order.created", extra)) // before the first promise nothing is counted
	require.Equal(t, 204, f.call("POST", "/promises", `{"event":"order.created","receivers":{"a":[]}}`, nil))
	f.post("/hook/a", "d-1", f.body("order.created", early))
	f.post("/hook/a", "d-2", f.body("order.created", extra))
	f.post("/hook/a", "d-3", f.body("order.updated", lost)) // another event keeps no promise
	require.Equal(t, 204, f.call("POST", "/promises", fmt.Sprintf(`{"event":"order.created","receivers":{"a":[%q,%q],"b":[%q]}}`, early, late, lost), nil))
	require.EqualValues(t, 1, f.hooks.Report("b").Promises["order.created"].Missing)
	require.NoError(t, f.hooks.Promise("a", "order.created", []string{lost}))
	f.post("/hook/a", "d-4", f.body("order.created", late))
	f.post("/hook/a", "d-4", f.body("order.created", late)) // the same delivery again is a duplicate
	f.post("/hook/a", "d-5", f.body("order.created", late)) // another delivery of the same record is not

	want := receiver.Promises{Promised: 3, Kept: 2, Missing: 1, Unpromised: 1, Repeated: 1, MissingIDs: []string{lost}}
	require.Equal(t, map[string]receiver.Promises{"order.created": want}, f.hooks.Report("a").Promises)
	var all struct {
		receiver.Report
		Receivers map[string]receiver.Report
	}
	require.Equal(t, 200, f.call("GET", "/report", "", &all))
	require.EqualValues(t, 2, all.Promises["order.created"].Missing)
	require.Equal(t, []string{lost, lost}, all.Promises["order.created"].MissingIDs)
	require.Equal(t, 200, f.call("GET", "/report?prefix=b", "", &all))
	require.EqualValues(t, 1, all.Promises["order.created"].Missing)
	require.Contains(t, all.Receivers, "b")

	require.Equal(t, 204, f.call("POST", "/reset/a", "", nil))
	require.Empty(t, f.hooks.Report("a").Promises)
}

func TestAFailedAttemptKeepsNoPromise(t *testing.T) {
	t.Parallel()
	f := setup(t, receiver.Config{})
	id := uuid.NewString()
	require.NoError(t, f.hooks.Promise("a", "order.created", []string{id}))
	require.Equal(t, 204, f.call("POST", "/behaviour/a", `{"mode":"status","status":500,"times":1}`, nil))
	f.post("/hook/a", "d", f.body("order.created", id))
	require.EqualValues(t, 1, f.hooks.Report("a").Promises["order.created"].Missing)
	require.Equal(t, 401, f.call("POST", "/hook/a", fmt.Sprintf(`{"event":"order.created","data":{"id":%q}}`, id), nil))
	require.EqualValues(t, 1, f.hooks.Report("a").Promises["order.created"].Missing, "a forged request keeps no promise")
	f.post("/hook/a", "d", f.body("order.created", id))
	require.EqualValues(t, 1, f.hooks.Report("a").Promises["order.created"].Kept)
}

func TestPromisesThatCannotBeKeptInMind(t *testing.T) {
	t.Parallel()
	f := setup(t, receiver.Config{MaxIDs: 2})
	for body, status := range map[string]int{
		`{"event":"order.created","receivers":{"a":["x"]}}`: 400,
		`{"receivers":{"a":[]}}`:                            400,
		`{"event":"e","ids":["x"]}`:                         400,
		fmt.Sprintf(`{"event":"e","receivers":{"a":[%q,%q,%q]}}`, uuid.New(), uuid.New(), uuid.New()): 400,
	} {
		require.Equal(t, status, f.call("POST", "/promises", body, nil), body)
	}
	for i := range 100 {
		require.NoError(t, f.hooks.Promise("a", fmt.Sprint("e", i), nil))
	}
	require.ErrorContains(t, f.hooks.Promise("a", "one more", nil), "100 events")
}

func TestLatencyStartsAnew(t *testing.T) {
	t.Parallel()
	f := setup(t, receiver.Config{})
	f.post("/hook/a", "d-1", f.body("order.created", "o"))
	require.EqualValues(t, 1, f.hooks.Report("a").LatencyMs.Count)
	require.Equal(t, 204, f.call("DELETE", "/latency/a", "", nil))
	f.post("/hook/a", "d-2", f.body("order.created", "o"))
	report := f.hooks.Report("a")
	require.EqualValues(t, 1, report.LatencyMs.Count)
	require.EqualValues(t, 2, report.Unique, "counts stay")
}

func TestForgottenReceivers(t *testing.T) {
	t.Parallel()
	f := setup(t, receiver.Config{})
	f.post("/hook/load-1.a", "d", f.body("order.created", "o"))
	f.post("/hook/a", "d", f.body("order.created", "o"))
	require.Equal(t, 204, f.call("POST", "/behaviour/load-1.a", `{"mode":"hang"}`, nil))
	failed := f.hang(t.Context(), "/hook/load-1.a")
	require.Equal(t, 400, f.call("DELETE", "/receivers", "", nil), "without a prefix")
	require.Equal(t, 204, f.call("DELETE", "/receivers?prefix=load-", "", nil))
	require.Error(t, <-failed, "what hangs in a forgotten receiver ends")
	require.Zero(t, f.hooks.Report("load-1.a").Received)
	require.EqualValues(t, 1, f.hooks.Report("a").Received)
	res, _ := f.post("/hook/load-1.a", "d", f.body("order.created", "o"))
	require.Equal(t, 200, res.StatusCode)
}

func TestLedgerInAnyOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		hooks := receiver.New(receiver.Config{})
		ids := make([]uuid.UUID, 8)
		for i := range ids {
			ids[i] = uuid.New()
		}
		promised, arrived := map[uuid.UUID]bool{}, map[uuid.UUID]bool{}
		require.NoError(t, hooks.Promise("a", "e", nil))
		for i, n := range rapid.SliceOf(rapid.IntRange(0, 15)).Draw(t, "steps") {
			id := ids[n%8]
			if n < 8 {
				promised[id] = true
				require.NoError(t, hooks.Promise("a", "e", []string{id.String()}))
				continue
			}
			arrived[id] = true
			receiver.Arrive(hooks, "a", "e", fmt.Sprint("d-", i), id.String())
		}
		kept := 0
		for id := range promised {
			if arrived[id] {
				kept++
			}
		}
		got := hooks.Report("a").Promises["e"]
		require.EqualValues(t, kept, got.Kept)
		require.EqualValues(t, len(promised), got.Promised)
		require.EqualValues(t, len(promised)-kept, got.Missing)
		require.EqualValues(t, len(arrived)-kept, got.Unpromised)
	})
}
