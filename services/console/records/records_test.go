package records

import (
	"encoding/json"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/platform/company"
)

func of(currency string) *web.Request {
	return &web.Request{Company: company.Company{Settings: company.Settings{Currency: currency}}}
}

// What a form shows of an amount is what it sends, in every currency and however people group and separate digits.
func TestAmountsOfForms(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		q := of(rapid.SampledFrom([]string{"EUR", "JPY", "KWD"}).Draw(t, "currency"))
		n := rapid.Int64Range(-1<<53, 1<<53).Draw(t, "amount")
		typed := q.Decimal(n)
		require.Equal(t, n, q.ParseAmount(typed))
		require.Equal(t, n, q.ParseAmount(" "+strings.ReplaceAll(typed, ".", ",")+" "))
		require.Equal(t, n, q.ParseAmount(strings.ReplaceAll(q.Amount(n), "−", "-")), "what a page shows can be typed")
	})
	require.Equal(t, int64(1250), of("EUR").ParseAmount("12.5"))
	for _, wrong := range []string{"", "-", "12.345", "1e3", "0x1", "1.2.3", "12,5,0", "--1", "١٢", "9999999999999999999", "12.-5"} {
		require.Equal(t, wrong, of("EUR").ParseAmount(wrong), "the API says what is wrong")
	}
}

