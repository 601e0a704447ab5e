package clients_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/clients"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

var (
	anna    = uuid.MustParse("0192d3a5-6f0e-7c1a-9b1e-2f6d8a4c1e55")
	unnamed = uuid.MustParse("0192d3a5-6f0e-7c1a-9b1e-2f6d8a4c1e56")
)

type kit struct {
	*apitest.Client
	db      *db.DB
	service *clients.Service
	server  *apitest.Server
}

func setup(t *testing.T) kit {
	t.Helper()
	d := dbtest.Open(t)
	s := clients.New(clients.Config{DB: d, Users: apitest.Users{anna: "Anna", unnamed: ""}})
	server := apitest.New(t, d, s.Register)
	return kit{server.Company(), d, s, server}
}

func (f kit) tx(t *testing.T, fn func(ctx context.Context, tx *db.Tx) error) error {
	t.Helper()
	return f.db.RunTx(t.Context(), "test", fn)
}

func (f kit) by() access.Caller { return access.Caller{Principal: f.Principal} }

func (f kit) create(t *testing.T, body map[string]any) map[string]any {
	t.Helper()
	if _, ok := body["kind"]; !ok {
		body["kind"] = "individual"
	}
	return f.Do(t, "POST", "/clients", body).OK(201)
}

func (f kit) events(t *testing.T) (names []string, last map[string]any) {
	t.Helper()
	for _, e := range apitest.RaisedBy(t, f.db, f.Principal.Company) {
		names, last = append(names, e.Name), e.Data
	}
	return names, last
}

func TestLife(t *testing.T) {
	t.Parallel()
	f := setup(t)
	made := f.Do(t, "POST", "/clients", map[string]any{"kind": "individual", "displayName": "  Ada  ", "whatsappPhone": "", "assignedToId": anna, "tags": []string{"vip", " vip", "new"}})
	c := made.OK(201)
	id := c["id"].(string)
	require.Equal(t, `"1"`, made.Header.Get("ETag"))
	require.Equal(t, "/api/external/v1/clients/"+id, made.Header.Get("Location"))
	require.Equal(t, "Ada", c["displayName"])
	require.Equal(t, []any{"vip", "new"}, c["tags"])
	require.Equal(t, f.Principal.Actor.String(), c["createdById"])
	for _, field := range []string{
		"firstName", "lastName", "middleName", "companyName", "position", "phone", "email", "telegramChatId", "whatsappPhone", "inn", "kpp",
		"legalAddress", "bankDetails", "note", "contractNumber", "birthday", "groupId", "priceListId", "paymentTermsDays", "slaHours",
		"marketingConsentAt", "marketingConsentSource", "anonymizedAt",
	} {
		require.Contains(t, c, field)
		require.Nil(t, c[field], field)
	}
	for field, want := range map[string]any{"status": "active", "balance": 0.0, "points": 0.0, "creditLimit": 0.0, "marketingConsent": false, "version": 1.0} {
		require.Equal(t, want, c[field], field)
	}

	got := f.Do(t, "PATCH", "/clients/"+id, `{"phone":"+49 30 1","note":null,"balance":5,"points":7}`)
	require.Equal(t, "balance, points", got.Header.Get("X-Ignored-Fields"))
	require.Equal(t, 2.0, got.OK(200)["version"])
	require.Equal(t, 0.0, got.OK(200)["balance"])
	f.Do(t, "POST", "/clients/"+id+"/archive", nil, apitest.Header{"If-Match", `"1"`}).Fault(412, "PRECONDITION_FAILED")
	require.Equal(t, "archived", f.Do(t, "POST", "/clients/"+id+"/archive", nil).OK(200)["status"])
	require.Equal(t, 3.0, f.Do(t, "POST", "/clients/"+id+"/archive", nil).OK(200)["version"])
	require.Equal(t, "active", f.Do(t, "POST", "/clients/"+id+"/restore", nil).OK(200)["status"])
	require.Equal(t, 4.0, f.Do(t, "POST", "/clients/"+id+"/restore", nil).OK(200)["version"])
	require.Equal(t, 4.0, f.Do(t, "PATCH", "/clients/"+id, `{}`).OK(200)["version"])
	require.Equal(t, 4.0, f.Do(t, "PATCH", "/clients/"+id, `{"phone":"+49 30 1","email":null,"creditLimit":null,"tags":["vip","new"]}`).OK(200)["version"])
	f.Do(t, "GET", "/clients/"+id, nil, apitest.Header{"If-None-Match", `"4"`}).OK(304)

	names, last := f.events(t)
	require.Equal(t, []string{"client.created", "client.updated", "client.archived", "client.restored"}, names)
	require.Equal(t, f.Do(t, "GET", "/clients/"+id, nil).OK(200), last)

	other := f.server.Company()
	other.Do(t, "GET", "/clients/"+id, nil).Fault(404, "CLIENT_NOT_FOUND")
	other.Do(t, "PATCH", "/clients/"+id, `{"note":"x"}`).Fault(404, "CLIENT_NOT_FOUND")
	other.Do(t, "POST", "/clients/"+id+"/archive", nil).Fault(404, "CLIENT_NOT_FOUND")
	f.Do(t, "GET", "/clients/nothing", nil).Fault(400, "VALIDATION_ERROR")
}

