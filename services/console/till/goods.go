package till

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/services/console/lines"
	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// goodsPart is where people find what is bought.
type goodsPart struct {
	Find    web.Combo
	Shelves []shelf
	Tiles   []tile
	Empty   string
	Chosen  string // shelf
}

// shelf is a choice of tiles.
type shelf struct {
	Value, Text string
	On          bool
}

// tile adds what it shows, or shows the kinds of it.
type tile struct {
	Do, Name, Price, Note string
	Pic                   web.Picture
	Low                   bool
	Codes, Unit           string // for the script, which goes on without a connection: SKU and barcode, and the price as people type it
}

// Shelves beside those of categories.
const (
	often    = ""
	services = "services"
	kindsOf  = "of " // of a product, whose id follows
)

const (
	mostTiles   = 24
	mostShelves = 20
	oftenDays   = 14
)

func (c *counter) goods(ctx context.Context) (p goodsPart, err error) {
	p.Chosen = c.form.Get(shelfField)
	p.Find = web.Combo{
		Name: goodsField, Label: c.q.T("till.find"), Post: c.q.Path("/sell"), Query: lines.Asked(c.form, goodsField), Key: "/", Scan: true, Focus: c.focus == goodsField,
	}
	if p.Find.Query != "" {
		if err = c.find(ctx, &p.Find); err != nil || c.part == goodsField+"-found" {
			return p, err
		}
	}
	if p.Shelves, err = c.shelves(ctx, p.Chosen); err != nil {
		return p, err
	}
	p.Tiles, err = c.tiles(ctx, p.Chosen)
	if len(p.Tiles) == 0 {
		p.Empty = c.q.T("till.empty.shelf")
	}
	return p, err
}

// find looks for goods by what was typed.
func (c *counter) find(ctx context.Context, p *web.Combo) error {
	all, err := lines.Goods(ctx, c.q, &ofSale, p.Query)
	for _, t := range all {
		p.Found = append(p.Found, t.Offer(c.q))
	}
	if len(all) == 0 {
		p.None = c.q.T("records.compose.noproduct", p.Query)
	}
	return err
}

// shelves are what is sold often, the categories of the first level, and services.
func (c *counter) shelves(ctx context.Context, chosen string) ([]shelf, error) {
	all := []shelf{{Value: often, Text: c.q.T("till.often")}}
	if c.q.MayCall("listCategories") {
		raw, err := web.Call[web.JSON](ctx, c.q, "listCategories", web.Input{})
		if err != nil {
			return nil, err
		}
		var categories []resources.Record
		if err := resources.Decode(raw, &categories); err != nil {
			return nil, err
		}
		for _, r := range categories {
			if !r.Has("parentId") && len(all) <= mostShelves {
				all = append(all, shelf{Value: r.Text("id"), Text: r.Text("name")})
			}
		}
	}
	if c.q.MayCall("listServices") {
		all = append(all, shelf{Value: services, Text: c.q.T("till.services")})
	}
	for i := range all {
		all[i].On = all[i].Value == chosen
	}
	return all, nil
}

// tiles are those of a shelf.
func (c *counter) tiles(ctx context.Context, chosen string) ([]tile, error) {
	product, isKinds := strings.CutPrefix(chosen, kindsOf)
	switch {
	case chosen == often:
		return c.oftenSold(ctx)
	case chosen == services:
		return c.listed(ctx, "listServices", lines.Service, url.Values{"sort": {"name"}, "order": {"asc"}})
	case isKinds && uuid.Validate(product) == nil:
		return c.kinds(ctx, product)
	case !isID(chosen):
		return nil, nil
	}
	all, err := c.listed(ctx, "listProducts", lines.Product, url.Values{"categoryId": {chosen}, "sort": {"name"}, "order": {"asc"}})
	if err != nil || len(all) >= mostTiles || !c.q.MayCall("listServices") {
		return all, err
	}
	more, err := c.listed(ctx, "listServices", lines.Service, url.Values{"categoryId": {chosen}, "sort": {"name"}, "order": {"asc"}})
	return append(all, more...), err
}

// listed are the tiles of a page of a list; none where the person may not read it.
func (c *counter) listed(ctx context.Context, op, kind string, query url.Values) (all []tile, err error) {
	if !c.q.MayCall(op) {
		return nil, nil
	}
	query.Set("pageSize", strconv.Itoa(mostTiles))
	query.Set("withTotal", "false")
	if kind == lines.Product {
		query.Set("include", "stock,variants")
	}
	found, err := lines.Records(ctx, c.q, op, query)
	for _, r := range found {
		all = append(all, c.tile(kind, r))
	}
	return all, err
}