func jsonOf(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// Only lines of which something is left are asked for; what is typed for them is sent in their order.
func TestQuantitiesOfLines(t *testing.T) {
	t.Parallel()
	var r resources.Record
	require.NoError(t, decode([]byte(`{"lines":[{"id":"a","kind":"product","qty":3,"shippedQty":0.5},{"id":"b","kind":"service","qty":1,"shippedQty":0},
		{"id":"c","kind":"product","qty":2,"shippedQty":2},{"id":"d","kind":"product","qty":1,"shippedQty":0}]}`), &r))
	ship := &resources.RowsInput{Field: "items", ID: "orderLineId", Done: "shippedQty", Only: "product"}
	var left []string
	for _, l := range r.Records("lines") {
		if n, ok := leftOf(l, ship); ok {
			left = append(left, l.Text("id")+" "+n)
		}
	}
	require.Equal(t, []string{"a 2.5", "d 1"}, left)
	items := itemsOfRows(ship, shown{record: r}, url.Values{"qty.d": {"1,5"}, "qty.a": {"0.000"}, "qty.b": {"some"}, "qty.x": {"9"}})
	require.JSONEq(t, `[{"orderLineId":"b","qty":"some"},{"orderLineId":"d","qty":1.5}]`, jsonOf(items))
}

// Where 0 is a quantity, only an empty field is none; where nothing is filled in, all lines are asked for.
func TestQuantitiesThatMayBeZero(t *testing.T) {
	t.Parallel()
	var r resources.Record
	require.NoError(t, decode([]byte(`{"lines":[{"id":"a","expectedQty":-1},{"id":"b","expectedQty":0},{"id":"c","expectedQty":2.5}]}`), &r))
	count := &resources.RowsInput{Field: "items", ID: "lineId", Of: "expectedQty", Zero: true, Blank: true}
	var expected []string
	for _, l := range r.Records("lines") {
		if n, ok := leftOf(l, count); ok {
			expected = append(expected, l.Text("id")+" "+n)
		}
	}
	require.Equal(t, []string{"a -1", "b 0", "c 2.5"}, expected)
	items := itemsOfRows(count, shown{record: r}, url.Values{"qty.a": {"0"}, "qty.b": {" "}, "qty.c": {"2"}})
	require.JSONEq(t, `[{"lineId":"a","qty":0},{"lineId":"c","qty":2}]`, jsonOf(items))
}

// Every list, tab and command has its texts, and one that cannot be taken back says what will happen.
func TestResourcesHaveTheirTexts(t *testing.T) {
	t.Parallel()
	texts, others := textsOf(t, "en"), map[string]map[string]string{}
	catalog, err := web.NewCustomerTexts()
	require.NoError(t, err)
	for _, lang := range catalog.Languages()[1:] {
		others[lang] = textsOf(t, lang)
	}
	require.NotEmpty(t, others)
	used := map[string]bool{}
	need := func(key string) {
		t.Helper()
		used[key] = true
		require.Contains(t, texts, key)
	}
	name := func(key string, made bool) { // English makes it of the name of the operation, if there is one
		t.Helper()
		used[key] = true
		for lang, its := range others {
			require.NotEmpty(t, its[key], "texts/%s.json lacks %s", lang, key)
		}
		require.True(t, made || texts[key] != "", "texts/en.json lacks %s", key)
	}
	for _, res := range resources.All() {
		name("resource."+res.Name, true)
		if res.Get != "" || res.Find != nil {
			name("resource."+res.Name+".one", res.Get != "")
		}
		if res.Create != "" {
			name("resource."+res.Name+".new", true)
			if res.Lines != nil {
				name("resource."+res.Name+".make", true)
			}
		}
		for _, v := range res.Views {
			need("resource." + res.Name + ".view." + v.Name)
		}
		for _, tab := range res.Tables {
			need("records.tab." + tab.Name)
		}
		for _, c := range res.Commands {
			need("records.do." + c.Name)
			if c.ForEach != "" { // some values have a name of their own
				for key := range texts {
					if strings.HasPrefix(key, "records.do."+c.Name+".") {
						used[key] = true
					}
				}
			}
			if c.Danger {
				need("records.confirm." + c.Name)
			}
			if c.Rows != nil {
				need("records.rows." + c.Name)
			}
		}
	}
	for lang, its := range others {
		for key := range its {
			for _, kind := range []string{"resource.", "records.do.", "records.rows."} {
				if strings.HasPrefix(key, kind) {
					require.True(t, used[key], "nothing shows the text %s of texts/%s.json", key, lang)
				}
			}
		}
	}
}

// textsOf are the texts of a language.
func textsOf(t *testing.T, lang string) (texts map[string]string) {
	t.Helper()
	raw, err := os.ReadFile("../web/texts/" + lang + ".json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &texts))
	return texts
}

// schema is a part of the API description.
type schema struct {
	Ref        string            `json:"$ref"`
	Properties map[string]schema `json:"properties"`
	Items      *schema           `json:"items"`
	Enum       []string          `json:"enum"`
}

// described is the API description, as far as the table of resources speaks of it.
type described struct {
	Paths map[string]map[string]struct {
		ID   string `json:"operationId"`
		Body struct {
			Content map[string]struct{ Schema schema } `json:"content"`
		} `json:"requestBody"`
		Parameters []struct{ Name string }
		Responses  map[string]struct {
			Content map[string]struct{ Schema schema } `json:"content"`
		}
	}
	Components struct{ Schemas map[string]schema }
}

// fields are those of an answer: of a record, or of the records of a list.
func (d described) fields(s schema) map[string]schema {
	for {
		_, page := s.Properties["nextCursor"]
		switch {
		case s.Ref != "":
			s = d.Components.Schemas[s.Ref[strings.LastIndex(s.Ref, "/")+1:]]
		case s.Items != nil:
			s = *s.Items
		case page:
			s = s.Properties["items"]
		default:
			return s.Properties
		}
	}
}

// of returns the fields of the answer and of the body of an operation.
func (d described) of(t *testing.T, id string) (answer, body map[string]schema, parameters []string) {
	t.Helper()
	for _, methods := range d.Paths {
		for _, op := range methods {
			if op.ID != id {
				continue
			}
			for status, res := range op.Responses {
				if status[0] == '2' {
					answer = d.fields(res.Content["application/json"].Schema)
				}
			}
			for _, p := range op.Parameters {
				parameters = append(parameters, p.Name)
			}
			return answer, d.fields(op.Body.Content["application/json"].Schema), parameters
		}
	}
	t.Fatalf("there is no operation %s", id)
	return nil, nil, nil
}

// Every field that the table names is one of the API.
func TestResourcesNameFieldsOfTheAPI(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../../schemas/openapi/openapi.json")
	require.NoError(t, err)
	var api described
	require.NoError(t, json.Unmarshal(raw, &api))
	for _, res := range resources.All() {
		item, _, _ := api.of(t, res.List)
		for _, c := range res.Columns {
			require.Contains(t, item, c.Name, res.List)
			if c.ID != "" {
				require.Contains(t, item, c.ID, res.List)
			}
		}
		if res.Get == "" {
			continue
		}
		one, _, _ := api.of(t, res.Get)
		for _, name := range []string{res.Title, res.State} {
			require.True(t, name == "" || one[name].Ref == "" && len(one) > 0, res.Get)
		}
		for _, c := range res.Facts {
			require.Contains(t, one, c.Name, res.Get)
		}
		for _, tab := range res.Tables {
			fields := api.fields(one[tab.Field])
			if tab.Field == "" {
				var parameters []string
				if fields, _, parameters = api.of(t, tab.List); tab.Where != "" {
					require.Contains(t, parameters, tab.Where, tab.List)
				}
			}
			for _, c := range tab.Columns {
				require.Contains(t, fields, c.Name, "%s of %s", tab.Name, res.Name)
			}
			for _, name := range tab.Sums {
				require.Contains(t, fields, name, "%s of %s", tab.Name, res.Name)
			}
		}
		for _, c := range append(res.Commands, creation(res)) {
			if c.Op == "" {
				continue
			}
			_, body, parameters := api.of(t, c.Op)
			for _, name := range c.Fields {
				require.Contains(t, body, name, c.Op)
			}
			require.True(t, c.Param == "" || strings.Contains(strings.Join(parameters, " "), c.Param), c.Op)
		}
	}
}

// Every list that can be exported has pages, and so has every report. A list that the API searches is looked through by the find field.
func TestEveryListHasPages(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../../schemas/openapi/openapi.json")
	require.NoError(t, err)
	var api described
	require.NoError(t, json.Unmarshal(raw, &api))
	shown := map[string]bool{"files": true, "subscriptions": true} // on the pages of products, and in the area of webhooks
	for _, d := range resources.Directories() {
		shown[d.Name] = true
	}
	for _, res := range resources.All() {
		shown[res.Name] = true
		_, _, parameters := api.of(t, res.List)
		if res.Get != "" && !res.Elsewhere && slices.Contains(parameters, "search") {
			require.NotNil(t, res.Find, "%s has no Find in services/console/resources", res.Name)
		}
	}
	for _, methods := range api.Paths {
		for _, op := range methods {
			if strings.HasPrefix(op.ID, "report") {
				shows := func(r resources.Resource) bool { return r.Report == op.ID }
				require.True(t, slices.ContainsFunc(resources.All(), shows), "%s is the Report of no struct in services/console/resources", op.ID)
			}
		}
	}
	lists := api.Components.Schemas["ExportInput"].Properties["resource"].Enum
	require.NotEmpty(t, lists)
	for _, name := range lists {
		require.True(t, shown[name] || strings.HasPrefix(name, "report-"), "%s has no struct in services/console/resources", name)
	}
}