// full is a body that sets every field, with what each field answers to a change.
var full = map[string]any{
	"kind": "legal", "displayName": "Bolt & Sons", "firstName": "Bo", "lastName": "Lt", "middleName": "M", "companyName": "Bolt", "position": "Head",
	"phone": "+1 555", "email": "bo@example.com", "telegramChatId": "77", "whatsappPhone": "+1 556", "note": "n", "birthday": "1990-02-28",
	"inn": "7701", "kpp": "77", "legalAddress": "Street 1", "bankDetails": "IBAN", "contractNumber": "C-1", "paymentTermsDays": 14.0,
	"creditLimit": 100000.0, "slaHours": 4.0, "marketingConsent": true, "tags": []any{"a"}, "assignedToId": anna.String(),
}

func TestEveryFieldIsKeptChangedAndCleared(t *testing.T) {
	t.Parallel()
	f := setup(t)
	made := f.Do(t, "POST", "/clients", full).OK(201)
	for field, want := range full {
		require.Equal(t, want, made[field], field)
	}
	id := f.create(t, map[string]any{"displayName": "Plain"})["id"].(string)
	version := 1.0
	for field, want := range full {
		got := f.Do(t, "PATCH", "/clients/"+id, map[string]any{field: want}).OK(200)
		version++
		require.Equal(t, want, got[field], field)
		require.Equal(t, version, got["version"], field)
		_, last := f.events(t)
		changed := []any{field}
		if field == "marketingConsent" {
			changed = append(changed, "marketingConsentAt", "marketingConsentSource")
		}
		require.Equal(t, changed, last["changedFields"])
		require.Equal(t, got, f.Do(t, "GET", "/clients/"+id, nil).OK(200))
	}
	for field := range full {
		res := f.Do(t, "PATCH", "/clients/"+id, map[string]any{field: nil})
		switch field {
		case "kind", "displayName", "tags", "marketingConsent":
			require.Equal(t, map[string]string{field: "TYPE"}, res.Fields())
		case "creditLimit":
			require.Equal(t, 0.0, res.OK(200)[field])
		default:
			require.Nil(t, res.OK(200)[field], field)
		}
	}
}

