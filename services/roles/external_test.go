package roles_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/domain"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

// identified is a resource whose records have external ids.
type identified struct {
	*testing.T
	domain.Sample
	rolestest.Client

	stranger rolestest.Client
	ids      map[string]string
	made     int
}

// body is that of a new record, with other values of some fields.
func (i *identified) body(fields string) string {
	i.Helper()
	i.made++
	return another(i.T, i.Sample, i.ids, i.made, fields)
}

// another is the body of the n-th record like a sample, which takes nothing that another record has.
func another(t *testing.T, s domain.Sample, ids map[string]string, n int, fields string) string {
	t.Helper()
	var all map[string]any
	require.NoError(t, json.Unmarshal([]byte(rolestest.FillIn(s.Create, ids)), &all))
	delete(all, "source")
	delete(all, "externalId")
	switch s.Entity {
	case "PRODUCT":
		all["barcode"] = fmt.Sprint(4_000_000 + n)
	case "BOOKING":
		all["startAt"] = fmt.Sprintf("2040-01-03T%02d:00:00Z", n)
	}
	if fields != "" {
		require.NoError(t, json.Unmarshal([]byte(fields), &all))
	}
	raw, err := json.Marshal(all)
	require.NoError(t, err)
	return string(raw)
}

func (i *identified) at(source, externalID string) string {
	return i.Path + "/by-external-id/" + url.PathEscape(source) + "/" + url.PathEscape(externalID)
}

// list returns the ids of the records that a query finds.
func (i *identified) list(query string) (found []string) {
	i.Helper()
	raw := i.OK(i.T, "GET", i.Path+"?"+query, "").Raw
	var records []struct{ ID string }
	if !strings.HasPrefix(raw, "[") {
		var page struct{ Items json.RawMessage }
		require.NoError(i, json.Unmarshal([]byte(raw), &page))
		raw = string(page.Items)
	}
	require.NoError(i, json.Unmarshal([]byte(raw), &records))
	for _, r := range records {
		found = append(found, r.ID)
	}
	return found
}

// Records with external ids are created and changed by them, by the same rules in every resource; see
// docs/reference/conventions.md#upsert.
func TestEveryExternalIDIsUpserted(t *testing.T) {
	t.Parallel()
	n := rolestest.NewNode(dbtest.Open(t), rolestest.Alone())
	owner, company := n.Owner(t)
	addBranch(t, n, company) // for the second warehouse
	stranger, _ := n.Owner(t)
	upserts, batches := map[string]bool{}, map[string]bool{}
	for _, op := range n.API.Ops() {
		upserts[op.Path] = op.Method == http.MethodPut
		batches[op.Path] = op.Method == http.MethodPost
	}
	ids, tried, batched := map[string]string{}, 0, 0
	for _, s := range rolestest.Samples() {
		do := owner.Do
		if s.Admin {
			do = n.Operator(rolestest.WriterToken).In(company).Do
		}
		made := living{T: t, Sample: s, do: do, has: func(string, string) bool { return false }}.create(ids)
		ids[s.Entity] = made.ID(t)
		if upserts[s.Path+"/by-external-id/{source}/{externalId}"] {
			tried++
			i := &identified{T: t, Sample: s, Client: owner, stranger: stranger, ids: ids}
			i.upserted()
			i.together()
			i.metadata()
			if batches[s.Path+"/batch"] {
				batched++
				i.batch()
			}
		}
	}
	require.Equal(t, 16, tried)
	require.Equal(t, 5, batched)
	page := errorPage(t, n.API, httpapi.BasePath)
	for _, s := range rolestest.Samples() {
		if upserts[s.Path+"/by-external-id/{source}/{externalId}"] {
			require.Contains(t, page, `id="`+s.Entity+`_EXTERNAL_ID_TAKEN"`)
		}
	}
}

