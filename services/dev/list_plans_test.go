package dev

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/dev/demodata"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

// Sizes of the tables. A page may look at so many records; a whole company has many more.
const (
	recordsOfACompany = 6_000
	recordsOfAPage    = 4_000 // 50 of a status that one in fifty has, found in the order of another column
	distinctRefs      = 300   // records that a column refers to
)

// planned is a large list: how to fill its table, and what its filters are given. More records are made of those of the demo
// company; fill changes them, where g is the number of the record and r the one that it is made of.
type planned struct {
	table, fill string
	filters     map[string][]string
}

// ref is the id of one of a few hundred records that do not exist.
func ref(g string) string { return fmt.Sprintf(`md5('ref' || (%s) %% %d)::UUID`, g, distinctRefs) }

const aRef = "ref" // stands for one of these ids; a number stands for the day so many days from now

// after is a third without a value and times in another order than that of creation otherwise.
func after(minutes int) string {
	return fmt.Sprintf(`CASE WHEN g %% 3 > 0 THEN now() + (g * 7919 %% %d) * interval '%d minutes' END`, recordsOfACompany, minutes)
}

// external is what records have of other systems, and filters what finds them by it.
const external = `'external_id', 'x-' || g, 'source', 's' || g % 300, 'metadata', jsonb_build_object('k', (g % 300)::TEXT), `

func byExternal(filters map[string][]string) map[string][]string {
	maps.Copy(filters, map[string][]string{"externalId": {"x-300"}, "source": {"s7"}, "metadata": {"[k]=7"}})
	return filters
}

const amounts = `'subtotal', g * 37 % 99991, 'discount_amount', 0, 'total', g * 37 % 99991`

