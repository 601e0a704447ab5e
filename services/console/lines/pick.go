package lines

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

const (
	mostFound  = 24 // with their variants
	maxPlaces  = 4  // warehouses that are named
	longestAsk = 100
)

// Asked is what was typed into a field that looks for something; "" = nothing.
func Asked(form url.Values, name string) string {
	text := strings.TrimSpace(form.Get(name))
	if len(text) > longestAsk {
		return ""
	}
	return text
}

// Goods finds what lines can be of: products with a line for each variant, and services. It makes a call, or two.
func Goods(ctx context.Context, q *web.Request, of *resources.LinesInput, text string) (all []Thing, err error) {
	for _, by := range []struct{ op, kind string }{{"listProducts", Product}, {"listServices", Service}} {
		if !q.MayCall(by.op) || by.kind == Service && !of.Kinds {
			continue
		}
		query := url.Values{"search": {text}, "pageSize": {"8"}, "withTotal": {"false"}}
		if by.kind == Product {
			query.Set("include", "stock,variants")
		}
		records, err := Records(ctx, q, by.op, query)
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			all = append(all, Things(by.kind, r)...)
		}
	}
	exactFirst(all, text)
	all = all[:min(len(all), mostFound)]
	return all, stocked(ctx, q, text, all)
}

// stocked tells where the things are on stock, which takes a call. What the search of stock does not find has its total only.
func stocked(ctx context.Context, q *web.Request, text string, all []Thing) error {
	if len(all) == 0 || !q.MayCall("listStocks") {
		return nil
	}
	stocks, err := Records(ctx, q, "listStocks", url.Values{"search": {text}, "groupBy": {"product"}, "pageSize": {"100"}, "withTotal": {"false"}})
	if web.Refused(err) {
		return nil
	}
	for _, r := range stocks {
		for i := range all {
			if all[i].Ref == r.Text("productId") && all[i].Variant == r.Text("variantId") {
				all[i].Stock = places(q, r.Records("warehouses"))
			}
		}
	}
	return err
}

// places are the warehouses that have the thing, with what is available.
func places(q *web.Request, warehouses []resources.Record) string {
	var all []string
	for _, w := range warehouses[:min(len(warehouses), maxPlaces)] {
		all = append(all, w.Text("warehouseName")+" "+q.Number(w.Text("available")))
	}
	if len(warehouses) > maxPlaces {
		all = append(all, "…")
	}
	return strings.Join(all, " · ")
}

// Thing is something that a line can be of.
type Thing struct {
	Line

	Barcode string
	Record  resources.Record // the product, its variant, or the service
}

// Things are the lines that can be of a product, one for each variant, or of a service.
func Things(kind string, r resources.Record) (all []Thing) {
	whole := Line{Kind: kind, Ref: r.Text("id"), Name: r.Text("name"), SKU: r.Text("sku"), Picture: cmp.Or(r.Text("photoFileId"), r.Text("emoji"))}
	if !r.Has("hasVariants") || r.Text("hasVariants") == "false" {
		return []Thing{{Line: whole, Barcode: r.Text("barcode"), Record: r}}
	}
	for _, v := range r.Records("variants") {
		if v.Text("status") != "active" {
			continue
		}
		of := whole
		of.Variant, of.SKU, of.Picture = v.Text("id"), v.Text("sku"), cmp.Or(v.Text("photoFileId"), whole.Picture)
		if name := v.Text("name"); name != "" {
			of.Name = name
		}
		v["hasStock"], v["price"] = r["hasStock"], v["effectivePrice"]
		all = append(all, Thing{Line: of, Barcode: v.Text("barcode"), Record: v})
	}
	return all
}

// Named reports whether a text is all of the SKU or the barcode, as a scanner sends it.
func (t Thing) Named(text string) bool {
	return strings.EqualFold(t.SKU, text) || t.Barcode != "" && t.Barcode == text
}

