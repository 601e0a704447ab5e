package imports_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/spreadsheet"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/blob"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/quota"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/catalog"
	"github.com/tradegrid/tradegrid/services/business/clients"
	"github.com/tradegrid/tradegrid/services/business/files"
	"github.com/tradegrid/tradegrid/services/business/suppliers"
	"github.com/tradegrid/tradegrid/services/business/warehouse"
	"github.com/tradegrid/tradegrid/services/platform/exports"
	"github.com/tradegrid/tradegrid/services/platform/imports"
	"github.com/tradegrid/tradegrid/services/platform/jobs"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

type kit struct {
	*apitest.Client
	t      testing.TB
	db     *db.DB
	server *apitest.Server
}

// setup opens a database of its own, because a worker runs the jobs of all companies.
func setup(t *testing.T) *kit { return setupOn(t, dbtest.OpenNew(t)) }

func setupOn(t *testing.T, d *db.DB) *kit {
	t.Helper()
	pictures := files.New(files.Config{
		DB: d, Store: blob.NewDatabase(d), Keys: apitest.Keys(t), Download: download(t),
		Quota: quota.New(quota.Config{DB: d, Kind: files.QuotaKind, Limit: 1 << 20, Owners: apitest.Owners}),
	})
	s := imports.New(imports.Config{DB: d, Image: pictures.Fetch, Warehouses: func(context.Context, db.Querier, tenant.ID) (map[string]uuid.UUID, error) {
		return map[string]uuid.UUID{"Main": {1}, "Twice": uuid.Nil}, nil
	}})
	e := exports.New(exports.Config{DB: d})
	products := catalog.New(catalog.Config{DB: d, Suppliers: suppliers.Known})
	stock := warehouse.New(warehouse.Config{DB: d, Products: products, FilterCategory: catalog.FilterCategory})
	server := apitest.New(t, d, products.Register, pictures.Register, clients.New(clients.Config{DB: d, Users: nobody{}}).Register, suppliers.New(suppliers.Config{DB: d}).Register, stock.Register, e.Register, s.Register, jobs.New(jobs.Config{DB: d}).Register)
	apitest.Work(t, d, append(e.Jobs(), s.Jobs()...))
	return &kit{Client: server.Company(), t: t, db: d, server: server}
}

// nobody is the users of a company without any.
type nobody struct{}

func (nobody) UserNames(context.Context, db.Querier, tenant.ID, []uuid.UUID) (map[uuid.UUID]string, error) {
	return map[uuid.UUID]string{}, nil
}

func (nobody) KnownUsers(context.Context, db.Querier, tenant.ID, []uuid.UUID) ([]uuid.UUID, error) {
	return nil, nil
}

func (k *kit) send(query, media, file string) *apitest.Response {
	k.t.Helper()
	return k.Do(k.t, "POST", "/imports?"+query, file, apitest.Header{"Content-Type", media})
}

type line struct {
	Row                    int
	Outcome, Code, Message string
	ID                     *string
	Errors                 []struct{ Field, Code, Message string }
}

func (l line) String() string {
	text := fmt.Sprint(l.Row, " ", l.Outcome)
	for _, e := range l.Errors {
		text += " " + e.Field + ":" + e.Code
	}
	if len(l.Errors) == 0 && l.Code != "" {
		text += " " + l.Code
	}
	return text
}

// imported sends a file, and returns the job at its end and the report.
func (k *kit) imported(t require.TestingT, query, media, file string) (map[string]any, []line) {
	k.t.Helper()
	got := k.send(query, media, file).OK(202)
	id, _ := got["id"].(string)
	got = k.ended(t, id)
	require.Equal(t, "done", got["status"], "%v", got["error"])
	var lines []line
	for text := range strings.Lines(string(k.Do(k.t, "GET", "/jobs/"+id+"/result", nil).Body)) {
		var l line
		require.NoError(t, json.Unmarshal([]byte(text), &l))
		lines = append(lines, l)
	}
	return got, lines
}

