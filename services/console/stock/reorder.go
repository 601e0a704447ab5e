package stock

import (
	"context"

	"github.com/tradegrid/tradegrid/services/business/purchases"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// order drafts orders to the suppliers of the goods of a warehouse that have to be ordered again, and shows the drafts.
func (pages *Pages) order(ctx context.Context, q *web.Request) (web.Answer, error) {
	body := map[string]any{}
	if id, err := q.FormID("warehouseId"); err == nil && id != nil {
		body["warehouseId"] = id.String()
	}
	done, err := web.Call[purchases.Reordered](ctx, q, "reorderGoods", web.Input{Body: body, Key: q.Form.Get("key")})
	if web.Refused(err) {
		return pages.listed(ctx, q, web.Note{Kind: web.Bad, Text: q.Fault(err)})
	}
	if err != nil {
		return web.Answer{}, err
	}
	switch {
	case len(done.Orders) == 0 && len(done.WithoutSupplier) > 0:
		return pages.listed(ctx, q, web.Note{Kind: web.Warn, Text: q.T("stock.reorder.no_supplier", len(done.WithoutSupplier))})
	case len(done.Orders) == 0:
		return pages.listed(ctx, q, web.Note{Kind: web.Info, Text: q.T("stock.reorder.ordered")})
	case len(done.Orders) == 1:
		return web.Go(q.Path("/purchase-orders/"+done.Orders[0].ID.String()) + "?done=stock.reorder"), nil
	}
	return web.Go(web.With(q.Path("/purchase-orders"), "status", "draft", "done", "stock.reorder")), nil
}

// listed is the list with what came of a command.
func (pages *Pages) listed(ctx context.Context, q *web.Request, note web.Note) (web.Answer, error) {
	p, err := pages.listOf(ctx, q)
	if err != nil {
		return web.Answer{}, err
	}
	p.Note = note
	return web.Show("stock/list", q.T("stock.title"), p).Refuse(), nil
}