func TestConsentIsStamped(t *testing.T) {
	t.Parallel()
	f := setup(t)
	c := f.create(t, map[string]any{"displayName": "C", "marketingConsent": true})
	id := c["id"].(string)
	require.Equal(t, c["createdAt"], c["marketingConsentAt"])
	require.Equal(t, "api", c["marketingConsentSource"])
	again := f.Do(t, "PATCH", "/clients/"+id, `{"marketingConsent":true}`).OK(200)
	require.Equal(t, c["marketingConsentAt"], again["marketingConsentAt"])
	gone := f.Do(t, "PATCH", "/clients/"+id, `{"marketingConsent":false}`).OK(200)
	require.Nil(t, gone["marketingConsentAt"])
	require.Nil(t, gone["marketingConsentSource"])
}

func TestReferences(t *testing.T) {
	t.Parallel()
	f := setup(t)
	var group clients.GroupRecord
	var prices clients.PriceListRecord
	require.NoError(t, f.tx(t, func(ctx context.Context, tx *db.Tx) (err error) {
		if prices, err = f.service.CreatePriceList(ctx, tx, f.by(), clients.PriceListFields{Name: " Wholesale "}); err != nil {
			return err
		}
		group, err = f.service.CreateGroup(ctx, tx, f.by(), clients.GroupFields{Name: "Dealers", PriceListID: &prices.ID})
		return err
	}))
	c := f.create(t, map[string]any{"displayName": "R", "groupId": group.ID, "priceListId": prices.ID})
	require.Equal(t, group.ID.String(), c["groupId"])
	require.JSONEq(t, `[{"id":"`+group.ID.String()+`","name":"Dealers","priceListId":"`+prices.ID.String()+`"}]`, string(f.Do(t, "GET", "/clients/groups", nil).Body))
	require.JSONEq(t, `[{"id":"`+prices.ID.String()+`","name":"Wholesale"}]`, string(f.Do(t, "GET", "/clients/price-lists", nil).Body))

	other := kit{f.server.Company(), f.db, f.service, f.server}
	require.JSONEq(t, `[]`, string(other.Do(t, "GET", "/clients/groups", nil).Body))
	id := other.create(t, map[string]any{"displayName": "O"})["id"].(string)
	for field, row := range map[string]struct {
		id   uuid.UUID
		code string
	}{
		"groupId": {group.ID, "CLIENT_GROUP_NOT_FOUND"}, "priceListId": {prices.ID, "PRICE_LIST_NOT_FOUND"}, "assignedToId": {uuid.New(), "USER_NOT_FOUND"},
	} {
		want := map[string]any{"field": field, "id": row.id.String()}
		got := other.Do(t, "POST", "/clients", map[string]any{"kind": "legal", "displayName": "X", field: row.id}).Fault(404, row.code)
		require.Equal(t, want, got["meta"])
		got = other.Do(t, "PATCH", "/clients/"+id, map[string]any{field: row.id, "note": "x"}).Fault(404, row.code)
		require.Equal(t, want, got["meta"])
	}
	names, _ := other.events(t)
	require.Equal(t, []string{"client.created"}, names)
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	f := setup(t)
	long := func(n int) string { return strings.Repeat("x", n) }
	many := make([]string, 51)
	for i := range many {
		many[i] = uuid.NewString()
	}
	rows := []struct {
		field string
		value any
		at    string // of the fault, when not the field itself
		code  string
	}{
		{"kind", "company", "", "ENUM"},
		{"kind", 1, "", "TYPE"},
		{"kind", nil, "", "TYPE"},
		{"displayName", " ", "", "LENGTH"},
		{"displayName", "\u200b\ufeff\u00ad", "", "LENGTH"},
		{"displayName", "\u3164 \u2800\ufe0f", "", "LENGTH"},
		{"displayName", long(256), "", "LENGTH"},
		{"displayName", nil, "", "TYPE"},
		{"displayName", "a\x00b", "", "FORMAT"},
		{"firstName", long(256), "", "LENGTH"},
		{"lastName", long(256), "", "LENGTH"},
		{"middleName", long(256), "", "LENGTH"},
		{"companyName", long(256), "", "LENGTH"},
		{"position", long(256), "", "LENGTH"},
		{"position", 5, "", "TYPE"},
		{"phone", long(33), "", "LENGTH"},
		{"phone", 555, "", "TYPE"},
		{"whatsappPhone", long(33), "", "LENGTH"},
		{"telegramChatId", long(65), "", "LENGTH"},
		{"email", "nobody", "", "FORMAT"},
		{"email", "A <a@b.c>", "", "FORMAT"},
		{"email", long(250) + "@b.cd", "", "LENGTH"},
		{"note", long(4001), "", "LENGTH"},
		{"inn", long(33), "", "LENGTH"},
		{"kpp", long(33), "", "LENGTH"},
		{"contractNumber", long(65), "", "LENGTH"},
		{"legalAddress", long(1001), "", "LENGTH"},
		{"bankDetails", long(4001), "", "LENGTH"},
		{"tags", "vip", "", "TYPE"},
		{"tags", many, "", "MAX"},
		{"tags", []any{"ok", " "}, "tags[1]", "LENGTH"},
		{"tags", []any{long(65)}, "tags[0]", "LENGTH"},
		{"tags", []any{1}, "tags[0]", "TYPE"},
		{"tags", nil, "", "TYPE"},
		{"birthday", "1990-02-30", "", "FORMAT"},
		{"birthday", "1990-02-03T00:00:00Z", "", "FORMAT"},
		{"birthday", 1990, "", "TYPE"},
		{"assignedToId", "me", "", "FORMAT"},
		{"groupId", "x", "", "FORMAT"},
		{"priceListId", 3, "", "TYPE"},
		{"paymentTermsDays", -1, "", "MIN"},
		{"paymentTermsDays", 3651, "", "MAX"},
		{"paymentTermsDays", 1.5, "", "STEP"},
		{"paymentTermsDays", "5", "", "TYPE"},
		{"creditLimit", -1, "", "MIN"},
		{"creditLimit", 0.5, "", "STEP"},
		{"creditLimit", json.Number("9007199254740992"), "", "MAX"},
		{"creditLimit", "1", "", "TYPE"},
		{"slaHours", -1, "", "MIN"},
		{"slaHours", 87601, "", "MAX"},
		{"slaHours", 0.25, "", "STEP"},
		{"marketingConsent", "yes", "", "TYPE"},
		{"marketingConsent", nil, "", "TYPE"},
		{"marketingConsent", 1, "", "TYPE"},
	}
	id := f.create(t, map[string]any{"displayName": "Kept"})["id"].(string)
	for _, row := range rows {
		at := row.field
		if row.at != "" {
			at = row.at
		}
		body := map[string]any{"kind": "legal", "displayName": "X"}
		body[row.field] = row.value
		require.Equal(t, map[string]string{at: row.code}, f.Do(t, "POST", "/clients", body).Fields(), "POST %v", row)
		require.Equal(t, map[string]string{at: row.code}, f.Do(t, "PATCH", "/clients/"+id, map[string]any{row.field: row.value}).Fields(), "PATCH %v", row)
	}
	require.Equal(t, map[string]string{"kind": "REQUIRED", "displayName": "REQUIRED", "phone": "LENGTH"},
		f.Do(t, "POST", "/clients", map[string]any{"phone": long(33)}).Fields(), "all faults at once")
	names, _ := f.events(t)
	require.Equal(t, []string{"client.created"}, names)
	require.Equal(t, 1.0, f.Do(t, "GET", "/clients", nil).OK(200)["total"])
	require.Equal(t, 1.0, f.Do(t, "GET", "/clients/"+id, nil).OK(200)["version"])
}

