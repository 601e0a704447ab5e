package stock

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/business/catalog"
	"github.com/tradegrid/tradegrid/services/business/warehouse"
	"github.com/tradegrid/tradegrid/services/console/web"
)

type productPage struct {
	Header    web.Header
	Note      web.Note
	Table     web.Table
	Movements web.Table
	All       web.Link
	Form      *web.Form
}

// maxStocks is how many stock records of a product a page shows.
const maxStocks = 200

// fields are those of an adjustment; the product is that of the page.
var fields = []string{"warehouseId", "variantId", "targetQty", "delta", "reason", "reorderPoint"}

// product reads the product that the address names.
func (pages *Pages) product(ctx context.Context, q *web.Request) (catalog.Product, error) {
	id, err := q.PathID("id")
	if err != nil {
		return catalog.Product{}, err
	}
	return web.Call[catalog.Product](ctx, q, "getProduct", web.ByID(id))
}

func (pages *Pages) show(ctx context.Context, q *web.Request) (web.Answer, error) {
	one, err := pages.product(ctx, q)
	if err != nil {
		return web.Answer{}, err
	}
	p, err := pages.fill(ctx, q, one, nil)
	if err != nil {
		return web.Answer{}, err
	}
	return web.Show("stock/product", one.Name, p), nil
}

func (pages *Pages) fill(ctx context.Context, q *web.Request, one catalog.Product, refused error) (p productPage, err error) {
	p.Header = web.Header{
		Crumbs: []web.Link{{Text: q.T("stock.title"), Href: q.Path("/stock")}}, Title: one.Name, Facts: one.SKU, Links: []web.Link{{Text: q.T("stock.product"), Href: q.Path("/products/" + one.ID.String())}},
	}
	found, err := web.List[warehouse.StockItem](ctx, q, "listStocks", warehouse.StockFilter{Params: list.Params{PageSize: maxStocks}, ProductID: &one.ID})
	if err != nil {
		return p, err
	}
	p.Note = noteOf(q, found.Items)
	p.Table = stocksOf(q, one, found.Items)
	if err := pages.movements(ctx, q, one, &p); err != nil {
		return p, err
	}
	if q.Allows(scope, true) && one.HasStock {
		p.Form, err = pages.form(ctx, q, one, found.Items, refused)
	}
	return p, err
}

// noteOf says what is short.
func noteOf(q *web.Request, items []warehouse.StockItem) web.Note {
	var short []string
	for _, i := range items {
		if i.WarehouseName != nil && (i.Qty < 0 || i.ReorderPoint > 0 && i.Available <= i.ReorderPoint) {
			short = append(short, *i.WarehouseName)
		}
	}
	if len(short) > 0 {
		return web.Note{Kind: web.Warn, Text: q.T("stock.short_in", strings.Join(short[:min(len(short), maxShares)], ", "))}
	}
	return web.Note{Kind: web.Good, Text: q.T("stock.enough_everywhere")}
}

func stocksOf(q *web.Request, one catalog.Product, items []warehouse.StockItem) web.Table {
	t := web.Table{
		Label: q.T("stock.by_warehouse"),
		Columns: []web.Column{
			{Text: q.T("stock.warehouse")},
			{Text: q.T("stock.variant")},
			{Text: q.T("stock.qty"), Num: true},
			{Text: q.T("stock.reserved"), Num: true},
			{Text: q.T("stock.available"), Num: true},
			{Text: q.T("stock.reorder_point"), Num: true},
			{Text: q.T("stock.state")},
			{},
		},
		Empty: web.Empty{Title: q.T("stock.never"), Text: q.T("stock.never.text")},
	}
	for _, i := range items {
		name, variant, variantID := "", "", ""
		if i.WarehouseName != nil {
			name = *i.WarehouseName
		}
		if i.VariantSKU != nil && i.VariantID != nil {
			variant, variantID = *i.VariantSKU, i.VariantID.String()
		}
		act := web.Cell{}
		if q.Allows(scope, true) && i.WarehouseID != nil {
			act = web.LinkTo(q.T("stock.adjust"), web.With(q.Path("/stock/"+one.ID.String()), "warehouseId", i.WarehouseID.String(), "variantId", variantID)+"#adjust")
		}
		t.Rows = append(t.Rows, []web.Cell{web.Text(name), web.Code(variant, ""), qty(q, i.Qty), qty(q, i.Reserved), qty(q, i.Available), point(q, i.ReorderPoint), stateOf(q, i.Levels), act})
	}
	return t
}

