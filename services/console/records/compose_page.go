package records

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/services/console/lines"
	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// composePage is the page of the form.
type composePage struct {
	Header   web.Header
	Post     string
	Hidden   map[string]string
	Fault    string
	Client   *clientPart
	Products web.Combo
	Lines    []lineForm
	Swap     string // what a change of a line or a sum replaces
	Undo     *undo
	Priced   string // head of the column of prices; "" = lines have none
	Counted  bool   // lines have quantities
	Reduced  bool   // lines can have a discount
	Sums     []web.Fact
	Total    string
	Summed   bool // the operation adds the document up
	Groups   []fieldGroup
	Button   string
	Then     string // button that makes the document and leads to its next command; "" = there is none
	Repeat   string // button that adds what the client had last; "" = there is none
	Draft    string // what the browser keeps the form under until it is sent; "" = it keeps nothing
	Back     string
	API      web.Shown
}

// fieldGroup is fields under a heading.
type fieldGroup struct {
	ID, Title string
	Fields    []web.Field
}

type clientPart struct {
	Pick    web.Combo
	Chosen  *web.Hit
	Sent    []web.Option // name, phone and e-mail address of a client that the document is given to
	ID      string
	Href    string
	Fields  []web.Field // of somebody without a record
	Creates bool        // the person may make a record of them
	Open    bool
}

type lineForm struct {
	lines.Line

	No                                         int
	Placeholder                                string // the price if none is typed
	Reduced                                    string // the discount, likewise
	QtyFault, PriceFault, DiscountFault, Fault string
	Total                                      string
	Image                                      web.Picture
}

// Kept are the fields of the line that nobody types.
func (l lineForm) Kept() []web.Option { return l.Hidden(l.No) }

// undo is a line that was removed.
type undo struct{ Name, Value string }

// composed is the page of the form as it is now.
func (pages *Pages) composed(ctx context.Context, c *composer, refusal error) (web.Answer, error) {
	q, title, button := c.q, c.res.New(c.q), c.res.Making(c.q)
	crumbs := []web.Link{{Text: c.res.Heading(q), Href: q.Path(c.res.Address)}}
	back := q.Path(c.res.Address)
	if !c.makes() {
		crumbs, back = append(crumbs, web.Link{Text: titleOf(q, c.res, c.record), Href: c.address(q)}), c.address(q)
		title, button = q.T("records.editing", titleOf(q, c.res, c.record)), q.T("form.save")
	}
	shows := refusal
	fields, err := pages.fieldsOf(ctx, q, c.shown, c.command, draft{typed: c.typed()}, shows)
	if err != nil {
		return web.Answer{}, err
	}
	var summed resources.Record
	var fault error
	if refusal == nil {
		summed, fault, err = c.preview(ctx, fields)
	}
	if fault != nil { // it stands beside what it is about, also before the document is sent
		shows = fault
		fields, err = pages.fieldsOf(ctx, q, c.shown, c.command, draft{typed: c.typed()}, shows)
	}
	if err != nil {
		return web.Answer{}, err
	}
	p := composePage{
		Header: web.Header{Title: title, Crumbs: crumbs}, Post: c.post(), Back: back, Button: button,
		Hidden:  map[string]string{"key": keyOf(c.form, refusal)},
		Counted: !c.res.Lines.NoQty, Reduced: c.res.Lines.Kinds, Summed: c.res.Lines.Preview != "",
	}
	if !c.makes() {
		p.Hidden["version"], p.Hidden[wasClient], p.Hidden[wasLines] = c.version, c.form.Get(wasClient), c.form.Get(wasLines)
	}
	if c.res.Lines.Price != "" {
		p.Priced = q.Label(c.res.Lines.Price) + ", " + q.Symbol()
	}
	var others []web.Field
	if p.Client, others, err = c.clientPart(ctx, fields); err != nil {
		return web.Answer{}, err
	}
	p.Groups = grouped(q, c.res.Lines.Groups, others)
	if p.Products, err = c.productPart(ctx); err != nil {
		return web.Answer{}, err
	}
	if c.makes() {
		p.Draft = c.post() + " " + q.Person.Email
		if c.res.Lines.Then != "" && slices.ContainsFunc(c.res.Commands, func(then resources.Command) bool { return then.Name == c.res.Lines.Then && q.MayCall(then.Op) }) {
			p.Then = q.T("records.compose.then." + c.res.Lines.Then)
		}
		if p.Repeat, err = c.repeats(ctx); err != nil {
			return web.Answer{}, err
		}
	}
	p.lines(c, summed, shows)
	if c.gone != nil {
		p.Undo = &undo{c.gone.Name, c.gone.Value()}
	}
	if refusal != nil {
		p.Fault = faultOf(q, fields, p, refusal)
	}
	p.API.Curl = q.Curl(c.command.Op, web.Input{Path: pathOf(c.shown, c.command, ""), Body: c.body()})
	return web.Show("records/compose", title, p), nil
}