func TestParallelChangesOfOneVersion(t *testing.T) {
	t.Parallel()
	f := setup(t)
	id := f.create(t, map[string]any{"displayName": "P"})["id"].(string)
	const n = 12
	statuses := make([]int, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			statuses[i] = f.Do(t, "PATCH", "/clients/"+id, map[string]any{"note": uuid.NewString()}, apitest.Header{"If-Match", `"1"`}).Status
		})
	}
	wg.Wait()
	count := map[int]int{}
	for _, s := range statuses {
		count[s]++
	}
	require.Equal(t, map[int]int{http.StatusOK: 1, http.StatusPreconditionFailed: n - 1}, count)
	require.Equal(t, 2.0, f.Do(t, "GET", "/clients/"+id, nil).OK(200)["version"])
	names, _ := f.events(t)
	require.Equal(t, []string{"client.created", "client.updated"}, names)
}

func TestParallelChangesWithoutCondition(t *testing.T) {
	t.Parallel()
	f := setup(t)
	id := f.create(t, map[string]any{"displayName": "P"})["id"].(string)
	uid := uuid.MustParse(id)
	const n = 8
	var wg sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		wg.Go(func() { f.Do(t, "PATCH", "/clients/"+id, map[string]any{"note": uuid.NewString()}) })
		wg.Go(func() {
			errs[i] = f.tx(t, func(ctx context.Context, tx *db.Tx) error {
				f.service.Enter(tx, f.Principal.Company, uid, trade.LedgerEntry{Paid: money.Amount(i + 1)})
				return nil
			})
		})
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	c := f.Do(t, "GET", "/clients/"+id, nil).OK(200)
	require.Equal(t, float64(1+2*n), c["version"])
	require.Equal(t, float64(n*(n+1)/2), c["balance"])
	names, last := f.events(t)
	require.Len(t, names, 1+n, "a change of the balance raises no event")
	require.LessOrEqual(t, last["version"].(float64), c["version"].(float64))
}

