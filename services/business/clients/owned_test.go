package clients_test

import (
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/services/business/clients"
)

// kinds are the records that belong to clients and can be changed: their paths, a body with every field, and their entity.
var kinds = []struct {
	path, entity string
	full         map[string]any
	required     []string
	fixed        []string // fields that cannot be cleared
}{
	{
		"addresses", "ADDRESS",
		map[string]any{"label": "Office", "text": "Street 1, Rome", "city": "Rome", "postalCode": "00100", "lat": 41.9, "lng": -12.5, "isDefault": true},
		[]string{"label", "text"},
		[]string{"label", "text", "isDefault"},
	},
	{
		"assets", "ASSET",
		map[string]any{"name": "Mill", "serialNumber": "S-7", "note": "loud"},
		[]string{"name"},
		[]string{"name"},
	},
}

func (f kit) client(t *testing.T) string {
	t.Helper()
	return f.create(t, map[string]any{"displayName": "Owner"})["id"].(string)
}

func TestLifeOfRecordsOfAClient(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for _, kind := range kinds {
		client := f.client(t)
		at := "/clients/" + client + "/" + kind.path
		made := f.Do(t, "POST", at, kind.full)
		full := made.OK(201)
		id := full["id"].(string)
		require.Equal(t, client, full["clientId"])
		require.Equal(t, f.Principal.Company.String(), full["companyId"])
		require.Equal(t, `"1"`, made.Header.Get("ETag"))
		bare := map[string]any{}
		for _, field := range kind.required {
			bare[field] = "  bare "
		}
		plain := f.Do(t, "POST", at, bare).OK(201)
		version := 1.0
		for field, want := range kind.full {
			require.Equal(t, want, full[field], field)
			got := f.Do(t, "PATCH", at+"/"+plain["id"].(string), map[string]any{field: want}).OK(200)
			version++
			require.Equal(t, want, got[field], field)
			require.Equal(t, version, got["version"])
			require.Equal(t, got, f.Do(t, "GET", at+"/"+plain["id"].(string), nil).OK(200))
		}
		for field := range kind.full {
			res := f.Do(t, "PATCH", at+"/"+id, map[string]any{field: nil})
			if slices.Contains(kind.fixed, field) {
				require.Equal(t, map[string]string{field: "TYPE"}, res.Fields())
			} else {
				require.Nil(t, res.OK(200)[field])
			}
		}
		now := f.Do(t, "GET", at+"/"+id, nil).OK(200)
		require.Equal(t, now["version"], f.Do(t, "PATCH", at+"/"+id, `{}`).OK(200)["version"])
		f.Do(t, "PATCH", at+"/"+id, `{}`, apitest.Header{"If-Match", `"99"`}).Fault(412, "PRECONDITION_FAILED")
		f.Do(t, "DELETE", at+"/"+id, nil, apitest.Header{"If-Match", `"99"`}).Fault(412, "PRECONDITION_FAILED")

		missing := map[string]string{}
		for _, field := range kind.required {
			missing[field] = "REQUIRED"
		}
		require.Equal(t, missing, f.Do(t, "POST", at, `{}`).Fields(), "all faults at once")

		page := f.Do(t, "GET", at+"?sort=createdAt", nil).OK(200)
		require.Equal(t, []string{id, plain["id"].(string)}, idsOf(page))
		require.Equal(t, 2.0, page["total"])
		require.Equal(t, []string{plain["id"].(string)}, idsOf(f.Do(t, "GET", at+"?pageSize=1", nil).OK(200)), "newest first")
		require.Len(t, idsOf(f.Do(t, "GET", at+"?updatedSince=2020-01-01T00:00:00Z", nil).OK(200)), 2)

		f.Do(t, "DELETE", at+"/"+id, nil).OK(204)
		f.Do(t, "GET", at+"/"+id, nil).Fault(404, kind.entity+"_NOT_FOUND")
		f.Do(t, "DELETE", at+"/"+id, nil).Fault(404, kind.entity+"_NOT_FOUND")
		f.Do(t, "PATCH", at+"/"+id, kind.full).Fault(404, kind.entity+"_NOT_FOUND")
		require.Equal(t, 1.0, f.Do(t, "GET", at, nil).OK(200)["total"])
	}
}

