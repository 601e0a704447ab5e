package records

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// linesFields asks for the lines of a new document; nil = it has none.
type linesFields resources.LinesInput

// linesForm asks for lines: a product by its SKU, a quantity, a price.
type linesForm struct {
	Label string
	Lines []lineForm
}

type lineForm struct{ SKU, Qty, Price web.Field }

const (
	fewLines = 5
	maxLines = 20 // of a form; a document with more is made by the API
)

// typedLine is a line of the form that is not empty.
type typedLine struct {
	at              int // its place in the form
	sku, qty, price string
}

func typedLines(form url.Values) (all []typedLine) {
	for i := range maxLines {
		n := strconv.Itoa(i)
		l := typedLine{i, strings.TrimSpace(form.Get("sku." + n)), strings.TrimSpace(form.Get("qty." + n)), strings.TrimSpace(form.Get("price." + n))}
		if l.sku+l.qty+l.price != "" {
			all = append(all, l)
		}
	}
	return all
}

// form has the lines that were typed, with what is wrong with them, and some empty ones.
func (of *linesFields) form(q *web.Request, typed url.Values, refusal error) *linesForm {
	if of == nil {
		return nil
	}
	lines := typedLines(typed)
	f := &linesForm{Label: q.T("records.lines")}
	last := fewLines
	if n := len(lines); n > 0 {
		last = max(last, lines[n-1].at+3)
	}
	for i := range min(last, maxLines) {
		n := strconv.Itoa(i)
		one := lineForm{
			SKU:   web.Field{Name: "sku." + n, Label: q.Label("sku"), Value: typed.Get("sku." + n), Autocomplete: "off"},
			Qty:   web.Field{Name: "qty." + n, Label: q.Label("qty"), Type: "number", Value: typed.Get("qty." + n), Autocomplete: "off"},
			Price: web.Field{Name: "price." + n, Label: q.Label(of.Price) + ", " + q.Company.Currency, Type: "number", Value: typed.Get("price." + n), Autocomplete: "off"},
		}
		if k := slices.IndexFunc(lines, func(l typedLine) bool { return l.at == i }); k >= 0 && refusal != nil {
			at := of.Field + "[" + strconv.Itoa(k) + "]."
			one.Qty.Fault, one.Price.Fault = web.FaultOf(refusal, at+"qty"), web.FaultOf(refusal, at+of.Price)
			if one.SKU.Fault = web.FaultOf(refusal, at+of.Ref); one.SKU.Fault == "" {
				one.SKU.Fault = web.FaultOf(refusal, at+"variantId")
			}
		}
		f.Lines = append(f.Lines, one)
	}
	return f
}

// shows reports whether a line shows a fault.
func (f *linesForm) shows(fault string) bool {
	return f != nil && slices.ContainsFunc(f.Lines, func(l lineForm) bool { return l.SKU.Fault == fault || l.Qty.Fault == fault || l.Price.Fault == fault })
}

// items are the lines as the operation takes them. It makes up to two calls for each, to find the product of its SKU; one that is
// not found is a fault, as those of the API are.
func (of *linesFields) items(ctx context.Context, q *web.Request, form url.Values) ([]any, error) {
	items, faults := []any{}, apierr.Fields{}
	for k, l := range typedLines(form) {
		product, variant, err := bySKU(ctx, q, l.sku)
		if err != nil {
			return nil, err
		}
		if product == "" {
			faults = append(faults, apierr.Field{Field: of.Field + "[" + strconv.Itoa(k) + "]." + of.Ref, Code: apierr.Unknown, Message: q.T("records.lines.unknown", l.sku)})
			continue
		}
		item := map[string]any{of.Ref: product}
		if variant != "" {
			item["variantId"] = variant
		}
		if l.qty != "" {
			item["qty"] = numberOf(l.qty)
		}
		if l.price != "" {
			item[of.Price] = q.ParseAmount(l.price)
		}
		items = append(items, item)
	}
	return items, faults.Err()
}

// numberOf is a quantity that somebody typed as JSON has it; what is no number stays a text, which the API refuses.
func numberOf(typed string) any {
	text := strings.Replace(strings.TrimSpace(typed), ",", ".", 1)
	if n := json.Number(text); json.Valid([]byte(n)) {
		return n
	}
	return text
}

// bySKU finds the product of a SKU, or the variant that was on stock before; "" = there is none.
func bySKU(ctx context.Context, q *web.Request, sku string) (product, variant string, err error) {
	if sku == "" || len(sku) > 64 {
		return "", "", nil
	}
	products, err := itemsOf(ctx, q, "listProducts", url.Values{"sku": {sku}, "pageSize": {"1"}})
	if err != nil || len(products) > 0 {
		for _, p := range products {
			product = p.Text("id")
		}
		return product, "", err
	}
	if !q.Has("warehouse") {
		return "", "", nil
	}
	stocks, err := itemsOf(ctx, q, "listStocks", url.Values{"search": {sku}, "groupBy": {"product"}, "pageSize": {"20"}})
	for _, s := range stocks {
		if strings.EqualFold(s.Text("variantSku"), sku) {
			return s.Text("productId"), s.Text("variantId"), err
		}
	}
	return "", "", err
}

// itemsOf are the records of a page of a list.
func itemsOf(ctx context.Context, q *web.Request, op string, query url.Values) ([]resources.Record, error) {
	raw, err := web.Call[web.JSON](ctx, q, op, web.Input{Query: query})
	if err != nil {
		return nil, err
	}
	var page struct{ Items []resources.Record }
	err = decode(raw, &page)
	return page.Items, err
}