// grouped are fields under the headings of their groups, and then the others. A group that has none of them is left out.
func grouped(q *web.Request, groups []resources.FieldGroup, fields []web.Field) (all []fieldGroup) {
	for _, g := range groups {
		part := fieldGroup{ID: g.Name, Title: q.T("records.compose.group." + g.Name)}
		for _, name := range g.Fields {
			if i := slices.IndexFunc(fields, func(f web.Field) bool { return f.Name == name }); i >= 0 {
				part.Fields, fields = append(part.Fields, fields[i]), slices.Concat(fields[:i], fields[i+1:])
			}
		}
		if len(part.Fields) > 0 {
			all = append(all, part)
		}
	}
	if len(fields) > 0 {
		all = append(all, fieldGroup{ID: "more", Title: q.T("records.compose.details"), Fields: fields})
	}
	return all
}

// repeats offers what the client had last, while there are no lines.
func (c *composer) repeats(ctx context.Context) (string, error) {
	if c.res.Client == "" || len(c.lines) > 0 || c.finds() {
		return "", nil
	}
	last, err := c.last(ctx)
	if err != nil || last == nil {
		return "", err
	}
	return c.q.T("records.compose.repeat", last.Text("number"), moments(c.q, last.Text("createdAt")).At.Short()), nil
}

// typed is what was typed; nil = the form is new.
func (c *composer) typed() url.Values {
	if c.q.HTTP.Method != http.MethodPost && (!c.makes() || len(c.form) == 0) {
		return nil
	}
	return c.form
}

