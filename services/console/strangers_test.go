package console_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// strangers post a form a hundred times at once, with invented sessions, and return how often each status was answered.
func (p *pages) strangers(path string, form func() (address string, in url.Values)) func() map[int]int {
	var flood sync.WaitGroup
	var mu sync.Mutex
	answers := map[int]int{}
	for range 100 {
		address, in := form()
		req := httptest.NewRequestWithContext(context.WithoutCancel(p.t.Context()), http.MethodPost, "https://console.example.com"+path, strings.NewReader(in.Encode()))
		req.RemoteAddr = "192.0.2.1:1234"
		req.Header.Set("X-Forwarded-For", address)
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Sec-Fetch-Site", "same-origin")
		req.AddCookie(&http.Cookie{Name: "__Host-tradegrid", Value: strings.Repeat("x", 7) + uuid.NewString()}) // a session that is not there
		flood.Go(func() {
			rec := httptest.NewRecorder()
			p.app.ServeHTTP(rec, req)
			mu.Lock()
			defer mu.Unlock()
			answers[rec.Code]++
			if later := rec.Code == http.StatusTooManyRequests || rec.Code == http.StatusServiceUnavailable; later && rec.Header().Get("Retry-After") == "" {
				answers[0]++
			}
		})
	}
	return func() map[int]int {
		flood.Wait()
		return answers
	}
}

// Whatever strangers send to the pages by which one gets in, others are answered, and strangers at once.
func TestStrangersDoNotStopTheConsole(t *testing.T) {
	t.Parallel()
	d, err := db.Open(t.Context(), db.Config{URL: dbtest.URL(t), MaxConns: 8})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	p := newPagesOn(t, d)
	s := p.emptyShop()
	owner, colleague := p.signedIn(s.people["owner"]), s.people["viewer"]
	known := p.signedIn(colleague)
	one, proxy := uuid.NewString(), p.visitor().address
	everNew := func() string { return netip.AddrFrom16(uuid.New()).String() }
	for name, flood := range map[string]struct {
		path string
		form func() (string, url.Values)
		want []int // status
	}{
		"one name": {"/sign-in", func() (string, url.Values) { return proxy, url.Values{"email": {one}, "password": {"guess"}} }, []int{422, 429, 503}},
		"ever new names": {"/sign-in", func() (string, url.Values) {
			return everNew(), url.Values{"email": {uuid.NewString()}, "password": {"guess"}}
		}, []int{422, 503}},
		"a new password":      {"/link/guess", func() (string, url.Values) { return everNew(), url.Values{"password": {consolePassword}} }, []int{410, 503}},
		"operators":           {"/sign-in/operator", func() (string, url.Values) { return everNew(), url.Values{"token": {"guess"}} }, []int{422, 503}},
		"a passkey":           {"/sign-in/passkey", func() (string, url.Values) { return proxy, url.Values{"credential": {"{}"}} }, []int{422, 429, 503}},
		"links of a person":   {"/sign-in/forgot", func() (string, url.Values) { return everNew(), url.Values{"email": {*s.people["owner"].Email}} }, []int{200, 503}},
		"links to new people": {"/sign-in/forgot", func() (string, url.Values) { return proxy, url.Values{"email": {uuid.NewString()}} }, []int{200, 429, 503}},
	} {
		answers := p.strangers(flood.path, flood.form)
		for i := range 3 {
			require.Equal(t, http.StatusOK, owner.ask(http.MethodGet, "/c/"+s.id.String()+"/webhooks", nil).status, name)
			got := known.ask(http.MethodPost, "/sign-in", url.Values{"email": {*colleague.Email}, "password": {consolePassword}})
			require.Equal(t, http.StatusSeeOther, got.status, "%s: sign-in %d", name, i)
		}
		for status, n := range answers() {
			require.Contains(t, flood.want, status, fmt.Sprintf("%s: %d times", name, n))
		}
	}
}