// ended is a job at its end.
func (k *kit) ended(t require.TestingT, id string) (got map[string]any) {
	k.t.Helper()
	require.Eventually(t, func() bool {
		got = k.Do(k.t, "GET", "/jobs/"+id, nil).OK(200)
		return got["status"] == "done" || got["status"] == "failed"
	}, time.Minute, 5*time.Millisecond)
	return got
}

const csv = "text/csv"

func TestImportOfProducts(t *testing.T) {
	t.Parallel()
	k := setup(t)
	k.Do(t, "POST", "/catalog/products", `{"sku":"a-1","name":"Tea","price":100,"brand":"Old"}`).OK(201)
	k.Do(t, "POST", "/catalog/products", `{"sku":"A-2","name":"Same","price":250}`).OK(201)
	file := "sku;name;price;brand;hasStock;createdAt (Europe/Berlin);currency;colour;nme\r\n" +
		"A-1;Tea;1,00;;;;;;\r\n" + // an empty cell clears the brand
		"A-2;Same;2,5;;FALSE;;;;\r\n" +
		"A-3;New;3;Own;true;;;;\r\n" +
		"A-3;Again;3;;;;;;\r\n" +
		"A-4;Wrong;1.234,5;;maybe;;;;\r\n" +
		"A-5;Exact;1,005;;;;JPY;;\r\n" +
		";No key;7;;;;;;\r\n" +
		"A-6;;1;;;;;;\r\n"
	want := "[2 update 3 unchanged 4 create 5 error sku:CONFLICT 6 error price:TYPE hasStock:TYPE 7 error currency:CONFLICT price:TYPE 8 create 9 error name:REQUIRED]"
	dry, lines := k.imported(t, "resource=products&dryRun=true", csv, file)
	require.Equal(t, want, fmt.Sprint(lines))
	require.Equal(t, "sku: is that of row 4, too; leave one of the rows out", lines[3].Message)
	require.Equal(t, "price: must be a number such as 1234.5; for separators of thousands add the parameter decimalSeparator, the character before the decimal places in this file; "+
		"hasStock: must be true or false, or yes or no", lines[4].Message)
	require.Nil(t, lines[2].ID)
	require.EqualValues(t, 2, k.Do(t, "GET", "/catalog/products", nil).OK(200)["total"], "nothing has changed")

	got, lines := k.imported(t, "resource=products", csv, file)
	require.Equal(t, want, fmt.Sprint(lines))
	require.NotNil(t, lines[2].ID)
	require.Equal(t, map[string]any{
		"resource": "products", "dryRun": false, "key": "sku", "created": 2.0, "updated": 1.0, "unchanged": 1.0, "failed": 4.0, "rowsWithoutKey": 1.0,
		"header": []any{"sku", "name", "price", "brand", "hasStock", "createdAt (Europe/Berlin)", "currency", "colour", "nme"}, "fields": []any{"sku", "name", "price", "brand", "hasStock", "", "", "", ""},
		"columns": []any{"sku", "name", "price", "brand", "hasStock"}, "ignoredColumns": []any{"createdAt", "currency"},
		"unknownColumns": []any{map[string]any{"column": "colour"}, map[string]any{"column": "nme", "didYouMean": "name"}},
	}, got["summary"])
	require.Equal(t, "import", got["type"])
	require.Equal(t, 8.0, dry["processed"])
	made := k.Do(t, "GET", "/catalog/products/"+*lines[2].ID, nil).OK(200)
	require.Equal(t, "[A-3 New 300 Own true]", fmt.Sprint([]any{made["sku"], made["name"], made["price"], made["brand"], made["hasStock"]}))
	tea := k.Do(t, "GET", "/catalog/products?sku=a-1", nil).OK(200)["items"].([]any)[0].(map[string]any)
	require.Equal(t, "a-1", tea["sku"])
	require.Nil(t, tea["brand"])
}

