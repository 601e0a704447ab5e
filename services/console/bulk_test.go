package console_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/platform/company"
)

// undoForm reads the form that takes a change back.
func undoForm(t *testing.T, p page) url.Values {
	t.Helper()
	_, shown, found := strings.Cut(p.body, `id="outcome"`)
	require.True(t, found, p.body)
	form := url.Values{}
	for _, m := range hiddenField.FindAllStringSubmatch(shown, 5) {
		form.Set(m[1], html.UnescapeString(m[2]))
	}
	return form
}

// Products that are ticked get another category or are hidden at once, what was refused is told by its name, and it can be taken back.
func TestManyProductsAreChangedAtOnce(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	owner, viewer := p.signedIn(own.people[company.RoleOwner]), p.signedIn(own.people[company.RoleViewer])
	made := func(path, body string) string {
		return p.call(own, p.external, http.MethodPost, path, body)["id"].(string)
	}
	status := func(id string) any {
		return p.call(own, p.external, http.MethodGet, "/catalog/products/"+id, "")["status"]
	}
	category := made("/catalog/categories", `{"name":"Bells"}`)
	one, other := made("/catalog/products", `{"name":"Brass bell","price":900}`), made("/catalog/products", `{"name":"Steel bell","price":800}`)
	gone := made("/catalog/products", `{"name":"Old bell","price":800,"status":"hidden"}`)
	list := owner.ask(http.MethodGet, root+"/products", nil)
	require.Contains(t, list.body, `value="`+one+`" form="bulk" aria-label="Select Brass bell"`)
	require.NotContains(t, viewer.get(root+"/products"), "Change prices", "who may not change products is offered nothing")
	require.Equal(t, http.StatusForbidden, viewer.ask(http.MethodPost, root+"/products/bulk", url.Values{"do": {"hide"}, "id": {one}}).status)
	require.Equal(t, http.StatusBadRequest, owner.ask(http.MethodPost, root+"/products/bulk", url.Values{"do": {"unheard"}, "id": {one}}).status)

	form := owner.ask(http.MethodPost, root+"/products/bulk", url.Values{"do": {"category"}, "id": {one, other, "x"}})
	require.Equal(t, 200, form.status, form.body)
	require.Contains(t, form.body, "Brass bell")
	require.Contains(t, form.body, `<option value="`+category+`">Bells`)
	done := owner.ask(http.MethodPost, root+"/products/bulk", url.Values{"do": {"category"}, "step": {"go"}, "id": {one, other}, "value": {category}})
	require.Contains(t, done.body, "Category: 2 done")
	require.Equal(t, category, p.call(own, p.external, http.MethodGet, "/catalog/products/"+one, "")["categoryId"])
	undone := owner.ask(http.MethodPost, root+"/products/bulk", undoForm(t, done))
	require.Contains(t, undone.body, "Category: 2 done")
	require.Nil(t, p.call(own, p.external, http.MethodGet, "/catalog/products/"+one, "")["categoryId"])

	done = owner.ask(http.MethodPost, root+"/products/bulk", url.Values{"do": {"hide"}, "query": {"status=all&search=bell"}, "all": {"1"}})
	require.Contains(t, done.body, "Hide: 2 done")
	require.Regexp(t, `Not changed:.*Old bell</a>: Not possible in this state`, strings.ReplaceAll(done.body, "\n", " "))
	require.Equal(t, []any{"hidden", "hidden"}, []any{status(one), status(other)})
	owner.ask(http.MethodPost, root+"/products/bulk", undoForm(t, done))
	require.Equal(t, []any{"active", "active", "hidden"}, []any{status(one), status(other), status(gone)})
	require.Equal(t, http.StatusBadRequest, owner.ask(http.MethodPost, root+"/products/bulk", url.Values{"do": {"undo"}, "of": {"hide"}, "back": {"{"}}).status)
}

// New prices are shown beside the old ones before they are stored, and a large change is a job with its page.
func TestPricesAreChangedAfterTheyWereShown(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	p.work()
	owner := p.signedIn(own.people[company.RoleOwner])
	made := func(path, body string) string {
		return p.call(own, p.external, http.MethodPost, path, body)["id"].(string)
	}
	category := made("/catalog/categories", `{"name":"Bells"}`)
	bell := made("/catalog/products", `{"name":"Brass bell","price":1000,"categoryId":"`+category+`"}`)
	other := made("/catalog/products", `{"name":"Helmet","price":5000}`)
	price := func(id string) any {
		return p.call(own, p.external, http.MethodGet, "/catalog/products/"+id, "")["price"]
	}
	finish := func(got page) {
		t.Helper()
		require.Contains(t, got.location, "/jobs/", got.body)
		require.Eventually(t, func() bool {
			return strings.Contains(owner.get(got.location), "The prices are changed")
		}, time.Minute, 20*time.Millisecond)
	}
	at := root + "/products/bulk"
	form := url.Values{"do": {"reprice"}, "all": {"1"}, "categoryId": {category}, "type": {"percent"}, "value": {"7,5"}, "roundTo": {"10"}}
	shown := owner.ask(http.MethodPost, at, form)
	require.Equal(t, 200, shown.status, shown.body)
	require.Regexp(t, `(?s)Brass bell.*10\.00.*10\.80`, shown.body)
	require.NotContains(t, shown.body, "Helmet")
	require.Contains(t, shown.body, "Change the prices (1)")
	require.EqualValues(t, 1000, price(bell), "looking changes nothing")
	form.Set("value", "−200")
	refused := owner.ask(http.MethodPost, at, form)
	require.Equal(t, http.StatusUnprocessableEntity, refused.status)
	require.Regexp(t, `name="step" value="go" disabled`, refused.body)
	form.Set("value", "7.5")
	form.Set("step", "go")
	finish(owner.ask(http.MethodPost, at, form))
	require.Equal(t, []any{1080.0, 5000.0}, []any{price(bell), price(other)})

	form = url.Values{"do": {"reprice"}, "id": {other}, "type": {"amount"}, "value": {"-2.50"}, "step": {"go"}}
	finish(owner.ask(http.MethodPost, at, form))
	require.Equal(t, []any{1080.0, 4750.0}, []any{price(bell), price(other)})
}