// preview adds the document up; a nil record is one that has no lines or a fault, which refused says.
func (c *composer) preview(ctx context.Context, fields []web.Field) (summed resources.Record, refused, err error) {
	if c.res.Lines.Preview == "" || len(c.lines) == 0 || c.finds() {
		return nil, nil, nil
	}
	raw, err := web.Call[web.JSON](ctx, c.q, c.res.Lines.Preview, web.Input{Body: c.draft(fields)})
	if web.Refused(err) {
		return nil, err, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return summed, nil, decode(raw, &summed)
}

// finds reports whether the request only looks for something to choose, so that the rest of the page is not looked at.
func (c *composer) finds() bool {
	return c.q.Form.Get(stepField) == "find" && c.q.HTTP.Header.Get("HX-Request") != ""
}

// clientPart takes the fields about somebody without a record out of the others.
func (c *composer) clientPart(ctx context.Context, fields []web.Field) (*clientPart, []web.Field, error) {
	if c.res.Client == "" || !c.q.MayCall("listClients") {
		return nil, fields, nil
	}
	part := &clientPart{Creates: c.q.MayCall("createClient"), Pick: web.Combo{
		Name: clientText, Label: c.q.T("records.compose.client.find"), Post: c.post(), Query: lines.Asked(c.form, clientText), Key: "c", Focus: c.focus == focusWho,
	}}
	others := slices.DeleteFunc(slices.Clone(fields), func(f web.Field) bool {
		_, about := lines.Customer[f.Name]
		if about {
			f.Help = "" // which tells what a chosen client fills in
			part.Fields = append(part.Fields, f)
			part.Open = part.Open || f.Value != "" || f.Fault != ""
		}
		return about
	})
	id := idOr(c.form.Get(clientID))
	if id == "" {
		if part.Pick.Query == "" {
			return part, others, nil
		}
		found, err := lines.Clients(ctx, c.q, part.Pick.Query)
		if part.Pick.Found = found; len(found) == 0 {
			part.Pick.None = c.q.T("records.compose.noclient", part.Pick.Query)
		}
		return part, others, err
	}
	raw, err := web.Call[web.JSON](ctx, c.q, "getClient", web.Input{Path: map[string]string{"id": id}})
	if known, ok := apierr.As(err); ok && known.Status == http.StatusNotFound {
		c.form.Del(clientID)
		return part, others, nil
	}
	var r resources.Record
	if err = errors.Join(err, decode(raw, &r)); err != nil {
		return nil, nil, err
	}
	part.ID, part.Href = id, c.q.Path("/clients/"+id)
	part.Chosen = &web.Hit{Name: r.Text("displayName"), Detail: lines.Contacts(r), Chip: lines.Debt(c.q, r), End: lines.Points(c.q, r)}
	if !c.makes() && id != c.form.Get(wasClient) {
		for field, of := range lines.Customer {
			part.Sent = append(part.Sent, web.Option{Text: field, Value: r.Text(of)})
		}
	}
	list, err := c.names.name(ctx, "priceListId", r.Text("priceListId"))
	if list != "" {
		part.Chosen.Code = list
	}
	return part, others, err
}

// productPart looks for what can be added.
func (c *composer) productPart(ctx context.Context) (web.Combo, error) {
	p := web.Combo{
		Name: goodsText, Label: c.q.T("records.compose.goods.find"), Post: c.post(), Query: lines.Asked(c.form, goodsText), Key: "/", Scan: true, Focus: c.focus == focusGoods,
	}
	if p.Query == "" {
		return p, nil
	}
	all, err := lines.Goods(ctx, c.q, c.res.Lines, p.Query)
	for _, t := range all {
		p.Found = append(p.Found, t.Offer(c.q))
	}
	if len(all) == 0 {
		p.None = c.q.T("records.compose.noproduct", p.Query)
	}
	if c.res.Lines.Kinds {
		p.Other = &web.Hit{Do: "add " + lines.Line{Kind: lines.Free, Name: p.Query}.Value(), Name: c.q.T("records.compose.free", p.Query)}
	}
	return p, err
}

// lines fills in the lines and the sums.
func (p *composePage) lines(c *composer, summed resources.Record, refusal error) {
	sums := summed.Records("lines")
	swap := []string{"#sums"}
	for i, l := range c.lines {
		f := lineForm{Line: l, No: i, Image: l.Image(c.q)}
		f.QtyFault, f.PriceFault, f.DiscountFault, f.Fault = lines.FaultsOf(c.q, c.res.Lines, i, refusal)
		if i < len(sums) {
			if n := sums[i].Text("discountPercent"); n != "" && n != "0" {
				f.Reduced = c.q.Typed(n)
			}
			f.Total, f.Placeholder = c.q.Amount(sums[i].Number("total")), c.q.Amount(sums[i].Number("unitPrice"))
		}
		p.Lines = append(p.Lines, f)
		swap = append(swap, "#total-"+strconv.Itoa(i), "#faults-"+strconv.Itoa(i))
	}
	p.Swap = strings.Join(swap[1:], ",")
	if summed == nil {
		return
	}
	for _, name := range []string{"subtotal", "discountAmount", "taxAmount", "deliveryCost"} {
		if n := summed.Number(name); n != 0 || name == "subtotal" {
			if name == "discountAmount" {
				n = -n
			}
			label := c.q.Label(name)
			if mode := summed.Text("taxMode"); name == "taxAmount" && mode != "" {
				label = c.q.T("till.sum.tax." + mode)
			}
			p.Sums = append(p.Sums, web.Fact{Label: label, Cell: web.Number(c.q.Amount(n))})
		}
	}
	p.Total = c.q.Money(summed.Number("amountDue"))
}

// shows implements what [faultOf] asks of the lines.
func (p composePage) shows(fault string) bool {
	return slices.ContainsFunc(p.Lines, func(l lineForm) bool {
		return l.QtyFault == fault || l.PriceFault == fault || l.DiscountFault == fault || l.Fault == fault
	})
}
