package find

import (
	"cmp"
	"context"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/tradegrid/tradegrid/services/console/lines"
	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// mostRelated is how many orders or people are looked at whose records are asked for.
const mostRelated = 3

// related are the questions for records that people know by another one, or by their day: returns by their order, shifts by their cashier.
func related(q *web.Request, l looking) (all []question) {
	for _, res := range l.lists() {
		if !may(q, res.Area, res.List) {
			continue
		}
		number, isNumber := numberOf(l.text)
		from, to, isDay := dayOf(l.text, q.Now.In(q.Zone))
		switch {
		case res.Name == "returns" && isDay:
			all = append(all, ask(l, res, url.Values{"returnedFrom": {from}, "returnedTo": {to}}, "name", unsure))
		case res.Name == "shifts" && isDay:
			all = append(all, ask(l, res, url.Values{"dateFrom": {from}, "dateTo": {to}}, "name", unsure))
		case res.Name == "returns" && isNumber && q.MayCall("listOrders"):
			all = append(all, byOther(l, res, "listOrders", url.Values{"number": {number}}, "orderId"))
		case res.Name == "shifts" && !isNumber && q.MayCall("listUsers"):
			all = append(all, shiftsOf(l, res))
		}
	}
	return all
}

func unsure(record) bool { return false }

// byOther asks for records by the ids of those that another list finds.
func byOther(l looking, res resources.Resource, list string, query url.Values, filter string) question {
	return func(ctx context.Context, q *web.Request) (out found, err error) {
		page, err := read(ctx, q, list, query)
		if err != nil {
			return out, err
		}
		for _, r := range page.Items[:min(len(page.Items), mostRelated)] {
			got, err := ask(l, res, url.Values{filter: {r.text("id")}}, "number", unsure)(ctx, q)
			if err != nil {
				return out, err
			}
			out.kind, out.hits = got.kind, append(out.hits, got.hits...)
		}
		return out, nil
	}
}

// shiftsOf asks for the shifts of the people whose names have the text in them.
func shiftsOf(l looking, res resources.Resource) question {
	return func(ctx context.Context, q *web.Request) (out found, err error) {
		raw, err := web.Call[web.JSON](ctx, q, "listUsers", web.Input{})
		if nothing(err) {
			return out, nil
		}
		var people []record
		if err == nil {
			err = web.Decode(raw, &people)
		}
		if err != nil {
			return out, err
		}
		asked := 0
		for _, r := range people {
			if asked == mostRelated || !strings.Contains(strings.ToLower(r.text("name")), strings.ToLower(l.text)) {
				continue
			}
			asked++
			got, err := ask(l, res, url.Values{"cashierId": {r.text("id")}}, "name", unsure)(ctx, q)
			if err != nil {
				return out, err
			}
			out.kind, out.hits = got.kind, append(out.hits, got.hits...)
		}
		return out, nil
	}
}

// variantsNamed asks for the variants of the products whose names have the text in them.
func variantsNamed(text string) question {
	return func(ctx context.Context, q *web.Request) (out found, err error) {
		products, err := lines.Records(ctx, q, "listProducts", url.Values{"search": {text}, "pageSize": {strconv.Itoa(mostSuggested)}, "include": {"variants"}, "withTotal": {"false"}})
		if web.Refused(err) {
			return out, nil
		}
		for _, p := range products {
			for _, v := range p.Records("variants") {
				out.hits = append(out.hits, hit{id: v.Text("id"), title: cmp.Or(v.Text("name"), v.Text("sku")), also: p.Text("name") + " · " + v.Text("sku"), what: "name"})
			}
		}
		return out, err
	}
}

// known is what people know of a record that has only a number.
func known(q *web.Request, res resources.Resource, r record) string {
	var name, at string
	switch res.Name {
	case "returns":
		name, at = q.T("find.of_order", r.text("orderNumber")), r.text("returnedAt")
	case "shifts":
		name, at = r.text("cashierName"), r.text("openedAt")
	default:
		return ""
	}
	when, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return name
	}
	return strings.TrimPrefix(name+" · "+q.At(when).Short(), " · ")
}

// dayLayouts are how people write days. Those without a year mean the last such day.
var dayLayouts = []string{time.DateOnly, "2.1.2006", "2.1.06", "2/1/2006", "2 Jan 2006", "2.1.", "2.1", "2/1", "2 Jan", "2 January"}

// dayOf reads a day as people write it; from and to are its bounds as the API takes them.
func dayOf(text string, now time.Time) (from, to string, ok bool) {
	for _, layout := range dayLayouts {
		day, err := time.ParseInLocation(layout, text, now.Location())
		if err != nil {
			continue
		}
		if day.Year() == 0 {
			day = day.AddDate(now.Year(), 0, 0)
		}
		if !strings.Contains(layout, "06") && day.After(now) {
			day = day.AddDate(-1, 0, 0)
		}
		return web.Instant(day), web.Instant(day.AddDate(0, 0, 1).Add(-time.Millisecond)), true
	}
	return "", "", false
}
