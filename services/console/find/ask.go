package find

import (
	"cmp"
	"context"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/phone"
	eventpages "github.com/tradegrid/tradegrid/services/console/events"
	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// Bounds of what is asked and shown.
const (
	maxText    = 255 // characters of what is looked for
	maxSKU     = 64
	perKind    = 5 // records of a kind that are shown
	fewPerKind = 3 // of those that are suggested
	atOnce     = 6 // questions that are asked at the same time
	fewLetters = 3 // an index of texts knows groups of three characters
	fewDigits  = 5 // of a part of a phone number
	sureDigits = 7 // of a phone number
)

// looking is what is looked for.
type looking struct {
	text string
	rows int    // records of a kind
	of   string // name of the list that is looked through; "" = all
	pick bool   // for a field that takes the id of a record
}

// lists are those that are looked through.
func (l looking) lists() []resources.Resource {
	if l.of != "" {
		return slices.DeleteFunc(resources.Pickable(), func(r resources.Resource) bool { return r.Name != l.of })
	}
	return resources.Found()
}

// through reports whether a list is looked through.
func (l looking) through(list string) bool { return l.of == "" || l.of == list }

// hit is a record that was found.
type hit struct {
	id    string
	kind  string // in words
	title string
	also  string
	what  string // key of what matched
	href  string // address in the company
	sure  bool   // it is what was typed, not only something like it
}

// found is what a question found.
type found struct {
	hits []hit
	more string // address of the list with all of them; "" = these are all
	kind string // in words
}

// question asks one list, or for one record.
type question func(ctx context.Context, q *web.Request) (found, error)

// likeRequest is what the API takes as X-Request-Id.
var likeRequest = regexp.MustCompile(`^[A-Za-z0-9._-]{4,128}$`)

// exact are the questions for records that are what was typed, and for nothing like it.
func exact(q *web.Request, l looking) (all []question) {
	text := l.text
	number, isNumber := numberOf(text)
	id, err := uuid.Parse(text)
	isID := err == nil
	isCode := utf8.RuneCountInString(text) <= maxSKU
	for _, res := range l.lists() {
		if !may(q, res.Area, res.List) {
			continue
		}
		add := func(asked bool, filter, value, what string) {
			if asked && (filter == "ids" || res.Find.Answers(filter)) {
				all = append(all, ask(l, res, url.Values{filter: {value}}, what, func(record) bool { return true }))
			}
		}
		add(isID, "ids", id.String(), "id")
		add(isNumber, "number", number, "number")
		add(true, "externalId", text, "external_id")
		add(isCode, "sku", text, "sku")
		add(isCode, "barcode", text, "barcode")
		add(true, "reference", text, "reference")
		add(isPhone(text), "phone", text, "phone")
		add(isEmail(text), "email", text, "email")
		if res.Find.Contacts && (isPhone(text) || isEmail(text)) {
			all = append(all, ask(l, res, url.Values{"search": {contactOf(text, q.Company.CountryPrefix)}}, contact(text), func(r record) bool { return r.hasContact(text, q.Company.CountryPrefix) }))
		}
	}
	if l.of != "" {
		all = append(all, related(q, l)...)
	}
	if isID && l.of == "" {
		all = append(all, ofID(q, id.String())...)
	}
	if l.of == "" && likeRequest.MatchString(text) && may(q, web.Events, "listRequests") {
		all = append(all, requestNamed(text))
	}
	return all
}

// similar are the questions for records whose name has the text in it.
func similar(q *web.Request, l looking) (all []question) {
	text := l.text
	if utf8.RuneCountInString(text) < fewLetters {
		return nil
	}
	var products resources.Resource
	for _, res := range l.lists() {
		if res.Name == "products" {
			products = res
		}
		if res.Find.Names && may(q, res.Area, res.List) {
			all = append(all, ask(l, res, url.Values{"search": {text}}, "name", func(r record) bool { return strings.EqualFold(r.text(res.Find.Title), text) }))
		}
	}
	if l.of == "variants" && may(q, web.Catalog, "listProducts") {
		all = append(all, variantsNamed(text))
	}
	if l.through("products") && may(q, web.Warehouse, "listStocks") {
		all = append(all, variant(l, products))
	}
	return all
}

// may reports whether the person sees the area, and may call the operation.
func may(q *web.Request, area web.Area, op string) bool { return q.Sees(area) && q.MayCall(op) }

// ask asks the list with a filter.
func ask(l looking, res resources.Resource, filter url.Values, what string, sure func(record) bool) question {
	return func(ctx context.Context, q *web.Request) (found, error) {
		query := url.Values{"pageSize": {strconv.Itoa(l.rows)}}
		for name, values := range filter {
			query[name] = values
		}
		if res.List == "listProducts" || res.List == "listServices" {
			query.Set("status", "all") // hidden ones are found, too
		}
		page, err := read(ctx, q, res.List, query)
		if err != nil {
			return found{}, err
		}
		out := found{kind: res.One(q)}
		for _, r := range page.Items {
			title := r.text(res.Find.Title)
			if res.Find.Numbered() {
				title = "№ " + title
			}
			id := r.text(res.Find.ID)
			h := hit{id: id, kind: out.kind, title: title, what: what, href: res.Find.Page + "/" + id, sure: sure(r)}
			h.also = known(q, res, r)
			for _, name := range res.Find.Also {
				if h.also == "" {
					h.also = r.text(name)
				}
			}
			if h.title == "" {
				h.title, h.also = h.also, ""
			}
			out.hits = append(out.hits, h)
		}
		if page.HasMore {
			query.Del("pageSize")
			out.more = res.Address + "?" + query.Encode()
		}
		return out, nil
	}
}

// page is a page of a list, as far as it is shown here.
type page struct {
	Items   []record
	HasMore bool
}

// read reads a page. A filter that does not fit what was typed finds nothing.
func read(ctx context.Context, q *web.Request, op string, query url.Values) (p page, err error) {
	raw, err := web.Call[web.JSON](ctx, q, op, web.Input{Query: query})
	if nothing(err) {
		return p, nil
	}
	if err != nil {
		return p, err
	}
	return p, web.Decode(raw, &p)
}

// nothing reports whether an error says that there is no such record, or that it cannot be one.
func nothing(err error) bool {
	known, ok := apierr.As(err)
	return ok && known.Status < 500
}

// ofID asks for the records that no list finds by their ids.
func ofID(q *web.Request, id string) (all []question) {
	for _, s := range resources.Singles() {
		if s.Admin && !q.Sees(s.Area) || !s.Admin && !may(q, s.Area, s.Get) {
			continue
		}
		all = append(all, func(ctx context.Context, q *web.Request) (found, error) {
			call := web.Call[web.JSON]
			if s.Admin {
				call = web.CallAdmin[web.JSON]
			}
			raw, err := call(ctx, q, s.Get, web.Input{Path: map[string]string{s.Param: id}})
			if nothing(err) {
				return found{}, nil
			}
			var r record
			if err == nil {
				err = web.Decode(raw, &r)
			}
			title := r.text(s.Title)
			if title == "" {
				title = id
			}
			href := s.Page + "/" + id
			if s.Kind == resources.KindRequest {
				href = eventpages.RequestPage(q, id)
			}
			return found{kind: s.Called(q), hits: []hit{{kind: s.Called(q), title: title, what: "id", href: href, sure: true}}}, err
		})
	}
	return all
}

// requestNamed asks for the latest request that a client gave this name.
func requestNamed(text string) question {
	return func(ctx context.Context, q *web.Request) (found, error) {
		page, err := read(ctx, q, "listRequests", url.Values{"requestId": {text}, "limit": {"1"}})
		if err != nil || len(page.Items) == 0 {
			return found{}, err
		}
		r := page.Items[0]
		kind := q.T("find.kind." + resources.KindRequest)
		return found{kind: kind, hits: []hit{{kind: kind, title: r.text("method") + " " + r.text("path"), what: "request_id", href: eventpages.RequestPage(q, r.text("id")), sure: true}}}, nil
	}
}

// variant asks for products by a SKU or barcode of one of their variants: the stock is found by these.
func variant(l looking, products resources.Resource) question {
	return func(ctx context.Context, q *web.Request) (found, error) {
		page, err := read(ctx, q, "listStocks", url.Values{"search": {l.text}, "groupBy": {"product"}, "pageSize": {strconv.Itoa(l.rows)}})
		if err != nil {
			return found{}, err
		}
		out := found{kind: products.One(q)}
		for _, r := range page.Items {
			if r.text("variantId") != "" {
				sure := strings.EqualFold(r.text("variantSku"), l.text)
				out.hits = append(out.hits, hit{id: r.text("productId"), kind: out.kind, title: r.text("productName"), also: r.text("variantSku"), what: "variant", href: products.Page + "/" + r.text("productId"), sure: sure})
			}
		}
		return out, nil
	}
}

// entityOf is the address of the events of a record that has no page of its own; "" = there are none.
func entityOf(ctx context.Context, q *web.Request, id string) (string, error) {
	if !may(q, web.Events, "listEvents") {
		return "", nil
	}
	page, err := read(ctx, q, "listEvents", url.Values{"entityId": {id}, "limit": {"1"}})
	if err != nil || len(page.Items) == 0 {
		return "", err
	}
	return "/events?entity=" + id, nil
}

// numberOf reads a number as people write it: 1048, № 1048, #1048, no. 1 048 or 1,048.
func numberOf(text string) (number string, ok bool) {
	text = strings.ToLower(text)
	for _, sign := range []string{"№", "#", "nr.", "no.", "nr", "no"} {
		text = strings.TrimPrefix(text, sign)
	}
	text = strings.TrimSpace(text)
	var digits strings.Builder
	for _, r := range text {
		switch {
		case r >= '0' && r <= '9':
			digits.WriteRune(r)
		case r == '.' || r == ',' || r == '\'' || unicode.IsSpace(r):
		default:
			return "", false
		}
	}
	n, err := strconv.ParseInt(digits.String(), 10, 64)
	return strconv.FormatInt(n, 10), err == nil && n > 0 && text[0] != '0'
}

// isPhone reports whether the text may be a phone number, in any spelling.
func isPhone(text string) bool {
	return len(phoneOf(text)) >= fewDigits && strings.Trim(text, "+()-./ 0123456789\u00a0") == ""
}

func isEmail(text string) bool {
	name, host, ok := strings.Cut(text, "@")
	return ok && name != "" && strings.Contains(host, ".") && !strings.ContainsAny(text, " \t")
}

func contact(text string) string {
	if isEmail(text) {
		return "email"
	}
	return "phone"
}

// contactOf is a phone number or an address as searches find it.
func contactOf(text, callingCode string) string {
	if isEmail(text) {
		return text
	}
	return phoneOf(cmp.Or(phone.CountryOf(callingCode).National(text), text))
}

// phoneOf are the digits of a phone number without those of the trunk, which other spellings do not have: 030 1234 and
// +49 (0)30 1234 are a part of 49301234.
func phoneOf(text string) string {
	return strings.TrimLeft(digitsOf(strings.ReplaceAll(text, "(0)", "")), "0")
}

func digitsOf(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, text)
}