// Entered is what Enter adds of what a text has found: what a scanner sent, or the only thing.
func Entered(all []Thing, text string) (l Line, ok bool) {
	exact := slices.DeleteFunc(slices.Clone(all), func(t Thing) bool { return !t.Named(text) })
	switch {
	case len(exact) == 1:
		return exact[0].Line, true
	case len(all) == 1:
		return all[0].Line, true
	}
	return l, false
}

// exactFirst puts first what a text is all of the SKU or the barcode of: that is what Enter takes, also among the variants of a product.
func exactFirst(all []Thing, text string) {
	slices.SortStableFunc(all, func(a, b Thing) int {
		switch named := b.Named(text); {
		case a.Named(text) == named:
			return 0
		case named:
			return 1
		}
		return -1
	})
}

// Image is the picture of a line: an image by its id, an emoji, or the first letter of its name.
func (l Line) Image(q *web.Request) web.Picture {
	emoji := l.Picture
	if _, err := uuid.Parse(emoji); err == nil {
		emoji = ""
	}
	p := q.Picture(l.Picture, "small", emoji, l.Name)
	p.Size = "s"
	return p
}

// Offer is what is shown of it.
func (t Thing) Offer(q *web.Request) web.Hit {
	f := web.Hit{Do: "add " + t.Value(), Picture: new(t.Image(q)), Name: t.Name, Code: t.SKU, End: q.Amount(t.Record.Number("price"))}
	if t.Record.Text("hasStock") == "true" {
		f.Detail = q.T("records.compose.available", q.Number(t.Record.Text("stockAvailable")))
		if t.Stock != "" {
			f.Detail = t.Stock
		}
	}
	return f
}

// Turned is a text of two words the other way round, as a surname can stand before the first name; "" = it has not two.
func Turned(text string) string {
	words := strings.Fields(text)
	if len(words) != 2 || words[0] == words[1] {
		return ""
	}
	return strings.TrimSuffix(words[1], ",") + " " + strings.TrimSuffix(words[0], ",")
}

// Clients finds those that a document can be of, with surname and first name in any order.
func Clients(ctx context.Context, q *web.Request, text string) ([]web.Hit, error) {
	query := url.Values{"search": {text}, "status": {"active"}, "pageSize": {"8"}, "withTotal": {"false"}}
	records, err := Records(ctx, q, "listClients", query)
	if turned := Turned(text); err == nil && len(records) == 0 && turned != "" {
		query.Set("search", turned)
		records, err = Records(ctx, q, "listClients", query)
	}
	var all []web.Hit
	for _, r := range records {
		all = append(all, web.Hit{
			Do: "client " + r.Text("id"), Name: r.Text("displayName"), Detail: Contacts(r), Chip: Debt(q, r), End: Points(q, r),
		})
	}
	return all, err
}

// Contacts are how a client is reached.
func Contacts(r resources.Record) string {
	return strings.Trim(r.Text("phone")+" · "+r.Text("email"), " ·")
}

// Debt says that a client owes something.
func Debt(q *web.Request, r resources.Record) *web.Chip {
	if owed := -r.Number("balance"); owed > 0 {
		return &web.Chip{Kind: web.Warn, Text: q.T("records.compose.owes", q.Money(owed))}
	}
	return nil
}

// Points are those that a client has; "" = none.
func Points(q *web.Request, r resources.Record) string {
	if n := r.Text("points"); n != "" && n != "0" {
		return q.T("records.compose.points", q.Number(n))
	}
	return ""
}

// Records are the records of a page of a list.
func Records(ctx context.Context, q *web.Request, op string, query url.Values) ([]resources.Record, error) {
	raw, err := web.Call[web.JSON](ctx, q, op, web.Input{Query: query})
	if err != nil {
		return nil, err
	}
	var page struct{ Items []resources.Record }
	err = resources.Decode(raw, &page)
	return page.Items, err
}