func TestDocumentClient(t *testing.T) {
	t.Parallel()
	f := setup(t)
	company := f.Principal.Company
	c := f.Do(t, "POST", "/clients", full).OK(201)
	id := uuid.MustParse(c["id"].(string))
	require.NoError(t, f.tx(t, func(ctx context.Context, tx *db.Tx) error {
		c, found, err := f.service.DocumentClient(ctx, tx, company, id, true)
		if err != nil {
			return err
		}
		require.True(t, found)
		require.Equal(t, money.Amount(100000), c.CreditLimit)
		f.service.Enter(tx, company, id, trade.LedgerEntry{Charged: 250})
		return nil
	}))
	read := func(company tenant.ID) (trade.Client, bool) {
		got, found, err := f.service.DocumentClient(t.Context(), f.db, company, id, false)
		require.NoError(t, err)
		return got, found
	}
	got, found := read(company)
	require.True(t, found)
	require.Equal(t, id, got.ID)
	require.Equal(t, money.Amount(-250), got.Balance)
	require.Equal(t, "Bolt & Sons", got.DisplayName)
	require.Equal(t, int32(14), *got.PaymentTermsDays)
	require.False(t, got.Archived)
	f.Do(t, "POST", "/clients/"+id.String()+"/archive", nil).OK(200)
	got, _ = read(company)
	require.True(t, got.Archived)
	_, found = read(tenant.NewID())
	require.False(t, found)
	require.ErrorContains(t, f.tx(t, func(ctx context.Context, tx *db.Tx) error {
		f.service.Enter(tx, tenant.NewID(), id, trade.LedgerEntry{Paid: 1})
		return nil
	}), "CLIENT_NOT_FOUND")
	require.ErrorContains(t, f.tx(t, func(ctx context.Context, tx *db.Tx) error {
		f.service.Enter(tx, company, id, trade.LedgerEntry{Charged: money.MaxAmount})
		return nil
	}), "CLIENT_BALANCE_OUT_OF_RANGE")
}

