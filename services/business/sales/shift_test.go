package sales_test

import (
	"net/http"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
)

func TestLifeOfAShift(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.Do(t, "GET", "/shifts/current", nil).Fault(404, "SHIFT_NOT_FOUND")
	made := f.Do(t, "POST", "/shifts/open", `{"openingCash":1500}`)
	v := made.OK(201)
	id := v["id"].(string)
	require.Equal(t, "/api/external/v1/shifts/"+id, made.Header.Get("Location"))
	want := map[string]any{
		"id": id, "companyId": f.Principal.Company.String(), "number": 1.0, "status": "open", "openingCash": 1500.0, "branchId": nil,
		"openedAt": v["openedAt"], "closedAt": nil, "openedById": f.Principal.Actor.String(), "closedById": nil, "closingCash": nil,
		"expectedCash": 1500.0, "cashDifference": nil, "totalsByMethod": map[string]any{"cash": 0.0, "card": 0.0, "sbp": 0.0},
		"salesCount": 0.0, "refundsCount": 0.0, "salesTotal": 0.0, "refundsTotal": 0.0, "cashIn": 0.0, "cashOut": 0.0,
		"cashierId": f.Principal.Actor.String(), "cashierName": nil, "version": 1.0, "createdAt": v["openedAt"], "updatedAt": v["openedAt"],
	}
	require.Equal(t, want, v)
	require.Equal(t, v, f.Do(t, "GET", "/shifts/current", nil).OK(200))
	require.Equal(t, v, f.readShift(id))

	got := f.Do(t, "POST", "/shifts/open", `{"openingCash":0}`).Fault(409, "SHIFT_ALREADY_OPEN")
	require.Equal(t, map[string]any{"shiftId": id}, got["meta"])
	other := f.server.Caller(f.Principal.Company)
	theirs := other.Do(t, "POST", "/shifts/open", `{"openingCash":0}`).OK(201)
	require.Equal(t, 2.0, theirs["number"], "a shift per token")

	f.sale(id)
	f.Do(t, "POST", "/shifts/"+id+"/close", nil, apitest.Header{"If-Match", `"1"`}).Fault(412, "PRECONDITION_FAILED")
	shut := other.Do(t, "POST", "/shifts/"+id+"/close", `{"closingCash":2400}`).OK(200)
	require.Equal(t, "closed", shut["status"])
	require.Equal(t, other.Principal.Actor.String(), shut["closedById"], "another token may close it")
	require.NotNil(t, shut["closedAt"])
	require.Equal(t, 2400.0, shut["closingCash"])
	require.Equal(t, 2500.0, shut["expectedCash"])
	require.Equal(t, -100.0, shut["cashDifference"])
	require.Equal(t, 3.0, shut["version"])
	require.Equal(t, shut, f.readShift(id))
	f.Do(t, "POST", "/shifts/"+id+"/close", nil).Fault(409, "SHIFT_ALREADY_CLOSED")
	f.Do(t, "GET", "/shifts/current", nil).Fault(404, "SHIFT_NOT_FOUND")
	uncounted := other.Do(t, "POST", "/shifts/"+theirs["id"].(string)+"/close", nil).OK(200)
	require.Nil(t, uncounted["closingCash"])
	require.Nil(t, uncounted["cashDifference"])
	require.Equal(t, 3.0, f.Do(t, "POST", "/shifts/open", `{"openingCash":0}`).OK(201)["number"])

	events := f.events().Of("shift.opened", "shift.closed")
	require.Len(t, events, 5)
	require.Equal(t, "shift.opened", events[0].Name)
	require.Equal(t, v, events[0].Data)
	require.Equal(t, "shift.closed", events[2].Name)
	require.Equal(t, shut, events[2].Data)

	stranger := f.server.Company()
	stranger.Do(t, "GET", "/shifts/"+id, nil).Fault(404, "SHIFT_NOT_FOUND")
	stranger.Do(t, "POST", "/shifts/"+id+"/close", nil).Fault(404, "SHIFT_NOT_FOUND")
	require.Empty(t, stranger.Do(t, "GET", "/shifts", nil).OK(200)["items"])
}

func TestBadShifts(t *testing.T) {
	t.Parallel()
	f := open(t)
	for body, want := range map[string]map[string]string{
		`{}`:                               {"openingCash": "REQUIRED"},
		`{"openingCash":-1}`:               {"openingCash": "MIN"},
		`{"openingCash":0.5}`:              {"openingCash": "STEP"},
		`{"openingCash":null}`:             {"openingCash": "TYPE"},
		`{"openingCash":1,"branchId":"x"}`: {"branchId": "FORMAT"},
	} {
		require.Equal(t, want, f.Do(t, "POST", "/shifts/open", body).Fields(), body)
	}
	got := f.Do(t, "POST", "/shifts/open", map[string]any{"openingCash": 1, "branchId": uuid.New()}).Fault(404, "BRANCH_NOT_FOUND")
	require.Equal(t, "branchId", got["meta"].(map[string]any)["field"])
	id := f.shift()
	require.Equal(t, map[string]string{"closingCash": "MIN"}, f.Do(t, "POST", "/shifts/"+id+"/close", `{"closingCash":-1}`).Fields())
	f.Do(t, "POST", "/shifts/x/close", nil).Fault(400, "VALIDATION_ERROR")
	require.Equal(t, 1.0, f.readShift(id)["number"], "what was refused took no number")
}

