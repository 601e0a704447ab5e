package roles_test

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/domain"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

// living takes the sample of one resource through its life.
type living struct {
	*testing.T
	domain.Sample

	do  func(t *testing.T, method, path, body string, headers ...string) *rolestest.Reply
	has func(method, path string) bool // whether there is such an operation
}

// theirs are fields that the platform maintains and one that does not exist.
const theirs = `"id":"0192d3a5-6f0e-7c1a-9b1e-2f6d8a4c1e55","companyId":"x","version":7,"createdAt":"2020-01-01T00:00:00Z","updatedAt":null,"planet":"Mars"`

var ignoredOfTheirs = []string{"companyId", "createdAt", "id", "planet", "updatedAt", "version"} //nolint:gochecknoglobals // a constant

func with(body, fields string) string { return strings.Replace(body, "{", "{"+fields+",", 1) }

func (l living) one(id string) string { return l.Path + "/" + id }

func (l living) ok(method, path, body string, headers ...string) *rolestest.Reply {
	l.Helper()
	r := l.do(l.T, method, path, body, headers...)
	require.Less(l, r.Status, 300, "%s %s: %s", method, path, r.Raw)
	return r
}

// create creates the record. What clients may not write is ignored, which the response says.
func (l living) create(ids map[string]string) *rolestest.Reply {
	l.Helper()
	made := l.ok("POST", cmp.Or(l.CreatePath, l.Path), with(rolestest.FillIn(l.Create, ids), theirs))
	require.Equal(l, http.StatusCreated, made.Status)
	require.Equal(l, strings.Join(ignoredOfTheirs, ", "), made.Header.Get("X-Ignored-Fields"))
	l.maintained(made)
	if !l.has("GET", l.Path+"/{id}") {
		return made
	}
	require.True(l, strings.HasSuffix(made.Header.Get("Location"), l.one(made.ID(l.T))), made.Header.Get("Location"))
	require.Equal(l, l.ok("GET", l.one(made.ID(l.T)), "").Body["id"], made.Body["id"])
	return made
}

// maintained checks that a request has not written what the platform maintains.
func (l living) maintained(r *rolestest.Reply) {
	l.Helper()
	require.NotContains(l, r.Body, "planet")
	for field, sent := range map[string]any{"id": "0192d3a5-6f0e-7c1a-9b1e-2f6d8a4c1e55", "companyId": "x", "version": 7.0, "createdAt": "2020-01-01T00:00:00Z"} {
		require.NotEqual(l, sent, r.Body[field], field)
	}
}

// change changes the record: under its condition, once, and only what was sent.
func (l living) change(id string, ids map[string]string) {
	l.Helper()
	body, path := rolestest.FillIn(l.Change, ids), l.one(id)
	before := l.ok("PATCH", path, `{}`)
	version, versioned := before.Body["version"].(float64)
	require.Equal(l, before.Body, l.ok("PATCH", path, `{}`).Body, "nothing was sent, so nothing changes")
	require.Equal(l, "planet, version", l.ok("PATCH", path, `{"planet":"Mars","version":7}`).Header.Get("X-Ignored-Fields"))
	l.do(l.T, "PATCH", path, body, "If-Match", `"999"`).Refused(l.T, 412, "PRECONDITION_FAILED", "PATCH "+l.Path)

	after := l.ok("PATCH", path, body, "If-Match", cmp.Or(before.Header.Get("ETag"), "*"))
	var sent map[string]any
	require.NoError(l, json.Unmarshal([]byte(body), &sent))
	for field, value := range before.Body {
		if want, changed := sent[field]; changed {
			value = inResponses(want)
		}
		if !slices.Contains(derived[l.Entity], field) && !slices.Contains([]string{"version", "updatedAt"}, field) {
			assert.Equal(l, value, after.Body[field], "%s %s", l.Entity, field)
		}
	}
	if versioned {
		require.InDelta(l, version+1, after.Body["version"], 0)
	}
	require.Equal(l, after.Body, l.ok("PATCH", path, body).Body, "the same values are no change")
	if l.has("GET", l.Path+"/{id}") {
		require.Equal(l, after.Body, l.ok("GET", path, "").Body)
		require.Equal(l, after.Header.Get("ETag"), l.ok("GET", path, "").Header.Get("ETag"))
	}
}

// inResponses is a value as responses have it.
func inResponses(value any) any {
	if text, ok := value.(string); ok {
		if at, err := time.Parse(time.RFC3339, text); err == nil {
			return at.UTC().Format("2006-01-02T15:04:05.000Z")
		}
	}
	return value
}

// derived are the fields that follow from the change of others.
var derived = map[string][]string{ //nolint:gochecknoglobals // a constant table
	"CLIENT":               {"marketingConsentAt", "marketingConsentSource"},
	"ORDER":                {"amountDue", "paymentStatus"},
	"DEAL":                 {"lines", "subtotal", "discountAmount", "total", "cost", "budgetExceededAt"},
	"BOOKING":              {"endAt"},
	"WEBHOOK_SUBSCRIPTION": {"status"},
}

// remove deletes the record, under its condition. It is gone for each operation.
func (l living) remove(id string) {
	l.Helper()
	path := l.one(id)
	l.do(l.T, "DELETE", path, "", "If-Match", `"999"`).Refused(l.T, 412, "PRECONDITION_FAILED", "DELETE "+l.Path)
	if l.ok("DELETE", path, "").Status == http.StatusOK {
		return // it is hidden, and still there
	}
	for _, method := range []string{"GET", "PATCH", "DELETE"} {
		if l.has(method, l.Path+"/{id}") {
			body := ""
			if method == "PATCH" {
				body = `{}`
			}
			l.do(l.T, method, path, body).Refused(l.T, 404, l.Entity+"_NOT_FOUND", method+" "+l.Path)
		}
	}
}

// Every resource is created, read, changed and deleted by the same rules; docs/reference/conventions.md has them.
func TestEveryResourceLives(t *testing.T) {
	t.Parallel()
	n := rolestest.NewNode(dbtest.Open(t), rolestest.Alone())
	owner, company := n.Owner(t)
	addBranch(t, n, company) // for the second warehouse
	operations := map[string]bool{}
	for _, op := range slices.Concat(n.API.Ops(), n.Admin.Ops()) {
		operations[rolestest.Name(op)] = true
	}
	ids, lives := map[string]string{}, []living{}
	for _, s := range rolestest.Samples() {
		l := living{T: t, Sample: s, do: owner.Do, has: func(method, path string) bool { return operations[method+" "+path] }}
		if s.Admin {
			l.do, l.has = n.Operator(rolestest.WriterToken).In(company).Do, func(method, path string) bool { return operations[method+" "+inCompany+path] }
		}
		ids[s.Entity] = l.create(ids).ID(t)
		lives = append(lives, l)
	}
	for _, l := range lives {
		if l.Change != "" {
			l.change(ids[l.Entity], ids)
		}
	}
	owner.OK(t, "POST", "/warehouse/receipts/"+ids["RECEIPT"]+"/cancel", "") // a warehouse that is deleted is empty
	for _, l := range slices.Backward(lives) {
		if l.has("DELETE", l.Path+"/{id}") {
			l.remove(ids[l.Entity])
		}
	}
}
