package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"

	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

const sellers = 100 // companies

// BenchmarkSales makes sales of three lines with a mixed payment and stock over the API, in 100 companies, and lets pgbench
// store the same rows in as many, in turns on one database. The relay does not run.
//
//   - sales/s: answered 201, by 64 clients that keep their connections
//   - pgbench-tx/s: by 32 clients with prepared statements
//   - ratio: of the two
func BenchmarkSales(b *testing.B) {
	r := newKit(b)
	address, ops := freeAddress(b), freeAddress(b)
	p := r.start("api", "--listen", address, "--ops-listen", ops, "--database-url", r.url, "--kafka-brokers", strings.Join(dbtest.Broker(b), ","))
	p.answers("http://" + ops + "/readyz")
	a := r.api(address)
	shops := a.shops(sellers)
	bodies := make([][]byte, sellers)
	for i, s := range shops {
		bodies[i] = a.openTill(s)
	}
	script := newSaleScript(r, a, shops[0], bodies[0])
	for b.Loop() {
		var sales, transactions float64
		for range armRounds {
			sales += a.sell(shops, bodies)
			r.emptyOutbox()
			transactions += script.run()
			r.emptyOutbox()
		}
		b.ReportMetric(sales/armRounds, "sales/s")
		b.ReportMetric(transactions/armRounds, "pgbench-tx/s")
		b.ReportMetric(sales/transactions, "ratio")
	}
	b.ReportMetric(0, "ns/op")
	var wrong int
	require.NoError(b, r.db.QueryRow(b.Context(), `SELECT count(*) FROM (SELECT company_id, count(*) AS c, max(number) AS top FROM sales GROUP BY company_id) AS s
JOIN counters ON counters.company_id = s.company_id AND counters.kind = 'sale' WHERE s.c <> s.top OR s.top <> counters.n`).Scan(&wrong))
	require.Zero(b, wrong, "companies whose numbers have gaps")
}

// openTill opens a shift and returns the body of a sale in it.
func (a *api) openTill(s *shop) []byte {
	a.r.b.Helper()
	var shift struct{ ID string }
	a.create(s.token, "/shifts/open", map[string]any{"openingCash": 0}, &shift)
	items := make([]map[string]any, 3)
	for i := range items {
		var made struct{ ID string }
		a.create(s.token, "/catalog/products", map[string]any{"name": fmt.Sprint("Goods ", i), "price": 1000, "hasStock": true}, &made)
		items[i] = map[string]any{"kind": "product", "refId": made.ID, "qty": 1, "unitPrice": 1000}
	}
	body, err := json.Marshal(map[string]any{
		"shiftId": shift.ID, "items": items, "paymentMethod": "mixed",
		"payments": []map[string]any{{"paymentMethod": "cash", "amount": 1000}, {"paymentMethod": "card", "amount": 2000}},
	})
	require.NoError(a.r.b, err)
	return body
}

// sell has the clients sell as fast as they get answers, and returns sales per second after the warm-up.
func (a *api) sell(shops []*shop, bodies [][]byte) float64 {
	a.r.b.Helper()
	var made, next atomic.Int64
	ctx, cancel := context.WithTimeout(a.r.b.Context(), warmUp+armTime)
	defer cancel()
	var wg sync.WaitGroup
	for range orderClients {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) % len(shops)
				status, answer, err := a.post(shops[i].token, "/sales", "", bodies[i])
				if err != nil || status != fasthttp.StatusCreated {
					a.r.b.Errorf("sale: %d %s %v", status, answer, err)
					return
				}
				made.Add(1)
			}
		})
	}
	<-time.After(warmUp)
	before, start := made.Load(), time.Now()
	<-ctx.Done()
	rate := float64(made.Load()-before) / time.Since(start).Seconds()
	wg.Wait()
	return rate
}

