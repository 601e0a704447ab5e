package till

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/services/business/sales"
	"github.com/tradegrid/tradegrid/services/console/lines"
	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// counter is the form while a request works on it.
type counter struct {
	q      *web.Request
	form   url.Values
	shift  *sales.Shift // nil = none of the person is open
	lines  []lines.Line
	gone   *lines.Line // that the last step removed
	client resources.Record
	part   string // what the answer replaces: the id of an element; "" = the whole page
	focus  string
	said   string // what a step has done
	edits  int    // the line whose price and discount are shown; -1 = none
}

// Fields of the form.
const (
	saleField    = "sale" // in the address: whose receipt is shown
	stepField    = "do"
	keyField     = "key"     // of the sale
	shiftField   = "shift"   // in which it was made
	cashierField = "cashier" // who sold
	soldField    = "soldAt"  // set by the script
	viewField    = "view"    // viewPay, or "" = the goods
	clientField  = "client"  // id of the client that is chosen
	whoField     = "c"       // what is looked for among clients
	goodsField   = "p"       // what is looked for among goods
	scanField    = "scan"    // what the script took from a scanner
	goneField    = "gone"    // the line that was removed last
	shelfField   = "shelf"   // which tiles are shown
	pointsField  = "points"  // the client pays with points
	redeemField  = "redeem"  // how many
	dueField     = "due"     // what is to be paid, in minor units
	methodField  = "method"
	cardField    = "card" // part that is paid by card
	givenField   = "given"

	percentField = "discountPercent"
	fixedField   = "fixedDiscount"

	viewPay = "pay"
)

// Parts of the page that a script replaces.
const (
	partGoods = "goods"
	partCart  = "cart"
)

// goods are the lines of a sale.
//
//nolint:gochecknoglobals // a constant
var ofSale = resources.LinesInput{Field: "items", Ref: "refId", Price: "unitPrice", Kinds: true}

// begin reads the form, and the shift in which is sold.
func begin(ctx context.Context, q *web.Request) (*counter, error) {
	c := &counter{q: q, form: url.Values{}, edits: -1, part: q.HTTP.Header.Get("HX-Target")}
	if q.HTTP.Method == http.MethodPost {
		c.form, c.lines = q.Form, lines.In(q.Form)
	}
	if uuid.Validate(c.form.Get(keyField)) != nil {
		c.form.Set(keyField, uuid.NewString())
	}
	shift, err := web.Call[sales.Shift](ctx, q, "getCurrentShift", web.Input{})
	if known, ok := apierr.As(err); ok && known.Status == http.StatusNotFound {
		return c, nil
	}
	c.shift = &shift
	return c, err
}

// show is the counter at first, or with the receipt of a sale.
func (pages *Pages) show(ctx context.Context, q *web.Request) (web.Answer, error) {
	c, err := begin(ctx, q)
	if err != nil {
		return web.Answer{}, err
	}
	if !q.HTTP.URL.Query().Has(saleField) {
		c.focus = goodsField
	}
	return c.answer(ctx, nil)
}

// step is the counter after a step. What a step refuses is the error of an operation.
func (pages *Pages) step(ctx context.Context, q *web.Request) (web.Answer, error) {
	c, err := begin(ctx, q)
	if err != nil {
		return web.Answer{}, err
	}
	switch do := c.form.Get(stepField); do {
	case "take":
		return c.take(ctx)
	case "open":
		err = c.open(ctx)
	default:
		err = c.apply(ctx, do)
	}
	if err != nil && !web.Refused(err) {
		return web.Answer{}, err
	}
	answer, failed := c.answer(ctx, err)
	if err != nil {
		answer = answer.Refuse()
	}
	return answer, failed
}