func TestKeysOfImports(t *testing.T) {
	t.Parallel()
	k := setup(t)
	one := k.Do(t, "POST", "/warehouse/suppliers", `{"name":"Mill","source":"erp","externalId":"7"}`).OK(201)["id"].(string)
	_, lines := k.imported(t, "resource=suppliers", csv, fmt.Sprintf("id,name\n%s,Mill 2\n,Bakery\nx,Wrong\n%s,Nobody\n", one, uuid.NewString()))
	require.Equal(t, "[2 update 3 create 4 error id:FORMAT 5 error SUPPLIER_NOT_FOUND]", fmt.Sprint(lines))
	_, lines = k.imported(t, "resource=suppliers", csv, "source,externalId,name\nerp,7,Mill 3\nerp,8,New\nerp,,Plain\n,9,No source\n")
	require.Equal(t, "[2 update 3 create 4 create 5 error source:REQUIRED]", fmt.Sprint(lines))
	for query, want := range map[string]map[string]string{
		"resource=suppliers&key=sku": {"key": "ENUM"}, "resource=suppliers&key=externalId": {"key": "REQUIRED"}, "resource=planets": {"resource": "ENUM"},
		"": {"resource": "REQUIRED"}, "resource=suppliers&dry=true": {"dry": "UNKNOWN"}, "resource=stocks": {"key": "REQUIRED", "body": "REQUIRED"},
	} {
		require.Equal(t, want, k.send(query, csv, "id,name\n,x\n").Fields(), query)
	}
}

func TestFilesThatCannotBeImported(t *testing.T) {
	t.Parallel()
	k := setup(t)
	for file, want := range map[string]string{
		"id,name\n":            "has no rows below the first, which names the columns",
		"\n":                   "has no rows; the first row must name the columns",
		"id,name,name\n,a,b\n": "has the column name twice; leave one out",
		"id,planet\n,a\n":      `has no column that is a field of suppliers; the first row must name fields, such as address, and has \"id\", \"planet\" (did you mean phone?)`,
		"id,name," + strings.Repeat("x", 257) + "\n,a,b\n": "has more than 256 bytes in column 3 of the first row, which must name the columns",
		"id,name\n,\xe4\n": "row 2 is not UTF-8; save the file as CSV UTF-8, or name its encoding, such as Content-Type: text/csv; charset=windows-1251",
		"id,name\n,\"a\n":  "row 2 has a cell that cannot be read: cell 2 has no closing quotation mark; add it",
		"id,name\n" + strings.Repeat(",a\n", 50_001): "has more than 50000 rows; split it",
	} {
		got := k.send("resource=suppliers", csv, file)
		require.Equal(t, 400, got.Status, "%s", got.Body)
		require.Contains(t, string(got.Body), `"body: `+want+`"`, file[:min(len(file), 30)])
	}
	require.Equal(t, map[string]string{"body": "FORMAT"}, k.send("resource=suppliers", spreadsheet.MediaXLSX, "id,name\n,a\n").Fields())
	k.send("resource=suppliers", "application/json", "{}").Fault(415, "UNSUPPORTED_MEDIA_TYPE")
	k.send("resource=suppliers", csv, strings.Repeat("x", 10<<20+1)).Fault(413, "PAYLOAD_TOO_LARGE")
	_, lines := k.imported(t, "resource=suppliers", "text/csv; charset=windows-1251", "id;name\n;\xcc\xe5\xeb\n")
	require.Equal(t, "Мел", k.Do(t, "GET", "/warehouse/suppliers/"+*lines[0].ID, nil).OK(200)["name"])
}