// More than a request makes becomes a job, and what is ticked can be exported.
func TestLargeChoicesBecomeJobs(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	p.work()
	owner := p.signedIn(own.people[company.RoleOwner])
	for from := 0; from < 210; from += 105 {
		var items []string
		for i := range 105 {
			items = append(items, `{"op":"create","body":{"kind":"individual","displayName":"Guest `+strconv.Itoa(from+i)+`"}}`)
		}
		p.call(own, p.external, http.MethodPost, "/clients/batch", `{"items":[`+strings.Join(items, ",")+`]}`)
	}
	group := p.call(own, p.external, http.MethodPost, "/clients/groups", `{"name":"Hotel guests"}`)["id"].(string)
	got := owner.ask(http.MethodPost, root+"/clients/bulk", url.Values{"do": {"group"}, "step": {"go"}, "all": {"1"}, "query": {"search=guest"}, "value": {group}})
	require.Contains(t, got.location, "/jobs/", got.body)
	require.Eventually(t, func() bool { return strings.Contains(owner.get(got.location), "210 records") }, time.Minute, 20*time.Millisecond)
	require.Contains(t, owner.get(got.location), `href="`+root+`/clients?search=guest"`, "the page leads back to the list")

	list := owner.get(root + "/clients?search=guest")
	ids := regexp.MustCompile(`name="id" value="([^"]+)"`).FindAllStringSubmatch(list, 2)
	export := owner.ask(http.MethodPost, root+"/clients/export", url.Values{"format": {"csv"}, "query": {"search=guest"}, "id": {ids[0][1], ids[1][1]}})
	require.Contains(t, export.location, "/exports/", export.body)
	require.Eventually(t, func() bool { return strings.Contains(owner.get(export.location), "2 records") }, time.Minute, 20*time.Millisecond)
}

// Clients get a tag beside those that they have, lose one, and are archived; each is taken back alone, and leaves what others have set.
func TestManyClientsAreTaggedAndArchived(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	owner, at := p.signedIn(own.people[company.RoleOwner]), root+"/clients/bulk"
	made := func(tags string) string {
		return p.call(own, p.external, http.MethodPost, "/clients", `{"kind":"individual","displayName":"Guest","tags":[`+tags+`]}`)["id"].(string)
	}
	tags := func(id string) any {
		return p.call(own, p.external, http.MethodGet, "/clients/"+id, "")["tags"]
	}
	one, other := made(`"hotel"`), made(`"club"`)
	both := []string{one, other}
	form := owner.ask(http.MethodPost, at, url.Values{"do": {"tag"}, "id": both})
	require.Regexp(t, `<input id="f-value" name="value"[^>]* required`, form.body)
	require.Contains(t, form.body, "Tags now")
	require.Equal(t, 400, owner.ask(http.MethodPost, at, url.Values{"do": {"tag"}, "step": {"go"}, "id": both, "value": {" "}}).status)
	done := owner.ask(http.MethodPost, at, url.Values{"do": {"tag"}, "step": {"go"}, "id": both, "value": {" club "}})
	require.Contains(t, done.body, "Add a tag: 1 done", "the other has it")
	require.Equal(t, []any{"hotel", "club"}, tags(one))
	p.call(own, p.external, http.MethodPatch, "/clients/"+one, `{"tags":["hotel","club","vip"]}`)
	owner.ask(http.MethodPost, at, undoForm(t, done))
	require.Equal(t, []any{[]any{"hotel", "vip"}, []any{"club"}}, []any{tags(one), tags(other)}, "who had the tag before keeps it")

	form = owner.ask(http.MethodPost, at, url.Values{"do": {"untag"}, "id": both})
	require.Regexp(t, `(?s)<option value="hotel">.*<option value="vip">.*<option value="club">|<option value="club">.*<option value="hotel">.*<option value="vip">`, form.body)
	done = owner.ask(http.MethodPost, at, url.Values{"do": {"untag"}, "step": {"go"}, "all": {"1"}, "query": {"tag=vip"}, "value": {"vip"}})
	require.Equal(t, []any{"hotel"}, tags(one))
	owner.ask(http.MethodPost, at, undoForm(t, done))
	require.Equal(t, []any{"hotel", "vip"}, tags(one))

	done = owner.ask(http.MethodPost, at, url.Values{"do": {"archive"}, "id": both})
	require.Contains(t, done.body, "Archive: 2 done")
	require.Equal(t, "archived", p.call(own, p.external, http.MethodGet, "/clients/"+one, "")["status"])
	owner.ask(http.MethodPost, at, undoForm(t, done))
	require.Equal(t, "active", p.call(own, p.external, http.MethodGet, "/clients/"+one, "")["status"])
	viewer := p.signedIn(own.people[company.RoleViewer])
	require.NotContains(t, viewer.get(root+"/clients"), `value="archive"`)
	require.Equal(t, 403, viewer.ask(http.MethodPost, at, url.Values{"do": {"archive"}, "id": both}).status)
}

