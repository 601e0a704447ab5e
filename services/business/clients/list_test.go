package clients_test

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/collate"
	"golang.org/x/text/language"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
)

func TestSearch(t *testing.T) {
	t.Parallel()
	f := setup(t)
	ids := map[string]string{}
	for name, body := range map[string]map[string]any{
		"dots":  {"phone": "+49 (30) 123-45.67"},
		"plain": {"phone": "4930999"},
		"mail":  {"email": "Someone@Example.com"},
		"firm":  {"companyName": "Nut 100% Bolt_Co", "inn": "7701234"},
		"name":  {},
		"greek": {"companyName": "ΚΑΦΕΣ Αθηνών", "inn": "77"},
		"road":  {"companyName": "Straße 1", "inn": "78"},
	} {
		body["displayName"] = name + " Müller"
		ids[f.create(t, body)["id"].(string)] = name
	}
	for search, want := range map[string][]string{
		"+49 30 12":     {"dots"},
		"4930":          {"dots", "plain"},
		"(30) 123":      {"dots"},
		"30 999":        {"plain"},
		"123-45":        {"dots"},
		"EXAMPLE.COM":   {"mail"},
		"nut 100% bolt": {"firm"},
		"0% b":          {"firm"},
		"t_c":           {"firm"},
		"t_b":           nil,
		"7701":          {"firm"},
		"müLLER":        {"dots", "firm", "greek", "mail", "name", "plain", "road"},
		"καφες":         {"greek"},
		"Καφεσ αθηνων":  nil, // accents count
		"ΑΘΗΝΏΝ":        {"greek"},
		"strasse":       {"road"},
		"STRASSE":       {"road"},
		"straße":        {"road"},
		"straẞe":        {"road"},
		"nobody":        nil,

		"030 1234567":       {"dots"}, // however it is written
		"0049 30/123 45 67": {"dots"},
		"٠٣٠ ١٢٣٤٥٦٧":       {"dots"},
	} {
		page := f.Do(t, "GET", "/clients?sort=displayName&search="+url.QueryEscape(search), nil).OK(200)
		require.Len(t, page["items"], len(want), search)
		for i, item := range page["items"].([]any) {
			require.Equal(t, want[i], ids[item.(map[string]any)["id"].(string)], search)
		}
	}
	id := f.create(t, map[string]any{"displayName": "Later"})["id"].(string)
	f.Do(t, "PATCH", "/clients/"+id, `{"phone":"0800-55"}`).OK(200)
	require.Equal(t, 1.0, f.Do(t, "GET", "/clients?search=080055", nil).OK(200)["total"], "a change is found too")
}

// listed is the model of a client in a list.
type listed struct {
	ID, Name, Kind, Status string
	Assigned               bool
	Tags                   []string
	at, changed            int // in which order they were made and last changed
}

type query struct {
	Sort, Order, Kind, Status, Tag string
	Assigned                       bool
	Size                           int
}

func (q query) values() url.Values {
	v := url.Values{"pageSize": {fmt.Sprint(q.Size)}}
	for name, value := range map[string]string{"sort": q.Sort, "order": q.Order, "kind": q.Kind, "status": q.Status, "tag": q.Tag} {
		if value != "" {
			v.Set(name, value)
		}
	}
	if q.Assigned {
		v.Set("assignedToId", anna.String())
	}
	return v
}