// Whoever may not write the records may not import them, nor see the job.
func TestImportNeedsTheRightsOfTheRecords(t *testing.T) {
	t.Parallel()
	k := setup(t)
	as := func(components []string, scopes ...string) *kit {
		other := *k
		other.Client = k.server.Caller(k.Principal.Company, func(p *access.Principal) { p.Scopes, p.Components = apitest.Scopes(scopes...), components })
		return &other
	}
	on := []string{"core", "warehouse"}
	as(on, "warehouse:read").send("resource=suppliers", csv, "id,name\n,a\n").Fault(403, "AUTH_API_SCOPE_INSUFFICIENT")
	as([]string{"core"}, "warehouse:write").send("resource=suppliers", csv, "id,name\n,a\n").Fault(403, "MODULE_ACCESS_INACTIVE")
	got := as(on, "warehouse:write").send("resource=suppliers", csv, "id,name\n,a\n").OK(202)
	as(on, "catalog:read").Do(t, "GET", "/jobs/"+got["id"].(string), nil).Fault(404, "JOB_NOT_FOUND")
	as(on, "warehouse:read").Do(t, "GET", "/jobs/"+got["id"].(string), nil).OK(200)
}

func TestRowsOfStock(t *testing.T) {
	t.Parallel()
	k := setup(t)
	_, lines := k.imported(t, "resource=stocks&dryRun=true", csv, "productSku,warehouseName,qty\nNO,Main,1\nNO,Twice,2\nNO,Elsewhere,3\nNO2,Main,1.5\n")
	require.Equal(t, "[2 error PRODUCT_NOT_FOUND 3 error warehouseName:CONFLICT 4 error warehouseName:ENUM 5 error qty:STEP]", strings.NewReplacer("qty:TYPE", "qty:STEP").Replace(fmt.Sprint(lines)))
	_, lines = k.imported(t, "resource=stocks&dryRun=true", csv, fmt.Sprintf("productSku,warehouseId,warehouseName,qty\nNO,,Main,1\nno,%s,,2\nNO2,%[1]s,,2\n", uuid.UUID{1}))
	require.Equal(t, "[2 error PRODUCT_NOT_FOUND 3 error sku:CONFLICT 4 error PRODUCT_NOT_FOUND]", fmt.Sprint(lines), "the same stock by name and by id")
}

// What one record has alone, two rows must not have: besides the key, too.
func TestRowsThatWantTheSame(t *testing.T) {
	t.Parallel()
	k := setup(t)
	file := "source,externalId,sku,name,price,barcode,status\n" +
		"erp,1,A,One,1,4006381,active\nerp,2,a,Two,1,,active\nerp,3,B,Three,1,4006381,active\nerp,4,C,Four,1,4006381,hidden\nshop,4,,Five,1,,active\nshop,5,,Six,1,,active\n"
	for _, query := range []string{"resource=products&key=externalId&dryRun=true", "resource=products&key=externalId"} {
		_, lines := k.imported(t, query, csv, file)
		require.Equal(t, "[2 create 3 error sku:CONFLICT 4 error barcode:CONFLICT 5 create 6 create 7 create]", fmt.Sprint(lines), query)
		require.Equal(t, "barcode: is that of row 2, too; change it in one of the rows", lines[2].Message)
	}
	_, lines := k.imported(t, "resource=suppliers&key=id", csv, "id,source,externalId,name,barcode\n,erp,1,One,\n,erp,1,Two,\n,shop,1,Three,7\n,,,Four,7\n")
	require.Equal(t, "[2 create 3 error externalId:CONFLICT 4 create 5 create]", fmt.Sprint(lines), "suppliers have no barcode")
}

