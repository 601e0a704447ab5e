package deals_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// sample is a deal as the list should see it, by the JSON names of the record.
type sample struct {
	deal  object
	order int
}

// when parses a field of a sample; the zero time is null.
func (s sample) when(field string) time.Time {
	text, ok := s.deal[field].(string)
	if !ok {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return at
}

// fill creates deals of many combinations and returns them in order of creation.
func fill(k kit, s shop, full dealType) []sample {
	random := rand.New(rand.NewPCG(3, 9))
	var sources []object
	k.Do(k.t, "GET", "/deals/sources", nil).Decode(&sources)
	pick := func(values ...any) any { return values[random.IntN(len(values))] }
	types := []string{full.ID, k.typeOf("sales").ID}
	stages := [][]string{{"start", "middle", "won", "lost", "done", "cancelled"}, {"New", "Proposal", "Won", "Lost"}}
	ids := []dealType{full, k.typeOf("sales")}
	reason := k.reason("price")
	past, future := "2020-02-03T10:00:00Z", "2100-02-03T10:00:00Z"
	var all []sample
	for i := range 40 {
		which := random.IntN(2)
		d := k.post(object{
			"typeId": types[which], "clientId": pick(nil, s.client), "addressId": pick(nil, s.address), "assignedToId": pick(nil, s.anna, s.unnamed),
			"sourceId": pick(nil, sources[0]["id"], sources[1]["id"]), "scheduledAt": pick(nil, past, future, "2030-06-01T12:00:00Z"), "dueAt": pick(nil, past, future),
			"customerName": pick("Ann", "Żan %", "Bob"), "customerPhone": pick(nil, "+1 (555) 010", "+1 555 020"), "address": pick(nil, "Elm Street", "Oak Lane"),
			"items": []object{{"kind": "custom", "name": "x", "unitPrice": random.IntN(5) * 100}},
		})
		d = k.patch(d["id"], object{"nextActionAt": pick(nil, past, future)})
		stage := stages[which][random.IntN(len(stages[which]))]
		d = k.move(d["id"], object{"stageId": ids[which].stages[stage], "lostReasonId": reason}).OK(200)
		all = append(all, sample{d, i})
	}
	return all
}

func TestListMatchesAModel(t *testing.T) {
	t.Parallel()
	k, s := setup(t)
	full := k.fullType()
	all := fill(k, s, full)
	var sources []object
	k.Do(t, "GET", "/deals/sources", nil).Decode(&sources)
	day := time.Now().UTC().Format(time.DateOnly)
	options := map[string][]string{
		"typeId": {"", full.ID, uuid.NewString()}, "stageId": {"", full.stages["middle"], k.typeOf("sales").stages["Won"]},
		"outcome": {"", "won", "lost,cancelled"}, "openOnly": {"", "true", "false", "1"}, "assignedToId": {"", s.anna.String(), uuid.NewString()},
		"clientId": {"", s.client.String()}, "addressId": {"", s.address.String()}, "sourceId": {"", sources[0]["id"].(string)},
		"scheduledFrom": {"", "2030-06-01", "2030-06-01T12:00:00Z"}, "scheduledTo": {"", "2030-06-01", "2030-06-01T11:59:59Z"},
		"dateFrom": {"", day, "2099-01-01"}, "dateTo": {"", day, "2099-01-01", "2001-01-01"},
		"noTask": {"", "true", "false"}, "overdue": {"", "true", "false"}, "search": {"", "ANN", "żan %", "555010", "1555", "elm str", "1", "40"},
		"sort": {"", "createdAt", "number", "dueAt", "scheduledAt", "total", "boardOrder"}, "order": {"", "asc", "desc"},
	}
	check := func(chosen map[string]string) {
		query := []string{"pageSize=200"}
		for name, value := range chosen {
			if value != "" {
				query = append(query, name+"="+strings.NewReplacer("%", "%25", " ", "%20").Replace(value))
			}
		}
		if crossed := crossedBounds(chosen); len(crossed) > 0 {
			require.Equal(t, crossed, k.Do(t, "GET", "/deals?"+strings.Join(query, "&"), nil).Fields())
			return
		}
		want := expect(all, chosen)
		body := k.Do(t, "GET", "/deals?"+strings.Join(query, "&"), nil).OK(200)
		got := []string{}
		for _, item := range body["items"].([]any) {
			got = append(got, item.(object)["id"].(string))
		}
		require.Equal(t, want, got, "%v", chosen)
		require.Equal(t, float64(len(want)), body["total"], "%v", chosen)
	}
	for name, values := range options {
		for _, value := range values {
			check(map[string]string{name: value})
			check(map[string]string{name: value, "sort": "total", "order": "desc"})
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 120 {
		chosen := map[string]string{}
		for name, values := range options {
			if random.IntN(3) == 0 || name == "sort" || name == "order" {
				chosen[name] = values[random.IntN(len(values))]
			}
		}
		check(chosen)
	}
}

// expect filters and sorts as the list should.
func expect(all []sample, chosen map[string]string) []string {
	var kept []sample
	for _, s := range all {
		if s.matches(chosen) {
			kept = append(kept, s)
		}
	}
	key := cmp.Or(chosen["sort"], "createdAt")
	desc := chosen["order"] == "desc" || chosen["order"] == "" && chosen["sort"] == ""
	slices.SortStableFunc(kept, func(a, b sample) int {
		c := 0
		switch key {
		case "total":
			c = cmp.Compare(a.deal["total"].(float64), b.deal["total"].(float64))
		case "dueAt", "scheduledAt":
			x, y := a.when(key), b.when(key)
			if x.IsZero() != y.IsZero() { // nulls last in both directions
				if x.IsZero() {
					return 1
				}
				return -1
			}
			c = x.Compare(y)
		}
		if c == 0 {
			c = a.order - b.order // the deals entered their stages in order of creation, too
		}
		if desc {
			c = -c
		}
		return c
	})
	ids := []string{}
	for _, s := range kept {
		ids = append(ids, s.deal["id"].(string))
	}
	return ids
}

func (s sample) matches(chosen map[string]string) bool {
	d := s.deal
	open := d["outcome"] == nil
	now := time.Now()
	for name, value := range chosen {
		on := value == "true" || value == "1"
		ok := true
		switch name {
		case "typeId", "stageId", "assignedToId", "clientId", "addressId", "sourceId":
			ok = value == "" || d[name] == value
		case "outcome":
			ok = value == "" || !open && slices.Contains(strings.Split(value, ","), d["outcome"].(string))
		case "openOnly":
			ok = !on || open
		case "noTask":
			ok = !on || open && d["nextActionAt"] == nil
		case "overdue":
			next, due := s.when("nextActionAt"), s.when("dueAt")
			ok = !on || open && (!next.IsZero() && next.Before(now) || !due.IsZero() && due.Before(now))
		case "scheduledFrom", "dateFrom":
			at := s.when(map[string]string{"scheduledFrom": "scheduledAt", "dateFrom": "createdAt"}[name])
			ok = value == "" || !at.IsZero() && !at.Before(bound(value, 0))
		case "scheduledTo", "dateTo":
			at := s.when(map[string]string{"scheduledTo": "scheduledAt", "dateTo": "createdAt"}[name])
			ok = value == "" || !at.IsZero() && !at.After(bound(value, 24*time.Hour-time.Millisecond))
		case "search":
			ok = s.contains(strings.ToLower(value))
		}
		if !ok {
			return false
		}
	}
	return true
}

func (s sample) contains(search string) bool {
	phone, _ := s.deal["customerPhone"].(string)
	address, _ := s.deal["address"].(string)
	name, _ := s.deal["customerName"].(string)
	digits := strings.NewReplacer("+", "", " ", "", "(", "", ")", "").Replace(phone)
	text := strings.ToLower(strings.Join([]string{fmt.Sprint(s.deal["number"]), name, address, phone, digits}, "\n"))
	return strings.Contains(text, search)
}

// crossedBounds are the faults of intervals that end before they begin.
func crossedBounds(chosen map[string]string) map[string]string {
	faults := map[string]string{}
	for _, stem := range []string{"date", "scheduled"} {
		from, to := chosen[stem+"From"], chosen[stem+"To"]
		if from != "" && to != "" && bound(from, 0).After(bound(to, 24*time.Hour-time.Millisecond)) {
			faults[stem+"From"] = "CONFLICT"
		}
	}
	return faults
}

func bound(value string, day time.Duration) time.Time {
	if at, err := time.Parse(time.DateOnly, value); err == nil {
		return at.Add(day)
	}
	at, err := time.Parse(time.RFC3339, value)
	if err != nil {
		panic(err)
	}
	return at
}

func TestListItems(t *testing.T) {
	t.Parallel()
	k, s := setup(t)
	full := k.fullType()
	d := k.post(object{"typeId": full.ID, "assignedToId": s.anna, "intake": object{"a": 1}, "items": []object{{"refId": s.tea}, {"refId": s.guide, "kind": "service"}}})
	k.post(object{"assignedToId": s.unnamed})
	items := k.Do(t, "GET", "/deals?sort=number", nil).OK(200)["items"].([]any)
	item := items[0].(object)
	require.Equal(t, []any{"Full", "start", nil, "Anna", 2.0}, []any{item["typeName"], item["stageName"], item["stageColor"], item["assignedToName"], item["linesCount"]})
	require.IsType(t, 0.0, item["boardOrder"])
	second := items[1].(object)
	require.Equal(t, []any{"Sales", "New", "#64748B", nil}, []any{second["typeName"], second["stageName"], second["stageColor"], second["assignedToName"]})
	for _, field := range []string{"lines", "checklistDone", "intake"} {
		require.NotContains(t, item, field)
		delete(d, field)
	}
	for _, field := range []string{"typeName", "stageName", "stageColor", "assignedToName", "linesCount", "boardOrder"} {
		delete(item, field)
	}
	require.Equal(t, d, item)
	for query, want := range map[string]map[string]string{
		"sort=name": {"sort": "ENUM"}, "outcome=open": {"outcome[0]": "ENUM"}, "openOnly=yes": {"openOnly": "TYPE"}, "typeId=sales": {"typeId": "FORMAT"}, "clientId=": {"clientId": "FORMAT"},
		"scheduledFrom=2030-01-02&scheduledTo=2030-01-01": {"scheduledFrom": "CONFLICT"},
	} {
		require.Equal(t, want, k.Do(t, "GET", "/deals?"+query, nil).Fields(), query)
	}
	var walked []string
	for cursor := ""; ; {
		page := k.Do(t, "GET", "/deals?sort=dueAt&pageSize=1"+cursor, nil).OK(200)
		for _, item := range page["items"].([]any) {
			walked = append(walked, item.(object)["id"].(string))
		}
		next, more := page["nextCursor"].(string)
		if !more {
			break
		}
		cursor = "&cursor=" + next
	}
	require.Len(t, walked, 2)
	require.Empty(t, k.server.Company().Do(t, "GET", "/deals", nil).OK(200)["items"])
}

// The order of the board is the order in which deals entered their stage.
func TestBoardOrder(t *testing.T) {
	t.Parallel()
	k, _ := setup(t)
	sales := k.typeOf("sales")
	var ids []string
	for range 3 {
		ids = append(ids, k.post(object{})["id"].(string))
	}
	for _, i := range []int{1, 2, 0} {
		k.move(ids[i], object{"stageId": sales.stages["Proposal"]}).OK(200)
	}
	k.patch(ids[1], object{"note": "does not move it"})
	var got []string
	for _, item := range k.Do(t, "GET", "/deals?sort=boardOrder&stageId="+sales.stages["Proposal"], nil).OK(200)["items"].([]any) {
		got = append(got, item.(object)["id"].(string))
	}
	require.Equal(t, []string{ids[1], ids[2], ids[0]}, got)
}
