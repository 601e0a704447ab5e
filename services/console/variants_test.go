package console_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/platform/company"
)

// shirts is a company with a product whose variants two attributes tell apart.
type shirts struct {
	premises

	page        string // of the product
	path        string // of its variants in the API
	size, color string // names of fields
	s, m, red   string // options
	note        string // name of the field of an attribute of the type text
}

func (p *pages) shirts() shirts {
	p.t.Helper()
	own := p.emptyShop()
	c := p.calls(own)
	attribute := func(name, kind string) string {
		id, _ := p.do(p.admin, own.id, http.MethodPost, "/catalog/attributes", map[string]any{"name": name, "type": kind, "isVariant": true})["id"].(string)
		return id
	}
	option := func(attribute, label string) string {
		id, _ := p.do(p.admin, own.id, http.MethodPost, "/catalog/attributes/"+attribute+"/options", map[string]any{"label": label})["id"].(string)
		return id
	}
	size, color, note := attribute("Size", "select"), attribute("Color", "select"), attribute("Note", "text")
	p.do(p.admin, own.id, http.MethodPost, "/catalog/attributes", map[string]any{"name": "Fabric", "type": "text"})
	product := c.id(http.MethodPost, "/catalog/products", map[string]any{"name": "Shirt", "sku": "SHIRT", "price": 2500, "hasStock": true})
	return shirts{
		premises: own, page: "/c/" + own.id.String() + "/products/" + product, path: "/catalog/products/" + product + "/variants",
		size: "attribute." + size, color: "attribute." + color, note: "attribute." + note, s: option(size, "S"), m: option(size, "M"), red: option(color, "Red"),
	}
}

// variant is a variant of the product by its SKU, as the API shows it.
func (p *pages) variant(own shirts, sku string) map[string]any {
	p.t.Helper()
	all, _ := p.calls(own.premises).do(http.MethodGet, own.path+"?include=attributes", nil)["items"].([]any)
	for _, v := range all {
		if one, _ := v.(map[string]any); one["sku"] == sku {
			return one
		}
	}
	require.Fail(p.t, "no variant", sku)
	return nil
}

// sent is the form at an address with some of its fields filled in.
func (v *visitor) sent(at string, fields map[string]string) page {
	v.t.Helper()
	p := v.load(at)
	form := formOf(p)
	for _, m := range regexp.MustCompile(`<input id="[^"]*" name="([^"]+)" value="([^"]*)"`).FindAllStringSubmatch(p.body, -1) {
		form.Set(m[1], m[2])
	}
	for name, value := range fields {
		form.Set(name, value)
	}
	path, _, _ := strings.Cut(at, "?")
	return v.ask(http.MethodPost, path, form)
}