func (c *counter) apply(ctx context.Context, do string) error {
	verb, value, _ := strings.Cut(do, " ")
	i, noLine := strconv.Atoi(value)
	switch onLine := noLine == nil && i >= 0 && i < len(c.lines); {
	case verb == "add":
		if l, ok := lines.Parsed(value); ok {
			c.add(l)
		}
	case verb == "enter":
		return c.enter(ctx)
	case verb == "more" && onLine:
		c.lines[i].Step(1)
	case verb == "less" && onLine:
		if was := c.lines[i].Qty; c.lines[i].Qty != "" {
			if c.lines[i].Step(-1); c.lines[i].Qty == was {
				c.drop(i)
			}
		}
	case verb == "drop" && onLine:
		c.drop(i)
	case verb == "undo":
		if l, ok := lines.Parsed(c.form.Get(goneField)); ok {
			c.lines = append(c.lines, l)
		}
		c.focus = goodsField
	case verb == "free":
		c.lines = append(c.lines, lines.Line{Kind: lines.Free, Name: c.q.T("till.free.name"), Qty: "1"})
		c.edits, c.focus = len(c.lines)-1, "price-"+strconv.Itoa(len(c.lines)-1)
	case verb == "shelf":
		c.form.Set(shelfField, value)
	case verb == "clear":
		c.lines = nil
	default:
		return c.settle(ctx, verb, value)
	}
	return nil
}

// settle are the steps about who buys, and how it is paid.
func (c *counter) settle(ctx context.Context, verb, value string) error {
	switch verb {
	case clientField:
		c.choose(value)
	case "noclient":
		c.form.Del(clientField)
		c.form.Del(pointsField)
		c.focus = whoField
	case "newclient":
		id, err := lines.MakeClient(ctx, c.q, c.form)
		if err == nil {
			c.choose(id)
		}
		return err
	case viewPay:
		c.form.Set(viewField, viewPay)
		c.form.Del(givenField)
		c.form.Del(cardField)
		c.focus = givenField
	case "back":
		c.form.Del(viewField)
		c.focus = goodsField
	case "park":
		return c.park(ctx)
	case "unpark":
		return c.takeUp(ctx, value)
	case "next":
		c.focus = goodsField
	case "give":
		c.form.Set(givenField, value)
	}
	return nil
}

func (c *counter) add(l lines.Line) {
	c.lines, _ = lines.Added(c.lines, l)
	c.form.Del(goodsField)
}

func (c *counter) drop(i int) {
	c.gone = new(c.lines[i])
	c.lines = slices.Delete(c.lines, i, i+1)
	c.focus = goodsField // not Undo, which the end of the next scan would press
}

func (c *counter) choose(id string) {
	c.form.Set(clientField, id)
	c.form.Del(whoField)
	c.focus = goodsField
}

// enter is the key in a field of the form: what a scanner sent, or the name of the only one, is added.
func (c *counter) enter(ctx context.Context) error {
	c.focus = goodsField
	if text := lines.Asked(c.form, scanField); text != "" {
		c.form.Set(goodsField, text)
	}
	if text := lines.Asked(c.form, goodsField); text != "" {
		all, err := lines.Goods(ctx, c.q, &ofSale, text)
		if l, ok := lines.Entered(all, text); ok {
			c.add(l)
		}
		return err
	}
	if text := lines.Asked(c.form, whoField); text != "" && c.form.Get(clientField) == "" {
		all, err := lines.Clients(ctx, c.q, text)
		if len(all) == 1 {
			c.choose(strings.TrimPrefix(all[0].Do, clientField+" "))
		}
		return err
	}
	return nil
}

// open opens a shift of the person, in whose drawer the money goes.
func (c *counter) open(ctx context.Context) error {
	body := map[string]any{"openingCash": c.q.ParseAmount(c.form.Get("openingCash"))}
	if branch := c.form.Get("branchId"); branch != "" {
		body["branchId"] = branch
	}
	shift, err := web.Call[sales.Shift](ctx, c.q, "openShift", web.Input{Key: lines.KeyFor(c.form, body), Body: body})
	if err == nil {
		c.shift, c.focus = &shift, goodsField
	}
	return err
}
