package till

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/business/sales"
	"github.com/tradegrid/tradegrid/services/console/lines"
	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// mostParked is how many carts that were put aside are shown.
const mostParked = 20

// aside are the carts that were put aside, at any till.
func (c *counter) aside(ctx context.Context) (all []web.Option, err error) {
	found, err := web.List[sales.Draft](ctx, c.q, "listSaleDrafts", sales.DraftFilter{Params: list.Params{PageSize: mostParked}})
	if err != nil {
		return nil, err
	}
	for _, d := range found.Items {
		all = append(all, web.Option{Value: d.ID.String(), Text: d.Name + " · " + c.q.Date(d.CreatedAt.Std().In(c.q.Zone), "Mon 15:04")})
	}
	return all, nil
}

// park puts the cart aside under the name of the client, or of the first thing in it.
func (c *counter) park(ctx context.Context) error {
	if len(c.lines) == 0 {
		return nil
	}
	if err := c.readClient(ctx); err != nil {
		return err
	}
	name := c.client.Text("displayName")
	if name == "" {
		name = c.lines[0].Name
		if n := len(c.lines) - 1; n > 0 {
			name = c.q.T("till.parked.more", name, n)
		}
	}
	sale := c.bought()
	delete(sale, "shiftId")
	delete(sale, "paymentMethod")
	body := map[string]any{"name": name, "sale": sale}
	if _, err := web.Call[sales.Draft](ctx, c.q, "createSaleDraft", web.Input{Key: lines.KeyFor(c.form, body), Body: body}); err != nil {
		return err
	}
	c.empty()
	c.said = c.q.T("till.parked.done", name)
	return nil
}

// empty begins another sale.
func (c *counter) empty() {
	c.form, c.lines, c.client, c.focus = url.Values{keyField: {uuid.NewString()}, shelfField: c.form[shelfField]}, nil, nil, goodsField
}

// takeUp goes on with a cart that was put aside. Of two tills that do, one gets it.
func (c *counter) takeUp(ctx context.Context, id string) error {
	of, err := uuid.Parse(id)
	if err != nil || len(c.lines) > 0 {
		return nil //nolint:nilerr // no button leads here
	}
	d, err := web.Call[sales.Draft](ctx, c.q, "getSaleDraft", web.ByID(of))
	if err == nil {
		_, err = web.Call[httpapi.None](ctx, c.q, "deleteSaleDraft", web.ByID(of))
	}
	if known, ok := apierr.As(err); ok && known.Status == http.StatusNotFound {
		c.said = c.q.T("till.parked.gone")
		return nil
	}
	if err != nil {
		return err
	}
	c.empty()
	if d.Sale.CustomerID != nil {
		c.form.Set(clientField, d.Sale.CustomerID.String())
	}
	if p := d.Sale.DiscountPercent; p != nil {
		c.form.Set(percentField, p.String())
	}
	if n := d.Sale.FixedDiscount; n != nil {
		c.form.Set(fixedField, c.q.Decimal(int64(*n)))
	}
	c.lines, err = c.linesOf(ctx, d.Sale.Items)
	return err
}

// linesOf are the lines of a cart that was put aside, with the names of the goods as they are now.
func (c *counter) linesOf(ctx context.Context, items []sales.LineInput) (all []lines.Line, err error) {
	known := map[string]lines.Line{}
	for kind, op := range map[string]string{lines.Product: "listProducts", lines.Service: "listServices"} {
		var ids []string
		for _, in := range items {
			if in.Kind == kind && in.RefID != nil {
				ids = append(ids, in.RefID.String())
			}
		}
		found, err := c.byIDs(ctx, op, kind, ids)
		if err != nil {
			return nil, err
		}
		for _, r := range found {
			for _, t := range lines.Things(kind, r) {
				known[t.Ref+t.Variant] = t.Line
			}
		}
	}
	for _, in := range items {
		l := lines.Line{Kind: in.Kind, Qty: "1"}
		if in.RefID != nil {
			l.Ref = in.RefID.String()
		}
		if in.VariantID != nil {
			l.Variant = in.VariantID.String()
		}
		if of, ok := known[l.Ref+l.Variant]; ok {
			l.Name, l.SKU, l.Picture = of.Name, of.SKU, of.Picture
		}
		if in.Name != nil {
			l.Name = *in.Name
		}
		if in.Qty != nil {
			l.Qty = in.Qty.String()
		}
		if in.UnitPrice != nil {
			l.Price = c.q.Decimal(int64(*in.UnitPrice))
		}
		if in.DiscountPercent != nil {
			l.Discount = in.DiscountPercent.String()
		}
		all = append(all, l)
	}
	return all, nil
}

// byIDs are records of a list by their ids, at most those of a page.
func (c *counter) byIDs(ctx context.Context, op, kind string, ids []string) ([]resources.Record, error) {
	if ids = ids[:min(len(ids), mostOfPage)]; len(ids) == 0 || !c.q.MayCall(op) {
		return nil, nil
	}
	query := url.Values{"ids": {strings.Join(ids, ",")}, "pageSize": {strconv.Itoa(mostOfPage)}, "withTotal": {"false"}}
	if kind == lines.Product {
		query.Set("include", "stock,variants")
	}
	return lines.Records(ctx, c.q, op, query)
}

// mostOfPage is the largest page of a list.
const mostOfPage = 200