// The records of one client are not those of another, and other companies see neither.
func TestRecordsBelongToTheirClient(t *testing.T) {
	t.Parallel()
	f := setup(t)
	mine, other, stranger := f.client(t), f.client(t), f.server.Company()
	for _, kind := range kinds {
		id := f.Do(t, "POST", "/clients/"+mine+"/"+kind.path, kind.full).OK(201)["id"].(string)
		at := "/clients/" + other + "/" + kind.path
		f.Do(t, "GET", at+"/"+id, nil).Fault(404, kind.entity+"_NOT_FOUND")
		f.Do(t, "PATCH", at+"/"+id, kind.full).Fault(404, kind.entity+"_NOT_FOUND")
		f.Do(t, "DELETE", at+"/"+id, nil).Fault(404, kind.entity+"_NOT_FOUND")
		require.Empty(t, f.Do(t, "GET", at, nil).OK(200)["items"])
		for _, c := range []struct {
			by   *apitest.Client
			path string
		}{{stranger, "/clients/" + mine}, {f.Client, "/clients/" + uuid.NewString()}} {
			c.by.Do(t, "GET", c.path+"/"+kind.path, nil).Fault(404, "CLIENT_NOT_FOUND")
			c.by.Do(t, "POST", c.path+"/"+kind.path, kind.full).Fault(404, "CLIENT_NOT_FOUND")
			c.by.Do(t, "GET", c.path+"/"+kind.path+"/"+id, nil).Fault(404, "CLIENT_NOT_FOUND")
			c.by.Do(t, "PATCH", c.path+"/"+kind.path+"/"+id, kind.full).Fault(404, "CLIENT_NOT_FOUND")
			c.by.Do(t, "DELETE", c.path+"/"+kind.path+"/"+id, nil).Fault(404, "CLIENT_NOT_FOUND")
		}
		require.Equal(t, id, f.Do(t, "GET", "/clients/"+mine+"/"+kind.path+"/"+id, nil).OK(200)["id"])
	}
}

func TestBadInputOfRecordsOfAClient(t *testing.T) {
	t.Parallel()
	f := setup(t)
	at := "/clients/" + f.client(t)
	for _, row := range []struct {
		path, field string
		value       any
		code        string
	}{
		{"addresses", "label", " ", "LENGTH"},
		{"addresses", "lat", 90.5, "MAX"},
		{"addresses", "lat", -90.5, "MIN"},
		{"addresses", "lng", 180.5, "MAX"},
		{"addresses", "lng", "12", "TYPE"},
		{"addresses", "isDefault", nil, "TYPE"},
		{"assets", "serialNumber", 7, "TYPE"},
		{"interactions", "type", "fax", "ENUM"},
		{"interactions", "direction", "up", "ENUM"},
		{"interactions", "occurredAt", "yesterday", "FORMAT"},
	} {
		body := map[string]any{"label": "L", "text": "T", "name": "N", "type": "call"}
		for _, kind := range []string{"label", "text", "name", "type"} {
			if row.path == "addresses" != slices.Contains([]string{"label", "text"}, kind) || row.path == "assets" != (kind == "name") || row.path == "interactions" != (kind == "type") {
				delete(body, kind)
			}
		}
		body[row.field] = row.value
		require.Equal(t, map[string]string{row.field: row.code}, f.Do(t, "POST", at+"/"+row.path, body).Fields(), "%v", row)
		require.Empty(t, f.Do(t, "GET", at+"/"+row.path, nil).OK(200)["items"])
	}
	require.Contains(t, f.Do(t, "GET", at+"/addresses?sort=text", nil).Fields(), "sort")
}

func defaults(t *testing.T, f kit, at string) (ids []string) {
	t.Helper()
	for _, item := range f.Do(t, "GET", at, nil).OK(200)["items"].([]any) {
		if a := item.(map[string]any); a["isDefault"] == true {
			ids = append(ids, a["id"].(string))
		}
	}
	return ids
}