var plannedLists = map[string]planned{ //nolint:gochecknoglobals // a constant table
	"/orders": {"orders", external + `'number', 100000 + g, 'total', g * 37 % 99991, 'prepaid_amount', 0, 'returned_amount', 0, 'customer_id', ` + ref("g") + `, 'assigned_to_id', ` + ref("g * 7") +
		`, 'created_by_id', ` + ref("g * 11") + `, 'due_at', ` + after(7) + `, 'ready_by', ` + after(9) + `, 'pay_due_at', ` + after(11) + `, 'channel', 'c' || g % 300, 'delivery_method', 'm' || g % 300, 'deal_id', ` + ref("g * 13"), byExternal(map[string][]string{
		"channel": {"c7"}, "deliveryMethod": {"m7"}, "assignedToId": {aRef}, "createdById": {aRef}, "customerId": {aRef}, "number": {"100300"}, "dealId": {aRef}, "customerPhone": {"+4930123456"}, "dateFrom": {"-1"}, "dateTo": {"-6"}, "dueFrom": {"3"}, "dueTo": {"3"},
	})},
	"/catalog/products": {"products", external + `'sku', 'S-' || g, 'name', 'Name ' || md5(g::TEXT), 'barcode', 'b-' || g, 'price', g * 31 % 99991, 'brand', 'B' || g % 300, 'model', 'M' || g % 900,
		'category_id', ` + ref("g"), byExternal(map[string][]string{
		"categoryId": {"null", aRef}, "priceMin": {"99900"}, "priceMax": {"90"}, "brand": {"B7"}, "attr": nil, "sku": {"S-300"}, "barcode": {"b-300"},
	})},
	"/clients": {"clients", external + `'display_name', 'Name ' || md5(g::TEXT), 'assigned_to_id', ` + ref("g") + `, 'merged_into_id', ` + ref("g") + `, 'tags', ARRAY['t' || g % 300], 'phone', '+49 30 1' || g, 'email', 'C' || g || '@example.com'`, byExternal(map[string][]string{
		"assignedToId": {aRef}, "mergedIntoId": {aRef}, "tag": {"t7"}, "phone": {"030 1300", "+49301300"}, "email": {"c300@example.com"},
	})},
	"/deals": {"deals", external + `'number', 100000 + g, 'channel', 'c' || g % 300, ` + amounts + `, 'board_order', g * 7919 % 100003, 'type_id', ` + ref("g") + `, 'stage_id', ` + ref("g * 7") +
		`, 'assigned_to_id', ` + ref("g * 11") + `, 'client_id', ` + ref("g * 13") + `, 'address_id', ` + ref("g * 17") + `, 'source_id', ` + ref("g * 19") +
		`, 'scheduled_at', ` + after(7) + `, 'next_action_at', ` + after(9) + `, 'due_at', ` + after(11), byExternal(map[string][]string{
		"number": {"100300"}, "channel": {"c7"},
		"typeId": {aRef}, "stageId": {aRef}, "assignedToId": {aRef}, "clientId": {aRef}, "addressId": {aRef}, "customerPhone": {"+4930123456"}, "sourceId": {aRef},
		"scheduledFrom": {"3"}, "scheduledTo": {"3"}, "dateFrom": {"-1"}, "dateTo": {"-6"},
	})},
	"/sales": {"sales", external + `'number', 100000 + g, 'refund_of_sale_id', CASE WHEN g % 300 = 7 THEN ` + ref("g") + ` END, 'partly_refunded', g % 7 = 0,
		'refunded_by_sale_id', CASE WHEN g % 301 = 7 THEN ` + ref("g") + ` END, 'refunded_total', 0, ` + amounts + `, 'redeemed_points', 0, 'shift_id', ` + ref("g") + `, 'cashier_id', ` + ref("g * 7") + `, 'created_by_id', ` + ref("g * 7") +
		`, 'sold_at', now() - (g * 7919 % 10000) * interval '7 minutes', 'customer_id', ` + ref("g * 11"), byExternal(map[string][]string{
		"shiftId": {aRef}, "cashierId": {aRef}, "customerId": {aRef}, "dateFrom": {"-1"}, "dateTo": {"-40"}, "number": {"100300"},
		"refundOfSaleId": {aRef}, "customerPhone": {"+4930123456"}, "refundStatus": {"partial", "full"},
	})},
	"/payments": {
		"order_payments", external + `'order_id', ` + ref("g") + `, 'delta', g * 37 % 99991 - 4999, 'reference', 'r-' || g, 'note', NULL, 'refund_of_id', NULL, 'return_id', ` + ref("g") + `, 'refunded_amount', 0, 'paid_at', now() - (g * 7919 % 10000) * interval '7 minutes'`,
		byExternal(map[string][]string{"orderId": {aRef}, "returnId": {aRef}, "reference": {"r-300"}, "paidFrom": {"-1"}, "paidTo": {"-40"}}),
	},
	"/returns": {
		"order_returns", external + `'number', 100000 + g, 'order_id', ` + ref("g") + `, 'reason', 'r-' || g, 'note', NULL, 'returned_at', now() - (g * 7919 % 10000) * interval '7 minutes'`,
		byExternal(map[string][]string{"orderId": {aRef}, "number": {"100300"}, "returnedFrom": {"-1"}, "returnedTo": {"-40"}}),
	},
	"/warehouse/stocks": {
		"stocks", `'product_id', md5('product' || k.company || g)::UUID, 'variant_id', '00000000-0000-0000-0000-000000000000', 'qty', g * 37 % 99991, 'reserved', 0, 'reorder_point', CASE WHEN g % 300 = 0 THEN 1000 ELSE 0 END`,
		map[string][]string{"warehouseId": nil, "categoryId": {aRef}, "productId": {aRef}, "variantId": {aRef}},
	},
	// How many bookings of the demo company are pending follows from the time of day. Few of them are missed.
	"/scheduling/bookings": {"bookings", external + `'status', CASE WHEN g % 97 = 0 THEN 'no_show' ELSE (ARRAY['pending', 'confirmed', 'completed', 'cancelled'])[1 + abs(hashint4(g * 3)::BIGINT) % 4] END, 'number', 100000 + g, 'resource_id', ` + ref("g") + `, 'service_id', ` + ref("g * 7") + `, 'client_id', ` + ref("g * 11") +
		`, 'start_at', now() + (g * 7919 % 10000) * interval '7 minutes', 'end_at', now() + (g * 7919 % 10000) * interval '7 minutes' + interval '1 hour'`, byExternal(map[string][]string{
		"resourceId": {aRef}, "customerPhone": {"+4930123456"}, "serviceId": {aRef}, "clientId": {aRef}, "dateFrom": {"40"}, "dateTo": {"3"}, "number": {"100300"},
	})},
}

