package records

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/job"
	"github.com/tradegrid/tradegrid/services/business/catalog"
	"github.com/tradegrid/tradegrid/services/console/lines"
	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// repricing are the ways in which prices are changed, as the API names them.
var repricing = []string{"percent", "amount", "set"}

// reprice changes prices: a form asks how, and shows the old and the new ones before it is done.
func (pages *Pages) reprice(ctx context.Context, q *web.Request, res resources.Resource, b resources.Bulk) (web.Answer, error) {
	c := chosen{in: parseListQuery(q, res, parse(q.Form.Get("query"))).with("cursor", ""), all: q.Form.Get("all") != ""}
	wide := c.all && c.in.onlyFilters("categoryId", "brand") // the API selects them by itself, however many there are
	if !wide {
		var err error
		if c, err = pages.choose(ctx, q, res); err != nil {
			return web.Answer{}, err
		}
	}
	body := map[string]any{"filter": pricesOf(q, c, b, wide), "rule": ruleOf(q)}
	if q.Form.Get("step") != "go" || q.Form.Get("value") == "" {
		return pages.previewPrices(ctx, q, c, b, wide, body, nil)
	}
	started, err := web.Call[job.Record](ctx, q, b.Op, web.Input{Body: body, Key: idOr(q.Form.Get("key"))})
	if known, ok := apierr.As(err); ok && known.Status < http.StatusInternalServerError {
		return pages.previewPrices(ctx, q, c, b, wide, body, known)
	}
	if err != nil {
		return web.Answer{}, err
	}
	return web.Started(jobAt(q, c.in, started.ID), started.ID), nil
}

// onlyFilters reports whether a list has no other filters than these.
func (in listQuery) onlyFilters(names ...string) bool {
	for _, name := range names {
		in = in.with(name, "")
	}
	return !in.filtered()
}

// pricesOf is the filter of the products that get new prices.
func pricesOf(q *web.Request, c chosen, b resources.Bulk, wide bool) map[string]any {
	filter := map[string]any{}
	if !wide {
		ids := []string{}
		able, _ := c.split(b)
		for _, r := range able {
			ids = append(ids, r.Text("id"))
		}
		filter["ids"] = ids
		return filter
	}
	if category := firstOf(q, "categoryId", c.in.query.Get("categoryId")); category != "" {
		filter["categoryId"] = category
	}
	if brand := c.in.query.Get("brand"); brand != "" {
		filter["brand"] = brand
	}
	return filter
}

// firstOf is a field of the form; what the list has if the form does not have the field.
func firstOf(q *web.Request, name, other string) string {
	if q.Form.Has(name) {
		return q.Form.Get(name)
	}
	return other
}

// ruleOf is the rule that the form asks for. What cannot be read is sent as it was typed, so that the API says what is wrong.
func ruleOf(q *web.Request) map[string]any {
	kind := cmp.Or(web.OneOf(q.Form.Get("type"), repricing), repricing[0])
	typed := strings.ReplaceAll(strings.TrimPrefix(strings.TrimSpace(q.Form.Get("value")), "+"), "−", "-")
	rule := map[string]any{"type": kind}
	if kind == "percent" {
		rule["value"] = lines.Number(typed)
	} else {
		rule["value"] = q.ParseAmount(typed)
	}
	if round := q.Form.Get("roundTo"); round != "" && round != "1" {
		rule["roundTo"] = json.Number(round)
	}
	return rule
}

// previewPrices shows the form with the old and the new prices, or with what is wrong.
func (pages *Pages) previewPrices(ctx context.Context, q *web.Request, c chosen, b resources.Bulk, wide bool, body map[string]any, refusal error) (web.Answer, error) {
	p := pages.bulkPage(q, c, b)
	p.Preview, p.Button = true, q.T("records.bulk.reprice.go")
	if refusal == nil && strings.TrimSpace(q.Form.Get("value")) != "" {
		preview, err := web.Call[catalog.RepricePreview](ctx, q, "previewReprice", web.Input{Body: body})
		known, ok := apierr.As(err)
		switch {
		case ok && known.Status < http.StatusInternalServerError:
			refusal = known
		case err != nil:
			return web.Answer{}, err
		default:
			p.Table = pages.priceTable(q, preview)
			p.Button = q.T("records.bulk.reprice.go") + " (" + q.Count(preview.Count) + ")"
			if int64(len(preview.Items)) < preview.Count {
				p.More = q.T("records.bulk.first", len(preview.Items), preview.Count)
			}
		}
	}
	fields, err := pages.priceFields(ctx, q, c, wide)
	if err != nil {
		return web.Answer{}, err
	}
	if p.Fields = fields; refusal != nil {
		p.Fault = cmp.Or(q.FaultOf(refusal, "rule.value"), faultOf(q, fields, (*rowsForm)(nil), refusal))
		return web.Show("records/bulk", p.Header.Title, p).Refuse(), nil
	}
	return web.Show("records/bulk", p.Header.Title, p), nil
}

func (pages *Pages) priceTable(q *web.Request, preview catalog.RepricePreview) web.Table {
	t := web.Table{
		Label:   q.T("records.bulk.reprice"),
		Columns: []web.Column{{Text: q.Label("name")}, {Text: q.Label("sku")}, {Text: q.Label("oldPrice") + ", " + q.Symbol(), Num: true}, {Text: q.Label("newPrice") + ", " + q.Symbol(), Num: true}},
		Empty:   web.Empty{Title: q.T("records.bulk.nothing")},
	}
	for _, i := range preview.Items {
		row := []web.Cell{web.LinkTo(i.Name, pages.recordPath(q, "products", i.ID.String())), web.Code(i.SKU, ""), web.Number(q.Amount(int64(i.OldPrice))), web.Number(q.Amount(int64(i.NewPrice)))}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// priceFields are the fields of the form: which products if the list does not say, how much, and to what prices are rounded.
func (pages *Pages) priceFields(ctx context.Context, q *web.Request, c chosen, wide bool) (fields []web.Field, err error) {
	if wide {
		current := firstOf(q, "categoryId", c.in.query.Get("categoryId"))
		options, err := (&directories{q: q}).options(ctx, "categoryId", current, nil)
		if err != nil {
			return nil, err
		}
		if options != nil {
			fields = append(fields, web.Field{Name: "categoryId", Label: q.Label("categoryId"), Type: "select", Options: append([]web.Option{{Text: q.T("records.bulk.all_products")}}, options...), Focus: !q.Form.Has("type")})
		}
	}
	kind := cmp.Or(web.OneOf(q.Form.Get("type"), repricing), repricing[0])
	how := web.Field{Name: "type", Label: q.T("records.bulk.reprice.type"), Type: "select"}
	for _, k := range repricing {
		how.Options = append(how.Options, web.Option{Value: k, Text: q.T("records.bulk.reprice.type." + k), Selected: k == kind})
	}
	value := web.Field{Name: "value", Label: q.T("records.bulk.reprice.value"), Type: "number", Value: q.Form.Get("value"), Autocomplete: "off", Help: q.T("records.bulk.reprice.help"), Focus: !wide}
	round := web.Field{Name: "roundTo", Label: q.T("records.bulk.reprice.round"), Type: "select"}
	for _, n := range []string{"1", "5", "10", "50", "100", "500", "1000"} {
		minor, _ := strconv.ParseInt(n, 10, 64)
		round.Options = append(round.Options, web.Option{Value: n, Text: q.Amount(minor), Selected: n == q.Form.Get("roundTo")})
	}
	return append(fields, how, value, round), nil
}