// movements lists how the stock changed, the latest first.
func (pages *Pages) movements(ctx context.Context, q *web.Request, one catalog.Product, p *productPage) error {
	found, err := web.List[warehouse.Movement](ctx, q, "listStockMovements", warehouse.MovementFilter{Params: list.Params{PageSize: rows, Cursor: q.Form.Get("cursor")}, ProductID: &one.ID})
	if err != nil {
		return err
	}
	p.All = web.Link{Text: q.T("stock.movements.all"), Href: web.With(q.Path("/movements"), "productId", one.ID.String())}
	p.Movements = web.Table{
		Label: q.T("stock.movements"),
		Columns: []web.Column{
			{Text: q.T("stock.when")}, {Text: q.T("stock.type")}, {Text: q.T("stock.warehouse")}, {Text: q.T("stock.delta"), Num: true}, {Text: q.T("stock.after"), Num: true}, {Text: q.T("stock.why")},
		},
		Empty: web.Empty{Title: q.T("stock.no_movements"), Text: q.T("stock.no_movements.text")},
	}
	for _, m := range found.Items {
		delta := qty(q, m.Delta)
		if m.Delta > 0 {
			delta.Text = "+" + delta.Text
		}
		where := web.Text(m.WarehouseName)
		if m.VariantSKU != nil {
			where.Also = *m.VariantSKU
		}
		p.Movements.Rows = append(p.Movements.Rows, []web.Cell{web.When(q.At(m.CreatedAt.Std())), web.Text(q.Word(m.Type)), where, delta, qty(q, m.QtyAfter), reasonOf(q, m)})
	}
	if found.NextCursor != nil {
		p.Movements.Next = web.With(q.Path("/stock/"+one.ID.String()), "cursor", *found.NextCursor)
	}
	return nil
}

// pages are the addresses of documents that have a page of their own.
var pages = map[string]string{"order": "/orders/", "sale": "/sales/", "receipt": "/receipts/"}

// reasonOf is the document of a movement, or the reason that somebody gave.
func reasonOf(q *web.Request, m warehouse.Movement) web.Cell {
	cell := web.Cell{}
	if m.DocumentType != nil && m.DocumentID != nil && m.DocumentNumber != nil {
		cell.Text = q.T("stock.document", q.Word(*m.DocumentType), *m.DocumentNumber)
		if at, ok := pages[*m.DocumentType]; ok {
			cell.Href = q.Path(at + m.DocumentID.String())
		}
	}
	if m.Reason != nil {
		if cell.Text == "" {
			return web.Text(*m.Reason)
		}
		cell.Also = *m.Reason
	}
	return cell
}

// form asks for the quantity that was counted. Of a stock record that was chosen, it refuses a quantity that has changed since.
func (pages *Pages) form(ctx context.Context, q *web.Request, one catalog.Product, items []warehouse.StockItem, refused error) (*web.Form, error) {
	all, err := pages.warehouses(ctx, q)
	if err != nil {
		return nil, err
	}
	f := web.Fields{Op: q.Operation("adjustStock"), Only: fields, Err: refused, Typed: q.Form, Pick: map[string][]web.Option{"warehouseId": optionsOf(all, "")}, Help: map[string]string{
		"targetQty": q.T("stock.target.help"), "variantId": "", "reorderPoint": q.T("stock.reorder_point.help"),
	}}
	hidden := map[string]string{"key": uuid.NewString()}
	variants := []web.Option{}
	for _, i := range items {
		if i.VariantID != nil && i.VariantSKU != nil && !contains(variants, i.VariantID.String()) {
			variants = append(variants, web.Option{Value: i.VariantID.String(), Text: *i.VariantSKU})
		}
		if i.WarehouseID != nil && i.WarehouseID.String() == q.Form.Get("warehouseId") && idText(i.VariantID) == q.Form.Get("variantId") {
			hidden["expectedQty"] = i.Qty.String()
		}
	}
	if len(variants) > 0 {
		f.Pick["variantId"] = variants
	} else {
		f.But = []string{"variantId"}
	}
	form := web.Form{Post: q.Path("/stock/" + one.ID.String() + "/adjust"), Button: q.T("stock.adjust.button"), Fields: q.FieldsOf(f), Hidden: hidden}
	if known, ok := apierr.As(refused); ok && !web.Faulty(form.Fields) {
		form.Fault = q.Why(known)
	}
	return &form, nil
}

func contains(all []web.Option, value string) bool {
	for _, o := range all {
		if o.Value == value {
			return true
		}
	}
	return false
}

func idText(id *uuid.UUID) string {
	if id == nil {
		return ""
	}
	return id.String()
}

// adjust sets a quantity by the command of the API.
func (pages *Pages) adjust(ctx context.Context, q *web.Request) (web.Answer, error) {
	one, err := pages.product(ctx, q)
	if err != nil {
		return web.Answer{}, err
	}
	body := q.BodyOf(web.Fields{Op: q.Operation("adjustStock"), Only: append([]string{"expectedQty"}, fields...)}, q.Form)
	body["productId"] = one.ID.String()
	_, err = web.Call[warehouse.Stock](ctx, q, "adjustStock", web.Input{Body: body, Key: q.Form.Get("key")})
	if err == nil {
		return web.Go(q.Path("/stock/"+one.ID.String()) + "?done=stock.adjust"), nil
	}
	if known, ok := apierr.As(err); !ok || known.Status >= 500 {
		return web.Answer{}, err
	}
	p, errPage := pages.fill(ctx, q, one, err)
	if errPage != nil {
		return web.Answer{}, errPage
	}
	return web.Show("stock/product", one.Name, p).Refuse(), nil
}