func TestVariantsAreMadeAndChanged(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own := p.shirts()
	owner := p.signedIn(own.people[company.RoleOwner])
	require.Contains(t, owner.load(own.page+"?tab=variants").body, "Nothing here")
	tab := owner.load(own.page + "?tab=variants")
	require.Contains(t, tab.body, own.page+`/do/new_variant"`)
	require.Contains(t, tab.body, own.page+`/do/variant_matrix"`)
	require.NotContains(t, owner.load(own.page).body, "/do/new_variant", "the form is offered where variants are")
	form := owner.load(own.page + "/do/new_variant")
	require.NotContains(t, form.body, "Fabric", "which tells no variants apart")

	fields := map[string]string{"sku": "SHIRT-S", "price": "19,90", own.size: own.s, own.note: "  slim  "}
	sent := formOf(form)
	for name, value := range fields {
		sent.Set(name, value)
	}
	got := owner.ask(http.MethodPost, own.page+"/do/new_variant", sent)
	require.Equal(t, own.page+"?done=records&tab=variants", got.location, got.body)
	require.Equal(t, got.location, owner.ask(http.MethodPost, own.page+"/do/new_variant", sent).location, "sent twice, it is the same variant")
	v := p.variant(own, "SHIRT-S")
	require.Equal(t, map[string]any{"Size": "S", "Note": "slim"}, v["attributes"])
	tab = owner.load(got.location)
	require.Equal(t, 1, strings.Count(tab.body, "SHIRT-S</"))
	require.Contains(t, tab.body, "Note: slim, Size: S")
	require.Contains(t, tab.body, "19.90")

	got = owner.sent(own.page+"/do/new_variant", map[string]string{"sku": "shirt-s", own.size: own.m})
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	require.Regexp(t, `id="e-sku"[^>]*>[^<]*SKU`, got.body, "the refusal stands beside the field")
	require.NotContains(t, got.body, `class="note bad"`, "and only there")
	require.Regexp(t, own.m+`" selected`, got.body, "what was chosen stays")
	got = owner.sent(own.page+"/do/new_variant", map[string]string{own.size: own.s, own.note: "slim"})
	require.Contains(t, got.body, "Another active variant of the product has the same values")
	got = owner.sent(own.page+"/do/new_variant", map[string]string{own.size: own.m, own.color: own.s})
	require.Regexp(t, `id="e-`+own.color+`"`, got.body, "the fault is that of the attribute")

	edit := own.page + "/do/edit_variant?part=" + v["id"].(string)
	stale := formOf(owner.load(edit))
	form = owner.load(edit)
	require.Contains(t, form.body, `value="SHIRT-S"`)
	require.Contains(t, form.body, `value="19.90"`)
	require.Contains(t, form.body, `value="slim"`)
	require.Regexp(t, own.s+`" selected`, form.body)
	got = owner.sent(edit, map[string]string{"price": "", own.size: own.m, own.note: ""})
	require.Equal(t, http.StatusSeeOther, got.status, got.body)
	v = p.variant(own, "SHIRT-S")
	require.Equal(t, map[string]any{"Size": "M"}, v["attributes"])
	require.Nil(t, v["price"], "empty is the price of the product")

	stale.Set("name", "Small")
	got = owner.ask(http.MethodPost, own.page+"/do/edit_variant", stale)
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	require.Contains(t, got.body, "Somebody has changed the record")
	require.Contains(t, got.body, `value="Small"`)
	require.NotEqual(t, stale.Get("version"), formOf(got).Get("version"), "who sends the form again has been told")
	require.Equal(t, http.StatusNotFound, owner.load(own.page+"/do/edit_variant?part="+own.s).status)
	require.Equal(t, own.page+"?tab=variants", owner.load(own.page+"/do/edit_variant").location)
}

// A variant has one of the pictures of its product, or none of its own.
func TestVariantsHavePicturesOfTheirProduct(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own := p.shirts()
	c, owner := p.calls(own.premises), p.signedIn(own.people[company.RoleOwner])
	id := c.id(http.MethodPost, own.path, map[string]any{"sku": "SHIRT-S", "attributes": []any{}})
	edit := own.page + "/do/edit_variant?part=" + id
	require.NotContains(t, owner.load(edit).body, `name="photoFileId"`, "there is nothing to choose from")

	one, two := p.pictureOf(own.premises), p.pictureOf(own.premises)
	c.do(http.MethodPatch, strings.TrimSuffix(own.path, "/variants"), map[string]any{"photoFileIds": []string{one, two}})
	require.Contains(t, owner.load(own.page+"?tab=variants").body, "/pictures/"+one+"/small", "that of the product")
	require.Contains(t, owner.load(edit).body, `name="photoFileId" value="`+two+`">`)
	got := owner.sent(edit, map[string]string{"photoFileId": two})
	require.Equal(t, http.StatusSeeOther, got.status, got.body)
	require.Equal(t, two, p.variant(own, "SHIRT-S")["photoFileId"])
	require.Contains(t, owner.load(own.page+"?tab=variants").body, "/pictures/"+two+"/small")
	require.Contains(t, owner.load("/c/"+own.id.String()+"/variants").body, "/pictures/"+two+"/small")
	form := owner.load(edit).body
	require.Contains(t, form, `name="photoFileId" value="`+two+`" checked>`)
	got = owner.sent(edit, map[string]string{"photoFileId": ""})
	require.Equal(t, http.StatusSeeOther, got.status, got.body)
	require.Nil(t, p.variant(own, "SHIRT-S")["photoFileId"])
}

