package dev

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/spreadsheet"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/job"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/dev/demodata"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

// shop is a company with a worker for its jobs.
type shop struct {
	rolestest.Client
	t  *testing.T
	by access.Caller // for results, which the tests of the API do not stream
}

// newShop is a company with a token for everything.
func newShop(t *testing.T, n *rolestest.Node, id tenant.ID, token string) shop {
	t.Helper()
	return shop{n.Client(token), t, access.Caller{Principal: &access.Principal{Company: id, Scopes: apitest.Scopes("*:write")}}}
}

// demoShop is the demo company, with a worker for the jobs of all companies.
func demoShop(t *testing.T, n *rolestest.Node) shop {
	t.Helper()
	dm, err := startDemo(t.Context(), n, t.TempDir(), demodata.Small)
	require.NoError(t, err)
	apitest.Work(t, n.DB, n.JobHandlers())
	by, err := dm.caller(t.Context(), dm.Token)
	require.NoError(t, err)
	s := newShop(t, n, by.Company, dm.Token)
	s.by.Currency = by.Currency
	return s
}

// result downloads what a job has made, once it is done.
func (s shop) result(id string) (summary map[string]any, raw []byte) {
	s.t.Helper()
	var got map[string]any
	require.Eventually(s.t, func() bool {
		got = s.OK(s.t, "GET", "/jobs/"+id, "").Body
		return got["status"] == "done" || got["status"] == "failed"
	}, time.Minute, 5*time.Millisecond)
	require.Equal(s.t, "done", got["status"], "%v", got["error"])
	found, err := job.Get(s.t.Context(), s.Node.DB, s.by, uuid.MustParse(id))
	require.NoError(s.t, err)
	raw, err = io.ReadAll(job.Result(s.t.Context(), s.Node.DB, found))
	require.NoError(s.t, err)
	summary, _ = got["summary"].(map[string]any)
	return summary, raw
}

func (s shop) export(body string) []byte {
	s.t.Helper()
	_, raw := s.result(s.OK(s.t, "POST", "/exports", body).ID(s.t))
	return raw
}