// fillSQL makes records of a table for the company of the first argument, of those of the company of the second one. Which of
// these a record is made of comes from a hash of its number: it may not depend on what else the number decides, or the won
// deals are just those without a date.
func (p planned) fillSQL() string {
	return fmt.Sprintf(`INSERT INTO %s SELECT n.* FROM generate_series(1, $3::INT) AS g CROSS JOIN (SELECT $1::UUID AS company) AS k
JOIN (SELECT b, row_number() OVER () - 1 AS i, count(*) OVER () AS many FROM %s b WHERE company_id = $2) AS s ON s.i = abs(hashint4(g)::BIGINT) %% s.many
CROSS JOIN LATERAL jsonb_populate_record(s.b, jsonb_build_object('company_id', k.company, 'id', md5('%s' || k.company || g)::UUID, 'created_at', now() - g * interval '1 minute', 'updated_at', now() - g * interval '1 minute',
'search_text', 'thing ' || g || ' of ' || g %% 300, %s)) AS n`, p.table, p.table, strings.TrimSuffix(p.table, "s"), p.fill)
}

const sqlCopyWarehouses = `INSERT INTO warehouses SELECT n.* FROM warehouses b CROSS JOIN LATERAL jsonb_populate_record(b, jsonb_build_object('company_id', $1::UUID)) AS n WHERE b.company_id = $2`

// fillLists makes many records for the company, and half as many for others.
func fillLists(t *testing.T, d *db.DB, company tenant.ID) {
	t.Helper()
	exec := func(sql string, args ...any) {
		_, err := d.Pool().Exec(t.Context(), sql, args...)
		require.NoError(t, err, sql)
	}
	others := []tenant.ID{tenant.NewID(), tenant.NewID()}
	for _, other := range others {
		exec(sqlCopyWarehouses, other, company)
	}
	for _, p := range plannedLists {
		for _, other := range others {
			exec(p.fillSQL(), other, company, recordsOfACompany/4)
		}
		exec(p.fillSQL(), company, company, recordsOfACompany)
		exec(`VACUUM ANALYZE ` + p.table) // also what is pending of an index of texts
	}
}

// recorder keeps the statements of lists.
type recorder struct {
	mu   sync.Mutex
	kept []sent
}

// sent is a statement, and whether its plan is kept; see [db.PlanInOrder].
type sent struct {
	*pgx.QueuedQuery
	inOrder bool
}

// TraceQueryStart implements [pgx.QueryTracer].
func (*recorder) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

// TraceQueryEnd implements [pgx.QueryTracer].
func (*recorder) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TraceBatchStart implements [pgx.BatchTracer].
func (r *recorder) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	inOrder := false
	for _, q := range data.Batch.QueuedQueries {
		inOrder = inOrder || q.SQL == "set local enable_sort = off"
		r.kept = append(r.kept, sent{q, inOrder})
	}
	return ctx
}

// TraceBatchQuery implements [pgx.BatchTracer].
func (*recorder) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

// TraceBatchEnd implements [pgx.BatchTracer].
func (*recorder) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// take returns what was sent since the last time.
func (r *recorder) take() []sent {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept := r.kept
	r.kept = nil
	return kept
}

// planNode is a node of a plan that was run.
type planNode struct {
	NodeType  string  `json:"Node Type"`
	Relation  string  `json:"Relation Name"`
	Index     string  `json:"Index Name"`
	Cond      string  `json:"Index Cond"`
	Rows      float64 `json:"Actual Rows"`
	Loops     float64 `json:"Actual Loops"`
	Filtered  float64 `json:"Rows Removed by Filter"`
	Rechecked float64 `json:"Rows Removed by Index Recheck"`
	Plans     []planNode
}

// each calls fn for the node and all below it.
func (p *planNode) each(fn func(*planNode)) {
	fn(p)
	for i := range p.Plans {
		p.Plans[i].each(fn)
	}
}

