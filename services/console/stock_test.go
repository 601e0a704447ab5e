package console_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/platform/company"
)

// A scan counts one, or asks how many there are; each is recorded at once, once, and can be taken back.
func TestGoodsAreCountedByScanning(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	s := p.boardShop()
	c, root := p.calls(s), "/c/"+s.id.String()
	v := p.signedIn(s.people[company.RoleOwner])
	lamp := c.id("POST", "/catalog/products", map[string]any{"name": "Lamp", "sku": "LAMP-1", "price": 500, "hasStock": true})
	id := c.id("POST", "/warehouse/counts", map[string]any{"items": []any{map[string]any{"productId": s.records["/stock"]}}})
	at := root + "/counts/" + id
	require.Contains(t, v.load(at).body, at[len(root):]+"/scan", "the page of the count leads there")
	got := v.load(at + "/scan")
	require.Contains(t, got.body, "0 of 1 counted")
	require.Contains(t, got.body, "expected 5")
	line := func(product string) any {
		for _, l := range c.do("GET", "/warehouse/counts/"+id, nil)["lines"].([]any) {
			if l := l.(map[string]any); l["productId"] == product {
				return l["countedQty"]
			}
		}
		return "no line"
	}
	scan := func(pairs ...string) page { return v.submit(at+"/scan", pairs...) }
	key := uuid.NewString()
	require.Equal(t, 200, scan("code", "4006381333931", "mode", "one", "key", key).status, "a barcode")
	require.Equal(t, 200, scan("code", "bell-1", "mode", "one", "key", uuid.NewString()).status, "a SKU, in any case")
	require.InDelta(t, 2.0, line(s.records["/stock"]), 0)
	require.Equal(t, 200, scan("code", "4006381333931", "mode", "one", "key", key).status, "it was sent again, as its answer was lost")
	require.InDelta(t, 2.0, line(s.records["/stock"]), 0, "and counted once")
	got = scan("code", "4006381333931", "mode", "number")
	require.Contains(t, got.body, "How many are there: Bell")
	of := regexp.MustCompile(`name="line" value="([^"]+)"`).FindStringSubmatch(got.body)[1]
	got = scan("line", of, "qty", "5", "mode", "number")
	require.Contains(t, got.body, "As expected")
	require.Contains(t, got.body, "Everything is counted.")
	require.Regexp(t, `name="qty" value="2"`, got.body, "what it was before can be had back")
	require.Equal(t, 200, scan("line", of, "qty", "").status)
	require.Nil(t, line(s.records["/stock"]), "it is not counted any more")
	require.Equal(t, 200, scan("code", "LAMP-1", "mode", "one").status, "what was not on the list is put on it")
	require.InDelta(t, 1.0, line(lamp), 0)
	got = scan("code", "4711")
	require.Equal(t, 422, got.status)
	require.Contains(t, got.body, "There are no goods with the code 4711.")
	require.Equal(t, 422, scan("line", of, "qty", "some").status)

	viewer := p.signedIn(s.people[company.RoleViewer])
	require.NotContains(t, viewer.load(at+"/scan").body, "data-scans")
	require.Equal(t, 403, viewer.submit(at+"/scan", "code", "LAMP-1").status)
	require.Contains(t, v.load(at+"/scan").body, at[len(root):]+"/do/post_count")
}

// What has to be ordered again becomes drafts to the suppliers by one button.
func TestReorderIsDrafted(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	s := p.boardShop()
	c, root := p.calls(s), "/c/"+s.id.String()
	v := p.signedIn(s.people[company.RoleOwner])
	got := v.load(root + "/stock?level=reorder")
	require.Contains(t, got.body, "Draft to the supplier")
	for _, tab := range []string{"/receipts", "/transfers", "/counts", "/purchase-orders", "/supplier-returns", "/write-offs", "/suppliers"} {
		require.Contains(t, got.body, `href="`+root+tab+`"`, "the area has one row of tabs")
	}
	got = v.submit(root+"/stock/reorder", "level", "reorder")
	require.Equal(t, 422, got.status)
	require.Contains(t, got.body, "1 product has no supplier")
	supplier := c.id("POST", "/warehouse/suppliers", map[string]any{"name": "Bells and more"})
	c.do("PATCH", "/catalog/products/"+s.records["/stock"], map[string]any{"defaultSupplierId": supplier})
	got = v.submit(root+"/stock/reorder", "level", "reorder")
	require.Equal(t, 303, got.status, got.body)
	require.Regexp(t, `/purchase-orders/[0-9a-f-]{36}\?done=stock.reorder$`, got.location)
	require.Contains(t, v.load(got.location).body, "Bells and more")
	got = v.submit(root+"/stock/reorder", "level", "reorder")
	require.Contains(t, got.body, "on order already")
	require.Equal(t, "draft", fmt.Sprint(c.do("GET", "/warehouse/purchase-orders", nil)["items"].([]any)[0].(map[string]any)["status"]))
}