// expect is what the list should answer. A collator is not safe for concurrent use.
func (q query) expect(all []listed) []string {
	anyOf := func(filter, value string) bool {
		return filter == "" || slices.Contains(strings.Split(filter, ","), value)
	}
	var hits []listed
	for _, l := range all {
		if anyOf(q.Kind, l.Kind) && anyOf(q.Status, l.Status) && (q.Tag == "" || slices.Contains(l.Tags, q.Tag)) && (!q.Assigned || l.Assigned) {
			hits = append(hits, l)
		}
	}
	byName := collate.New(language.Und)
	slices.SortFunc(hits, func(a, b listed) int {
		switch q.Sort {
		case "displayName":
			return cmp.Or(byName.CompareString(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
		case "updatedAt":
			return cmp.Compare(a.changed, b.changed)
		}
		return cmp.Compare(a.at, b.at)
	})
	if q.Order == "desc" || (q.Sort == "" && q.Order == "") {
		slices.Reverse(hits)
	}
	ids := make([]string, len(hits))
	for i, l := range hits {
		ids[i] = l.ID
	}
	return ids
}

func TestListAgainstModel(t *testing.T) {
	t.Parallel()
	f := setup(t)
	all := seed(t, f)
	rapid.Check(t, func(rt *rapid.T) {
		q := query{
			Sort:     rapid.SampledFrom([]string{"", "displayName", "createdAt", "updatedAt"}).Draw(rt, "sort"),
			Order:    rapid.SampledFrom([]string{"", "asc", "desc"}).Draw(rt, "order"),
			Kind:     rapid.SampledFrom([]string{"", "legal", "individual", "legal,individual"}).Draw(rt, "kind"),
			Status:   rapid.SampledFrom([]string{"", "active", "archived"}).Draw(rt, "status"),
			Tag:      rapid.SampledFrom([]string{"", "vip", "new", "none"}).Draw(rt, "tag"),
			Assigned: rapid.Bool().Draw(rt, "assigned"),
			Size:     rapid.IntRange(1, 10).Draw(rt, "size"),
		}
		want := q.expect(all)
		if got := walkPages(t, f, q); !slices.Equal(want, got) {
			rt.Fatalf("pages of %+v:\n got %v\nwant %v", q, got, want)
		}
		if got := walkCursor(t, f, q); !slices.Equal(want, got) {
			rt.Fatalf("cursor of %+v:\n got %v\nwant %v", q, got, want)
		}
	})
}

func seed(t *testing.T, f kit) []listed {
	t.Helper()
	all := make([]listed, 0, 18)
	tags := [][]string{{}, {"vip"}, {"new", "vip"}}
	for i := range 18 {
		l := listed{Name: []string{"apple", "Banana", "Äpfel", "cherry"}[i%4], Kind: []string{"individual", "legal"}[i%2], Status: "active", Tags: tags[i%3], Assigned: i%5 == 0, at: i, changed: i}
		body := map[string]any{"displayName": l.Name, "kind": l.Kind, "tags": l.Tags}
		if l.Assigned {
			body["assignedToId"] = anna
		}
		l.ID = f.create(t, body)["id"].(string)
		all = append(all, l)
	}
	for i := range all {
		if i%4 == 1 {
			f.Do(t, "POST", "/clients/"+all[i].ID+"/archive", nil).OK(200)
			all[i].Status, all[i].changed = "archived", len(all)+i
		}
	}
	return all
}

func idsOf(page map[string]any) (ids []string) {
	for _, item := range page["items"].([]any) {
		ids = append(ids, item.(map[string]any)["id"].(string))
	}
	return ids
}

func walkPages(t *testing.T, f kit, q query) (ids []string) {
	t.Helper()
	for n := 1; ; n++ {
		v := q.values()
		v.Set("page", fmt.Sprint(n))
		page := f.Do(t, "GET", "/clients?"+v.Encode(), nil).OK(200)
		require.Equal(t, float64(n), page["page"])
		got := idsOf(page)
		if len(got) == 0 {
			require.Equal(t, float64(len(ids)), page["total"])
			return ids
		}
		ids = append(ids, got...)
	}
}

func walkCursor(t *testing.T, f kit, q query) (ids []string) {
	t.Helper()
	v := q.values()
	for {
		page := f.Do(t, "GET", "/clients?"+v.Encode(), nil).OK(200)
		ids = append(ids, idsOf(page)...)
		next, _ := page["nextCursor"].(string)
		if next == "" {
			return ids
		}
		v.Set("cursor", next)
	}
}

func TestListItem(t *testing.T) {
	t.Parallel()
	f := setup(t)
	gone := uuid.New()
	for _, user := range []uuid.UUID{anna, unnamed} {
		f.create(t, map[string]any{"displayName": "L", "assignedToId": user})
	}
	f.create(t, map[string]any{"displayName": "M"})
	_, err := f.db.Exec(t.Context(), `UPDATE clients SET assigned_to_id = $2 WHERE company_id = $1 AND display_name = 'M'`, f.Principal.Company, gone)
	require.NoError(t, err)
	page := f.Do(t, "GET", "/clients?order=asc", nil).OK(200)
	items := page["items"].([]any)
	require.Equal(t, "Anna", items[0].(map[string]any)["assignedToName"])
	require.Nil(t, items[1].(map[string]any)["assignedToName"])
	removed := items[2].(map[string]any)
	require.Nil(t, removed["assignedToName"])
	require.Equal(t, gone.String(), removed["assignedToId"])
	id := removed["id"].(string)
	f.Do(t, "PATCH", "/clients/"+id, map[string]any{"note": "n", "assignedToId": gone}).OK(200)

	want := []string{
		"id", "companyId", "kind", "displayName", "firstName", "lastName", "middleName", "companyName", "position", "phone", "email", "inn", "tags",
		"status", "balance", "points", "groupId", "priceListId", "creditLimit", "assignedToId", "assignedToName", "mergedIntoId", "source", "externalId", "metadata", "createdAt", "updatedAt", "version",
	}
	require.ElementsMatch(t, want, slices.Collect(maps.Keys(removed)))
}

func TestListParameters(t *testing.T) {
	t.Parallel()
	f := setup(t)
	id := f.create(t, map[string]any{"displayName": "One"})["id"].(string)
	f.create(t, map[string]any{"displayName": "Two"})
	for params, field := range map[string]string{
		"sort=phone": "sort", "order=up": "order", "kind=person": "kind[0]", "status=active,gone": "status[1]", "assignedToId=me": "assignedToId",
		"pageSize=0": "pageSize", "pageSize=201": "pageSize", "page=0": "page", "ids=1": "ids[0]", "fields=secret": "fields",
	} {
		require.Contains(t, f.Do(t, "GET", "/clients?"+params, nil).Fields(), field, params)
	}
	page := f.Do(t, "GET", "/clients?fields=displayName&ids="+id, nil).OK(200)
	require.Equal(t, []any{map[string]any{"id": id, "displayName": "One"}}, page["items"])
	other := f.server.Company()
	require.Empty(t, other.Do(t, "GET", "/clients?ids="+id, nil).OK(200)["items"])
	require.Equal(t, map[string]string{"foo": "UNKNOWN"}, f.Do(t, "GET", "/clients?foo=1", nil, apitest.Header{"Prefer", "handling=strict"}).Fields())
}

// A client is found by any spelling of its number, and by no number that has the same digits only.
func TestFilterByPhone(t *testing.T) {
	t.Parallel()
	f := setup(t)
	ids := map[string]string{}
	for _, phone := range []string{"+49 171 5551234", "0171/5551234", "+49 30 1234567 ext. 5", "+49 30 12345675", "0", "123"} {
		ids[f.create(t, map[string]any{"displayName": phone, "phone": phone})["id"].(string)] = phone
	}
	for phone, want := range map[string][]string{
		"0049 171 5551234":      {"+49 171 5551234", "0171/5551234"},
		"+49 (0)171 5551234":    {"+49 171 5551234", "0171/5551234"},
		"1715551234":            {"+49 171 5551234", "0171/5551234"},
		"030 1234567 x5":        {"+49 30 1234567 ext. 5"},
		"030 12345675":          {"+49 30 12345675"},
		"030 1234567":           nil,
		"0":                     nil,
		"123":                   nil,
		"+33 1 71 55 51 23":     nil,
		"no number":             nil,
		"+49 171 5551234 ext 7": nil,
	} {
		page := f.Do(t, "GET", "/clients?sort=createdAt&phone="+url.QueryEscape(phone), nil).OK(200)
		require.Len(t, page["items"], len(want), phone)
		for i, item := range page["items"].([]any) {
			require.Equal(t, want[i], ids[item.(map[string]any)["id"].(string)], phone)
		}
	}
}