func TestOneDefaultAddress(t *testing.T) {
	t.Parallel()
	f := setup(t)
	at := "/clients/" + f.client(t) + "/addresses"
	body := func(isDefault bool) map[string]any {
		return map[string]any{"label": uuid.NewString(), "text": "x", "isDefault": isDefault}
	}
	first := f.Do(t, "POST", at, body(true)).OK(201)["id"].(string)
	require.Equal(t, []string{first}, defaults(t, f, at))
	second := f.Do(t, "POST", at, body(true)).OK(201)["id"].(string)
	require.Equal(t, []string{second}, defaults(t, f, at))
	require.Equal(t, 2.0, f.Do(t, "GET", at+"/"+first, nil).OK(200)["version"], "the other one has changed")
	f.Do(t, "PATCH", at+"/"+first, `{"isDefault":true}`).OK(200)
	require.Equal(t, []string{first}, defaults(t, f, at))
	f.Do(t, "PATCH", at+"/"+first, `{"isDefault":false}`).OK(200)
	require.Empty(t, defaults(t, f, at))
	elsewhere := "/clients/" + f.client(t) + "/addresses"
	kept := f.Do(t, "POST", elsewhere, body(true)).OK(201)["id"].(string)

	const n = 10
	statuses := make([]int, 2*n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { statuses[2*i] = f.Do(t, "POST", at, body(true)).Status })
		wg.Go(func() {
			statuses[2*i+1] = f.Do(t, "PATCH", at+"/"+[]string{first, second}[i%2], `{"isDefault":true}`).Status
		})
	}
	wg.Wait()
	for i, s := range statuses {
		require.Equal(t, []int{http.StatusCreated, http.StatusOK}[i%2], s)
	}
	require.Len(t, defaults(t, f, at), 1)
	require.Equal(t, []string{kept}, defaults(t, f, elsewhere), "of another client")
}

func TestAddressesAndAssetsOfDocuments(t *testing.T) {
	t.Parallel()
	f := setup(t)
	at := "/clients/" + f.client(t)
	address := uuid.MustParse(f.Do(t, "POST", at+"/addresses", kinds[0].full).OK(201)["id"].(string))
	asset := uuid.MustParse(f.Do(t, "POST", at+"/assets", kinds[1].full).OK(201)["id"].(string))
	label, found, err := f.service.AddressLabel(t.Context(), f.db, f.Principal.Company, address)
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, "Office", label)
	stranger := f.server.Company().Principal.Company
	_, found, err = f.service.AddressLabel(t.Context(), f.db, stranger, address)
	require.NoError(t, err)
	require.False(t, found)
	known, err := clients.KnownAssets(t.Context(), f.db, f.Principal.Company, []uuid.UUID{asset, address})
	require.NoError(t, err)
	require.Equal(t, []uuid.UUID{asset}, known)
	known, err = clients.KnownAssets(t.Context(), f.db, stranger, []uuid.UUID{asset})
	require.NoError(t, err)
	require.Empty(t, known)
}

