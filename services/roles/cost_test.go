package roles_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

// How large the company of the test is: each record has so many others beside it and below it, and each body lines.
const (
	small  = 50
	growth = 5
)

// What an operation may take. Work that does not show up within these bounds at this size is small at any that limits allow, or
// is charged.
const (
	unit         = 10 * time.Millisecond // that a unit of the rate limit pays for
	uncharged    = 60 * time.Millisecond // of a request: what the server does around it, and what the test does
	share        = 2                     // times what is charged: garbage collection, and the relay and broker that publish the events
	tooSmall     = 40 * time.Millisecond // to tell how it grows
	superlinear  = 10                    // times, when the data grow by growth; in proportion are 5, squared are 25
	costAttempts = 3                     // the best one counts: others run beside it
)

// No operation uses much more processor time than it is charged, and with more data none uses far more than in proportion.
func TestNoOperationUsesMoreThanItCosts(t *testing.T) { //nolint:paralleltest // measures the processor time of the process
	n := rolestest.NewNode(dbtest.OpenNew(t), rolestest.Alone())
	rolestest.StartRelay(t, n.DB, dbtest.Broker(t))
	r := fill(t, n)
	r.awaitEvent(t)
	r.id["{source}"], r.id["{externalId}"] = "shop", "1"
	c := &costs{t: t, r: r, described: readPromises(t, descriptionFile), before: map[string]time.Duration{}}
	c.Client = n.Client(n.Issue(t, r.company, []string{"*:write"}, company.CustomRate{RefillMilli: 1e9, Burst: 1e6}).Text)
	c.book(n)
	multiply(t, n, r.company, small)
	c.walk(small, reads, changes)
	multiply(t, n, r.company, growth-1)
	c.walk(small*growth, reads, changes, deletions)
}

// costs walks all operations of a company.
type costs struct {
	rolestest.Client

	t         *testing.T
	r         *records
	described *promises
	before    map[string]time.Duration // by operationId, with the smaller company
}

// book makes the booking as long as one can be, and its resource open to many of them.
func (c *costs) book(n *rolestest.Node) {
	hours := make([]map[string]any, 7)
	for day := range hours {
		hours[day] = map[string]any{"weekday": day + 1, "from": "00:00", "to": "24:00"}
	}
	wide, err := json.Marshal(map[string]any{"parallelBookings": 1000, "slotStepMinutes": 5, "workingHours": hours})
	require.NoError(c.t, err)
	n.Operator(rolestest.WriterToken).In(c.r.company).OK(c.t, "PATCH", "/scheduling/resources/"+c.r.id["RESOURCE"], string(wide))
	_, err = n.DB.Pool().Exec(c.t.Context(), `UPDATE bookings SET end_at = start_at + INTERVAL '24 hours' WHERE company_id = $1`, c.r.company)
	require.NoError(c.t, err)
}

// Kinds of operations, in the order in which they are called: reads of what is there, then changes, and deletions at the very end.
func reads(op httpapi.Op) bool     { return !op.Mutating() }
func changes(op httpapi.Op) bool   { return op.Mutating() && op.Method != http.MethodDelete }
func deletions(op httpapi.Op) bool { return op.Method == http.MethodDelete }

func (c *costs) walk(size int, kinds ...func(httpapi.Op) bool) {
	known := ofRecord(c.Node)
	for _, kind := range kinds {
		for _, op := range c.Node.API.Ops() {
			if !kind(op) || op.Uploads != nil {
				continue // what a file costs depends on what it holds; see the tests of imaging and spreadsheets
			}
			of := known[op.ID]
			path := c.r.at(op, c.r.id[cmp.Or(of[0], "PRODUCT")])
			c.check(op, path+c.query(op, strings.Contains(path, "?")), c.body(op, of[1], size))
		}
	}
}

// check sends a request and compares what it used with what it cost.
func (c *costs) check(op httpapi.Op, path, body string) {
	c.t.Helper()
	used, over := time.Duration(1<<62), time.Duration(1<<62)
	var got *rolestest.Reply
	for range costAttempts {
		before := processorTime(c.t)
		got = c.Do(c.t, op.Method, path, body)
		took := processorTime(c.t) - before
		require.Less(c.t, got.Status, 500, "%s: %s", rolestest.Name(op), got.Raw)
		require.NotEqual(c.t, 429, got.Status, "%s: %s", rolestest.Name(op), got.Raw)
		cost, err := strconv.Atoi(got.Header.Get("X-RateLimit-Cost"))
		require.NoError(c.t, err, "%s: %s", rolestest.Name(op), got.Raw)
		used, over = min(used, took), min(over, took-share*time.Duration(cost)*unit)
		if over < uncharged && used < tooSmall {
			break
		}
	}
	require.NotEqual(c.t, 400, got.Status, "%s: %s", rolestest.Name(op), got.Raw)
	require.Less(c.t, over, uncharged, "%s %s used that much more than it cost (X-RateLimit-Cost: %s)", op.Method, path, got.Header.Get("X-RateLimit-Cost"))
	if before, ok := c.before[op.ID]; ok && used > tooSmall {
		require.Less(c.t, float64(used)/float64(max(before, tooSmall/superlinear)), float64(superlinear), "%s %s: %s with %d times the data of %s", op.Method, path, used, growth, before)
	}
	c.before[op.ID] = used
	c.t.Logf("%6.1f ms %s %d", float64(used)/1e6, rolestest.Name(op), got.Status)
}

