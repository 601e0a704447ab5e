// Package lines is what forms of documents with lines have in common: the lines as people fill them in and as operations take them, and what
// is found to choose from: products, services and clients.
package lines

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// Line is a line of a document as its form has it: what it is about, and what was typed.
type Line struct {
	Kind, Ref, Variant   string // what it is about; a free line has neither Ref nor Variant
	Name, SKU, Picture   string
	Stock                string // where it was available when it was chosen
	Qty, Price, Discount string
	Rest                 string // what a line of the document has beside these, as JSON: what it keeps is in its object kept
}

// The kinds of lines, as the API names them.
const (
	Product = "product"
	Service = "service"
	Free    = "custom"
)

// most is how many lines a document can have.
const most = 500

// parts are the fields of a line in the form: the name of each is followed by the number of the line.
func (l *Line) parts() map[string]*string {
	return map[string]*string{
		"kind.": &l.Kind, "ref.": &l.Ref, "variant.": &l.Variant, "name.": &l.Name, "sku.": &l.SKU, "picture.": &l.Picture, "stock.": &l.Stock,
		"qty.": &l.Qty, "price.": &l.Price, "discount.": &l.Discount, "rest.": &l.Rest,
	}
}

// In are the lines of a form.
func In(form url.Values) (all []Line) {
	for i := range most {
		n := strconv.Itoa(i)
		if !form.Has("kind." + n) {
			break
		}
		var l Line
		for name, part := range l.parts() {
			*part = strings.TrimSpace(form.Get(name + n))
		}
		all = append(all, l)
	}
	return all
}

// Parsed is a line, or what can be added as one, from the value of a button.
func Parsed(value string) (l Line, ok bool) {
	of, err := url.ParseQuery(value)
	if err != nil {
		return l, false
	}
	for name, part := range l.parts() {
		*part = of.Get(strings.TrimSuffix(name, "."))
	}
	return l, l.Kind != ""
}

// Value is the line as the value of a button.
func (l Line) Value() string {
	of := url.Values{}
	for name, part := range l.parts() {
		if *part != "" {
			of.Set(strings.TrimSuffix(name, "."), *part)
		}
	}
	return of.Encode()
}

// Hidden are the fields of the line with a number that nobody types.
func (l Line) Hidden(no int) (all []web.Option) {
	for _, f := range []struct{ name, value string }{{"kind", l.Kind}, {"ref", l.Ref}, {"variant", l.Variant}, {"name", l.Name}, {"sku", l.SKU}, {"picture", l.Picture}, {"stock", l.Stock}, {"rest", l.Rest}} {
		all = append(all, web.Option{Text: f.name + "." + strconv.Itoa(no), Value: f.value})
	}
	return all
}

// same reports whether two lines are about the same, and nothing but the quantity was typed.
func (l Line) same(as Line) bool {
	return l.Kind != Free && l.Kind == as.Kind && l.Ref == as.Ref && l.Variant == as.Variant && l.Price+l.Discount+l.Rest == ""
}

// Added puts a line behind the others, or one more into the line that is about the same.
func Added(lines []Line, l Line) (all []Line, at int) {
	for i := range lines {
		if lines[i].same(l) {
			lines[i].Step(1)
			return lines, i
		}
	}
	if len(lines) == most {
		return lines, len(lines) - 1
	}
	if l.Qty == "" {
		l.Qty = "1"
	}
	return append(lines, l), len(lines)
}

// Step changes the quantity by a whole number, not below one. A text that is no number stays, so that its fault is shown.
func (l *Line) Step(by int64) {
	whole, part, point := l.Qty, "", ""
	if i := strings.IndexAny(l.Qty, ".,"); i >= 0 {
		whole, point, part = l.Qty[:i], l.Qty[i:i+1], l.Qty[i+1:]
	}
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || n+by < 1 {
		return
	}
	l.Qty = strconv.FormatInt(n+by, 10)
	if part != "" {
		l.Qty += point + part
	}
}

