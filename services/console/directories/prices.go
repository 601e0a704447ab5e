package directories

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/business/clients"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// pricesPage are the prices of a price list, and the items that a search found to set more.
type pricesPage struct {
	Table  web.Table
	Filter *web.Filter // finds items; nil = the person may not change prices
	Found  []itemRow
	None   string // what to do where the search found nothing
	Post   string
}

// itemRow is an item with the price that a list gives it.
type itemRow struct {
	Kind, ID, Variant string
	Name, Usual       string
	Price, Fault      string
}

const (
	pricesPageSize = 50
	itemsFound     = 10 // of each kind
)

type item struct {
	ID    string  `json:"id"`
	Name  string  `json:"name"`
	SKU   *string `json:"sku"`
	Price *int64  `json:"price"`
}

func (i item) title() string {
	if i.SKU != nil && *i.SKU != "" {
		return i.Name + " · " + *i.SKU
	}
	return i.Name
}

// Kinds of items, with the operation that lists them.
var itemLists = map[string]string{"product": "listProducts", "service": "listServices"}

// prices shows the prices of a list.
func (pages *Pages) prices(ctx context.Context, q *web.Request, e entry) (*pricesPage, error) {
	at := q.Path("/directories/price-lists/" + e.id())
	p := &pricesPage{Post: at + "/prices", Table: web.Table{
		Label: q.T("directory.prices"), Columns: []web.Column{{Text: q.T("directories.item")}, {Text: q.T("directories.usual"), Num: true}, {Text: q.Label("price"), Num: true}},
		Empty: web.Empty{Title: q.T("directory.prices.none"), Text: q.T("directory.prices.about")},
	}}
	query := url.Values{"pageSize": {strconv.Itoa(pricesPageSize)}}
	if cursor := q.Form.Get("cursor"); cursor != "" {
		query.Set("cursor", cursor)
	}
	got, err := web.CallAdmin[*list.Page[clients.ListPrice]](ctx, q, "listPrices", web.Input{Path: map[string]string{"id": e.id()}, Query: query})
	if err != nil {
		return nil, err
	}
	items, err := pages.itemsOf(ctx, q, got.Items)
	if err != nil {
		return nil, err
	}
	may := changes(q, mustHave("price-lists"))
	if may {
		p.Table.Columns = append(p.Table.Columns, web.Column{})
	}
	for _, price := range got.Items {
		p.Table.Rows = append(p.Table.Rows, priceRow(q, at, price, items[price.RefID.String()], may))
	}
	if got.NextCursor != nil {
		p.Table.Next = web.With(at, "cursor", *got.NextCursor)
	}
	if may {
		err = pages.find(ctx, q, at, p)
	}
	return p, err
}

func priceRow(q *web.Request, at string, price clients.ListPrice, of item, may bool) []web.Cell {
	name := web.Text(of.title())
	if of.ID == "" {
		name = web.Code(price.RefID.String(), "")
	}
	if price.VariantID != nil {
		name = name.With(q.T("directories.variant", price.VariantID.String()))
	}
	usual := web.Number("–")
	if of.Price != nil {
		usual = web.Number(q.Money(*of.Price))
	}
	row := []web.Cell{name, usual, web.Number(q.Money(int64(price.Price)))}
	if may {
		row = append(row, web.Do(web.Action{
			ID: "price-" + price.ID.String(), Text: q.T("directories.delete"), Post: at + "/prices/" + price.ID.String() + "/delete", Small: true, Kind: "danger",
			Confirm: q.T("directory.prices.delete", of.title()),
		}))
	}
	return row
}

// itemsOf reads the items that prices are of, by their ids: a call for each kind.
func (pages *Pages) itemsOf(ctx context.Context, q *web.Request, prices []clients.ListPrice) (map[string]item, error) {
	all := map[string]item{}
	for kind, operation := range itemLists {
		var ids []string
		for _, p := range prices {
			if p.Kind == kind {
				ids = append(ids, p.RefID.String())
			}
		}
		if len(ids) == 0 {
			continue
		}
		found, err := itemsBy(ctx, q, operation, url.Values{"ids": {strings.Join(ids, ",")}, "pageSize": {strconv.Itoa(pricesPageSize)}})
		if err != nil {
			return nil, err
		}
		for _, i := range found {
			all[i.ID] = i
		}
	}
	return all, nil
}

func itemsBy(ctx context.Context, q *web.Request, operation string, query url.Values) ([]item, error) {
	raw, err := web.Call[web.JSON](ctx, q, operation, web.Input{Query: query})
	if known, ok := apierr.As(err); ok && known.Status == 403 {
		return nil, nil // the company has no catalog: prices show ids
	}
	if err != nil {
		return nil, err
	}
	var got struct {
		Items []item `json:"items"`
	}
	err = web.Decode(raw, &got)
	return got.Items, err
}

// find adds the items that a search finds, each with a field for its price.
func (pages *Pages) find(ctx context.Context, q *web.Request, at string, p *pricesPage) error {
	text := strings.TrimSpace(q.Form.Get("item"))
	p.Filter = &web.Filter{Action: at, Button: q.T("filter.search"), Fields: []web.Field{{Name: "item", Label: q.T("directories.find_item"), Value: text}}}
	if text == "" {
		return nil
	}
	p.Filter.Clear = at
	for _, kind := range []string{"product", "service"} {
		found, err := itemsBy(ctx, q, itemLists[kind], url.Values{"search": {text}, "pageSize": {strconv.Itoa(itemsFound)}})
		if err != nil {
			return err
		}
		for _, i := range found {
			row := itemRow{Kind: kind, ID: i.ID, Name: i.title()}
			if i.Price != nil {
				row.Usual = q.Money(*i.Price)
			}
			p.Found = append(p.Found, row)
		}
	}
	if len(p.Found) == 0 {
		p.None = q.T("directories.item.none", text)
	}
	return nil
}

// setPrice sets the price of an item in the list.
func (pages *Pages) setPrice(ctx context.Context, q *web.Request) (web.Answer, error) {
	p := place{Directory: mustHave("price-lists")}
	id := p.id(q)
	body := map[string]any{"kind": q.Form.Get("kind"), "refId": q.Form.Get("refId"), "price": q.ParseAmount(q.Form.Get("price"))}
	if variant := q.Form.Get("variantId"); variant != "" {
		body["variantId"] = variant
	}
	_, err := web.CallAdmin[clients.ListPrice](ctx, q, "setPrice", web.Input{Path: p.path(id), Body: body})
	if refused(err) {
		return pages.showWith(ctx, q, p, err, false)
	}
	return web.Go(web.With(p.address(q, "/"+id), "item", q.Form.Get("item"), "done", "saved")), err
}

func (pages *Pages) removePrice(ctx context.Context, q *web.Request) (web.Answer, error) {
	p := place{Directory: mustHave("price-lists")}
	id := p.id(q)
	_, err := web.CallAdmin[httpapi.None](ctx, q, "deletePrice", web.Input{Path: map[string]string{"id": id, "priceId": q.HTTP.PathValue("part")}})
	if refused(err) {
		return pages.showWith(ctx, q, p, err, false)
	}
	return web.Go(web.With(p.address(q, "/"+id), "done", "deleted")), err
}