// newSaleScript makes the script of pgbench from the rows of a sale over the API, for companies made up from numbers.
func newSaleScript(r *kit, a *api, s *shop, body []byte) *pgBench {
	b := r.b
	b.Helper()
	var sale struct {
		ID      uuid.UUID
		ShiftID uuid.UUID
	}
	_, err := r.db.Exec(b.Context(), `TRUNCATE outbox`)
	require.NoError(b, err)
	status, answer, err := a.post(s.token, "/sales", uuid.NewString(), body)
	require.NoError(b, err)
	require.Equal(b, fasthttp.StatusCreated, status, "%s", answer)
	require.NoError(b, json.Unmarshal(answer, &sale))

	const company, shift, warehouse, nowMicros = "md5('company' || :c)::uuid", "md5('shift' || :c)::uuid", "md5('warehouse' || :c)::uuid", "(extract(epoch from now()) * 1000000)::bigint"
	with := func(more map[string]string) map[string]string {
		all := map[string]string{"company_id": company, "id": "gen_random_uuid()", "created_at": "now()", "sold_at": "now()", "updated_at": "now()", "ev_pos": nowMicros, "warehouse_id": warehouse}
		for k, v := range more {
			all[k] = v
		}
		return all
	}
	var text strings.Builder
	text.WriteString(`\set c random(1, :companies)
BEGIN ISOLATION LEVEL READ COMMITTED;
INSERT INTO counters (company_id, kind, n) VALUES (` + company + `, 'sale', 1)
ON CONFLICT (company_id, kind) DO UPDATE SET n = counters.n + excluded.n RETURNING n, gen_random_uuid() AS id \gset
`)
	text.WriteString(r.insertsOf("sales", "company_id = $1 AND id = $2", with(map[string]string{"id": ":id", "number": ":n", "shift_id": shift}), s.company, sale.ID))
	text.WriteString(r.insertsOf("sale_lines", "company_id = $1 AND sale_id = $2", with(map[string]string{"sale_id": ":id"}), s.company, sale.ID))
	text.WriteString(r.insertsOf("sale_payments", "company_id = $1 AND sale_id = $2", with(map[string]string{"sale_id": ":id"}), s.company, sale.ID))
	text.WriteString(`UPDATE shifts SET sales_count = sales_count + 1, sales_total = sales_total + 3000, cash_total = cash_total + 1000, card_total = card_total + 2000,
version = version + 1, ev_pos = GREATEST(ev_pos + 1, ` + nowMicros + `), updated_at = now() WHERE company_id = ` + company + ` AND id = ` + shift + ";\n")
	stocks := r.insertsOf("stocks", "company_id = $1", with(nil), s.company)
	text.WriteString(strings.TrimSuffix(stocks, ";\n") + ` ON CONFLICT (company_id, warehouse_id, product_id, variant_id) DO UPDATE
SET qty = stocks.qty - 1, version = stocks.version + 1, ev_pos = GREATEST(stocks.ev_pos + 1, excluded.ev_pos), updated_at = excluded.updated_at RETURNING qty, reserved;
`)
	marks := r.insertsOf("stock_changes", "company_id = $1", map[string]string{"company_id": company, "warehouse_id": warehouse}, s.company)
	text.WriteString(strings.TrimSuffix(marks, ";\n") + " ON CONFLICT (company_id, warehouse_id, product_id, variant_id) DO NOTHING;\n")
	text.WriteString(r.insertsOf("stock_movements", "company_id = $1 AND document_id = $2", with(map[string]string{"document_id": ":id"}), s.company, sale.ID))
	text.WriteString(r.insertsOf("outbox", "company_id = $1", with(map[string]string{"bucket": ":c % 256", "pos": nowMicros}), s.company))
	text.WriteString("COMMIT;\n")
	shifts := r.insertsOf("shifts", "company_id = $1 AND id = $2", map[string]string{"company_id": company, "id": shift, "opened_by_id": "gen_random_uuid()"}, s.company, sale.ShiftID)
	for c := range sellers {
		_, err := r.db.Exec(b.Context(), strings.ReplaceAll(shifts, ":c", fmt.Sprint(c+1)))
		require.NoError(b, err)
	}
	p := newPGBench(r, a, s, sellers)
	p.script = filepath.Join(b.TempDir(), "sale.pgbench")
	require.NoError(b, os.WriteFile(p.script, []byte(text.String()), 0o600))
	p.args[len(p.args)-1] = p.script
	return p
}
