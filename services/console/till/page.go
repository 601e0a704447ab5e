package till

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/services/business/sales"
	"github.com/tradegrid/tradegrid/services/console/lines"
	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/platform/company"
)

// blankLine stands for the number of a line in the template of the script.
const blankLine = 999

// page is the counter.
type page struct {
	Post    string
	Home    string
	Company string
	Shift   *shiftPart
	Open    *openPart // nil = a shift is open
	May     bool      // sell
	Hidden  []web.Option
	Fault   string
	Goods   *goodsPart // nil = what is paid is shown in its place
	Pay     *payPart
	Cart    cartPart
	Receipt *receipt // in place of the cart
	Now     string   // time of the server, for sales that are told later
	Zone    string
	Alone   bool     // the script may sell without a connection
	Blank   cartLine // for the script
}

// shiftPart is the shift in which is sold.
type shiftPart struct {
	Text, Facts, Href string
}

// openPart asks for what is in the drawer.
type openPart struct {
	Fields []web.Field
}

// cartPart is what is bought.
type cartPart struct {
	Client  clientPart
	Lines   []cartLine
	Undo    *lines.Line
	Said    string       // what a step has done
	Parked  []web.Option // carts that were put aside, while this one is empty
	Sums    []web.Fact
	Points  *pointsPart
	Percent web.Field
	Fixed   web.Field
	Reduced bool   // a discount is typed
	Swap    string // what a change of a line replaces beside the sums
	Total   string // with the currency; "" = it is not known
	Fault   string
}

type clientPart struct {
	Pick    web.Combo
	Chosen  *web.Hit
	ID      string
	Creates bool
	Fields  []web.Field
	Open    bool // the fields of a new client
}

type pointsPart struct {
	Text string
	On   bool
}

// cartLine is a line of the cart.
type cartLine struct {
	lines.Line

	No          int
	Post        string
	Unit        string // price of one, as people type it
	Detail      string // code and price of one
	Placeholder string // price of one, unless another is typed
	Total       string
	Open        bool // its price and discount are shown
	Pic         web.Picture

	QtyFault, PriceFault, DiscountFault, Fault string
}

// Kept are the fields of the line that nobody types.
func (l cartLine) Kept() []web.Option { return l.Hidden(l.No) }

// answer is the page as it is now.
func (c *counter) answer(ctx context.Context, refusal error) (web.Answer, error) {
	p := page{Post: c.q.Path("/sell"), Home: c.q.Path("/"), Company: c.q.Company.Name, May: c.q.Allows(scope, true)}
	p.Zone = c.q.Zone.String()
	p.Now, p.Alone, p.Blank = web.Instant(c.q.Now), c.q.Settings.TaxMode != access.TaxAdded, cartLine{No: blankLine, Post: p.Post}
	title := c.q.T("till.title")
	if c.shift == nil {
		open, err := c.opening(ctx, refusal)
		p.Open, p.Hidden = open, c.hidden()
		p.Fault = c.q.FormFault(refusal, open.Fields)
		p.Cart.Lines = c.cartLines(nil, nil)
		return web.Show("till/counter", title, p), err
	}
	p.Shift = c.shiftPart()
	if err := c.fill(ctx, &p, refusal); err != nil {
		return web.Answer{}, err
	}
	p.Hidden = c.hidden()
	return web.Show("till/counter", title, p), nil
}

// fill makes the parts that the answer shows.
func (c *counter) fill(ctx context.Context, p *page, refusal error) (err error) {
	if err := c.readClient(ctx); err != nil {
		return err
	}
	if p.Cart.Client, err = c.clientPart(ctx, refusal); err != nil || c.part == whoField+"-found" {
		return err
	}
	paying := c.form.Get(viewField) == viewPay && len(c.lines) > 0
	if !paying && c.part != partCart {
		g, err := c.goods(ctx)
		if err != nil || c.part == partGoods || c.part == goodsField+"-found" {
			p.Goods = &g
			return err
		}
		p.Goods = &g
	}
	if p.Goods == nil {
		p.Goods = &goodsPart{Find: web.Combo{Name: goodsField, Label: c.q.T("till.find"), Post: p.Post, Key: "/", Scan: true, Focus: c.focus == goodsField}}
		if p.Goods.Find.Query = lines.Asked(c.form, goodsField); p.Goods.Find.Query != "" && !paying {
			if err := c.find(ctx, &p.Goods.Find); err != nil {
				return err
			}
		}
	}
	sum, fault, err := c.sum(ctx)
	if err != nil {
		return err
	}
	if fault == nil && !paying {
		fault = refusal
	}
	c.cart(&p.Cart, sum, fault)
	if p.Cart.Said = c.said; len(c.lines) == 0 && p.May {
		if p.Cart.Parked, err = c.aside(ctx); err != nil {
			return err
		}
	}
	if paying && sum != nil {
		p.Pay, err = c.payPart(ctx, sum, refusal)
		p.Goods = nil
	}
	if id := c.q.HTTP.URL.Query().Get(saleField); id != "" && c.q.HTTP.Method == http.MethodGet {
		p.Receipt, err = c.receipt(ctx, id)
	}
	return err
}

