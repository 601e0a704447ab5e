package bench

import (
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/secret"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

// finds is how many times each kind of text is looked for.
const finds = 200

// fillClients gives a company clients with names, phone numbers of one town, and addresses.
const fillClients = `INSERT INTO clients (company_id, id, kind, display_name, phone, email, tags, status, balance, points, credit_limit, marketing_consent, created_by_id, search_text,
version, ev_pos, created_at, updated_at)
SELECT $1::UUID, gen_random_uuid(), 'individual', 'Client ' || md5(g::TEXT), '+49 30 ' || phone, 'c' || g || '@example.com', '{}', 'active', 0, 0, 0, false, md5('actor')::UUID,
  'client ' || md5(g::TEXT) || chr(10) || 'c' || g || '@example.com' || chr(10) || '+49 30 ' || phone || chr(10) || '4930' || phone, 1, 1, now() - g * interval '1 second', now() - g * interval '1 second'
FROM (SELECT g, 1000000 + g * 7919 % 8999993 AS phone FROM generate_series(1, $2::BIGINT) AS g) AS s`

// BenchmarkFind looks for texts in the find field of the console, in a company with 1 M orders, 100 k products and 100 k clients, one
// after the other: the time until the console answers, with where it leads to.
//
//   - number-p50-ms, number-p99-ms: the number of an order; and so for sku, phone, email, id (of an order), name (a part of that of a
//     product, which some have) and nothing (an id that nobody has)
//   - p99-ms: of all texts together
//   - home-p50-ms, home-p99-ms: the first page of the company; and so for orders (the list), dearest and cheapest (those with a status, by
//     total: the index by total has the dearest first, and most of all orders before the cheapest), order (the page of one), products (found
//     by a text), deals (the board), webhooks, events, suggest (what is shown under the field while somebody types)
func BenchmarkFind(b *testing.B) {
	r := newKit(b)
	address, ops := freeAddress(b), freeAddress(b)
	p := r.start("api", "--listen", address, "--ops-listen", ops, "--database-url", r.url, "--kafka-brokers", "127.0.0.1:1")
	p.answers("http://" + ops + "/livez")
	s := r.api(address).shop("Large")
	r.fill("orders", fillOrders, s.company, manyOrders)
	r.fill("products", fillProducts, s.company, manyProducts)
	r.fill("clients", fillClients, s.company, manyProducts)
	v := r.visitor(s.company)
	ids := r.someOrders(s.company)
	texts := map[string]func(i int) string{
		"number":  func(i int) string { return fmt.Sprintf("№ %d", 1+(i*7919+977)%manyOrders) },
		"sku":     func(i int) string { return fmt.Sprintf("S-%d", 1+(i*7919+977)%manyProducts) },
		"phone":   func(i int) string { return fmt.Sprintf("030 %d", 1000000+(1+(i*7919+977)%manyProducts)*7919%8999993) },
		"email":   func(i int) string { return fmt.Sprintf("C%d@example.com", 1+(i*7919+977)%manyProducts) },
		"id":      func(i int) string { return ids[i%len(ids)] },
		"name":    func(i int) string { return fmt.Sprintf("of %d", i%20*31) },
		"nothing": func(int) string { return uuid.NewString() },
	}
	typed := []string{"of 31", "client 5e", "c4711", "4711", "030 100", "product", "S-47"} // on the way to a name, an address, a number
	for b.Loop() {
		var all []time.Duration
		for name, text := range texts {
			times := v.times(finds, func(i int) string { return "/find?q=" + url.QueryEscape(text(i)) })
			all = append(all, times...)
			reportPercentiles(b, name+"-", times)
		}
		b.ReportMetric(percentile(all, 99), "p99-ms")
		for name, path := range map[string]func(i int) string{
			"home":     func(int) string { return "/" },
			"orders":   func(int) string { return "/orders" },
			"dearest":  func(int) string { return "/orders?status=new&sort=total&order=desc" },
			"cheapest": func(int) string { return "/orders?status=new&sort=total" },
			"order":    func(i int) string { return "/orders/" + ids[i%len(ids)] },
			"products": func(i int) string { return "/products?search=of+" + strconv.Itoa(i%977) },
			"deals":    func(int) string { return "/deals" },
			"webhooks": func(int) string { return "/webhooks" },
			"events":   func(int) string { return "/events" },
			"suggest":  func(i int) string { return "/find/suggest?q=" + url.QueryEscape(typed[i%len(typed)]) },
		} {
			reportPercentiles(b, name+"-", v.times(finds, path))
		}
	}
	b.ReportMetric(0, "ns/op")
}

// someOrders are ids of orders all over the company.
func (r *kit) someOrders(company tenant.ID) (ids []string) {
	r.b.Helper()
	rows, err := r.db.Query(r.b.Context(), `SELECT id::TEXT FROM orders WHERE company_id = $1 AND number % 977 = 1 LIMIT 1000`, company)
	require.NoError(r.b, err)
	defer rows.Close()
	for rows.Next() {
		var id string
		require.NoError(r.b, rows.Scan(&id))
		ids = append(ids, id)
	}
	require.NoError(r.b, rows.Err())
	require.NotEmpty(r.b, ids)
	return ids
}

// visitor is a browser in which an operator is signed in to the console.
type visitor struct {
	b      *testing.B
	client *http.Client
	root   string // of the company
}

// visitor starts the console, and signs in to it.
func (r *kit) visitor(company tenant.ID) *visitor {
	r.b.Helper()
	token := "svc_admin_" + rand.Text()
	file := filepath.Join(r.b.TempDir(), "operators")
	require.NoError(r.b, os.WriteFile(file, []byte(secret.OperatorLine("bench", secret.RoleRead, token)+"\n"), 0o600))
	pages, ops := freeAddress(r.b), freeAddress(r.b)
	p := r.start("console", "--admin-listen", freeAddress(r.b), "--console-listen", pages, "--console-url", "http://"+pages, "--ops-listen", ops, "--database-url", r.url, "--admin-tokens-file", file)
	p.answers("http://" + ops + "/readyz")
	jar, err := cookiejar.New(nil)
	require.NoError(r.b, err)
	v := &visitor{r.b, &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, "http://" + pages + "/c/" + company.String()}
	req, err := http.NewRequestWithContext(r.b.Context(), http.MethodPost, "http://"+pages+"/sign-in/operator", strings.NewReader(url.Values{"token": {token}}.Encode()))
	require.NoError(r.b, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	res, err := v.client.Do(req)
	require.NoError(r.b, err)
	_ = res.Body.Close()
	require.Equal(r.b, http.StatusSeeOther, res.StatusCode)
	return v
}

// times opens pages one after the other, after some that warm up.
func (v *visitor) times(n int, path func(i int) string) []time.Duration {
	v.b.Helper()
	times := make([]time.Duration, n)
	for i := 0; i < n+n/10; i++ {
		start := time.Now()
		req, err := http.NewRequestWithContext(v.b.Context(), http.MethodGet, v.root+path(i), nil)
		require.NoError(v.b, err)
		res, err := v.client.Do(req)
		require.NoError(v.b, err)
		_, err = io.Copy(io.Discard, res.Body)
		require.NoError(v.b, err)
		_ = res.Body.Close()
		if res.StatusCode == http.StatusTooManyRequests { // the limit of a person
			time.Sleep(time.Second)
			i--
			continue
		}
		if res.StatusCode >= http.StatusInternalServerError || res.StatusCode == http.StatusUnauthorized || strings.Contains(res.Header.Get("Location"), "/sign-in") {
			v.b.Errorf("%s: %d %s", path(i), res.StatusCode, res.Header.Get("Location"))
		}
		times[i%n] = time.Since(start)
	}
	return times
}
