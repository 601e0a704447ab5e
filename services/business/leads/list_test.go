package leads_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sample is a lead as the list should see it.
type sample struct {
	id, status, source, assigned, text string
	at                                 int
}

// fill creates leads of all combinations and returns them in order of creation.
func fill(t *testing.T, k kit) []sample {
	t.Helper()
	var all []sample
	names := []string{"Ada Moss", "Żaneta", "100%_sure"}
	for i, status := range []string{"new", "in_progress", "converted", "spam"} {
		for j, source := range []string{"webhook", "landing"} {
			for a, user := range []string{"", anna.String(), bert.String()} {
				name, phone := names[(i+j+a)%3], fmt.Sprintf("+49 (30) %d%d%d", i, j, a)
				external := fmt.Sprintf("EXT-%d%d%d", i, j, a)
				body := object{"name": name, "phone": phone, "email": fmt.Sprintf("m%d@Example.com", a), "message": "about tea " + status, "source": source, "externalId": external}
				id := k.post(body)["id"].(string)
				k.Do(t, "PATCH", "/leads/"+id+"/status", object{"status": status}).OK(200)
				if user != "" {
					k.Do(t, "POST", "/leads/"+id+"/assign", object{"assigneeId": user}).OK(200)
				}
				digits := strings.NewReplacer("+", "", " ", "", "(", "", ")", "").Replace(phone)
				text := strings.ToLower(strings.Join([]string{name, phone, digits, body["email"].(string), body["message"].(string), external}, "\n"))
				all = append(all, sample{id, status, source, user, text, len(all)})
			}
		}
	}
	return all
}

func TestListMatchesAModel(t *testing.T) {
	t.Parallel()
	k := setup(t)
	all := fill(t, k)
	k.server.Company().Do(t, "POST", "/leads", `{"name":"Ada Moss","source":"landing"}`).OK(201)
	options := map[string][]string{
		"status": {"", "new", "spam", "converted,in_progress"}, "source": {"", "landing", "webhook", "none"},
		"assignedToId": {"", "unassigned", anna.String(), bert.String(), unnamed.String()},
		"search":       {"", "ADA", "żan", "%25_s", "4930011", "m1@example", "tea%20spam", "ext-20", "nothing"},
		"sort":         {"", "createdAt", "status"}, "order": {"", "asc", "desc"},
	}
	check := func(chosen map[string]string) {
		var query []string
		for name, value := range chosen {
			if value != "" {
				query = append(query, name+"="+value)
			}
		}
		want := expect(all, chosen)
		body := k.Do(t, "GET", "/leads?pageSize=200&"+strings.Join(query, "&"), nil).OK(200)
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
		}
	}
	random := rand.New(rand.NewPCG(7, 7))
	for range 60 {
		chosen := map[string]string{}
		for name, values := range options {
			chosen[name] = values[random.IntN(len(values))]
		}
		check(chosen)
	}
}

// expect filters and sorts as the list should.
func expect(all []sample, chosen map[string]string) []string {
	var kept []sample
	for _, s := range all {
		search := strings.NewReplacer("%25", "%", "%20", " ").Replace(strings.ToLower(chosen["search"]))
		user := chosen["assignedToId"]
		if (chosen["status"] == "" || slices.Contains(strings.Split(chosen["status"], ","), s.status)) &&
			(chosen["source"] == "" || chosen["source"] == s.source) && strings.Contains(s.text, search) &&
			(user == "" || user == s.assigned || user == "unassigned" && s.assigned == "") {
			kept = append(kept, s)
		}
	}
	desc := chosen["order"] == "desc" || chosen["order"] == "" && chosen["sort"] == ""
	slices.SortStableFunc(kept, func(a, b sample) int {
		c := 0
		if chosen["sort"] == "status" {
			c = strings.Compare(a.status, b.status)
		}
		if c == 0 {
			c = a.at - b.at // ids are in order of creation, too
		}
		if desc {
			c = -c
		}
		return c
	})
	ids := []string{}
	for _, s := range kept {
		ids = append(ids, s.id)
	}
	return ids
}

func TestListShowsNamesAndChanges(t *testing.T) {
	t.Parallel()
	k := setup(t)
	all := fill(t, k)
	page := k.Do(t, "GET", "/leads?pageSize=3&sort=createdAt", nil).OK(200)
	for i, want := range []any{nil, "Anna", "Bert"} {
		item := page["items"].([]any)[i].(object)
		require.Equal(t, want, item["assignedToName"])
		require.Equal(t, k.Do(t, "GET", "/leads/"+all[i].id, nil).OK(200), item, "a list shows the whole lead")
	}
	require.NotContains(t, page["items"].([]any)[0], "companyId")
	last := k.Do(t, "PATCH", "/leads/"+all[2].id, `{"channel":"chat"}`).OK(200)
	since := k.Do(t, "GET", "/leads?updatedSince="+last["updatedAt"].(string), nil)
	require.NotEmpty(t, since.Header.Get("X-Sync-Watermark"))
	items := since.OK(200)["items"].([]any)
	require.Equal(t, all[2].id, items[len(items)-1].(object)["id"])
}
