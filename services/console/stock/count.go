package stock

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/business/catalog"
	"github.com/tradegrid/tradegrid/services/business/counts"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// Ways of counting: each scan is one piece, or asks how many there are.
const (
	byPiece  = "one"
	byNumber = "number"
)

// one is what a scan counts.
var one = money.Units(1)

// tries is how often a scan is counted anew because somebody else has counted at the same time.
const tries = 4

// countPage is where goods are counted with a scanner, the camera or by hand. What is counted is recorded at once.
type countPage struct {
	Header  web.Header
	Post    string
	Mode    string
	Modes   []web.Option
	Open    bool // goods can be counted
	Fault   string
	Ask     *countLine // how many are there?
	Last    *countLine // what was counted just now
	Undo    map[string]string
	Left    []countLine
	Differ  []countLine
	Right   []countLine // as many as expected
	Key     string      // of what waits in the browser
	Waiting string      // text of the script
}

// countLine is a line of the count.
type countLine struct {
	ID, Name, SKU     string
	Expected, Counted string
	Difference        string
	Post, Mode        string // of the form that sets what was counted; "" = there is none
}

func (pages *Pages) countForm(ctx context.Context, q *web.Request) (web.Answer, error) {
	c, err := pages.count(ctx, q)
	if err != nil {
		return web.Answer{}, err
	}
	return pages.counting(q, c, counted{}), nil
}

func (pages *Pages) count(ctx context.Context, q *web.Request) (counts.Count, error) {
	id, err := q.PathID("id")
	if err != nil {
		return counts.Count{}, err
	}
	return web.Call[counts.Count](ctx, q, "getCount", web.ByID(id))
}

// counted is what came of a scan.
type counted struct {
	ask, line *uuid.UUID
	before    *money.Qty // what the line had
	fault     string
}

// counting is the page as it is now.
func (pages *Pages) counting(q *web.Request, c counts.Count, o counted) web.Answer {
	at := q.Path("/counts/" + c.ID.String())
	title := q.T("stock.count.title", c.Number)
	p := countPage{
		Header: web.Header{Title: title, Facts: q.T("stock.count.progress", c.WarehouseName, c.CountedLines, c.LinesCount), Crumbs: []web.Link{{Text: q.Named("resource.counts", "counts"), Href: q.Path("/counts")}}, Links: []web.Link{{Text: q.T("stock.count.finish"), Href: at}}},
		Post:   at + "/scan", Mode: modeOf(q), Open: c.Status == "counting" && q.Allows(scope, true), Fault: o.fault, Key: "count-" + c.ID.String(), Waiting: q.T("stock.count.waiting"),
	}
	for _, mode := range []string{byPiece, byNumber} {
		p.Modes = append(p.Modes, web.Option{Value: mode, Text: q.T("stock.count.mode." + mode), Selected: mode == p.Mode})
	}
	for _, l := range c.Lines {
		one := lineOf(q, l)
		if p.Open {
			one.Post, one.Mode = p.Post, p.Mode
		}
		switch {
		case l.CountedQty == nil:
			p.Left = append(p.Left, one)
		case *l.DifferenceQty != 0:
			p.Differ = append(p.Differ, one)
		default:
			p.Right = append(p.Right, one)
		}
		if o.ask != nil && *o.ask == l.ID {
			p.Ask = &one
		}
		if o.line != nil && *o.line == l.ID {
			p.Last, p.Undo = &one, map[string]string{"do": "set", "line": one.ID, "qty": "", "mode": p.Mode}
			if o.before != nil {
				p.Undo["qty"] = o.before.String()
			}
		}
	}
	if p.Open && c.CountedLines > 0 {
		p.Header.Actions = []web.Action{{
			ID: "post-count", Text: q.T("records.do.post_count"), Post: at + "/do/post_count", Confirm: q.T("stock.count.post.confirm", c.CountedLines, len(p.Differ)), Values: map[string]string{"version": strconv.FormatInt(c.Version, 10)},
		}}
	}
	answer := web.Show("stock/count", title, p)
	if o.fault != "" {
		return answer.Refuse()
	}
	return answer
}

func modeOf(q *web.Request) string {
	if q.Form.Get("mode") == byNumber {
		return byNumber
	}
	return byPiece
}

func lineOf(q *web.Request, l counts.Line) countLine {
	one := countLine{ID: l.ID.String(), Name: l.ProductName, SKU: l.ProductSKU, Expected: q.Number(l.ExpectedQty.String())}
	if l.VariantSKU != nil {
		one.SKU = *l.VariantSKU
	}
	if l.CountedQty != nil {
		one.Counted = q.Number(l.CountedQty.String())
		one.Difference = q.Number(l.DifferenceQty.String())
		if *l.DifferenceQty > 0 {
			one.Difference = "+" + one.Difference
		}
	}
	return one
}

// scan counts what was scanned, or sets what was counted of a line.
func (pages *Pages) scan(ctx context.Context, q *web.Request) (web.Answer, error) {
	c, err := pages.count(ctx, q)
	if err != nil {
		return web.Answer{}, err
	}
	line, err := uuid.Parse(q.Form.Get("line"))
	if err != nil {
		return pages.scanned(ctx, q, c, strings.TrimSpace(q.Form.Get("code")))
	}
	typed := strings.TrimSpace(q.Form.Get("qty"))
	body := map[string]any{"lineId": line.String(), "qty": nil}
	if n, err := money.ParseQty(strings.ReplaceAll(typed, ",", ".")); err == nil {
		body["qty"] = n
	} else if typed != "" {
		body["qty"] = typed // the API says what is wrong with it
	}
	return pages.recorded(q, c, line, beforeOf(c, line))(web.Call[counts.Count](ctx, q, "recordCount", web.Input{Path: map[string]string{"id": c.ID.String()}, Body: map[string]any{"items": []any{body}}}))
}