// hidden are the fields that nobody types.
func (c *counter) hidden() []web.Option {
	all := []web.Option{{Text: soldField}, {Text: scanField}}
	for _, name := range []string{keyField, redeemField, dueField} {
		all = append(all, web.Option{Text: name, Value: c.form.Get(name)})
	}
	if c.shift != nil {
		all = append(all, web.Option{Text: shiftField, Value: c.shift.ID.String()})
	}
	if !c.q.Person.Operator() {
		all = append(all, web.Option{Text: cashierField, Value: c.q.Session.User.String()})
	}
	return all
}

func (c *counter) shiftPart() *shiftPart {
	s := c.shift
	return &shiftPart{
		Text:  c.q.T("till.shift", s.Number),
		Facts: c.q.T("till.shift.facts", c.q.Date(s.OpenedAt.Std().In(c.q.Zone), "15:04"), strconv.FormatInt(s.SalesCount, 10), c.q.Money(int64(s.ExpectedCash))),
		Href:  c.q.Path("/shifts/" + s.ID.String()),
	}
}

// opening asks for the cash in the drawer, and for the branch if there is a choice.
func (c *counter) opening(ctx context.Context, refusal error) (*openPart, error) {
	typed := c.form.Get("openingCash")
	if typed == "" {
		typed = "0"
	}
	p := &openPart{Fields: []web.Field{{
		Name: "openingCash", Label: c.q.T("till.open.cash"), Type: "number", Value: typed, Focus: true, Fault: c.q.FaultOf(refusal, "openingCash"),
	}}}
	if !c.q.MayCall("listBranches") {
		return p, nil
	}
	branches, err := web.Call[[]company.BranchEntry](ctx, c.q, "listBranches", web.Input{})
	if err != nil || len(branches) == 0 {
		return p, err
	}
	options := []web.Option{{Text: c.q.T("till.open.nobranch")}}
	for _, b := range branches {
		options = append(options, web.Option{Value: b.ID.String(), Text: b.Name})
	}
	p.Fields = append(p.Fields, web.Choice("branchId", c.q.T("till.open.branch"), c.form.Get("branchId"), options...))
	return p, nil
}

// readClient reads the client that is chosen. One who is gone is none.
func (c *counter) readClient(ctx context.Context) error {
	if !isID(c.form.Get(clientField)) {
		c.form.Del(clientField)
		return nil
	}
	id := uuid.MustParse(c.form.Get(clientField))
	raw, err := web.Call[web.JSON](ctx, c.q, "getClient", web.ByID(id))
	if known, ok := apierr.As(err); ok && known.Status == http.StatusNotFound {
		c.form.Del(clientField)
		return nil
	}
	if err != nil {
		return err
	}
	if err := resources.Decode(raw, &c.client); err != nil {
		return err
	}
	if into := c.client.Text("mergedIntoId"); into != "" {
		c.form.Set(clientField, into)
		return c.readClient(ctx)
	}
	return nil
}

