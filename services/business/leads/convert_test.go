package leads_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/services/business/deals"
)

func (k kit) client(body object) object {
	k.t.Helper()
	body["kind"] = "individual"
	if _, ok := body["displayName"]; !ok {
		body["displayName"] = "Client"
	}
	return k.Do(k.t, "POST", "/clients", body).OK(201)
}

func (k kit) convert(lead object) object {
	k.t.Helper()
	return k.Do(k.t, "POST", "/leads/"+lead["id"].(string)+"/convert", nil).OK(201)
}

func (k kit) convertDeal(lead object, body any) object {
	k.t.Helper()
	return k.Do(k.t, "POST", "/leads/"+lead["id"].(string)+"/convert-deal", body).OK(201)
}

func (k kit) names() []string {
	k.t.Helper()
	names, _ := k.raised()
	return names
}

func TestConvertCreatesAClient(t *testing.T) {
	t.Parallel()
	k := setup(t)
	for _, row := range []struct{ lead, client object }{
		{object{"name": "Ada", "phone": "1", "email": "a@example.com", "message": "hi"}, object{"displayName": "Ada", "phone": "1", "email": "a@example.com", "note": "hi"}},
		{object{"phone": "2", "email": "b@example.com"}, object{"displayName": "2", "phone": "2", "email": "b@example.com", "note": nil}},
		{object{"email": "c@example.com"}, object{"displayName": "c@example.com", "phone": nil, "email": "c@example.com", "note": nil}},
		{object{}, object{"phone": nil, "email": nil}},
	} {
		lead := k.post(row.lead)
		k.Do(t, "POST", "/leads/"+lead["id"].(string)+"/assign", object{"assigneeId": anna}).OK(200)
		before := len(k.names())
		got := k.convert(lead)
		require.Equal(t, true, got["created"])
		c := k.Do(t, "GET", "/clients/"+got["clientId"].(string), nil).OK(200)
		if len(row.lead) == 0 {
			row.client["displayName"] = "Lead " + lead["id"].(string)[:8]
		}
		for field, want := range row.client {
			require.Equal(t, want, c[field], field)
		}
		require.Equal(t, []any{"individual", anna.String(), "active"}, []any{c["kind"], c["assignedToId"], c["status"]})
		after := k.Do(t, "GET", "/leads/"+lead["id"].(string), nil).OK(200)
		require.Equal(t, []any{got["clientId"], nil, "converted"}, []any{after["clientId"], after["dealId"], after["status"]})
		names, data := k.raised()
		require.ElementsMatch(t, []string{"client.created", "lead.status_changed", "lead.converted"}, names[before:])
		for i, name := range names[before:] {
			if name == "client.created" {
				continue
			}
			d := data[before+i]
			require.Equal(t, []any{"converted", got["clientId"], "Anna"}, []any{d["status"], d["clientId"], d["assignedToName"]})
			if name == "lead.status_changed" {
				require.Equal(t, "new", d["previousStatus"])
			}
		}
		again := k.convert(lead)
		require.Equal(t, object{"clientId": got["clientId"], "created": false}, again)
		k.Do(t, "PATCH", "/leads/"+lead["id"].(string)+"/status", object{"status": "new"}).OK(200)
		count := len(k.names())
		require.Equal(t, got["clientId"], k.convert(lead)["clientId"])
		require.Len(t, k.names(), count, "a repeat raises nothing")
	}
}