// tile is that of a product with all its kinds, or of a service.
func (c *counter) tile(kind string, r resources.Record) tile {
	if r.Text("hasVariants") == "true" {
		return tile{
			Do: "shelf " + kindsOf + r.Text("id"), Pic: c.picture(r), Name: r.Text("name"), Price: c.q.Amount(r.Number("price")), Note: c.q.T("till.kinds", r.Text("variantsCount")),
		}
	}
	return c.tileOf(lines.Things(kind, r)[0], r)
}

// picture is that of a product or service.
func (c *counter) picture(r resources.Record) web.Picture {
	return c.q.Picture(r.Text("photoFileId"), "medium", r.Text("emoji"), r.Text("name"))
}

// tileOf is that of something that can be added; of is the product or service.
func (c *counter) tileOf(thing lines.Thing, of resources.Record) tile {
	v := tile{
		Do: "add " + thing.Value(), Pic: c.picture(of), Name: thing.Name, Price: c.q.Amount(thing.Record.Number("price")),
		Codes: strings.TrimSpace(thing.SKU + " " + thing.Barcode), Unit: web.PlainAmount(thing.Record.Number("price"), c.q.Company.Currency),
	}
	switch {
	case thing.Kind == lines.Service:
		v.Note = c.q.T("till.service")
	case thing.Record.Text("hasStock") == "true":
		v.Note, v.Low = c.q.T("till.left", c.q.Number(thing.Record.Text("stockAvailable"))), thing.Record.Text("isLowStock") == "true"
	}
	return v
}

// kinds are the tiles of the variants of a product.
func (c *counter) kinds(ctx context.Context, product string) (all []tile, err error) {
	if !c.q.MayCall("listProducts") {
		return nil, nil
	}
	found, err := lines.Records(ctx, c.q, "listProducts", url.Values{"ids": {product}, "include": {"stock,variants"}, "withTotal": {"false"}})
	for _, r := range found {
		for _, thing := range lines.Things(lines.Product, r) {
			all = append(all, c.tileOf(thing, r))
		}
	}
	return all, err
}

// oftenSold are the tiles of what was sold most in the last days, or the first of the catalog.
func (c *counter) oftenSold(ctx context.Context) ([]tile, error) {
	refs, err := c.sold(ctx)
	if err != nil {
		return nil, err
	}
	if len(refs) == 0 {
		return c.listed(ctx, "listProducts", lines.Product, url.Values{"sort": {"name"}, "order": {"asc"}})
	}
	byRef := map[string]tile{}
	for kind, op := range map[string]string{lines.Product: "listProducts", lines.Service: "listServices"} {
		var ids []string
		for _, r := range refs {
			if r.Text("kind") == kind {
				ids = append(ids, r.Text("refId"))
			}
		}
		found, err := c.byIDs(ctx, op, kind, ids)
		if err != nil {
			return nil, err
		}
		for _, r := range found {
			byRef[r.Text("id")] = c.tile(kind, r)
		}
	}
	var all []tile
	for _, r := range refs {
		if t, ok := byRef[r.Text("refId")]; ok {
			all = append(all, t)
		}
	}
	return all, nil
}

// sold are the rows of the report of sales with the largest quantities.
func (c *counter) sold(ctx context.Context) ([]resources.Record, error) {
	if !c.q.MayCall("reportSales") {
		return nil, nil
	}
	today := c.q.Now.In(c.q.Zone)
	raw, err := web.Call[web.JSON](ctx, c.q, "reportSales", web.Input{Query: url.Values{
		"from": {today.AddDate(0, 0, -oftenDays).Format("2006-01-02")}, "to": {today.Format("2006-01-02")}, "groupBy": {"product"},
	}})
	if err != nil {
		return nil, err
	}
	var report struct{ Rows []resources.Record }
	if err := resources.Decode(raw, &report); err != nil {
		return nil, err
	}
	rows := slices.DeleteFunc(report.Rows, func(r resources.Record) bool { return !r.Has("refId") || !r.Has("name") })
	slices.SortFunc(rows, func(a, b resources.Record) int {
		return cmp.Or(cmp.Compare(soldQty(b), soldQty(a)), cmp.Compare(a.Text("name"), b.Text("name")))
	})
	return rows[:min(len(rows), mostTiles)], nil
}

func soldQty(r resources.Record) float64 {
	n, err := strconv.ParseFloat(r.Text("qty"), 64)
	if err != nil {
		return 0
	}
	return n
}
