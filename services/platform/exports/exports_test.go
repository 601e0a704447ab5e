package exports_test

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/job"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/suppliers"
	"github.com/tradegrid/tradegrid/services/platform/exports"
	"github.com/tradegrid/tradegrid/services/platform/jobs"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

type kit struct {
	*apitest.Client
	t      *testing.T
	db     *db.DB
	server *apitest.Server
	run    func() (stop func()) // starts a worker
}

const root = "https://api.example.com" + httpapi.BasePath

// setup opens a database of its own, because a worker runs the jobs of all companies.
func setup(t *testing.T) *kit {
	t.Helper()
	d := dbtest.OpenNew(t)
	e := exports.New(exports.Config{DB: d})
	server := apitest.New(t, d, suppliers.New(suppliers.Config{DB: d}).Register, e.Register, jobs.New(jobs.Config{DB: d, Root: root}).Register)
	k := &kit{t: t, db: d, server: server, Client: server.Company()}
	k.run = func() func() { return apitest.Work(t, d, e.Jobs()) }
	return k
}

// suppliers stores n suppliers of the company of the client.
func (k *kit) suppliers(c *apitest.Client, n int) {
	k.t.Helper()
	_, err := k.db.Exec(k.t.Context(), `INSERT INTO suppliers (company_id, id, name, note, search_text, version, ev_pos, created_at, updated_at)
SELECT $1, gen_random_uuid(), 'Mill ' || g, 'says "hi", then
leaves', 'mill ' || g, 1, 1, now() - g * INTERVAL '1 second', now() FROM generate_series(1, $2::INT4) AS g`, c.Principal.Company, n)
	require.NoError(k.t, err)
}

func (k *kit) start(c *apitest.Client, body string) string {
	k.t.Helper()
	got := c.Do(k.t, "POST", "/exports", body).OK(202)
	require.Equal(k.t, "export", got["type"])
	require.Equal(k.t, "pending", got["status"])
	id, ok := got["id"].(string)
	require.True(k.t, ok)
	return id
}

func (k *kit) ended(c *apitest.Client, id string) (got map[string]any) {
	k.t.Helper()
	require.Eventually(k.t, func() bool {
		got = c.Do(k.t, "GET", "/jobs/"+id, nil).OK(200)
		return got["status"] == "done" || got["status"] == "failed"
	}, time.Minute, 10*time.Millisecond)
	return got
}

func (k *kit) download(c *apitest.Client, id string) (*apitest.Response, []byte) {
	k.t.Helper()
	got := c.Do(k.t, "GET", "/jobs/"+id+"/result", nil)
	require.Equal(k.t, 200, got.Status, "%s", got.Body)
	return got, got.Body
}

// An export has each record once, as the list returns it, over many steps and pages.
func TestExportHasWhatTheListReturns(t *testing.T) {
	t.Parallel()
	k := setup(t)
	k.suppliers(k.Client, 9876)
	k.suppliers(k.server.Company(), 10)
	id := k.start(k.Client, `{"resource":"suppliers"}`)
	k.run()
	got := k.ended(k.Client, id)
	require.Equal(t, "done", got["status"], "%v", got["error"])
	require.Equal(t, 9876.0, got["processed"])
	require.Equal(t, 100.0, got["progress"])
	require.Equal(t, root+"/jobs/"+id+"/result", got["resultUrl"])
	require.NotNil(t, got["expiresAt"])
	answer, raw := k.download(k.Client, id)
	require.Equal(t, "application/x-ndjson", answer.Header.Get("Content-Type"))
	require.Equal(t, `attachment; filename="export-`+id+`.ndjson"`, answer.Header.Get("Content-Disposition"))
	lines := bufio.NewScanner(bytes.NewReader(raw))
	for page := 1; page <= 50; page++ {
		var want struct{ Items []json.RawMessage }
		require.NoError(t, json.Unmarshal(k.Do(t, "GET", fmt.Sprintf("/warehouse/suppliers?pageSize=200&page=%d", page), nil).Body, &want))
		for _, item := range want.Items {
			require.True(t, lines.Scan())
			require.Equal(t, string(item), lines.Text())
		}
	}
	require.False(t, lines.Scan(), "nothing else")
}