func TestConvertMatchesAClient(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name    string
		prefix  string
		clients []object
		lead    object
		want    int // index of the client; -1 = a new one
	}{
		{"the same digits", "+49", []object{{"phone": "+49 30 123-45"}}, object{"phone": "4930(12345)"}, 0},
		{"eight in place of seven", "+7", []object{{"phone": "8 (912) 345-67-89"}}, object{"phone": "+79123456789"}, 0},
		{"an eight elsewhere", "+49", []object{{"phone": "+7 912 345 67 89"}}, object{"phone": "89123456789"}, -1},
		{"the country prefix is missing", "+49", []object{{"phone": "+49 3012345678"}}, object{"phone": "3012345678"}, 0},
		{"the country prefix is missing at the client", "+7", []object{{"phone": "912 345 67 89"}}, object{"phone": "8 912 345 67 89"}, 0},
		{"another country", "+1", []object{{"phone": "+49 3012345678"}}, object{"phone": "3012345678"}, -1},
		{"a zero that was lost", "+49", []object{{"phone": "+49 301234567"}}, object{"phone": "301234567"}, 0},
		{"the prefix of national calls", "+33", []object{{"phone": "+33 6 12 34 56 78"}}, object{"phone": "06 12 34 56 78"}, 0},
		{"the prefix of national calls at the client", "+44", []object{{"phone": "07911 123456"}}, object{"phone": "+44 7911 123456"}, 0},
		{"the prefix of international calls", "+49", []object{{"phone": "0171 5551234"}}, object{"phone": "0049 171 5551234"}, 0},
		{"a zero in parentheses", "+49", []object{{"phone": "0171/5551234"}}, object{"phone": "+49 (0)171 5551234"}, 0},
		{"Japan", "+81", []object{{"phone": "+81 90-1234-5678"}}, object{"phone": "090-1234-5678"}, 0},
		{"an extension", "+49", []object{{"phone": "+49 30 1234567 ext. 5"}}, object{"phone": "+49 30 12345675"}, -1},
		{"the same extension", "+49", []object{{"phone": "+49 30 12345675"}, {"phone": "030 1234567 x5"}}, object{"phone": "+49 30 1234567 ext. 5"}, 1},
		{"nobody's number", "+49", []object{{"phone": "0"}}, object{"phone": "0"}, -1},
		{"nobody's longer number", "+49", []object{{"phone": "000000000"}, {"phone": "123"}}, object{"phone": "000000000"}, -1},
		{"the oldest of several spellings", "+33", []object{{"phone": "0612345678"}, {"phone": "+33 612345678"}}, object{"phone": "06 12 34 56 78"}, 0},
		{"part of a number", "+49", []object{{"phone": "+49 30 12345"}}, object{"phone": "3012345"}, -1},
		{"e-mail in another case", "+49", []object{{"email": "Ada@Example.com"}}, object{"email": "aDA@example.COM"}, 0},
		{"phone before e-mail", "+49", []object{{"email": "a@example.com"}, {"phone": "555 0177"}}, object{"phone": "555 0177", "email": "a@example.com"}, 1},
		{"e-mail after an unknown phone", "+49", []object{{"phone": "555 0178"}, {"email": "a@example.com"}}, object{"phone": "555 0177", "email": "a@example.com"}, 1},
		{"the oldest", "+49", []object{{"phone": "555 0177"}, {"phone": "55-50-177"}}, object{"phone": "555 0177"}, 0},
		{"active only", "+49", []object{{"phone": "555 0177", "archived": true}, {"phone": "555 0177"}}, object{"phone": "555 0177"}, 1},
		{"no active one", "+49", []object{{"phone": "555 0177", "archived": true}}, object{"phone": "555 0177"}, -1},
		{"a phone without digits", "+49", []object{{"phone": "n/a"}}, object{"phone": "none"}, -1},
		{"nothing to match by", "+49", []object{{}}, object{"name": "Client"}, -1},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			k := setup(t, func(p *access.Principal) { p.CountryPrefix = row.prefix })
			foreign := kit{k.server.Company(), t, k.db, k.server, k.deals}
			foreign.client(object{"phone": row.lead["phone"], "email": row.lead["email"]})
			var ids []string
			for _, body := range row.clients {
				archived := body["archived"] == true
				delete(body, "archived")
				ids = append(ids, k.client(body)["id"].(string))
				if archived {
					k.Do(t, "POST", "/clients/"+ids[len(ids)-1]+"/archive", nil).OK(200)
				}
			}
			count := len(k.names())
			got := k.convert(k.post(row.lead))
			if row.want < 0 {
				require.Equal(t, true, got["created"])
				require.NotContains(t, ids, got["clientId"])
				return
			}
			require.Equal(t, object{"clientId": ids[row.want], "created": false}, got)
			require.NotContains(t, k.names()[count:], "client.created")
		})
	}
}