// recorded shows what was recorded, or why it was not.
func (pages *Pages) recorded(q *web.Request, was counts.Count, line uuid.UUID, before *money.Qty) func(counts.Count, error) (web.Answer, error) {
	return func(now counts.Count, err error) (web.Answer, error) {
		if web.Refused(err) {
			return pages.counting(q, was, counted{fault: q.Fault(err)}), nil
		}
		if err != nil {
			return web.Answer{}, err
		}
		return pages.counting(q, now, counted{line: &line, before: before}), nil
	}
}

func beforeOf(c counts.Count, line uuid.UUID) *money.Qty {
	if i := slices.IndexFunc(c.Lines, func(l counts.Line) bool { return l.ID == line }); i >= 0 {
		return c.Lines[i].CountedQty
	}
	return nil
}

// scanned counts one of what a code names, or asks how many there are. What is not on the list is put on it.
func (pages *Pages) scanned(ctx context.Context, q *web.Request, c counts.Count, code string) (web.Answer, error) {
	if code == "" {
		return pages.counting(q, c, counted{}), nil
	}
	product, variant, err := pages.named(ctx, q, code)
	if err != nil {
		return web.Answer{}, err
	}
	if product == nil {
		return pages.counting(q, c, counted{fault: q.T("stock.count.unknown", code)}), nil
	}
	line := lineFor(c, *product, variant)
	if line == nil {
		c, err = pages.found(ctx, q, c, *product, variant)
		if web.Refused(err) {
			return pages.refusedScan(ctx, q, err)
		}
		if err != nil {
			return web.Answer{}, err
		}
		line = lineFor(c, *product, variant)
	}
	if modeOf(q) == byNumber {
		return pages.counting(q, c, counted{ask: &line.ID}), nil
	}
	return pages.addOne(ctx, q, c, line.ID)
}

// addOne counts one more of a line. The key of the scan counts it once, also if it is sent again because its answer was lost.
func (pages *Pages) addOne(ctx context.Context, q *web.Request, c counts.Count, line uuid.UUID) (web.Answer, error) {
	for try := 1; ; try++ {
		before := beforeOf(c, line)
		after := one
		if before != nil {
			after += *before
		}
		in := web.Input{
			Path: map[string]string{"id": c.ID.String()}, Version: c.Version, Body: map[string]any{"items": []any{map[string]any{"lineId": line.String(), "qty": after}}},
		}
		if key := q.Form.Get("key"); key != "" {
			in.Key = uuid.NewSHA1(uuid.NameSpaceOID, []byte(key+"-"+strconv.Itoa(try))).String()
		}
		now, err := web.Call[counts.Count](ctx, q, "recordCount", in)
		known, ok := apierr.As(err)
		changed, repeated := ok && known.Status == http.StatusPreconditionFailed && try < tries, ok && known.Code == "IDEMPOTENCY_KEY_REUSED"
		switch {
		case err == nil:
			return pages.counting(q, now, counted{line: &line, before: before}), nil
		case !changed && !repeated && web.Refused(err):
			return pages.refusedScan(ctx, q, err)
		case !changed && !repeated:
			return web.Answer{}, err
		}
		if c, err = pages.count(ctx, q); err != nil {
			return web.Answer{}, err
		}
		if repeated {
			return pages.counting(q, c, counted{line: &line}), nil
		}
	}
}

// refusedScan shows the count with what the API said.
func (pages *Pages) refusedScan(ctx context.Context, q *web.Request, refused error) (web.Answer, error) {
	c, err := pages.count(ctx, q)
	if err != nil {
		return web.Answer{}, err
	}
	return pages.counting(q, c, counted{fault: q.Fault(refused)}), nil
}

func lineFor(c counts.Count, product uuid.UUID, variant *uuid.UUID) *counts.Line {
	for i, l := range c.Lines {
		if l.ProductID == product && idText(l.VariantID) == idText(variant) {
			return &c.Lines[i]
		}
	}
	return nil
}

// found puts goods on the list that somebody found.
func (pages *Pages) found(ctx context.Context, q *web.Request, c counts.Count, product uuid.UUID, variant *uuid.UUID) (counts.Count, error) {
	item := map[string]any{"productId": product.String()}
	if variant != nil {
		item["variantId"] = variant.String()
	}
	return web.Call[counts.Count](ctx, q, "addCountLines", web.Input{Path: map[string]string{"id": c.ID.String()}, Body: map[string]any{"items": []any{item}}})
}

// named finds the goods whose SKU or barcode a scan is.
func (pages *Pages) named(ctx context.Context, q *web.Request, code string) (product, variant *uuid.UUID, err error) {
	if len(code) > maxSearch {
		return nil, nil, nil
	}
	found, err := web.List[catalog.Product](ctx, q, "listProducts", catalog.ProductFilter{Params: list.Params{PageSize: 20, Search: code}, Extras: catalog.Extras{Include: []string{"variants"}}})
	if err != nil {
		return nil, nil, err
	}
	for _, p := range found.Items {
		if p.Variants != nil {
			for _, v := range *p.Variants {
				if is(code, v.SKU, v.Barcode) {
					return &p.ID, &v.ID, nil
				}
			}
		}
		if is(code, p.SKU, p.Barcode) {
			return &p.ID, nil, nil
		}
	}
	return nil, nil, nil
}

func is(code, sku string, barcode *string) bool {
	return strings.EqualFold(code, sku) || barcode != nil && *barcode == code
}