// Steps that fail or lose the answer to their commit, and workers that take over from each other, leave no record out and
// write none twice.
func TestExportIsExactUnderFaults(t *testing.T) {
	t.Parallel()
	k := setup(t)
	k.suppliers(k.Client, 20_000)
	faulty, err := db.Open(t.Context(), db.Config{URL: k.db.Pool().Config().ConnString(), MaxConns: 8, Inject: db.Chaos(0.1, 5)})
	require.NoError(t, err)
	t.Cleanup(faulty.Close)
	e := exports.New(exports.Config{DB: faulty})
	apitest.New(t, faulty, suppliers.New(suppliers.Config{DB: faulty}).Register, e.Register)
	id := k.start(k.Client, `{"resource":"suppliers","format":"csv","filters":{"fields":"name"}}`)
	for range 2 {
		apitest.Work(t, faulty, e.Jobs())
	}
	require.Equal(t, "done", k.ended(k.Client, id)["status"])
	_, raw := k.download(k.Client, id)
	rows, err := csv.NewReader(bytes.NewReader(raw)).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 20_001)
	for i, row := range rows[1:] {
		require.Equal(t, fmt.Sprint("Mill ", i+1), row[1])
	}
}

func TestExportAsCSV(t *testing.T) {
	t.Parallel()
	k := setup(t)
	k.suppliers(k.Client, 450)
	all, some := k.start(k.Client, `{"resource":"suppliers","format":"csv"}`), k.start(k.Client, `{"resource":"suppliers","format":"csv","filters":{"search":"mill 44","fields":["name","note"]}}`)
	none := k.start(k.Client, `{"resource":"suppliers","filters":{"search":"nobody"}}`)
	k.run()
	k.ended(k.Client, all)
	answer, raw := k.download(k.Client, all)
	require.Equal(t, "text/csv; charset=utf-8", answer.Header.Get("Content-Type"))
	rows, err := csv.NewReader(bytes.NewReader(raw)).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 451)
	require.Equal(t, []string{"id", "companyId", "name", "contactName", "phone", "email", "inn", "address", "note", "source", "externalId", "metadata", "version", "createdAt", "updatedAt"}, rows[0])
	require.Equal(t, []string{"Mill 1", "", "says \"hi\", then\nleaves"}, []string{rows[1][2], rows[1][3], rows[1][8]})

	require.Equal(t, 11.0, k.ended(k.Client, some)["processed"])
	_, raw = k.download(k.Client, some)
	rows, err = csv.NewReader(bytes.NewReader(raw)).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 12)
	require.Equal(t, []string{"id", "name", "note"}, rows[0])

	k.ended(k.Client, none)
	_, raw = k.download(k.Client, none)
	require.Empty(t, raw)
}

// The columns of a table are those that were asked for, in their order.
func TestChoicesOfCSV(t *testing.T) {
	t.Parallel()
	k := setup(t)
	k.suppliers(k.Client, 2)
	id := k.start(k.Client, `{"resource":"suppliers","format":"csv","columns":["note","name"],"bom":true,"delimiter":";","decimalSeparator":","}`)
	k.run()
	k.ended(k.Client, id)
	_, raw := k.download(k.Client, id)
	require.Equal(t, "\ufeffnote;name\n\"says \"\"hi\"\", then\nleaves\";Mill 1\n\"says \"\"hi\"\", then\nleaves\";Mill 2\n", string(raw))
}