func TestConvertToADeal(t *testing.T) {
	t.Parallel()
	k := setup(t)
	k.pipelines()
	lead := k.post(object{"name": "Ada", "phone": "555 0177", "email": "a@example.com", "message": "hi", "source": "public_form"})
	k.Do(t, "POST", "/leads/"+lead["id"].(string)+"/assign", object{"assigneeId": bert}).OK(200)
	before := len(k.names())
	got := k.convertDeal(lead, nil)
	d := k.Do(t, "GET", "/deals/"+got["dealId"].(string), nil).OK(200)
	types, sources := k.array("/deals/types"), k.array("/deals/sources")
	require.Equal(t, []any{
		types[0]["id"], types[0]["stages"].([]any)[0].(object)["id"], nil, got["clientId"], "Ada", "555 0177", "a@example.com", "public_form", sources[1]["id"], "hi", bert.String(), 1.0,
	}, []any{
		d["typeId"], d["stageId"], d["outcome"], d["clientId"], d["customerName"], d["customerPhone"], d["customerEmail"], d["source"], d["sourceId"], d["note"], d["assignedToId"], d["number"],
	})
	require.Equal(t, home.String(), d["branchId"])
	require.Equal(t, "lead", types[0]["alias"])
	after := k.Do(t, "GET", "/leads/"+lead["id"].(string), nil).OK(200)
	require.Equal(t, []any{got["clientId"], got["dealId"], "converted"}, []any{after["clientId"], after["dealId"], after["status"]})
	require.ElementsMatch(t, []string{"client.created", "deal.created", "lead.status_changed", "lead.converted"}, k.names()[before:])

	count := len(k.names())
	require.Equal(t, got, k.convertDeal(lead, object{"typeId": types[1]["id"]}), "a repeat")
	require.Equal(t, object{"clientId": got["clientId"], "created": false}, k.convert(lead))
	require.Len(t, k.names(), count, "repeats raise nothing")
	k.Do(t, "PATCH", "/leads/"+lead["id"].(string)+"/status", object{"status": "spam"}).OK(200)
	require.Equal(t, got, k.convertDeal(lead, nil), "a repeat, whatever the status is now")
	require.Len(t, k.names(), count+1)
	require.Equal(t, "spam", k.Do(t, "GET", "/leads/"+lead["id"].(string), nil).OK(200)["status"])

	// After a conversion to a client, only the deal is made.
	second := k.post(object{"phone": "55-50-177", "source": "unknown"})
	require.Equal(t, got["clientId"], k.convert(second)["clientId"])
	count = len(k.names())
	more := k.convertDeal(second, object{"typeId": types[1]["id"]})
	require.Equal(t, got["clientId"], more["clientId"])
	require.ElementsMatch(t, []string{"deal.created", "lead.converted"}, k.names()[count:])
	d = k.Do(t, "GET", "/deals/"+more["dealId"].(string), nil).OK(200)
	require.Equal(t, []any{types[1]["id"], "unknown", nil, "Ada", "55-50-177", 2.0}, []any{d["typeId"], d["source"], d["sourceId"], d["customerName"], d["customerPhone"], d["number"]})
	require.Nil(t, k.Do(t, "POST", "/deals", object{"typeId": types[0]["id"], "branchId": home}).OK(201)["branchId"], "only of converted leads")
}