// A value of an attribute that is no longer for the product stays when the variant is changed.
// A product shows at once what it is sold as. What is changed there has its tab, which the overview leads to.
func TestOverviewShowsVariants(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own := p.shirts()
	owner := p.signedIn(own.people[company.RoleOwner])
	p.calls(own.premises).id(http.MethodPost, own.path, map[string]any{"sku": "SHIRT-S", "price": 2700})
	overview := owner.load(own.page).body
	require.Contains(t, overview, "SHIRT-S")
	require.Contains(t, overview, "27.00")
	require.GreaterOrEqual(t, strings.Count(overview, own.page+"?tab=variants"), 2, "the tab, and the link above the table")
	require.NotContains(t, overview, "/do/edit_variant")
}

func TestVariantsKeepWhatTheFormDoesNotAskFor(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own := p.shirts()
	owner, c := p.signedIn(own.people[company.RoleOwner]), p.calls(own.premises)
	c.id(http.MethodPost, own.path, map[string]any{"sku": "SHIRT-S", "attributes": []any{
		map[string]any{"attributeId": strings.TrimPrefix(own.size, "attribute."), "optionId": own.s}, map[string]any{"attributeId": strings.TrimPrefix(own.color, "attribute."), "optionId": own.red},
	}})
	category := c.id(http.MethodPost, "/catalog/categories", map[string]any{"name": "Shoes"})
	p.do(p.admin, own.id, http.MethodPatch, "/catalog/attributes/"+strings.TrimPrefix(own.color, "attribute."), map[string]any{"categoryIds": []string{category}})
	edit := own.page + "/do/edit_variant?part=" + p.variant(own, "SHIRT-S")["id"].(string)
	require.NotContains(t, owner.load(edit).body, own.color)
	require.Equal(t, http.StatusSeeOther, owner.sent(edit, map[string]string{own.size: own.m}).status)
	require.Equal(t, map[string]any{"Size": "M", "Color": "Red"}, p.variant(own, "SHIRT-S")["attributes"])
	p.do(p.admin, own.id, http.MethodPatch, "/catalog/attributes/"+strings.TrimPrefix(own.color, "attribute."), map[string]any{"isVariant": false})
	require.Equal(t, http.StatusSeeOther, owner.sent(edit, map[string]string{own.size: own.m, "name": "Medium"}).status, "what stays is not sent")
	require.Equal(t, map[string]any{"Size": "M", "Color": "Red"}, p.variant(own, "SHIRT-S")["attributes"])
	require.Equal(t, "Medium", p.variant(own, "SHIRT-S")["name"])
}

func TestVariantsAreHidden(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own := p.shirts()
	owner, c := p.signedIn(own.people[company.RoleOwner]), p.calls(own.premises)
	id := c.id(http.MethodPost, own.path, map[string]any{"sku": "SHIRT-S"})
	tab := owner.load(own.page + "?tab=variants")
	require.Contains(t, tab.body, "New documents no longer offer the variant", "it says what will happen")
	form := url.Values{"part": {id}, "version": {"1"}}
	c.do(http.MethodPatch, own.path+"/"+id, map[string]any{"name": "Small"})
	got := owner.ask(http.MethodPost, own.page+"/do/hide_variant", form)
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	require.Contains(t, got.body, "Somebody has changed the record")
	require.Equal(t, "active", p.variant(own, "SHIRT-S")["status"])
	form.Set("version", "2")
	got = owner.ask(http.MethodPost, own.page+"/do/hide_variant", form)
	require.Equal(t, own.page+"?done=records&tab=variants", got.location, got.body)
	require.Equal(t, "hidden", p.variant(own, "SHIRT-S")["status"])
	tab = owner.load(got.location)
	require.Contains(t, tab.body, "SHIRT-S")
	require.NotContains(t, tab.body, "/do/hide_variant", "what is hidden is not hidden again")
	require.Equal(t, http.StatusSeeOther, owner.sent(own.page+"/do/edit_variant?part="+id, map[string]string{"status": "active"}).status)
	require.Equal(t, "active", p.variant(own, "SHIRT-S")["status"])
}