func TestInteractions(t *testing.T) {
	t.Parallel()
	f := setup(t)
	client := f.client(t)
	at := "/clients/" + client + "/interactions"
	full := map[string]any{"type": "call", "direction": "in", "subject": "Price", "body": "Asked for a discount", "occurredAt": "2026-11-20T12:00:00.000Z"}
	i := f.Do(t, "POST", at, full).OK(201)
	for field, want := range full {
		require.Equal(t, want, i[field], field)
	}
	require.Equal(t, client, i["clientId"])
	require.Equal(t, f.Principal.Actor.String(), i["createdById"])
	names, last := f.events(t)
	require.Equal(t, []string{"client.created", "client.interaction.created"}, names)
	require.Equal(t, map[string]any{"id": client, "displayName": "Owner"}, last["client"])
	delete(last, "client")
	require.Equal(t, i, last)

	before := time.Now().Add(-time.Minute)
	bare := f.Do(t, "POST", at, `{"type":"note"}`).OK(201)
	for _, field := range []string{"direction", "subject", "body"} {
		require.Contains(t, bare, field)
		require.Nil(t, bare[field])
	}
	occurred, err := time.Parse(time.RFC3339, bare["occurredAt"].(string))
	require.NoError(t, err)
	require.WithinRange(t, occurred, before, time.Now().Add(time.Minute))
	require.Equal(t, map[string]string{"type": "REQUIRED"}, f.Do(t, "POST", at, `{}`).Fields())
	require.Equal(t, 1.0, f.Do(t, "GET", "/clients/"+client, nil).OK(200)["version"], "the client has not changed")

	early := f.Do(t, "POST", at, `{"type":"email","direction":"out","occurredAt":"2020-01-01T00:00:00Z","subject":"Hello"}`).OK(201)
	ids := map[string]string{"call": i["id"].(string), "note": bare["id"].(string), "email": early["id"].(string)}
	for query, want := range map[string][]string{
		"":                                  {"email", "note", "call"},
		"sort=createdAt":                    {"call", "note", "email"},
		"type=call,email":                   {"email", "call"},
		"direction=out":                     {"email"},
		"dateTo=2020-01-01":                 {"email"},
		"dateFrom=2020-01-02&type=call":     {"call"},
		"search=DISCOUNT":                   {"call"},
		"search=hello&direction=in":         nil,
		"sort=occurredAt&dateTo=2026-11-20": {"email", "call"},
	} {
		var got []string
		for _, name := range want {
			got = append(got, ids[name])
		}
		require.Equal(t, got, idsOf(f.Do(t, "GET", at+"?"+query, nil).OK(200)), query)
	}
	require.Contains(t, f.Do(t, "GET", at+"?dateFrom=2026-01-02&dateTo=2026-01-01", nil).Fields(), "dateFrom")
	stranger := f.server.Company()
	stranger.Do(t, "GET", at, nil).Fault(404, "CLIENT_NOT_FOUND")
	stranger.Do(t, "POST", at, full).Fault(404, "CLIENT_NOT_FOUND")
}

func TestAnonymize(t *testing.T) {
	t.Parallel()
	f := setup(t)
	c := f.Do(t, "POST", "/clients", full).OK(201)
	id := c["id"].(string)
	at := "/clients/" + id
	f.Do(t, "POST", at+"/addresses", kinds[0].full).OK(201)
	f.Do(t, "POST", at+"/assets", kinds[1].full).OK(201)
	f.Do(t, "POST", at+"/interactions", `{"type":"call","subject":"secret","body":"secret"}`).OK(201)
	other := f.client(t)
	f.Do(t, "POST", "/clients/"+other+"/interactions", `{"type":"call","subject":"kept"}`).OK(201)
	f.Do(t, "POST", at+"/anonymize", nil, apitest.Header{"If-Match", `"9"`}).Fault(412, "PRECONDITION_FAILED")

	gone := f.Do(t, "POST", at+"/anonymize", nil).OK(200)
	kept := []string{"id", "companyId", "kind", "status", "balance", "points", "creditLimit", "paymentTermsDays", "slaHours", "groupId", "priceListId", "assignedToId", "createdById", "createdAt"}
	for field, was := range c {
		switch {
		case slices.Contains(kept, field):
			require.Equal(t, was, gone[field], field)
		case field == "displayName":
			require.Equal(t, "Anonymized client", gone[field])
		case field == "tags", field == "metadata", field == "attachmentFileIds":
			require.Empty(t, gone[field])
		case field == "marketingConsent":
			require.Equal(t, false, gone[field])
		case field == "version":
			require.Equal(t, 2.0, gone[field])
		case field == "anonymizedAt", field == "updatedAt":
			require.NotNil(t, gone[field])
		default:
			require.Nil(t, gone[field], field)
		}
	}
	names, last := f.events(t)
	require.Equal(t, "client.updated", names[len(names)-1])
	require.Contains(t, last["changedFields"], "phone")
	require.Contains(t, last["changedFields"], "anonymizedAt")

	require.Empty(t, f.Do(t, "GET", at+"/addresses", nil).OK(200)["items"])
	require.Empty(t, f.Do(t, "GET", at+"/assets", nil).OK(200)["items"])
	interaction := f.Do(t, "GET", at+"/interactions", nil).OK(200)["items"].([]any)[0].(map[string]any)
	require.Equal(t, "call", interaction["type"])
	require.Nil(t, interaction["subject"])
	require.Nil(t, interaction["body"])
	require.Empty(t, f.Do(t, "GET", at+"/interactions?search=secret", nil).OK(200)["items"])
	require.Len(t, f.Do(t, "GET", "/clients/"+other+"/interactions?search=kept", nil).OK(200)["items"], 1)
	require.Empty(t, f.Do(t, "GET", "/clients?search=bolt", nil).OK(200)["items"])

	require.Equal(t, 2.0, f.Do(t, "POST", at+"/anonymize", nil).OK(200)["version"], "again")
	require.Equal(t, 2.0, f.Do(t, "PATCH", at, `{}`).OK(200)["version"])
	f.Do(t, "PATCH", at, `{"phone":"1"}`).Fault(409, "CLIENT_ANONYMIZED")
	f.Do(t, "POST", at+"/addresses", kinds[0].full).Fault(409, "CLIENT_ANONYMIZED")
	f.Do(t, "POST", at+"/assets", kinds[1].full).Fault(409, "CLIENT_ANONYMIZED")
	f.Do(t, "POST", at+"/interactions", `{"type":"call"}`).Fault(409, "CLIENT_ANONYMIZED")
	require.Equal(t, "archived", f.Do(t, "POST", at+"/archive", nil).OK(200)["status"])
	require.Equal(t, "active", f.Do(t, "POST", at+"/restore", nil).OK(200)["status"])
	again, _ := f.events(t)
	require.Equal(t, append(names, "client.archived", "client.restored"), again)
	f.server.Company().Do(t, "POST", at+"/anonymize", nil).Fault(404, "CLIENT_NOT_FOUND")
}

