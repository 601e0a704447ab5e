package till

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/services/business/sales"
	"github.com/tradegrid/tradegrid/services/console/lines"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// Ways to pay, as the API names them.
const (
	cash  = "cash"
	card  = "card"
	sbp   = "sbp"
	mixed = "mixed"
)

// methods are the ways to pay in the currency of the company, in the order of their buttons.
func methods(q *web.Request) []string {
	return slices.DeleteFunc([]string{cash, card, sbp, mixed}, func(m string) bool { return !q.Offers(m) })
}

// method is the way to pay that is chosen.
func (c *counter) method() string {
	if m := web.OneOf(c.form.Get(methodField), methods(c.q)); m != "" {
		return m
	}
	return cash
}

// bought is the part of the body of a sale that says what is bought, and by whom.
func (c *counter) bought() map[string]any {
	body := map[string]any{"shiftId": c.shiftID(), "items": lines.Items(c.q, &ofSale, c.lines, false), "paymentMethod": cash}
	if id := c.form.Get(clientField); id != "" {
		body["customerId"] = id
	}
	if text := c.form.Get(percentField); text != "" {
		body["discountPercent"] = lines.Number(text)
	}
	if text := c.form.Get(fixedField); text != "" {
		body["fixedDiscount"] = c.q.ParseAmount(text)
	}
	return body
}

// shiftID is the shift in which the sale was begun, if it is known.
func (c *counter) shiftID() string {
	if id := c.form.Get(shiftField); id != "" {
		return id
	}
	return c.shift.ID.String()
}

// paid is the body of the sale with how it is paid.
func (c *counter) paid() map[string]any {
	body := c.bought()
	if n, err := strconv.ParseInt(c.form.Get(redeemField), 10, 64); err == nil && n > 0 {
		body["redeemPoints"] = n
	}
	if id := c.form.Get(cashierField); id != "" {
		body["cashierId"] = id
	}
	if at := c.form.Get(soldField); at != "" {
		body["soldAt"] = at
	}
	method := c.method()
	body["paymentMethod"] = method
	if given := c.form.Get(givenField); given != "" && (method == cash || method == mixed) {
		body["receivedAmount"] = c.q.ParseAmount(given)
	}
	if method == mixed {
		byCard := c.q.ParseAmount(c.form.Get(cardField))
		body["payments"] = []any{
			map[string]any{"paymentMethod": card, "amount": byCard}, map[string]any{"paymentMethod": cash, "amount": c.rest(byCard)},
		}
	}
	return body
}

// rest is what is left of the sum to be paid in cash.
func (c *counter) rest(byCard any) any {
	due, err := strconv.ParseInt(c.form.Get(dueField), 10, 64)
	if n, ok := byCard.(int64); ok && err == nil {
		return due - n
	}
	return byCard
}

// sum adds the cart up, with the points that the client pays with; nil = it has no lines, or a fault, which refused says.
func (c *counter) sum(ctx context.Context) (sum *sales.Preview, refused, err error) {
	c.form.Del(redeemField)
	if len(c.lines) == 0 || c.shift == nil {
		return nil, nil, nil
	}
	body := c.bought()
	points := c.client.Number("points")
	if c.form.Get(pointsField) != "" && points > 0 {
		body["redeemPoints"] = points
	}
	v, err := web.Call[sales.Preview](ctx, c.q, "previewSale", web.Input{Body: body})
	if most, ok := exceeded(err); ok {
		body["redeemPoints"] = most
		v, err = web.Call[sales.Preview](ctx, c.q, "previewSale", web.Input{Body: body})
	}
	switch {
	case web.Refused(err):
		return nil, err, nil
	case err != nil:
		return nil, nil, err
	}
	c.form.Set(redeemField, strconv.FormatInt(v.RedeemedPoints, 10))
	c.form.Set(dueField, v.Total.String())
	return &v, nil, nil
}

// exceeded is how many points can be used at most, if an error says that there were more.
func exceeded(err error) (most int64, ok bool) {
	known, is := apierr.As(err)
	if !is || known.Code != "LOYALTY_POINTS_EXCEED_TOTAL" {
		return 0, false
	}
	most, err = strconv.ParseInt(fmt.Sprint(known.Meta["total"]), 10, 64)
	return most, err == nil
}

// change is what is given back, and what is wrong with how it is paid.
func (c *counter) change(ctx context.Context) (sum *sales.Preview, refused, err error) {
	v, err := web.Call[sales.Preview](ctx, c.q, "previewSale", web.Input{Body: c.paid()})
	if web.Refused(err) {
		return nil, err, nil
	}
	return &v, nil, err
}

// take stores the sale and shows its receipt. A sale that is refused is shown again, with another key.
func (c *counter) take(ctx context.Context) (web.Answer, error) {
	if c.shift == nil {
		return c.answer(ctx, nil)
	}
	id, err := c.store(ctx)
	if web.Refused(err) {
		c.form.Set(keyField, uuid.NewString())
		c.form.Del(soldField)
		answer, failed := c.answer(ctx, err)
		return answer.Refuse(), failed
	}
	if err != nil {
		return web.Answer{}, err
	}
	return web.Go(c.q.Path("/sell") + "?" + saleField + "=" + id), nil
}

// store makes the sale, once for its key, and returns its id.
func (c *counter) store(ctx context.Context) (id string, err error) {
	made, err := web.Call[web.JSON](ctx, c.q, "createSale", web.Input{Key: c.form.Get(keyField), Body: c.paid()})
	if err != nil {
		return "", err
	}
	var v struct{ ID string }
	err = web.Decode(made, &v)
	return v.ID, err
}