// upserted creates a record and changes it.
func (i *identified) upserted() {
	i.Helper()
	path, body := i.at("My shop", "ä/1 %"), i.body("")
	i.Do(i.T, "PUT", path, body, "If-Match", `"1"`).Refused(i.T, 412, "PRECONDITION_FAILED", "there is none")
	key := uuid.NewString()
	made := i.OK(i.T, "PUT", path, body, "X-Idempotency-Key", key)
	require.Equal(i, http.StatusCreated, made.Status)
	require.Equal(i, []any{"My shop", "ä/1 %"}, []any{made.Body["source"], made.Body["externalId"]})
	require.Equal(i, `"1"`, made.Header.Get("ETag"))
	require.True(i, strings.HasSuffix(made.Header.Get("Location"), i.Path+"/"+made.ID(i.T)), made.Header.Get("Location"))
	again := i.OK(i.T, "PUT", path, body, "X-Idempotency-Key", key)
	require.Equal(i, []any{http.StatusCreated, made.Raw, "true"}, []any{again.Status, again.Raw, again.Header.Get("X-Idempotent-Replayed")})

	same := i.OK(i.T, "PUT", path, body)
	require.Equal(i, http.StatusOK, same.Status)
	require.Equal(i, made.Body["version"], same.Body["version"], "nothing differs: %s\n%s", made.Raw, same.Raw)
	require.Equal(i, made.Body["id"], same.Body["id"])
	require.Empty(i, same.Header.Get("Location"))

	i.Do(i.T, "PUT", path, body, "If-Match", `"7"`).Refused(i.T, 412, "PRECONDITION_FAILED", "another version")
	faults := i.Do(i.T, "PUT", path, with(body, `"externalId":"2","source":"My shop"`))
	require.Equal(i, map[string]string{"externalId": "CONFLICT"}, faultsOf(i.T, faults))
	if i.Entity != "STOCK_COUNT" { // nothing of it is required
		require.NotEmpty(i, faultsOf(i.T, i.Do(i.T, "PUT", path, `{}`)), "as for a new record")
	}

	taken := i.Do(i.T, "POST", i.Path, i.body(`{"source":"My shop","externalId":"ä/1 %"}`))
	taken.Refused(i.T, 409, i.Entity+"_EXTERNAL_ID_TAKEN", "POST "+i.Path)
	require.Equal(i, made.ID(i.T), taken.Body["meta"].(map[string]any)["id"], "the other one")
	other := i.OK(i.T, "POST", i.Path, i.body(`{"source":"Another shop","externalId":"ä/1 %"}`)).ID(i.T)
	taken = i.Do(i.T, "PATCH", i.Path+"/"+other, `{"source":"My shop"}`)
	taken.Refused(i.T, 409, i.Entity+"_EXTERNAL_ID_TAKEN", "PATCH "+i.Path)
	require.Equal(i, made.ID(i.T), taken.Body["meta"].(map[string]any)["id"], "the other one")

	require.NotContains(i, i.stranger.OK(i.T, "GET", i.Path+"?source=My%20shop", "").Raw, "My shop")
	require.Equal(i, []string{made.ID(i.T)}, i.list("source=My%20shop&externalId=%C3%A4%2F1%20%25"))
	require.ElementsMatch(i, []string{made.ID(i.T), other}, i.list("externalId=%C3%A4%2F1%20%25"))
	require.Empty(i, i.list("source=My%20shop&externalId=2"))
}

// together sends the same record several times at once: it is created once.
func (i *identified) together() {
	i.Helper()
	path, body := i.at("pos", "together"), i.body("")
	replies := make([]*rolestest.Reply, 8)
	var all sync.WaitGroup
	for n := range replies {
		all.Go(func() { replies[n] = i.Do(i.T, "PUT", path, body) })
	}
	all.Wait()
	var statuses []int
	for _, r := range replies {
		require.Less(i, r.Status, 300, "%s: %s", i.Path, r.Raw)
		require.Equal(i, replies[0].Body["id"], r.Body["id"])
		statuses = append(statuses, r.Status)
	}
	slices.Sort(statuses)
	require.Equal(i, []int{200, 200, 200, 200, 200, 200, 200, 201}, statuses)
}