// A workbook that many steps of failing workers have written in parts is whole.
func TestExportAsXLSXIsExactUnderFaults(t *testing.T) {
	t.Parallel()
	k := setup(t)
	const records = 20_000
	k.suppliers(k.Client, records)
	faulty, err := db.Open(t.Context(), db.Config{URL: k.db.Pool().Config().ConnString(), MaxConns: 8, Inject: db.Chaos(0.1, 7)})
	require.NoError(t, err)
	t.Cleanup(faulty.Close)
	e := exports.New(exports.Config{DB: faulty})
	apitest.New(t, faulty, suppliers.New(suppliers.Config{DB: faulty}).Register, e.Register)
	id := k.start(k.Client, `{"resource":"suppliers","format":"xlsx"}`)
	for range 2 {
		apitest.Work(t, faulty, e.Jobs())
	}
	got := k.ended(k.Client, id)
	require.Equal(t, map[string]any{"sheets": 1.0, "cutCells": 0.0}, got["summary"])
	answer, raw := k.download(k.Client, id)
	require.Equal(t, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", answer.Header.Get("Content-Type"))
	require.Equal(t, `attachment; filename="export-`+id+`.xlsx"`, answer.Header.Get("Content-Disposition"))
	var pieces int
	require.NoError(t, k.db.QueryRow(t.Context(), `SELECT count(*) FROM job_chunks WHERE job_id = $1`, id).Scan(&pieces))
	require.Greater(t, pieces, 2)
	f, err := excelize.OpenReader(bytes.NewReader(raw))
	require.NoError(t, err)
	rows, err := f.GetRows("suppliers")
	require.NoError(t, err)
	require.Len(t, rows, 1+records)
	require.Equal(t, "createdAt (UTC)", rows[0][13])
	for i, row := range rows[1:] {
		require.Equal(t, fmt.Sprint("Mill ", i+1), row[2])
	}
}

// Whoever may not read the list may neither export it nor see the job.
func TestExportNeedsTheRightsOfTheList(t *testing.T) {
	t.Parallel()
	k := setup(t)
	company := k.Principal.Company
	as := func(components []string, scopes ...string) *apitest.Client {
		return k.server.Caller(company, func(p *access.Principal) { p.Scopes, p.Components = apitest.Scopes(scopes...), components })
	}
	on := []string{"core", "warehouse"}
	body := `{"resource":"suppliers"}`
	as(on, "warehouse:write").Do(t, "POST", "/exports", body).Fault(403, "AUTH_API_SCOPE_INSUFFICIENT")
	got := as(on, "exports:write").Do(t, "POST", "/exports", body).Fault(403, "AUTH_API_SCOPE_INSUFFICIENT")
	require.Equal(t, map[string]any{"scopes": []any{"warehouse:read"}}, got["meta"])
	got = as([]string{"core"}, "exports:write", "warehouse:read").Do(t, "POST", "/exports", body).Fault(403, "MODULE_ACCESS_INACTIVE")
	require.Equal(t, map[string]any{"alias": "warehouse"}, got["meta"])
	maker := as(on, "exports:write", "warehouse:read")
	id := k.start(maker, body)
	k.run()
	k.ended(maker, id)
	for _, path := range []string{"/jobs/" + id, "/jobs/" + id + "/result"} {
		as(on, "exports:write").Do(t, "GET", path, nil).Fault(404, "JOB_NOT_FOUND")
		as(on, "warehouse:read").Do(t, "GET", path, nil).Fault(404, "JOB_NOT_FOUND")
		k.server.Company().Do(t, "GET", path, nil).Fault(404, "JOB_NOT_FOUND")
		require.Equal(t, 200, as(on, "exports:read", "warehouse:read").Do(t, "GET", path, nil).Status)
	}
}

func TestExportInputFaults(t *testing.T) {
	t.Parallel()
	k := setup(t)
	for body, want := range map[string]map[string]string{
		`{}`:                     {"resource": "REQUIRED"},
		`{"resource":"planets"}`: {"resource": "ENUM"},
		`{"resource":"suppliers","columns":["name"],"bom":true,"delimiter":";","decimalSeparator":","}`: {"columns": "CONFLICT", "bom": "CONFLICT", "delimiter": "CONFLICT", "decimalSeparator": "CONFLICT"},
		`{"resource":"suppliers","format":"csv","decimalSeparator":","}`:                                {"decimalSeparator": "CONFLICT"},
		`{"resource":"suppliers","format":"xlsx","bom":true}`:                                           {"bom": "CONFLICT"},
		`{"resource":"suppliers","format":"csv","delimiter":"|","columns":[]}`:                          {"delimiter": "FORMAT", "columns": "MIN"},
		`{"resource":"suppliers","format":"xlsx","columns":["name","nam"]}`:                             {"columns[1]": "ENUM"},
		`{"resource":"suppliers","format":"xml"}`:                                                       {"format": "ENUM"},
		`{"resource":"suppliers","filters":{"cursor":"x","sort":"name","search":{}}}`:                   {"filters.cursor": "CONFLICT", "filters.sort": "CONFLICT", "filters.search": "TYPE"},
		`{"resource":"suppliers","filters":{"colour":"red","ids":["x"],"search":""}}`:                   {"filters.colour": "UNKNOWN", "filters.ids[0]": "FORMAT", "filters.search": "FORMAT"},
		`{"resource":"suppliers","filters":{"fields":["planet"]}}`:                                      {"filters.fields": "ENUM"},
		`{"resource":"suppliers","filters":{"search":["a",["b"]]}}`:                                     {"filters.search": "TYPE"},
	} {
		require.Equal(t, want, k.Do(t, "POST", "/exports", body).Fields(), body)
	}
}

// A result can be downloaded for 24 hours after the end of its job, and there is none before.
func TestResultExpires(t *testing.T) {
	t.Parallel()
	k := setup(t)
	k.suppliers(k.Client, 3)
	id := k.start(k.Client, `{"resource":"suppliers"}`)
	got := k.Do(t, "GET", "/jobs/"+id+"/result", nil).Fault(409, "JOB_HAS_NO_RESULT")
	require.Equal(t, map[string]any{"status": "pending"}, got["meta"])
	k.run()
	k.ended(k.Client, id)
	_, err := k.db.Exec(t.Context(), `UPDATE jobs SET ended_at = ended_at - INTERVAL '24 hours' WHERE id = $1`, id)
	require.NoError(t, err)
	require.Nil(t, k.Do(t, "GET", "/jobs/"+id, nil).OK(200)["resultUrl"])
	k.Do(t, "GET", "/jobs/"+id+"/result", nil).Fault(410, "JOB_RESULT_EXPIRED")
}

// A download whose pieces are gone breaks off, so that the client notices.
func TestIncompleteResultBreaksOff(t *testing.T) {
	t.Parallel()
	k := setup(t)
	k.suppliers(k.Client, 8000) // a step reads 6040
	id := k.start(k.Client, `{"resource":"suppliers"}`)
	k.run()
	k.ended(k.Client, id)
	var pieces int
	require.NoError(t, k.db.QueryRow(t.Context(), `SELECT count(*) FROM job_chunks WHERE job_id = $1`, id).Scan(&pieces))
	require.Equal(t, 2, pieces)
	_, err := k.db.Exec(t.Context(), `DELETE FROM job_chunks WHERE job_id = $1 AND n = 1`, id)
	require.NoError(t, err)
	var f job.Found
	f.CompanyID, f.Bytes = k.Principal.Company, 8<<20
	require.NoError(t, f.ID.UnmarshalText([]byte(id)))
	_, err = io.ReadAll(job.Result(t.Context(), k.db, f))
	require.ErrorContains(t, err, "piece 0: the one after it")
}

// Records of half a megabyte are read a few at a time. No other test of the package runs meanwhile.
func TestExportOfLargeRecordsNeedsLittleMemory(t *testing.T) { //nolint:paralleltest // measures the memory of the process
	k := setup(t)
	const records, size, mib = 200, 512 << 10, 1 << 20
	k.suppliers(k.Client, records)
	_, err := k.db.Exec(t.Context(), `UPDATE suppliers SET note = repeat('x', $2::INT4) WHERE company_id = $1`, k.Principal.Company, size)
	require.NoError(t, err)
	id := k.start(k.Client, `{"resource":"suppliers"}`)
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	held := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	runtime.GC()
	before, most := held(), uint64(0)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				most = max(most, held())
			}
		}
	}()
	end := k.run()
	k.ended(k.Client, id)
	end()
	close(stop)
	<-stopped
	require.Less(t, (most-before)/mib, uint64(60), "MiB; all records have 100")
	var found int64
	require.NoError(t, k.db.QueryRow(t.Context(), `SELECT result_bytes FROM jobs WHERE id = $1`, id).Scan(&found))
	require.Greater(t, found, int64(records*size), "all of them were written")
}
