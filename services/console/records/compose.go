package records

import (
	"context"
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

// A document with lines is composed in one form. Each step of it, such as adding a line, sends the form, and the answer is the form after
// the step: with a script its parts change in place, without one the page comes again. Nothing is kept anywhere else until it is saved.

// composer is the form while a request works on it.
type composer struct {
	shown   // the document that is changed; one without an id is made
	q       *web.Request
	command resources.Command
	form    url.Values
	version string
	lines   []lines.Line
	gone    *lines.Line // that the last step removed
	focus   string
}

// Fields of the form beside those of the operation.
const (
	clientID   = "client" // id of the client that is chosen
	clientText = "c"      // what is looked for among clients
	goodsText  = "p"      // what is looked for among products
	goneLine   = "gone"   // the line that was removed last
	wasClient  = "was.client"
	wasLines   = "was.lines"
	thenField  = "then"     // the document is made, and then the command of its lines is asked for
	stepField  = "do"       // the step; "" = the document is made
	focusGoods = goodsText  // the field that gets the focus
	focusWho   = clientText // likewise
)

// composes reports whether a command changes a document with its lines.
func composes(s shown, c resources.Command) bool {
	return c.Name == "edit" && s.res.Lines != nil && (s.res.Lines.Open == nil || s.res.Lines.Open(s.record))
}

// drafted is the form of a new document.
func drafted(q *web.Request, res resources.Resource) *composer {
	return &composer{shown: shown{res: res, names: &directories{q: q}}, q: q, command: creation(res), form: q.Form, lines: lines.In(q.Form)}
}

// opened is the form of a document that is there; the request has it, unless it is about to be shown.
func opened(q *web.Request, s shown, command resources.Command) *composer {
	c := &composer{shown: s, q: q, command: command, form: q.Form, lines: lines.In(q.Form), version: q.Form.Get("version")}
	if q.HTTP.Method != http.MethodPost {
		c.begin()
	}
	return c
}

// begin fills the form with the document as it is.
func (c *composer) begin() {
	c.form, c.lines, c.version = url.Values{}, nil, c.record.Text("version")
	for _, l := range c.record.Records("lines") {
		c.lines = append(c.lines, lines.Of(c.q, c.res.Lines, l))
	}
	if c.res.Client != "" {
		c.form.Set(clientID, c.record.Text(c.res.Client))
	}
	c.keep()
}

// keep remembers what the document has, so that only what is changed is sent.
func (c *composer) keep() {
	c.form.Set(wasClient, c.form.Get(clientID))
	c.form.Set(wasLines, lines.Fingerprint(c.lines))
}

func (c *composer) makes() bool { return c.id == "" }

func (c *composer) post() string {
	if c.makes() {
		return c.q.Path(c.res.Address + "/new")
	}
	return c.address(c.q) + "/do/" + c.command.Name
}

// compose shows the form after a step, or at first.
func (pages *Pages) compose(ctx context.Context, c *composer) (web.Answer, error) {
	if c.q.HTTP.Method != http.MethodPost {
		if c.focus = focusGoods; c.res.Client != "" && c.form.Get(clientID)+c.form.Get("customerName") == "" {
			c.focus = focusWho
		}
		if c.makes() {
			c.form = prefilled(c.form)
		}
		return pages.composed(ctx, c, nil)
	}
	refusal := c.step(ctx, c.form.Get(stepField))
	if refusal != nil && !web.Refused(refusal) {
		return web.Answer{}, refusal
	}
	return pages.composed(ctx, c, refusal)
}

// prefilled is what an address can say of a new document: whom it is about. Its lines are named as in the form.
func prefilled(form url.Values) url.Values {
	out := url.Values{}
	for _, name := range []string{clientID, "customerName", "customerPhone"} {
		if text := form.Get(name); text != "" {
			out.Set(name, text)
		}
	}
	return out
}

// step changes the form. What a step refuses is the error of an operation.
func (c *composer) step(ctx context.Context, do string) (err error) {
	verb, value, _ := strings.Cut(do, " ")
	i, noLine := strconv.Atoi(value)
	onLine := noLine == nil && i >= 0 && i < len(c.lines)
	switch {
	case verb == "add":
		if l, ok := lines.Parsed(value); ok {
			c.add(l)
		}
	case verb == "enter":
		return c.enter(ctx)
	case verb == "drop" && onLine:
		c.gone = new(c.lines[i])
		c.lines = slices.Delete(c.lines, i, i+1)
		c.focus = focusGoods
	case verb == "undo":
		if l, ok := lines.Parsed(c.form.Get(goneLine)); ok {
			c.lines = append(c.lines, l)
		}
		c.focus = focusGoods
	case verb == "more" && onLine:
		c.lines[i].Step(1)
	case verb == "less" && onLine:
		c.lines[i].Step(-1)
	case verb == clientID:
		c.choose(value)
	case verb == "repeat":
		return c.repeat(ctx)
	case verb == "noclient":
		c.form.Del(clientID)
		c.focus = focusWho
	case verb == "newclient":
		return c.makeClient(ctx)
	}
	return nil
}

func (c *composer) add(l lines.Line) {
	c.lines, _ = lines.Added(c.lines, l)
	c.form.Del(goodsText)
	c.focus = focusGoods
}

func (c *composer) choose(id string) {
	c.form.Set(clientID, id)
	c.form.Del(addressID) // it is one of the client before
	c.form.Del(clientText)
	c.focus = focusGoods
}

// last is the latest document of the client; nil = there is none.
func (c *composer) last(ctx context.Context) (resources.Record, error) {
	id := idOr(c.form.Get(clientID))
	if id == "" || !c.makes() {
		return nil, nil
	}
	all, err := lines.Records(ctx, c.q, c.res.List, url.Values{c.res.Client: {id}, "pageSize": {"1"}, "withTotal": {"false"}})
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return all[0], nil
}

// repeat adds what the client had last, at the prices of today.
func (c *composer) repeat(ctx context.Context) error {
	c.focus = focusGoods
	last, err := c.last(ctx)
	if err != nil || last == nil {
		return err
	}
	raw, err := web.Call[web.JSON](ctx, c.q, c.res.Get, web.Input{Path: map[string]string{"id": last.Text("id")}})
	if err != nil {
		return err
	}
	var r resources.Record
	if err := decode(raw, &r); err != nil {
		return err
	}
	for _, l := range r.Records("lines") {
		was := lines.Of(c.q, c.res.Lines, l)
		again := lines.Line{Kind: was.Kind, Ref: was.Ref, Variant: was.Variant, Name: was.Name, SKU: was.SKU, Picture: was.Picture, Qty: was.Qty}
		if was.Kind == lines.Free {
			again.Price = was.Price
		}
		c.lines = append(c.lines, again)
	}
	return nil
}

// enter is the key in a field of the form: what a scanner sent, or the name of the only one, is added.
func (c *composer) enter(ctx context.Context) error {
	if text := lines.Asked(c.form, goodsText); text != "" {
		c.focus = focusGoods
		all, err := lines.Goods(ctx, c.q, c.res.Lines, text)
		if err != nil {
			return err
		}
		if l, ok := lines.Entered(all, text); ok {
			c.add(l)
		}
		return nil
	}
	if text := lines.Asked(c.form, clientText); text != "" && c.form.Get(clientID) == "" {
		c.focus = focusWho
		all, err := lines.Clients(ctx, c.q, text)
		if err == nil && len(all) == 1 {
			c.choose(strings.TrimPrefix(all[0].Do, clientID+" "))
		}
		return err
	}
	c.focus = focusGoods
	return nil
}

// makeClient makes a record of somebody whose name, phone and e-mail address were typed.
func (c *composer) makeClient(ctx context.Context) error {
	id, err := lines.MakeClient(ctx, c.q, c.form)
	if err == nil {
		c.choose(id)
	}
	return err
}

// body is that of the operation: of a document that is there, what was changed.
func (c *composer) body() map[string]any {
	body := bodyOf(c.q, c.shown, c.command, c.form)
	c.putClient(body, c.form.Get(clientID) != c.form.Get(wasClient))
	if c.makes() && (len(c.lines) > 0 || !c.res.Lines.Optional) || !c.makes() && lines.Fingerprint(c.lines) != c.form.Get(wasLines) {
		body[c.res.Lines.Field] = lines.Items(c.q, c.res.Lines, c.lines, false)
	}
	return body
}

// putClient puts the client into a body. A new document takes name, phone and e-mail address from the record of the client; one that
// is given to another client is sent those of the other, which the form has.
func (c *composer) putClient(body map[string]any, changed bool) {
	id := idOr(c.form.Get(clientID))
	if c.res.Client == "" {
		return
	}
	for field := range lines.Customer {
		if id != "" && (c.makes() || !changed) {
			delete(body, field)
		}
	}
	switch {
	case !changed:
	case id != "":
		body[c.res.Client] = id
	default:
		body[c.res.Client] = nil
	}
}

// draft is the body of the operation that adds the document up: all that the form has, with the prices and discounts that lines keep.
func (c *composer) draft(fields []web.Field) map[string]any {
	body := bodyOf(c.q, shown{res: c.res}, creation(c.res), filled(fields, nil))
	c.putClient(body, c.form.Get(clientID) != "")
	body[c.res.Lines.Field] = lines.Items(c.q, c.res.Lines, c.lines, true)
	return body
}

// save makes or changes the document, and leads to its page; what the API refuses is shown in the form.
func (pages *Pages) save(ctx context.Context, c *composer) (web.Answer, error) {
	in := web.Input{Key: idOr(c.form.Get("key")), Body: c.body()}
	if !c.makes() {
		in.Path, in.Version = pathOf(c.shown, c.command, ""), versionOf(c.version)
		if in.Version == 0 {
			return web.Answer{}, web.Refusal(http.StatusBadRequest, "error.form")
		}
	}
	raw, err := web.Call[web.JSON](ctx, c.q, c.command.Op, in)
	if known, ok := apierr.As(err); ok && known.Status == http.StatusPreconditionFailed {
		c.catchUp()
	}
	if web.Refused(err) {
		answer, failed := pages.composed(ctx, c, err)
		return answer.Refuse(), failed
	}
	if err != nil {
		return web.Answer{}, err
	}
	if !c.makes() {
		return web.Go(web.With(c.address(c.q), "done", "records")), nil
	}
	if c.form.Get(thenField) != "" && c.res.Lines.Then != "" {
		return ledTo(c.q, c.res, raw, "/do/"+c.res.Lines.Then)
	}
	return led(c.q, c.res, raw)
}

// catchUp makes the form one about the document as it is now: what nobody has changed in the form is that of the document.
func (c *composer) catchUp() {
	now := *c
	now.begin()
	if lines.Fingerprint(c.lines) == c.form.Get(wasLines) {
		c.lines = now.lines
	}
	if c.form.Get(clientID) == c.form.Get(wasClient) {
		c.form.Set(clientID, now.form.Get(clientID))
	}
	c.version = now.version
	c.form.Set(wasClient, now.form.Get(wasClient))
	c.form.Set(wasLines, now.form.Get(wasLines))
}
