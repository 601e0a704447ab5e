package console_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/platform/company"
)

// notices asks what has become of jobs: the sentence about each that is told of, by its id; "" = it has not ended.
func (v *visitor) notices(root string, ids ...string) map[string]string {
	v.t.Helper()
	got := v.ask(http.MethodGet, root+"/jobs/ended?"+url.Values{"id": ids}.Encode(), nil)
	require.Equal(v.t, http.StatusOK, got.status, got.body)
	var answer struct{ Jobs []struct{ ID, Text string } }
	require.NoError(v.t, json.Unmarshal([]byte(got.body), &answer))
	all := map[string]string{}
	for _, one := range answer.Jobs {
		all[one.ID] = one.Text
	}
	return all
}

var startedJob = regexp.MustCompile(`[?&]started=([0-9a-f-]{36})$`)

// startedBy reads the job that the page names to which an answer leads.
func (v *visitor) startedBy(got page) string {
	v.t.Helper()
	require.Regexp(v.t, startedJob, got.location, got.body)
	id := startedJob.FindStringSubmatch(got.location)[1]
	require.Contains(v.t, v.get(got.location), `data-started="`+id+`"`)
	return id
}

// Whoever starts a job is led to a page that names it, and may ask what has become of it: in their language, and of their own company only.
func TestEndOfAJobIsTold(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	other, otherRoot := p.shopWithBusiness()
	owner := p.signedIn(own.people[company.RoleOwner])
	export := func() string {
		return owner.startedBy(owner.ask(http.MethodPost, root+"/orders/export", url.Values{"format": {"csv"}}))
	}
	id := export()
	require.NotContains(t, owner.get(root+"/orders"), "data-started")
	require.NotContains(t, owner.get(root+"/orders?started=%22%3E"), "data-started")
	require.Equal(t, map[string]string{id: ""}, owner.notices(root, id, uuid.NewString(), "x"))
	require.Empty(t, p.signedIn(other.people[company.RoleOwner]).notices(otherRoot, id))
	require.Empty(t, owner.notices(root))
	require.Equal(t, http.StatusBadRequest, owner.ask(http.MethodGet, root+"/jobs/ended?"+strings.Repeat("id="+id+"&", 6), nil).status)

	p.call(own, p.external, http.MethodPost, "/jobs/"+id+"/cancel", "")
	require.Equal(t, map[string]string{id: "Your export was cancelled."}, owner.notices(root, id))

	p.work()
	prices := owner.startedBy(owner.ask(http.MethodPost, root+"/products/bulk", url.Values{"do": {"reprice"}, "all": {"1"}, "type": {"percent"}, "value": {"5"}, "step": {"go"}}))
	second := export()
	want := map[string]string{id: "Your export was cancelled.", second: "Your export is ready.", prices: "The prices are changed."}
	var told map[string]string
	require.Eventually(t, func() bool {
		told = owner.notices(root, id, second, prices)
		return told[second] != "" && told[prices] != ""
	}, time.Minute, 20*time.Millisecond)
	require.Equal(t, want, told)
	german := owner.ask(http.MethodGet, root+"/jobs/ended?id="+second, nil, func(r *http.Request) { r.Header.Set("Accept-Language", "de") })
	require.Contains(t, german.body, "Ihr Export ist fertig.")
}

// Imports, replays and merges are told of as exports are.
func TestStartsOfJobsAreNamed(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	owner := p.signedIn(own.people[company.RoleOwner])
	owner.startedBy(owner.upload(root+"/products/import", nil, "file", "a.csv", []byte("sku,name\nX,Bell\n")))
	owner.startedBy(owner.ask(http.MethodPost, root+"/webhooks/"+own.records["/webhooks"]+"/replay", url.Values{"do": {"count"}, "status": {"all"}}))

	client := func(name string) map[string]any {
		return p.call(own, p.external, http.MethodPost, "/clients", `{"kind":"individual","displayName":"`+name+`"}`)
	}
	from, into := client("Anna Nord"), client("Anna Nordh")
	at := root + "/clients/" + from["id"].(string)
	owner.startedBy(owner.ask(http.MethodPost, at+"/do/merge", url.Values{"version": {"1"}, "intoId": {into["id"].(string)}}))
}