// imported sends a file and returns the summary and the report.
func (s shop) imported(query, media string, file []byte) (summary map[string]any, lines []map[string]any) {
	s.t.Helper()
	req := httptest.NewRequestWithContext(s.t.Context(), "POST", httpapi.BasePath+"/imports?"+query, bytes.NewReader(file))
	req.Header.Set("Content-Type", media)
	req.Header.Set("Authorization", "Bearer "+s.Token)
	res, err := s.Node.API.App().Test(req, -1)
	require.NoError(s.t, err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	require.NoError(s.t, err)
	require.Equal(s.t, 202, res.StatusCode, "%s", raw)
	var started struct{ ID string }
	require.NoError(s.t, json.Unmarshal(raw, &started))
	summary, report := s.result(started.ID)
	for line := range strings.Lines(string(report)) {
		var l map[string]any
		require.NoError(s.t, json.Unmarshal([]byte(line), &l))
		lines = append(lines, l)
	}
	return summary, lines
}

func (s shop) events() (n int64) {
	s.t.Helper()
	require.NoError(s.t, s.Node.DB.QueryRow(s.t.Context(), `SELECT count(*) FROM outbox WHERE company_id = $1`, s.by.Company).Scan(&n))
	return n
}

var medias = map[string]string{"csv": "text/csv", "xlsx": spreadsheet.MediaXLSX}

// What an export writes an import takes back: nothing has changed, and nothing is announced.
func TestExportsCanBeImported(t *testing.T) {
	t.Parallel()
	n := rolestest.NewNode(dbtest.OpenNew(t), rolestest.Alone())
	s := demoShop(t, n)
	for _, resource := range []string{"products", "clients", "stocks", "suppliers", "services"} {
		for _, options := range []string{`"format":"csv"`, `"format":"csv","bom":true,"delimiter":";","decimalSeparator":","`, `"format":"xlsx"`} {
			format, separator := "csv", "&decimalSeparator=."
			if strings.Contains(options, "xlsx") {
				format, separator = "xlsx", ""
			} else if strings.Contains(options, "decimalSeparator") {
				separator = "&decimalSeparator=,"
			}
			filters := `{}`
			if resource == "products" || resource == "services" {
				filters = `{"status":"all"}`
			}
			file := s.export(fmt.Sprintf(`{"resource":%q,"filters":%s,%s}`, resource, filters, options))
			before := s.events()
			for _, dry := range []string{"&dryRun=true", ""} {
				summary, lines := s.imported("resource="+resource+dry+separator, medias[format], file)
				require.NotEmpty(t, lines, resource)
				for _, l := range lines {
					require.Equal(t, "unchanged", l["outcome"], "%s %s %v", resource, options, l)
				}
				require.EqualValues(t, len(lines), summary["unchanged"])
				require.Empty(t, summary["unknownColumns"], resource)
			}
			require.Equal(t, before, s.events(), "%s: no event", resource)
		}
	}
}

// An empty company gets the same records.
func TestRecordsMoveToAnotherCompany(t *testing.T) {
	t.Parallel()
	n := rolestest.NewNode(dbtest.OpenNew(t), rolestest.Alone())
	from := demoShop(t, n)
	var at map[string]any // the default warehouse
	for _, w := range from.OK(t, "GET", "/warehouse/warehouses", "").Body["items"].([]any) {
		if w := w.(map[string]any); w["isDefault"] == true {
			at = w
		}
	}
	c, err := n.CreateCompany(t.Context(), company.NewCompany{Name: "Other", Plan: "business", Currency: from.by.Currency, BranchName: at["name"].(string)})
	require.NoError(t, err)
	other := newShop(t, n, c.ID, n.Issue(t, c.ID, []string{"*:write"}).Text)
	for _, step := range []struct{ resource, key, columns string }{
		{"products", "sku", `"sku","name","description","nameI18n","price","cost","unit","status","hasStock","emoji","isBundle","minOrderQty","currency"`},
		{"clients", "externalId", `"kind","displayName","firstName","lastName","companyName","phone","email","inn","tags","creditLimit","note","birthday","kpp","paymentTermsDays","marketingConsent","source","externalId","metadata"`},
		{"stocks", "sku", `"productSku","variantSku","warehouseName","qty","reorderPoint"`},
	} {
		for _, format := range []string{"csv", "xlsx"} {
			filters := map[string]string{"products": `{"status":"all"}`, "clients": `{}`, "stocks": fmt.Sprintf(`{"warehouseId":%q}`, at["id"])}[step.resource]
			body := func(format string) string {
				return fmt.Sprintf(`{"resource":%q,"format":%q,"filters":%s,"columns":[%s]}`, step.resource, format, filters, step.columns)
			}
			file := from.export(body(format))
			query, media := "resource="+step.resource+"&key="+step.key, medias[format]
			if step.resource == "stocks" {
				file, media = []byte(withoutVariants(string(from.export(body("csv"))))), medias["csv"]
			}
			summary, lines := other.imported(query+"&dryRun=true", media, file)
			require.Zero(t, summary["failed"], "%v", lines)
			if step.resource == "clients" && format == "xlsx" {
				continue // those without an external id would come twice
			}
			summary, lines = other.imported(query, media, file)
			require.Zero(t, summary["failed"], "%v", lines)
			sent := file
			if media == spreadsheet.MediaXLSX {
				sent = from.export(body("csv"))
			}
			if filters = "{}"; step.resource == "products" {
				filters = `{"status":"all"}`
			}
			got := other.export(body("csv"))
			require.Equal(t, fileRows(t, sent), fileRows(t, got), step.resource)
		}
	}
}

// withoutVariants leaves out the rows of variants, which the other company does not have.
func withoutVariants(file string) string {
	var kept strings.Builder
	for line := range strings.Lines(file) {
		if cells := strings.Split(line, ","); cells[1] == "" || cells[1] == "variantSku" {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// fileRows are the rows of a CSV in any order.
func fileRows(t *testing.T, file []byte) []string {
	t.Helper()
	rows, err := spreadsheet.ReadCSV(t.Context(), file, "", spreadsheet.Limits{Rows: 10_000, Columns: 200, Cell: 1 << 20, Row: 4 << 20, Expand: 1 << 20})
	require.NoError(t, err)
	var all []string
	for {
		row, err := rows.Next()
		if err != nil {
			slices.Sort(all)
			return all
		}
		all = append(all, fmt.Sprint(row.Cells))
	}
}