// Nothing personal that is written at the same time survives.
func TestAnonymizeDuringOtherChanges(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for range 5 {
		at := "/clients/" + f.client(t)
		statuses := make([]int, 24)
		var wg sync.WaitGroup
		for i := range statuses {
			wg.Go(func() {
				switch i % 4 {
				case 0:
					statuses[i] = f.Do(t, "POST", at+"/addresses", kinds[0].full).Status
				case 1:
					statuses[i] = f.Do(t, "POST", at+"/interactions", `{"type":"call","body":"secret"}`).Status
				case 2:
					statuses[i] = f.Do(t, "PATCH", at, map[string]any{"note": uuid.NewString()}).Status
				case 3:
					statuses[i] = f.Do(t, "POST", at+"/anonymize", nil).Status
				}
			})
		}
		wg.Wait()
		for i, s := range statuses {
			require.Contains(t, [][]int{{201, 409}, {201, 409}, {200, 409}, {200}}[i%4], s)
		}
		require.Empty(t, f.Do(t, "GET", at+"/addresses", nil).OK(200)["items"])
		require.Nil(t, f.Do(t, "GET", at, nil).OK(200)["note"])
		for _, item := range f.Do(t, "GET", at+"/interactions", nil).OK(200)["items"].([]any) {
			require.Nil(t, item.(map[string]any)["body"])
		}
	}
}