// processorTime is what the process has used, with garbage collection and whatever runs beside requests.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// query asks for as much as the operation returns at once.
func (c *costs) query(op httpapi.Op, begun bool) string {
	v := url.Values{}
	for _, p := range c.parameters(op) {
		switch p["name"] {
		case "pageSize":
			v.Set("pageSize", "200")
		case "from":
			if p["required"] == true { // a report
				v.Set("from", rolestest.Today(-30))
				v.Set("to", rolestest.Today(0))
			}
		case "include":
			if items, ok := p["schema"].(map[string]any)["items"].(map[string]any); ok {
				var all []string
				for _, part := range items["enum"].([]any) {
					all = append(all, part.(string))
				}
				v.Set("include", strings.Join(all, ","))
			}
		}
	}
	required := map[string]map[string]string{
		"listBookingsOutsideHours": {"dateFrom": c.bookedOn(), "dateTo": c.bookedOn()},
		"searchAvailability":       {"resourceIds": c.r.id["RESOURCE"], "dateFrom": c.bookedOn(), "dateTo": c.bookedOn(), "freeOnly": "false"},
		"listSlots":                {"resourceId": c.r.id["RESOURCE"], "date": c.bookedOn()},
		"reportBookings":           {"from": c.bookedOn(), "to": c.bookedOn()},
	}
	for name, value := range required[op.ID] {
		v.Set(name, value)
	}
	switch {
	case len(v) == 0:
		return ""
	case begun:
		return "&" + v.Encode()
	}
	return "?" + v.Encode()
}

func (c *costs) parameters(op httpapi.Op) (all []map[string]any) {
	described := c.described.ops[rolestest.Name(op)]
	require.NotNil(c.t, described, rolestest.Name(op))
	list, _ := described["parameters"].([]any)
	for _, p := range list {
		all = append(all, p.(map[string]any))
	}
	return all
}

// bookedOn is the day of the booking.
func (c *costs) bookedOn() string {
	booking := c.OK(c.t, "GET", "/scheduling/bookings/"+c.r.id["BOOKING"], "")
	return booking.Body["startAt"].(string)[:len(time.DateOnly)]
}

// costBodies are those of operations that no sample has.
var costBodies = map[string]string{ //nolint:gochecknoglobals // a constant table
	"fetchFile":             `{"url":"http://127.0.0.1:1/x.png"}`, // what an image costs depends on what it holds
	"repriceProducts":       `{"filter":{},"rule":{"type":"percent","value":2.5,"roundTo":10}}`,
	"previewReprice":        `{"filter":{},"rule":{"type":"percent","value":2.5,"roundTo":10}}`,
	"storeCategoryTree":     `{"parentId":null,"categories":[{"name":"Sets"}]}`,
	"startExport":           `{"resource":"orders","format":"csv"}`,
	"adjustStock":           `{"productId":"PRODUCT","warehouseId":"WAREHOUSE","targetQty":5,"reason":"counted"}`,
	"upsertOrderPayment":    aPayment,
	"batchVariants":         `{"productId":"PRODUCT","name":"Small"}`,
	"batchClientChanges":    `{"clientId":"CLIENT","addTags":["regular"]}`,
	"batchOrderChanges":     `{"orderId":"ORDER","assignedToId":"null"}`,
	"batchStockAdjustments": `{"productId":"PRODUCT","warehouseId":"WAREHOUSE","targetQty":5,"reason":"counted"}`,
}

// body is that of the sample with so many lines or items.
func (c *costs) body(op httpapi.Op, change string, size int) string {
	if !op.Mutating() {
		return ""
	}
	at, batch := strings.CutSuffix(op.Path, "/batch")
	at = strings.TrimSuffix(at, "/preview")
	at, _, _ = strings.Cut(at, "/by-")
	of := cmp.Or(costBodies[op.ID], change)
	for _, s := range rolestest.Samples() {
		if (op.Method == http.MethodPost || op.AlsoCreates) && !s.Admin && cmp.Or(s.CreatePath, s.Path) == at {
			of = s.Create
		}
	}
	switch of = rolestest.FillIn(of, c.r.id); {
	case of == "":
		return rolestest.AnyBody(op)
	case batch:
		item := `{"op":"create","body":` + of + `}`
		return `{"items":[` + strings.Repeat(item+",", small-1) + item + `]}`
	}
	return c.enlarged(op, of, size)
}