func (c *counter) clientPart(ctx context.Context, refusal error) (p clientPart, err error) {
	if c.client != nil {
		p.ID = c.client.Text("id")
		p.Chosen = &web.Hit{
			Name: c.client.Text("displayName"), Detail: lines.Contacts(c.client), Chip: lines.Debt(c.q, c.client), End: lines.Points(c.q, c.client),
		}
		return p, nil
	}
	p.Pick = web.Combo{
		Name: whoField, Label: c.q.T("till.client"), Post: c.q.Path("/sell"), Query: lines.Asked(c.form, whoField), Key: "c", Focus: c.focus == whoField,
	}
	if p.Creates = c.q.MayCall("createClient"); p.Creates {
		for _, name := range []string{"customerName", "customerPhone"} {
			f := web.Field{Name: name, Label: c.q.Label(name), Value: c.form.Get(name), Fault: c.q.FaultOf(refusal, name)}
			p.Fields, p.Open = append(p.Fields, f), p.Open || f.Value+f.Fault != ""
		}
	}
	if p.Pick.Query == "" || !c.q.MayCall("listClients") {
		return p, nil
	}
	if p.Pick.Found, err = lines.Clients(ctx, c.q, p.Pick.Query); len(p.Pick.Found) == 0 {
		p.Pick.None = c.q.T("records.compose.noclient", p.Pick.Query)
	}
	return p, err
}

// cart fills in lines and sums.
func (c *counter) cart(p *cartPart, sum *sales.Preview, refusal error) {
	p.Lines, p.Undo = c.cartLines(sum, refusal), c.gone
	for _, l := range p.Lines {
		no := strconv.Itoa(l.No)
		p.Swap += ",#total-" + no + ",#detail-" + no + ",#faults-" + no
	}
	p.Swap = strings.TrimPrefix(p.Swap, ",")
	p.Percent = web.Field{Name: percentField, Label: c.q.T("till.discount.percent"), Type: "number", Value: c.form.Get(percentField), Fault: c.q.FaultOf(refusal, percentField)}
	p.Fixed = web.Field{Name: fixedField, Label: c.q.T("till.discount.fixed", c.q.Symbol()), Type: "number", Value: c.form.Get(fixedField), Fault: c.q.FaultOf(refusal, fixedField)}
	p.Reduced = p.Percent.Value+p.Percent.Fault+p.Fixed.Value+p.Fixed.Fault != ""
	if n := c.client.Number("points"); n > 0 {
		p.Points = &pointsPart{Text: lines.Points(c.q, c.client), On: c.form.Get(pointsField) != ""}
	}
	if refusal != nil && !p.shows() {
		p.Fault = c.q.FormFault(refusal, nil)
	}
	if sum == nil {
		return
	}
	p.Total = c.q.Money(int64(sum.Total))
	add := func(label string, amount int64) {
		if amount != 0 {
			p.Sums = append(p.Sums, web.Fact{Label: label, Cell: web.Number(c.q.Amount(amount))})
		}
	}
	add(c.q.T("till.sum.goods"), int64(sum.Subtotal))
	add(c.q.T("till.sum.discount"), -int64(sum.DiscountAmount))
	add(c.q.T("till.sum.points"), -sum.RedeemedPoints)
	add(c.q.T("till.sum.tax."+sum.TaxMode), int64(sum.TaxAmount))
}

// shows reports whether a field or a line of the cart shows what is wrong.
func (p *cartPart) shows() bool {
	return web.Faulty([]web.Field{p.Percent, p.Fixed}) || web.Faulty(p.Client.Fields) || slices.ContainsFunc(p.Lines, func(l cartLine) bool {
		return l.QtyFault+l.PriceFault+l.DiscountFault+l.Fault != ""
	})
}

func (c *counter) cartLines(sum *sales.Preview, refusal error) (all []cartLine) {
	for i, l := range c.lines {
		v := cartLine{Line: l, Pic: l.Image(c.q), No: i, Post: c.q.Path("/sell"), Detail: l.SKU}
		v.QtyFault, v.PriceFault, v.DiscountFault, v.Fault = lines.FaultsOf(c.q, &ofSale, i, refusal)
		if sum != nil && i < len(sum.Lines) {
			s := sum.Lines[i]
			v.Placeholder, v.Total = c.q.Amount(int64(s.UnitPrice)), c.q.Amount(int64(s.Total))
			v.Detail, v.Unit = v.Placeholder, web.PlainAmount(int64(s.UnitPrice), c.q.Company.Currency)
			if s.DiscountPercent > 0 {
				v.Detail = c.q.T("till.line.less", v.Placeholder, c.q.Number(s.DiscountPercent.String()))
			}
		}
		v.Open = c.edits == i || v.PriceFault+v.DiscountFault != ""
		all = append(all, v)
	}
	return all
}