// Steps that fail or lose the answer to their commit make each row once, and report it once.
func TestImportIsExactUnderFaults(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenNew(t)
	faulty, err := db.Open(t.Context(), db.Config{URL: d.Pool().Config().ConnString(), MaxConns: 8, Inject: db.Chaos(0.1, 5)})
	require.NoError(t, err)
	t.Cleanup(faulty.Close)
	k := setupOn(t, d)
	s := imports.New(imports.Config{DB: faulty})
	apitest.New(t, faulty, suppliers.New(suppliers.Config{DB: faulty}).Register, s.Register)
	var file strings.Builder
	file.WriteString("source,externalId,name\n")
	const rows = 1500
	for i := range rows {
		name := fmt.Sprint("Mill ", i)
		if i%97 == 5 {
			name = "" // a fault of this row
		}
		fmt.Fprintf(&file, "erp,%d,%s\n", i, name)
	}
	got, lines := k.imported(t, "resource=suppliers", csv, file.String())
	require.Len(t, lines, rows)
	for i, l := range lines {
		require.Equal(t, i+2, l.Row)
	}
	failed := int(got["summary"].(map[string]any)["failed"].(float64))
	require.Equal(t, 16, failed)
	require.EqualValues(t, rows-failed, k.Do(t, "GET", "/warehouse/suppliers", nil).OK(200)["total"])
	var left int
	require.NoError(t, d.QueryRow(t.Context(), `SELECT count(*) FROM job_inputs`).Scan(&left))
	require.Zero(t, left, "the file is deleted")
}

// Whatever texts records have, a file takes them out of one company and into another. Package spreadsheet has the property test.
func TestAnyTextComesThrough(t *testing.T) {
	t.Parallel()
	k := setup(t)
	texts := rapid.OneOf(
		rapid.StringMatching(`['=+\-@＝＋－＠ 0-9()a]{1,8}`), rapid.StringMatching(`[ ,;"'\n\\.=a&<>]{1,6}a`), rapid.StringMatching(`\+[0-9]{5,15}`), rapid.StringMatching(`0[0-9]{1,20}`),
		rapid.StringMatching(`(_x00[0-9A-F]{2}_|_|x){1,3}`), rapid.SampledFrom([]string{"true", "null", "1E5", "2026-01-02", "+49 30 12345", "+1-2", "''=1", "😀", "[1]", "{}", "a\r\nb"}),
	)
	seed := int(time.Now().UnixNano() % 1_000_000)
	stored := 0
	for i := range 150 {
		text := func(n int) string { return texts.Example(seed + 4*i + n) }
		body, err := json.Marshal(map[string]any{"name": "x" + text(0), "note": text(1), "phone": text(2), "source": "s", "externalId": fmt.Sprint(i, text(3))})
		require.NoError(t, err)
		if k.Do(t, "POST", "/warehouse/suppliers", string(body)).Status == 201 {
			stored++
		}
	}
	require.Greater(t, stored, 100, "seed %d", seed)
	for format, media := range map[string]string{"csv": csv, "xlsx": spreadsheet.MediaXLSX} {
		file := k.exported(fmt.Sprintf(`{"resource":"suppliers","format":%q,"columns":["source","externalId","phone","note","name"]}`, format))
		_, lines := k.imported(t, "resource=suppliers", media, file)
		require.Len(t, lines, stored)
		for _, l := range lines {
			require.Equal(t, "unchanged", l.Outcome, "seed %d: %s %+v", seed, format, l)
		}
		other := *k
		other.Client = k.server.Company()
		_, _ = other.imported(t, "resource=suppliers", media, file)
		require.Equal(t, records(k), records(&other), "seed %d: %s", seed, format)
	}
}

func (k *kit) exported(body string) string {
	k.t.Helper()
	id, _ := k.Do(k.t, "POST", "/exports", body).OK(202)["id"].(string)
	require.Eventually(k.t, func() bool { return k.Do(k.t, "GET", "/jobs/"+id, nil).OK(200)["status"] == "done" }, time.Minute, 2*time.Millisecond)
	return string(k.Do(k.t, "GET", "/jobs/"+id+"/result", nil).Body)
}

func records(k *kit) string {
	var all []string
	for _, item := range k.Do(k.t, "GET", "/warehouse/suppliers?pageSize=200", nil).OK(200)["items"].([]any) {
		r := item.(map[string]any)
		all = append(all, fmt.Sprintf("%q %q %q %q", r["name"], r["note"], r["phone"], r["externalId"]))
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}
