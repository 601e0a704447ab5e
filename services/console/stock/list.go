package stock

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/business/warehouse"
	"github.com/tradegrid/tradegrid/services/console/resources"
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
var levels = []string{"", reorder, "negative"}

const reorder = "reorder"

type listPage struct {
	Header web.Header
	Note   web.Note
	Tabs   []web.Tab // lists of the area
	Picks  []web.Tab // parts of the list
	Filter web.Filter
	Table  web.Table
}

func (pages *Pages) list(ctx context.Context, q *web.Request) (web.Answer, error) {
	p, err := pages.listOf(ctx, q)
	if err != nil {
		return web.Answer{}, err
	}
	return web.Show("stock/list", q.T("stock.title"), p), nil
}

func (pages *Pages) listOf(ctx context.Context, q *web.Request) (p listPage, err error) {
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
	r, err := pages.read(ctx, q, f)
	if err != nil {
		return p, err
	}
	p = listPage{
		Header: web.Header{Title: q.T("stock.title"), Links: []web.Link{{Text: q.T("stock.list"), Href: q.Path("/stock/list")}, {Text: q.T("stock.movements"), Href: q.Path("/movements")}}},
		Filter: filterOf(q, optionsOf(r.warehouses, in), in, search, level), Note: sentence(q, r), Tabs: resources.Tabs(q, web.Warehouse, ""),
	}
	if r.reorder != nil && *r.reorder > 0 && q.Allows(scope, true) {
		p.Header.Actions = []web.Action{{Text: q.T("stock.reorder"), Post: q.Path("/stock/reorder"), Kind: "primary", Values: map[string]string{"warehouseId": in, "level": level, "key": uuid.NewString()}}}
	}
	for _, l := range levels {
		p.Picks = append(p.Picks, web.Tab{Text: levelText(q, l), Href: web.With(q.Path("/stock"), "level", l, "search", search, "warehouseId", in), Current: l == level})
	}
	found := r.found
	p.Table = tableOf(q, found.Items, f.WarehouseID == nil)
	if search+level+in != "" {
		p.Table.Empty = web.Empty{Title: q.T("stock.none_such"), Text: q.T("stock.none_such.text")}
	}
	if found.NextCursor != nil {
		p.Table.Next = web.With(q.Path("/stock"), "level", level, "search", search, "warehouseId", in, "cursor", *found.NextCursor)
	}
	return p, nil
}

// reads are what the page is made of.
type reads struct {
	warehouses []warehouse.ListItem
	found      *list.Page[warehouse.StockItem]
	reorder    *int64 // how much has to be ordered again; nil = unknown
}

// read reads at once what does not depend on each other.
func (pages *Pages) read(ctx context.Context, q *web.Request, f warehouse.StockFilter) (r reads, err error) {
	group, within := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		r.warehouses, err = pages.warehouses(within, q)
		return err
	})
	group.Go(func() (err error) {
		r.found, err = web.List[warehouse.StockItem](within, q, "listStocks", f)
		return err
	})
	counted := slices.Equal(f.Level, []string{reorder}) && f.Cursor == "" // by the total of the list
	if !counted {
		group.Go(func() (err error) {
			r.reorder, err = pages.countReorder(within, q, f)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return r, err
	}
	if counted {
		r.reorder = r.found.Total
	}
	return r, nil
}

func filterOf(q *web.Request, warehouses []web.Option, in, search, level string) web.Filter {
	f := web.Filter{Action: q.Path("/stock"), Button: q.T("filter.apply"), Fields: []web.Field{
		{Name: "search", Label: q.T("stock.search"), Value: search},
		{Name: "warehouseId", Label: q.T("stock.warehouse"), Type: "select", Options: append([]web.Option{{Text: q.T("stock.all_warehouses")}}, warehouses...)},
	}}
	if level != "" {
		f.Hidden = map[string]string{"level": level}
	}
	if search+in+level != "" {
		f.Clear = q.Path("/stock")
	}
	return f
}

func levelText(q *web.Request, level string) string {
	return q.T("stock.level." + cmp.Or(level, "all"))
}

// warehouses are those to choose from.
func (pages *Pages) warehouses(ctx context.Context, q *web.Request) ([]warehouse.ListItem, error) {
	found, err := web.List[warehouse.ListItem](ctx, q, "listWarehouses", warehouse.Filter{Params: list.Params{PageSize: maxWarehouses, Fields: []string{"id", "name"}}, Sort: "name"})
	if err != nil {
		return nil, err
	}
	return found.Items, nil
}

// optionsOf are the choices of a field.
func optionsOf(warehouses []warehouse.ListItem, selected string) (all []web.Option) {
	for _, w := range warehouses {
		all = append(all, web.Option{Value: w.ID.String(), Text: w.Name, Selected: w.ID.String() == selected})
	}
	return all
}

// countReorder counts what has to be ordered again. The page can be shown without the count: it is nil if it takes too long.
func (pages *Pages) countReorder(ctx context.Context, q *web.Request, f warehouse.StockFilter) (*int64, error) {
	f.Level, f.Cursor, f.PageSize, f.Search = []string{reorder}, "", 1, ""
	found, err := web.List[warehouse.StockItem](ctx, q, "listStocks", f)
	if apierr.Is(err, list.TooExpensive) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return found.Total, nil
}

// sentence says how much has to be ordered again.
func sentence(q *web.Request, r reads) web.Note {
	switch {
	case r.reorder == nil:
		return web.Note{}
	case *r.reorder == 0:
		return web.Note{Kind: web.Good, Text: q.T("stock.nothing_to_reorder")}
	}
	return web.Note{Kind: web.Warn, Text: q.T("stock.to_reorder", *r.reorder)}
}

func qty(q *web.Request, n money.Qty) web.Cell { return web.Number(q.Number(n.String())) }

func tableOf(q *web.Request, items []warehouse.StockItem, shares bool) web.Table {
	t := web.Table{
		Label: q.T("stock.title"),
		Columns: []web.Column{
			{Text: q.T("stock.product")},
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
		name := web.LinkTo(i.ProductName, q.Path("/stock/"+i.ProductID.String()))
		name.Sub = sku
		row := []web.Cell{
			name, qty(q, i.Qty), qty(q, i.Reserved), qty(q, i.Available), point(q, i.ReorderPoint), stateOf(q, i.Levels),
		}
		if shares {
			row = append(row, web.Text(sharesOf(q, i.Warehouses)))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func point(q *web.Request, n money.Qty) web.Cell {
	if n == 0 {
		return web.Number("–")
	}
	return qty(q, n)
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
func sharesOf(q *web.Request, all []warehouse.PerWarehouse) string {
	var parts []string
	for i, w := range all {
		if i == maxShares {
			parts = append(parts, "+"+strconv.Itoa(len(all)-i))
			break
		}
		parts = append(parts, w.WarehouseName+" "+q.Number(w.Qty.String()))
	}
	return strings.Join(parts, " · ")
}