func TestOperatorsMaintainGroupsAndPriceLists(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.server.ServeAdmin(f.service.RegisterAdmin)
	admin, stranger := f.Admin(), f.server.Company().Admin()
	prices := admin.Do(t, "POST", "/clients/price-lists", `{"name":" retail "}`).OK(201)
	list := "/clients/price-lists/" + prices["id"].(string)
	require.Equal(t, "retail", prices["name"])
	made := admin.Do(t, "POST", "/clients/groups", `{"name":"Dealers"}`).OK(201)
	group := "/clients/groups/" + made["id"].(string)
	require.Equal(t, map[string]string{"name": "REQUIRED"}, admin.Do(t, "POST", "/clients/groups", `{}`).Fields())
	require.Equal(t, map[string]string{"name": "LENGTH"}, admin.Do(t, "PATCH", list, `{"name":" "}`).Fields())
	missing := map[string]any{"name": "x", "priceListId": uuid.New()}
	admin.Do(t, "POST", "/clients/groups", missing).Fault(404, "PRICE_LIST_NOT_FOUND")
	admin.Do(t, "PATCH", group, missing).Fault(404, "PRICE_LIST_NOT_FOUND")

	changed := admin.Do(t, "PATCH", group, map[string]any{"name": "Big dealers", "priceListId": prices["id"]}, apitest.Header{"If-Match", `"1"`}).OK(200)
	require.Equal(t, []any{"Big dealers", prices["id"], 2.0}, []any{changed["name"], changed["priceListId"], changed["version"]})
	require.Equal(t, changed, admin.Do(t, "GET", group, nil).OK(200))
	require.Equal(t, "Shops", admin.Do(t, "PATCH", list, `{"name":"Shops"}`).OK(200)["name"])
	require.Equal(t, "Shops", admin.Do(t, "GET", list, nil).OK(200)["name"])
	admin.Do(t, "DELETE", group, nil, apitest.Header{"If-Match", `"1"`}).Fault(412, "PRECONDITION_FAILED")
	for _, name := range []string{"apple", "Banana", "Äpfel"} {
		admin.Do(t, "POST", "/clients/price-lists", map[string]any{"name": name}).OK(201)
	}
	var lists []struct{ Name string }
	f.Do(t, "GET", "/clients/price-lists", nil).Decode(&lists)
	require.Equal(t, []struct{ Name string }{{"Äpfel"}, {"apple"}, {"Banana"}, {"Shops"}}, lists, "sorted as names are")

	for path, code := range map[string]string{group: "CLIENT_GROUP_NOT_FOUND", list: "PRICE_LIST_NOT_FOUND"} {
		stranger.Do(t, "GET", path, nil).Fault(404, code)
		stranger.Do(t, "PATCH", path, `{"name":"x"}`).Fault(404, code)
		stranger.Do(t, "DELETE", path, nil).Fault(404, code)
	}

	id := f.create(t, map[string]any{"displayName": "In", "groupId": made["id"], "priceListId": prices["id"]})["id"].(string)
	require.Equal(t, map[string]any{"clients": 1.0}, admin.Do(t, "DELETE", group, nil).Fault(409, "CLIENT_GROUP_IN_USE")["meta"])
	require.Equal(t, map[string]any{"clients": 1.0, "groups": 1.0}, admin.Do(t, "DELETE", list, nil).Fault(409, "PRICE_LIST_IN_USE")["meta"])
	f.Do(t, "PATCH", "/clients/"+id, `{"groupId":null,"priceListId":null}`).OK(200)
	require.Equal(t, map[string]any{"clients": 0.0, "groups": 1.0}, admin.Do(t, "DELETE", list, nil).Fault(409, "PRICE_LIST_IN_USE")["meta"])
	admin.Do(t, "DELETE", group, nil).OK(204)
	admin.Do(t, "DELETE", list, nil).OK(204)
	admin.Do(t, "DELETE", group, nil).Fault(404, "CLIENT_GROUP_NOT_FOUND")
	require.JSONEq(t, `[]`, string(f.Do(t, "GET", "/clients/groups", nil).Body))
}

func TestBatchOfClients(t *testing.T) {
	t.Parallel()
	f := setup(t)
	id := f.create(t, map[string]any{"displayName": "First"})["id"]
	body := map[string]any{"items": []any{
		map[string]any{"op": "create", "body": map[string]any{"kind": "legal", "displayName": "Second"}},
		map[string]any{"op": "update", "id": id, "body": map[string]any{"displayName": "1st"}},
		map[string]any{"op": "create", "body": map[string]any{"kind": "legal"}},
		map[string]any{"op": "update", "id": uuid.NewString(), "body": map[string]any{"note": "x"}},
		map[string]any{"op": "create", "body": map[string]any{"kind": "legal", "displayName": "Third", "groupId": uuid.New()}},
	}}
	key := apitest.Header{"X-Idempotency-Key", uuid.NewString()}
	got := f.Do(t, "POST", "/clients/batch", body, key).OK(200)["results"].([]any)
	var status []any
	for _, r := range got {
		status = append(status, r.(map[string]any)["status"])
	}
	require.Equal(t, []any{201.0, 200.0, 400.0, 404.0, 404.0}, status)
	require.Equal(t, "1st", f.Do(t, "GET", "/clients/"+id.(string), nil).OK(200)["displayName"])
	require.Equal(t, got, f.Do(t, "POST", "/clients/batch", body, key).OK(200)["results"])
	names, _ := f.events(t)
	require.ElementsMatch(t, []string{"client.created", "client.created", "client.updated"}, names)
	require.Equal(t, 2.0, f.Do(t, "GET", "/clients", nil).OK(200)["total"])
}