// runPlan runs a statement and returns how. A scan of the whole table is no choice: there are other companies in it.
func runPlan(t *testing.T, d *db.DB, q *pgx.QueuedQuery) (plan planNode, text string) {
	t.Helper()
	b := &pgx.Batch{}
	b.Queue(`BEGIN READ ONLY`)
	b.Queue(`SET LOCAL enable_seqscan = off`)
	b.Queue(`EXPLAIN (ANALYZE, FORMAT JSON, TIMING OFF) `+q.SQL, q.Arguments...).QueryRow(func(row pgx.Row) error { return row.Scan(&text) })
	b.Queue(`COMMIT`)
	require.NoError(t, d.Pool().SendBatch(t.Context(), b).Close())
	var all []struct{ Plan planNode }
	require.NoError(t, json.Unmarshal([]byte(text), &all))
	return all[0].Plan, text
}

// runKeptPlan runs the plan of a statement that is kept for all companies, as [db.PlanInOrder] has it made.
func runKeptPlan(t *testing.T, d *db.DB, q *pgx.QueuedQuery) (plan planNode, text string) {
	t.Helper()
	conn, err := d.Pool().Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	results, err := conn.Conn().PgConn().Exec(t.Context(), fmt.Sprintf(`BEGIN READ ONLY; SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off; SET LOCAL plan_cache_mode = force_generic_plan;
PREPARE kept (UUID) AS %s; EXPLAIN (ANALYZE, FORMAT JSON, TIMING OFF) EXECUTE kept ('%s'); DEALLOCATE kept; COMMIT`, q.SQL, q.Arguments[0])).ReadAll()
	require.NoError(t, err, q.SQL)
	text = string(results[5].Rows[0][0])
	var all []struct{ Plan planNode }
	require.NoError(t, json.Unmarshal([]byte(text), &all))
	return all[0].Plan, text
}

// Every filter and every sort of a large list, and each sort with each filter, enters its table by an index that begins with
// the company, and a page looks at few records however many the company has.
func TestLargeListsLookAtFewRecords(t *testing.T) {
	t.Parallel()
	if dbtest.Dialect(t) != db.PostgreSQL {
		return // prints other plans; tests/dialect looks at those
	}
	seen := &recorder{}
	d, err := db.Open(t.Context(), db.Config{URL: dbtest.NewDatabase(t), MaxConns: 8, QueryTracer: seen})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	n := rolestest.NewNode(d, rolestest.Alone())
	dm, err := startDemo(t.Context(), n, t.TempDir(), demodata.Small)
	require.NoError(t, err)
	fillLists(t, d, dm.CompanyID)
	for path, p := range plannedLists {
		filters, sorts := parametersOf(t, n, path)
		if path == "/warehouse/stocks" {
			filters = append(filters, "groupBy=product", "groupBy=product&search=of+77")
		}
		for _, filter := range filters {
			for _, sort := range sorts {
				if isRange(filter) && sort != "" {
					continue // no index has the order of one column within a range of another
				}
				if strings.HasPrefix(filter, "groupBy=product") && strings.Contains(sort, "qty") {
					continue // the order of sums takes all of them
				}
				query := strings.Trim(filter+"&"+sort, "&")
				seen.take()
				require.Equal(t, 200, n.Client(dm.Token).Do(t, "GET", path+"?pageSize=50&"+query, "").Status, "%s?%s", path, query)
				p.check(t, d, path+"?"+query, seen.take())
			}
		}
	}
}

// isRange reports whether a filter leaves an interval, or the records without a value.
func isRange(filter string) bool {
	name, _, _ := strings.Cut(filter, "=")
	return strings.HasSuffix(name, "From") || strings.HasSuffix(name, "To") || strings.HasSuffix(name, "Min") || strings.HasSuffix(name, "Max") || name == "noTask" || name == "overdue"
}