func TestRights(t *testing.T) {
	t.Parallel()
	f := setup(t)
	reader := f.server.Company(func(p *access.Principal) { p.Scopes = apitest.Scopes("clients:read") })
	reader.Do(t, "GET", "/clients", nil).OK(200)
	got := reader.Do(t, "POST", "/clients", full).Fault(403, "AUTH_API_SCOPE_INSUFFICIENT")
	require.Equal(t, map[string]any{"scopes": []any{"clients:write"}}, got["meta"])
	off := f.server.Company(func(p *access.Principal) { p.Components = access.Components{"orders"} })
	require.Equal(t, map[string]any{"alias": "clients"}, off.Do(t, "GET", "/clients", nil).Fault(403, "MODULE_ACCESS_INACTIVE")["meta"])
}

func TestUpsertByContact(t *testing.T) {
	t.Parallel()
	f := setup(t)
	at := func(number string) string { return "/clients/by-phone/" + url.PathEscape(number) }
	body := map[string]any{"kind": "individual", "displayName": "Ann", "email": "Ann@example.com"}
	made := f.Do(t, "PUT", at("+1 (212) 555-0142"), body).OK(201)
	require.Equal(t, "+1 (212) 555-0142", made["phone"])
	again := f.Do(t, "PUT", at("001 212 555 0142"), body).OK(200)
	require.Equal(t, []any{made["id"], made["version"], made["phone"]}, []any{again["id"], again["version"], again["phone"]}, "the same again changes nothing")
	body["displayName"] = "Ann B."
	delete(body, "email")
	changed := f.Do(t, "PUT", "/clients/by-email/ANN@example.com", body).OK(200)
	require.Equal(t, []any{made["id"], "Ann B."}, []any{changed["id"], changed["displayName"]})
	other := f.Do(t, "PUT", "/clients/by-email/bo@example.com", map[string]any{"kind": "individual", "displayName": "Bo", "phone": "+12125550142"}).OK(201)
	require.NotEqual(t, made["id"], other["id"], "only what the path names decides")
	require.Equal(t, made["id"], f.Do(t, "PUT", at("001 212 555 0142"), body).OK(200)["id"], "the oldest")

	require.Equal(t, map[string]string{"phone": "FORMAT"}, f.Do(t, "PUT", at("0"), body).Fields())
	body["phone"] = "+12125550143"
	require.Equal(t, map[string]string{"phone": "CONFLICT"}, f.Do(t, "PUT", at("001 212 555 0142"), body).Fields())
	delete(body, "phone")
	require.Equal(t, map[string]string{"email": "FORMAT"}, f.Do(t, "PUT", "/clients/by-email/x", body).Fields())

	// An archived client never matches.
	id := fmt.Sprint(made["id"])
	f.Do(t, "POST", "/clients/"+id+"/archive", nil).OK(200)
	require.Equal(t, other["id"], f.Do(t, "PUT", at("001 212 555 0142"), map[string]any{"kind": "individual", "displayName": "Bo"}).OK(200)["id"])
	stranger := f.server.Company()
	stranger.Do(t, "PUT", at("001 212 555 0142"), map[string]any{"kind": "individual", "displayName": "Somebody else"}).OK(201)
}

// However many requests tell of a client at once, in whatever spelling, there is one.
func TestUpsertByContactRaces(t *testing.T) {
	t.Parallel()
	f := setup(t)
	spellings := []string{"+12125550142", "+1 212 555 0142", "+1 (212) 555-0142", "+1.212.555.0142"}
	var wg sync.WaitGroup
	statuses := make([]int, 16)
	for i := range statuses {
		wg.Go(func() {
			path := "/clients/by-phone/" + url.PathEscape(spellings[i%len(spellings)])
			statuses[i] = f.Do(t, "PUT", path, map[string]any{"kind": "individual", "displayName": fmt.Sprint("Ann ", i)}).Status
		})
	}
	wg.Wait()
	slices.Sort(statuses)
	require.Equal(t, append(slices.Repeat([]int{200}, 15), 201), statuses)
	require.Len(t, f.Do(t, "GET", "/clients", nil).OK(200)["items"], 1)
}