// enlarged repeats the lines of a body.
func (c *costs) enlarged(op httpapi.Op, body string, size int) string {
	var fields map[string]any
	require.NoError(c.t, json.Unmarshal([]byte(body), &fields), body)
	if lines, ok := fields["items"].([]any); ok {
		fields["items"] = slices.Repeat(lines, max(1, min(size, 500)/len(lines)))
	}
	if _, paid := fields["payments"]; paid {
		delete(fields, "payments") // they would have to add up
		delete(fields, "receivedAmount")
		fields["paymentMethod"] = "cash"
	}
	if op.AlsoCreates {
		delete(fields, "source")
		delete(fields, "externalId")
		if strings.Contains(op.Path, "/by-phone/") || strings.Contains(op.Path, "/by-email/") {
			delete(fields, "phone")
			delete(fields, "email")
		}
	}
	raw, err := json.Marshal(fields)
	require.NoError(c.t, err)
	return string(raw)
}

// sqlColumns lists the columns of the tables, and whether a unique index has their values once.
const sqlColumns = `SELECT c.table_name, c.column_name, c.udt_name, EXISTS (
    SELECT 1 FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey)
    WHERE i.indisunique AND i.indrelid = (quote_ident(c.table_name))::regclass AND a.attname = c.column_name AND c.column_name NOT IN ('kind', 'currency'))
FROM information_schema.columns c JOIN information_schema.tables t ON t.table_schema = c.table_schema AND t.table_name = c.table_name
WHERE c.table_schema = current_schema() AND t.table_type = 'BASE TABLE' AND c.is_generated = 'NEVER' ORDER BY 1, c.ordinal_position`

// single are tables with one row for a company, or a process, and those of work that is under way.
var single = []string{ //nolint:gochecknoglobals // a constant list
	"companies", "tokens", "counters", "outbox", "jobs", "idempotency_keys", "company_calls", "schema_migrations",
}

// multiply adds copies of all rows of a company: to each of its records others beside it, and others below it.
func multiply(t *testing.T, n *rolestest.Node, of tenant.ID, times int) {
	t.Helper()
	rows, err := n.DB.Query(t.Context(), sqlColumns)
	require.NoError(t, err)
	type column struct {
		table, name, kind string
		unique            bool
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (c column, err error) {
		err = row.Scan(&c.table, &c.name, &c.kind, &c.unique)
		return c, err
	})
	require.NoError(t, err)
	tables := map[string][]column{}
	for _, c := range all {
		tables[c.table] = append(tables[c.table], c)
	}
	for table, columns := range tables {
		if slices.Contains(single, table) || !slices.ContainsFunc(columns, func(c column) bool { return c.name == "company_id" }) {
			continue
		}
		var names, values []string
		for _, c := range columns {
			value := `"` + c.name + `"`
			switch {
			case c.name == "id" && c.kind == "uuid":
				value = "gen_random_uuid()"
			case !c.unique || c.name == "company_id":
			case c.kind == "text" || c.kind == "varchar":
				value = fmt.Sprintf("left(%s, 20) || '~' || substr(md5(random()::TEXT), 1, 12)", value)
			case c.kind == "int8" || c.kind == "int4":
				value = "(1000000 + random() * 1e9)::BIGINT" // behind the counters
			}
			names, values = append(names, `"`+c.name+`"`), append(values, value)
		}
		sql := fmt.Sprintf(`INSERT INTO %s (%s) SELECT %s FROM %s, generate_series(1, $2::INT4) AS g WHERE company_id = $1 ON CONFLICT DO NOTHING`,
			table, strings.Join(names, ", "), strings.Join(values, ", "), table)
		_, err := n.DB.Pool().Exec(t.Context(), sql, of, times)
		require.NoError(t, err, table)
	}
	_, err = n.DB.Pool().Exec(t.Context(), sqlSumCopies, of)
	require.NoError(t, err)
}

// sqlSumCopies sets the amounts of sales to those of their lines, which copies have raised: a refund has shares of both.
const sqlSumCopies = `UPDATE sales AS s SET subtotal = l.amount, discount_amount = l.discount - s.redeemed_points, tax_amount = l.tax, total = l.total
FROM (
  SELECT sale_id, sum(amount)::BIGINT AS amount, sum(discount_amount)::BIGINT AS discount, sum(tax_amount)::BIGINT AS tax, sum(total)::BIGINT AS total
  FROM sale_lines WHERE company_id = $1 GROUP BY sale_id
) AS l WHERE s.company_id = $1 AND s.id = l.sale_id`