func TestListOfShifts(t *testing.T) {
	t.Parallel()
	f := open(t)
	first := f.shift()
	f.Do(t, "POST", "/shifts/"+first+"/close", nil).OK(200)
	second := f.shift()
	f.sale(second)
	other := f.server.Caller(f.Principal.Company)
	third := other.Do(t, "POST", "/shifts/open", map[string]any{"openingCash": 0, "cashierId": f.n.ben}).OK(201)["id"].(string)
	for query, want := range map[string][]string{
		"":              {third, second, first},
		"sort=number":   {first, second, third},
		"status=open":   {third, second},
		"status=closed": {first},
		"status=closed,open&sort=createdAt&order=desc":              {third, second, first},
		"openedById=" + f.Principal.Actor.String():                  {second, first},
		"cashierId=" + f.Principal.Actor.String():                   {second, first},
		"cashierId=" + f.n.ben.String():                             {third},
		"cashierId=" + other.Principal.Actor.String():               nil,
		"openedById=" + f.Principal.Actor.String() + "&status=open": {second},
		"dateTo=2020-01-01":                                         nil,
		"dateFrom=2020-01-01":                                       {third, second, first},
		"pageSize=1&page=2":                                         {second},
	} {
		var got []string
		for _, item := range f.Do(t, "GET", "/shifts?"+query, nil).OK(200)["items"].([]any) {
			v := item.(map[string]any)
			got = append(got, v["id"].(string))
			require.Equal(t, f.readShift(v["id"].(string)), v, "an item is the whole shift")
		}
		require.Equal(t, want, got, query)
	}
	require.Contains(t, f.Do(t, "GET", "/shifts?sort=openedAt", nil).Fields(), "sort")
	require.Contains(t, f.Do(t, "GET", "/shifts?status=shut", nil).Fields(), "status[0]")
}

func TestOpenOnceInParallel(t *testing.T) {
	t.Parallel()
	f := open(t)
	const n = 12
	answers := make([]*apitest.Response, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { answers[i] = f.Do(t, "POST", "/shifts/open", `{"openingCash":5}`) })
	}
	wg.Wait()
	opened, id := 0, f.Do(t, "GET", "/shifts/current", nil).OK(200)["id"]
	for _, a := range answers {
		if a.Status == http.StatusCreated {
			opened++
			require.Equal(t, id, a.OK(201)["id"])
			continue
		}
		require.Equal(t, map[string]any{"shiftId": id}, a.Fault(409, "SHIFT_ALREADY_OPEN")["meta"])
	}
	require.Equal(t, 1, opened)
	require.Len(t, f.events().Of("shift.opened"), 1)
}

// Between processes the database alone decides.
func TestOpenOnceInTwoProcesses(t *testing.T) {
	t.Parallel()
	f := open(t)
	nodes := []*kit{f, f.another(), f.another()}
	const n = 12
	answers := make([]*apitest.Response, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { answers[i] = nodes[i%3].Do(t, "POST", "/shifts/open", `{"openingCash":5}`) })
	}
	wg.Wait()
	id := f.Do(t, "GET", "/shifts/current", nil).OK(200)["id"]
	statuses := map[int]int{}
	for _, a := range answers {
		statuses[a.Status]++
		if a.Status != http.StatusCreated {
			require.Equal(t, map[string]any{"shiftId": id}, a.Fault(409, "SHIFT_ALREADY_OPEN")["meta"])
		}
	}
	require.Equal(t, map[int]int{201: 1, 409: n - 1}, statuses)
}

func TestCloseOnceInParallel(t *testing.T) {
	t.Parallel()
	f := open(t)
	id := f.shift()
	const n = 12
	statuses := map[int]int{}
	answers := make([]*apitest.Response, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { answers[i] = f.Do(t, "POST", "/shifts/"+id+"/close", map[string]any{"closingCash": i}) })
	}
	wg.Wait()
	for _, a := range answers {
		statuses[a.Status]++
		if a.Status != http.StatusOK {
			a.Fault(409, "SHIFT_ALREADY_CLOSED")
		}
	}
	require.Equal(t, map[int]int{200: 1, 409: n - 1}, statuses)
	require.Len(t, f.events().Of("shift.closed"), 1)
}

func TestReplayedShift(t *testing.T) {
	t.Parallel()
	f := open(t)
	key := apitest.Header{"X-Idempotency-Key", uuid.NewString()}
	first := f.Do(t, "POST", "/shifts/open", `{"openingCash":5}`, key)
	again := f.Do(t, "POST", "/shifts/open", `{"openingCash":5}`, key)
	require.Equal(t, first.Body, again.Body)
	require.Equal(t, 201, again.Status)
	require.Len(t, f.events().Of("shift.opened"), 1)
}