// check runs the statements of a list again.
func (p planned) check(t *testing.T, d *db.DB, what string, statements []sent) {
	t.Helper()
	pages := 0
	for _, q := range statements {
		if !strings.Contains(q.SQL, " FROM "+p.table) {
			continue
		}
		looked, entered := p.look(t, d, what, q)
		if looked > recordsOfAPage {
			// What VACUUM and ANALYZE find depends on the transactions that are open: a plan is as good as they are.
			_, err := d.Exec(t.Context(), `VACUUM ANALYZE `+p.table)
			require.NoError(t, err)
			looked, entered = p.look(t, d, what, q)
		}
		if strings.Contains(q.SQL, "cursor_id") {
			pages++
			if looked > recordsOfAPage {
				t.Errorf("%s: the page looks at %.0f records, by %v\n\t%s", what, looked, entered, q.SQL)
			}
		}
	}
	if pages == 0 {
		t.Errorf("%s: no statement was seen", what)
	}
}

// look runs a statement again. It returns how many records of the table it looked at, and by which indexes.
func (p planned) look(t *testing.T, d *db.DB, what string, q sent) (looked float64, entered []string) {
	t.Helper()
	run := runPlan
	if q.inOrder {
		run = runKeptPlan
	}
	plan, text := run(t, d, q.QueuedQuery)
	plan.each(func(n *planNode) {
		if n.Relation == p.table {
			looked += (n.Rows + n.Filtered + n.Rechecked) * n.Loops
			if n.NodeType == "Seq Scan" {
				t.Errorf("%s: reads all of %s\n\t%s\n%s", what, p.table, q.SQL, text)
			}
		}
		if n.Index == "" {
			return
		}
		entered = append(entered, n.Index)
		if !strings.Contains(n.Cond, "company_id") {
			t.Errorf("%s: enters %s without the company\n\t%s\n%s", what, n.Index, q.SQL, text)
		}
	})
	return looked, entered
}

// parametersOf are the filters and sorts of a list by its description, as queries; the first of each is none.
func parametersOf(t *testing.T, n *rolestest.Node, path string) (filters, sorts []string) {
	t.Helper()
	raw, err := n.API.Description()
	require.NoError(t, err)
	var doc struct {
		Paths map[string]map[string]struct {
			Parameters []struct {
				Name, In string
				Schema   valuesOf
			}
		}
	}
	require.NoError(t, json.Unmarshal(raw, &doc))
	operation, ok := doc.Paths[httpapi.BasePath+path]
	if !ok {
		operation, ok = doc.Paths[path]
	}
	require.True(t, ok, path)
	common := []string{"page", "pageSize", "cursor", "withTotal", "ids", "fields", "include", "updatedSince", "order", "groupBy"}
	filters, sorts = []string{""}, []string{""}
	for _, p := range operation["get"].Parameters {
		values, known := plannedLists[path].filters[p.Name]
		switch {
		case p.In != "query" || slices.Contains(common, p.Name):
		case p.Name == "sort":
			for _, sort := range p.Schema.values() {
				sorts = append(sorts, "sort="+sort, "sort="+sort+"&order=desc")
			}
		case p.Name == "search":
			filters = append(filters, "search=of+77")
		case len(p.Schema.values()) > 0:
			for _, v := range p.Schema.values() {
				filters = append(filters, p.Name+"="+v)
			}
		case p.Schema.Type == "boolean":
			filters = append(filters, p.Name+"=true")
		default:
			require.True(t, known, "%s has a new filter %s: say in plannedLists what it is given", path, p.Name)
			for _, v := range values {
				if days, err := strconv.Atoi(v); err == nil && (strings.HasSuffix(p.Name, "From") || strings.HasSuffix(p.Name, "To")) {
					v = time.Now().AddDate(0, 0, days).Format(time.DateOnly)
				} else if v == aRef {
					require.NoError(t, n.DB.QueryRow(t.Context(), `SELECT `+ref("7")+`::TEXT`).Scan(&v))
				}
				if key, value, ok := strings.Cut(v, "]="); ok {
					filters = append(filters, p.Name+url.QueryEscape(key+"]")+"="+value)
					continue
				}
				filters = append(filters, p.Name+"="+url.QueryEscape(v))
			}
		}
	}
	return filters, sorts
}

// valuesOf is what a schema says about the values of a parameter.
type valuesOf struct {
	Type  any
	Enum  []string
	Items *struct{ Enum []string }
}

func (s valuesOf) values() []string {
	if s.Items != nil {
		return s.Items.Enum
	}
	return s.Enum
}