// Orders are moved to a status that one of them can have, and assigned; what cannot be moved is told.
func TestManyOrdersAreChangedAtOnce(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	owner := p.signedIn(own.people[company.RoleOwner])
	place := func() string {
		return p.call(own, p.external, http.MethodPost, "/orders", `{"items":[{"kind":"custom","name":"Bell","unitPrice":900}]}`)["id"].(string)
	}
	one, other, over := place(), place(), place()
	p.call(own, p.external, http.MethodPost, "/orders/"+over+"/status/cancelled", `{}`)
	at := root + "/orders/bulk"
	form := owner.ask(http.MethodPost, at, url.Values{"do": {"move"}, "id": {one, other, over}})
	require.Regexp(t, `<option value="confirmed">`, form.body)
	require.NotRegexp(t, `<option value="new"`, form.body, "no order can become new")
	require.Contains(t, form.body, "Change 2")
	done := owner.ask(http.MethodPost, at, url.Values{"do": {"move"}, "step": {"go"}, "id": {one, other, over}, "value": {"confirmed"}})
	require.Contains(t, done.body, "Change status: 2 done")
	require.Contains(t, done.body, "Not possible in this state")
	user := own.people[company.RoleViewer].ID.String()
	done = owner.ask(http.MethodPost, at, url.Values{"do": {"assign"}, "step": {"go"}, "id": {one}, "value": {user}})
	order := p.call(own, p.external, http.MethodGet, "/orders/"+one, "")
	require.Equal(t, []any{"confirmed", user}, []any{order["status"], order["assignedToId"]})
	owner.ask(http.MethodPost, at, undoForm(t, done))
	require.Nil(t, p.call(own, p.external, http.MethodGet, "/orders/"+one, "")["assignedToId"])
	done = owner.ask(http.MethodPost, at, url.Values{"do": {"move"}, "step": {"go"}, "id": {one}, "value": {"new"}})
	require.Contains(t, done.body, "Change status: 0 done")
	printed := owner.ask(http.MethodPost, at, url.Values{"do": {"delivery_note"}, "id": {one, other}})
	require.Equal(t, 200, owner.ask(http.MethodGet, printed.location, nil).status, printed.location)
	require.Contains(t, printed.location, one)
	require.Contains(t, done.body, "Not changed:")
}

// The foot of a list has the sums of all that it shows, read after it; a row has its commands, asked for when its menu is opened.
func TestSumsAndMenusOfLists(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	owner, viewer := p.signedIn(own.people[company.RoleOwner]), p.signedIn(own.people[company.RoleViewer])
	p.call(own, p.external, http.MethodPost, "/orders", `{"items":[{"kind":"custom","name":"Bell","unitPrice":900}],"prepaidAmount":400}`)
	id := p.call(own, p.external, http.MethodPost, "/orders", `{"items":[{"kind":"custom","name":"Bell","unitPrice":1100}],"source":"till","externalId":"1"}`)["id"].(string)
	page := viewer.get(root + "/orders?channel=manual")
	require.Contains(t, page, `hx-get="`+root+`/orders/sums?channel=manual"`)
	sums := viewer.get(root + "/orders/sums?channel=manual&sort=total")
	require.Regexp(t, `Total <b class="num">[^<]*108\.77`, sums)
	require.Regexp(t, `Paid <b class="num">[^<]*24\.00`, sums)
	require.Contains(t, viewer.get(root+"/sales/sums"), `class="num"`)
	require.Contains(t, viewer.get(root+"/orders/sums?customerId=x"), `id="sums"`, "a filter that is refused says so")

	at := root + "/orders/" + id + "/do/menu"
	require.Contains(t, owner.get(root+"/orders"), `href="`+at+`" data-menu`)
	require.NotContains(t, viewer.get(root+"/orders"), "data-menu", "who may give no command has no menu")
	menu := owner.get(at)
	require.Contains(t, menu, `/orders/`+id+`/do/pay"`)
	require.Contains(t, menu, "Cancel the order")
	require.Contains(t, viewer.get(at), "Nothing can be done")
}