// metadata is changed key by key.
func (i *identified) metadata() {
	i.Helper()
	path, body := i.at("crm", "metadata"), i.body(`{"metadata":{"a":"1","b":" two ","gone":""}}`)
	made := i.OK(i.T, "PUT", path, body)
	id := made.ID(i.T)
	require.Equal(i, map[string]any{"a": "1", "b": "two"}, made.Body["metadata"])
	patch := func(metadata string) any {
		return i.OK(i.T, "PATCH", i.Path+"/"+id, `{"metadata":`+metadata+`}`).Body["metadata"]
	}
	require.Equal(i, map[string]any{"a": "1", "b": "", "c": "3"}["a"], patch(`{"b":"","c":"3"}`).(map[string]any)["a"])
	require.Equal(i, map[string]any{"a": "1", "c": "3"}, i.OK(i.T, "GET", i.Path+"/"+id, "").Body["metadata"])
	if i.Entity != "CATEGORY" { // its list is not filtered by metadata
		require.Equal(i, []string{id}, i.list("metadata%5Ba%5D=1&metadata%5Bc%5D=3"))
		require.Empty(i, i.list("metadata%5Ba%5D=1&metadata%5Bc%5D=1"))
	}
	many := map[string]string{}
	for n := range 49 {
		many[fmt.Sprint("key ", n)] = "x"
	}
	raw, err := json.Marshal(map[string]any{"metadata": many})
	require.NoError(i, err)
	require.Equal(i, map[string]string{"metadata": "MAX"}, faultsOf(i.T, i.Do(i.T, "PATCH", i.Path+"/"+id, string(raw))), "two and 49 keys")
	for _, wrong := range []string{`{"":"x"}`, `{"a[b]":"x"}`, `{"` + strings.Repeat("k", 41) + `":"x"}`, `{"a":"` + strings.Repeat("v", 501) + `"}`, `{"a":1}`} {
		require.Len(i, faultsOf(i.T, i.Do(i.T, "PATCH", i.Path+"/"+id, `{"metadata":`+wrong+`}`)), 1, wrong)
	}
	require.Equal(i, map[string]any{}, patch(`null`))
}

// batch names the records of its items by their external ids.
func (i *identified) batch() {
	i.Helper()
	item := func(op, externalID, body string) string {
		if body != "" {
			body = `,"body":` + body
		}
		return fmt.Sprintf(`{"op":%q,"source":"batch","externalId":%q%s}`, op, externalID, body)
	}
	send := func(items ...string) (results []string, all []any) {
		r := i.OK(i.T, "POST", i.Path+"/batch", `{"items":[`+strings.Join(items, ",")+`]}`)
		all = r.Body["results"].([]any)
		for _, result := range all {
			code, _ := result.(map[string]any)["code"].(string)
			results = append(results, strings.TrimSpace(fmt.Sprint(result.(map[string]any)["status"], " ", code)))
		}
		return results, all
	}
	one, metadata := i.body(""), `{"metadata":{"n":"1"}}`
	results, all := send(
		item("upsert", "1", one), item("upsert", "1", one), item("update", "1", metadata), item("update", "2", metadata), item("create", "3", i.body("")),
		item("create", "1", i.body("")), item("update", "1", `{"externalId":"1b"}`), item("upsert", "1", metadata), `{"op":"update","source":"batch","body":{}}`,
		`{"op":"upsert","externalId":"1","body":{}}`, item("upsert", "4", "{}"), `{"op":"upsert","body":{}}`,
	)
	require.Equal(i, []string{
		"201", "200", "200", "404 EXTERNAL_ID_NOT_FOUND", "201", "409 " + i.Entity + "_EXTERNAL_ID_TAKEN", "200", "400 VALIDATION_ERROR", "400 VALIDATION_ERROR",
		"400 VALIDATION_ERROR", "400 VALIDATION_ERROR", "400 VALIDATION_ERROR",
	}, results)
	id := all[0].(map[string]any)["id"].(string)
	require.Equal(i, id, all[5].(map[string]any)["meta"].(map[string]any)["id"])
	require.Equal(i, []string{id}, i.list("source=batch&externalId=1b"))
	require.Equal(i, map[string]any{"n": "1"}, i.OK(i.T, "GET", i.Path+"/"+id, "").Body["metadata"])
	if i.Entity == "CLIENT" {
		require.Equal(i, 400, i.Do(i.T, "POST", i.Path+"/batch", `{"items":[`+item("delete", "3", "")+`]}`).Status, "clients are archived, not deleted")
		return
	}
	results, all = send(item("delete", "3", ""), item("delete", "none", ""), `{"op":"delete"}`, `{"op":"delete","id":"`+id+`"}`, item("upsert", "5", ""))
	require.Equal(i, []string{"200", "404 EXTERNAL_ID_NOT_FOUND", "400 VALIDATION_ERROR", "200", "400 VALIDATION_ERROR"}, results)
	require.Equal(i, id, all[3].(map[string]any)["id"])
	require.Empty(i, i.list("source=batch&externalId=1b"))
}