// Items are the lines as the operation takes them. What a line of the document keeps, such as its price, is sent only where the
// operation knows nothing of the document.
func Items(q *web.Request, of *resources.LinesInput, lines []Line, kept bool) []any {
	all := make([]any, len(lines))
	for i, l := range lines {
		item := l.rest(of, kept)
		if of.Kinds {
			item["kind"] = l.Kind
		}
		if l.Kind == Free {
			item["name"] = l.Name
		} else {
			item[of.Ref] = l.Ref
		}
		if l.Variant != "" {
			item["variantId"] = l.Variant
		}
		if l.Qty != "" && !of.NoQty {
			item["qty"] = Number(l.Qty)
		}
		if l.Price != "" && of.Price != "" {
			item[of.Price] = q.ParseAmount(l.Price)
		}
		if l.Discount != "" && of.Kinds {
			item["discountPercent"] = Number(l.Discount)
		}
		all[i] = item
	}
	return all
}

// Of is a line of a document as the form begins with it.
func Of(q *web.Request, of *resources.LinesInput, r resources.Record) Line {
	l := Line{Kind: r.Text("kind"), Ref: r.Text(of.Ref), Variant: r.Text("variantId"), Name: r.Text("name"), SKU: r.Text("sku"), Qty: r.Text("qty")}
	rest := map[string]any{"kept": map[string]any{}}
	for _, name := range append([]string{"modifiers"}, of.Keeps...) {
		if v := r[name]; v != nil {
			rest[name] = v
		}
	}
	kept := rest["kept"].(map[string]any) //nolint:errcheck,forcetypeassert // it was put there
	for _, name := range keptFields(of) {
		if v := r[name]; v != nil {
			kept[name] = v
		}
	}
	if l.Kind == Free {
		l.Price = q.Decimal(r.Number(of.Price))
	}
	raw, err := json.Marshal(rest)
	if err == nil {
		l.Rest = string(raw)
	}
	return l
}

// keptFields are those of a line that it keeps unless others are sent.
func keptFields(of *resources.LinesInput) []string {
	return []string{of.Price, "discountPercent", "fixedDiscount", "taxRateId", "name"}
}

// rest is what is sent of a line of the document beside what people type.
func (l Line) rest(of *resources.LinesInput, withKept bool) map[string]any {
	item := map[string]any{}
	var rest resources.Record
	if l.Rest == "" || resources.Decode([]byte(l.Rest), &rest) != nil {
		return item
	}
	for _, name := range append([]string{"modifiers"}, of.Keeps...) {
		if v := rest[name]; v != nil {
			item[name] = v
		}
	}
	item["modifiers"] = modifiersOf(rest)
	if kept, _ := rest["kept"].(map[string]any); withKept {
		for _, name := range keptFields(of) {
			if v := kept[name]; v != nil {
				item[name] = v
			}
		}
	}
	return item
}

// modifiersOf are those of a line as a request has them.
func modifiersOf(rest resources.Record) []any {
	all := []any{}
	for _, m := range rest.Records("modifiers") {
		all = append(all, map[string]any{"optionId": m.Text("optionId"), "qty": m["qty"]})
	}
	return all
}

// Fingerprint tells lines that were changed from those that were not.
func Fingerprint(lines []Line) string {
	sum := sha256.New()
	for _, l := range lines {
		fmt.Fprintf(sum, "%q\n", l.Value())
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// Number is a quantity that somebody typed as JSON has it; what is no number stays a text, which the API refuses.
func Number(typed string) any {
	if n, ok := web.ParseNumber(typed); ok && json.Valid([]byte(n)) {
		return json.Number(n)
	}
	return strings.TrimSpace(typed)
}

// FaultsOf are what a refusal says of the line with the number i: of its quantity, price and discount, and of the line itself.
func FaultsOf(q *web.Request, of *resources.LinesInput, i int, refusal error) (qty, price, discount, itself string) {
	at := of.Field + "[" + strconv.Itoa(i) + "]."
	for _, name := range []string{of.Ref, "variantId", "name", "kind"} {
		if itself == "" {
			itself = q.FaultOf(refusal, at+name)
		}
	}
	return q.FaultOf(refusal, at+"qty"), q.FaultOf(refusal, at+of.Price), q.FaultOf(refusal, at+"discountPercent"), itself
}