func TestConversionsThatAreRefused(t *testing.T) {
	t.Parallel()
	k := setup(t)
	lead := k.post(object{"phone": "555 0177"})
	path := "/leads/" + lead["id"].(string)
	refuse := func(body any, status int, code string) object {
		t.Helper()
		return k.Do(t, "POST", path+"/convert-deal", body).Fault(status, code)["meta"].(object)
	}
	refuse(nil, 409, "DEAL_LEAD_TYPE_MISSING")
	k.pipelines()
	unknown := uuid.NewString()
	require.Equal(t, object{"field": "typeId", "id": unknown}, refuse(object{"typeId": unknown}, 404, "DEAL_TYPE_NOT_FOUND"))
	leadType := uuid.MustParse(k.array("/deals/types")[0]["id"].(string))
	k.run(func(ctx context.Context, tx *db.Tx) error {
		_, err := k.deals.UpdateType(ctx, tx, access.Caller{Principal: k.Principal}, leadType, record.PatchOf(deals.TypeFields{}, "isActive"))
		return err
	})
	refuse(nil, 409, "DEAL_LEAD_TYPE_MISSING")
	refuse(object{"typeId": leadType}, 409, "DEAL_TYPE_INACTIVE")
	for _, op := range []string{"/convert", "/convert-deal"} {
		k.Do(t, "POST", path+op, nil, apitest.Header{"If-Match", `"9"`}).Fault(412, "PRECONDITION_FAILED")
	}
	sales := k.array("/deals/types")[0]["id"]
	client := k.convert(lead)["clientId"].(string)
	k.Do(t, "POST", "/clients/"+client+"/archive", nil).OK(200)
	count := k.names()
	refuse(object{"typeId": sales}, 409, "CLIENT_ARCHIVED")
	require.Equal(t, count, k.names())
	require.Nil(t, k.Do(t, "GET", path, nil).OK(200)["dealId"])
	require.Empty(t, k.Do(t, "GET", "/deals", nil).OK(200)["items"])

	// A conversion needs no scope for clients or deals, and no component for clients; one to a deal needs that for deals.
	own := k.Principal.Company
	narrow := kit{k.server.Caller(own, func(p *access.Principal) {
		p.Scopes, p.Components = apitest.Scopes("leads:write"), access.Components{"marketing"}
	}), t, k.db, k.server, k.deals}
	fresh := narrow.post(object{"phone": "88"})
	meta := narrow.Do(t, "POST", "/leads/"+fresh["id"].(string)+"/convert-deal", `{"typeId":"bad"}`).Fault(403, "MODULE_ACCESS_INACTIVE")["meta"]
	require.Equal(t, object{"alias": "deals"}, meta)
	require.Equal(t, true, narrow.convert(fresh)["created"])
	with := kit{k.server.Caller(own, func(p *access.Principal) {
		p.Scopes, p.Components = apitest.Scopes("leads:write"), access.Components{"marketing", "deals"}
	}), t, k.db, k.server, k.deals}
	require.NotEmpty(t, with.convertDeal(fresh, object{"typeId": sales})["dealId"])
}

func TestParallelConversions(t *testing.T) {
	t.Parallel()
	k := setup(t)
	k.pipelines()
	peer := setup(t) // another process: it shares only the database
	same := kit{peer.server.Caller(k.Principal.Company), t, peer.db, peer.server, peer.deals}
	lead := k.post(object{"phone": "555 0177"})
	const n = 12
	clients, made := make([]any, n), make([]any, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			caller := []kit{k, same}[i%2]
			op := []string{"/convert", "/convert-deal"}[i/2%2]
			res := caller.Do(t, "POST", "/leads/"+lead["id"].(string)+op, nil)
			if res.Status == 201 {
				v := res.OK(201)
				clients[i], made[i] = v["clientId"], v["dealId"]
			}
		})
	}
	wg.Wait()
	after := k.Do(t, "GET", "/leads/"+lead["id"].(string), nil).OK(200)
	require.NotNil(t, after["dealId"])
	for i := range n {
		require.Equal(t, after["clientId"], clients[i], i)
		if made[i] != nil {
			require.Equal(t, after["dealId"], made[i])
		}
	}
	count := map[string]int{}
	for _, name := range k.names() {
		count[name]++
	}
	require.Equal(t, []int{1, 1, 1}, []int{count["client.created"], count["deal.created"], count["lead.status_changed"]})
	require.Equal(t, 1.0, k.Do(t, "GET", "/deals", nil).OK(200)["total"])

	// Different leads of one person become one client, and their deals have numbers without gaps.
	var leads []object
	for i := range n {
		leads = append(leads, k.post(object{"phone": fmt.Sprintf("+49 55 501 770%*s", i%3, "")}))
	}
	results := make([]object, n)
	for i, l := range leads {
		wg.Go(func() {
			res := []kit{k, same}[i%2].Do(t, "POST", "/leads/"+l["id"].(string)+"/convert-deal", nil)
			if res.Status == 201 {
				results[i] = res.OK(201)
			}
		})
	}
	wg.Wait()
	var numbers []float64
	for _, r := range results {
		require.NotNil(t, r)
		require.Equal(t, results[0]["clientId"], r["clientId"])
		numbers = append(numbers, k.Do(t, "GET", "/deals/"+r["dealId"].(string), nil).OK(200)["number"].(float64))
	}
	slices.Sort(numbers)
	require.Equal(t, []float64{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}, numbers)
}