func TestVariantsFromOptions(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own := p.shirts()
	owner := p.signedIn(own.people[company.RoleOwner])
	at := own.page + "/do/variant_matrix"
	page := owner.load(at)
	require.NotContains(t, page.body, own.note, "only options have combinations")
	got := owner.ask(http.MethodPost, at, formOf(page))
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	require.Contains(t, got.body, `id="e-attribute.`, "a form without options says so beside them")
	form := formOf(got)
	form[own.size], form[own.color] = []string{"", own.s, own.m}, []string{"", own.red}
	form.Set("price", "much")
	got = owner.ask(http.MethodPost, at, form)
	require.Contains(t, got.body, `id="e-price"`)
	require.Len(t, regexp.MustCompile(`type="checkbox"[^>]* checked`).FindAllString(got.body, -1), 3, "what was chosen stays")
	form.Set("key", formOf(got).Get("key"))
	form.Set("price", "12.50")
	for range 2 {
		got = owner.ask(http.MethodPost, at, form)
		require.Equal(t, own.page+"?done=records&tab=variants", got.location, got.body)
	}
	tab := owner.load(got.location)
	require.Contains(t, tab.body, "Color: Red, Size: S")
	require.Contains(t, tab.body, "Color: Red, Size: M")
	require.Equal(t, 2, strings.Count(tab.body, "12.50"))
}

func TestVariantsWithoutAttributes(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own := p.emptyShop()
	product := p.calls(own).id(http.MethodPost, "/catalog/products", map[string]any{"name": "Nail", "price": 1})
	owner := p.signedIn(own.people[company.RoleOwner])
	at := "/c/" + own.id.String() + "/products/" + product + "/do/"
	require.Contains(t, owner.load(at+"variant_matrix").body, "No attribute tells the variants of this product apart")
	require.Equal(t, http.StatusSeeOther, owner.sent(at+"new_variant", nil).status, "a variant needs none")
}

// Who changes nothing sees variants, and no form; other companies see nothing.
func TestVariantsAreChangedByWhoMay(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own := p.shirts()
	id := p.calls(own.premises).id(http.MethodPost, own.path, map[string]any{"sku": "SHIRT-S"})
	stranger := p.signedIn(p.emptyShop().people[company.RoleOwner])
	for name, v := range map[string]*visitor{"viewer": p.signedIn(own.people[company.RoleViewer]), "developer": p.signedIn(own.people[company.RoleDeveloper]), "reader": p.operator(p.read)} {
		tab := v.load(own.page + "?tab=variants")
		require.Contains(t, tab.body, "SHIRT-S", name)
		require.NotContains(t, tab.body, "/do/", name)
		for _, c := range []string{"new_variant", "variant_matrix", "edit_variant", "hide_variant"} {
			form := url.Values{"part": {id}, "version": {"1"}}
			require.Equal(t, http.StatusForbidden, v.ask(http.MethodPost, own.page+"/do/"+c, form).status, "%s %s", name, c)
			require.Equal(t, http.StatusNotFound, stranger.ask(http.MethodPost, own.page+"/do/"+c, form).status, c)
		}
	}
	require.Equal(t, "active", p.variant(own, "SHIRT-S")["status"])
}
