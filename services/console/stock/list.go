package stock

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/business/warehouse"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// Bounds of the pages.
const (
	rows          = 50
	maxWarehouses = 100 // to choose from
	maxShares     = 4   // warehouses that a row names
	maxSearch     = 200
)

// levels are the parts of the list: what is low, missing, or to be ordered again.
var levels = []string{"", "reorder", "negative"}

type listPage struct {
	Header web.Header
	Note   web.Note
	Tabs   []web.Tab
	Filter web.Filter
	Table  web.Table
}

func (pages *Pages) list(ctx context.Context, q *web.Request) (web.Answer, error) {
	level, search, in := web.OneOf(q.Form.Get("level"), levels), strings.TrimSpace(q.Form.Get("search")), q.Form.Get("warehouseId")
	if runes := []rune(search); len(runes) > maxSearch {
		search = string(runes[:maxSearch])
	}
	f := warehouse.StockFilter{Params: list.Params{PageSize: rows, Search: search, Cursor: q.Form.Get("cursor")}, GroupBy: "product"}
	if level != "" {
		f.Level = []string{level}
	}
	if id, err := uuid.Parse(in); err == nil {
		f.WarehouseID = &id
	}
	p := listPage{Header: web.Header{Title: q.T("stock.title"), Links: []web.Link{{Text: q.T("stock.list"), Href: q.Path("/stock/list")}, {Text: q.T("stock.movements"), Href: q.Path("/movements")}}}}
	if err := pages.filter(ctx, q, &p, in, search, level); err != nil {
		return web.Answer{}, err
	}
	found, err := web.List[warehouse.StockItem](ctx, q, "listStocks", f)
	if err != nil {
		return web.Answer{}, err
	}
	for _, l := range levels {
		p.Tabs = append(p.Tabs, web.Tab{Text: levelText(q, l), Href: web.With(q.Path("/stock"), "level", l, "search", search, "warehouseId", in), Current: l == level})
	}
	if p.Note, err = pages.sentence(ctx, q, f, found); err != nil {
		return web.Answer{}, err
	}
	p.Table = tableOf(q, found.Items, f.WarehouseID == nil)
	if search+level+in != "" {
		p.Table.Empty = web.Empty{Title: q.T("stock.none_such"), Text: q.T("stock.none_such.text")}
	}
	if found.NextCursor != nil {
		p.Table.Next = web.With(q.Path("/stock"), "level", level, "search", search, "warehouseId", in, "cursor", *found.NextCursor)
	}
	return web.Show("stock/list", q.T("stock.title"), p), nil
}

func (pages *Pages) filter(ctx context.Context, q *web.Request, p *listPage, in, search, level string) error {
	all, err := pages.warehouses(ctx, q, in)
	if err != nil {
		return err
	}
	p.Filter = web.Filter{Action: q.Path("/stock"), Button: q.T("filter.apply"), Fields: []web.Field{
		{Name: "search", Label: q.T("stock.search"), Value: search},
		{Name: "warehouseId", Label: q.T("stock.warehouse"), Type: "select", Options: append([]web.Option{{Text: q.T("stock.all_warehouses")}}, all...)},
		{Name: "level", Label: q.T("stock.level"), Type: "select", Options: options(q, level)},
	}}
	if search+in+level != "" {
		p.Filter.Clear = q.Path("/stock")
	}
	return nil
}

func levelText(q *web.Request, level string) string {
	return q.T("stock.level." + cmp.Or(level, "all"))
}

func options(q *web.Request, level string) (all []web.Option) {
	for _, l := range levels {
		all = append(all, web.Option{Value: l, Text: levelText(q, l), Selected: l == level})
	}
	return all
}

// warehouses are the choices of a field.
func (pages *Pages) warehouses(ctx context.Context, q *web.Request, selected string) (all []web.Option, err error) {
	found, err := web.List[warehouse.ListItem](ctx, q, "listWarehouses", warehouse.Filter{Params: list.Params{PageSize: maxWarehouses}, Sort: "name"})
	if err != nil {
		return nil, err
	}
	for _, w := range found.Items {
		all = append(all, web.Option{Value: w.ID.String(), Text: w.Name, Selected: w.ID.String() == selected})
	}
	return all, nil
}

// sentence says how much has to be ordered again.
func (pages *Pages) sentence(ctx context.Context, q *web.Request, f warehouse.StockFilter, found *list.Page[warehouse.StockItem]) (web.Note, error) {
	if len(f.Level) == 0 || f.Level[0] != "reorder" || found.Total == nil {
		f.Level, f.Cursor, f.PageSize, f.Search = []string{"reorder"}, "", 1, ""
		var err error
		if found, err = web.List[warehouse.StockItem](ctx, q, "listStocks", f); err != nil {
			if apierr.Is(err, list.TooExpensive) { // the page can be shown without the count
				err = nil
			}
			return web.Note{}, err
		}
	}
	if found.Total == nil || *found.Total == 0 {
		return web.Note{Kind: web.Good, Text: q.T("stock.nothing_to_reorder")}, nil
	}
	return web.Note{Kind: web.Warn, Text: q.T("stock.to_reorder", *found.Total)}, nil
}

func qty(n money.Qty) web.Cell { return web.Number(web.Decimal(n.String())) }

func tableOf(q *web.Request, items []warehouse.StockItem, shares bool) web.Table {
	t := web.Table{
		Label: q.T("stock.title"),
		Columns: []web.Column{
			{Text: q.T("stock.product")},
			{Text: q.T("stock.sku")},
			{Text: q.T("stock.qty"), Num: true},
			{Text: q.T("stock.reserved"), Num: true},
			{Text: q.T("stock.available"), Num: true},
			{Text: q.T("stock.reorder_point"), Num: true},
			{Text: q.T("stock.state")},
		},
		Empty: web.Empty{Title: q.T("stock.none"), Text: q.T("stock.none.text")},
	}
	if shares {
		t.Columns = append(t.Columns, web.Column{Text: q.T("stock.where")})
	}
	for _, i := range items {
		sku := i.ProductSKU
		if i.VariantSKU != nil {
			sku = *i.VariantSKU
		}
		row := []web.Cell{
			web.LinkTo(i.ProductName, q.Path("/stock/"+i.ProductID.String())), web.Code(sku, ""), qty(i.Qty), qty(i.Reserved), qty(i.Available), point(i.ReorderPoint), stateOf(q, i.Levels),
		}
		if shares {
			row = append(row, web.Text(sharesOf(i.Warehouses)))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func point(n money.Qty) web.Cell {
	if n == 0 {
		return web.Number("–")
	}
	return qty(n)
}

// stateOf says whether the stock suffices.
func stateOf(q *web.Request, l warehouse.Levels) web.Cell {
	switch {
	case l.Qty < 0:
		return web.State(web.Bad, q.T("stock.state.negative"))
	case l.ReorderPoint > 0 && l.Available <= l.ReorderPoint:
		return web.State(web.Warn, q.T("stock.state.reorder"))
	}
	return web.State(web.Good, q.T("stock.state.enough"))
}

// sharesOf names the warehouses that have some.
func sharesOf(all []warehouse.PerWarehouse) string {
	var parts []string
	for i, w := range all {
		if i == maxShares {
			parts = append(parts, "+"+strconv.Itoa(len(all)-i))
			break
		}
		parts = append(parts, w.WarehouseName+" "+web.Decimal(w.Qty.String()))
	}
	return strings.Join(parts, " · ")
}
