package console_test

import (
	"bytes"
	"image"
	"image/png"
	"net/http"
	"net/url"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/services/business/files"
)

// pngOf is an image of a size.
func pngOf(t *testing.T, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))))
	return b.Bytes()
}

// pictureOf is the id of an image of a company.
func (p *pages) pictureOf(s premises) string {
	p.t.Helper()
	var made files.File
	c := p.calls(s)
	require.NoError(p.t, c.api.Call(p.t.Context(), c.by, "createFile", httpapi.Input{File: &httpapi.Sent{Media: "image/png", Body: bytes.NewReader(pngOf(p.t, 300, 200))}}, &made))
	return made.ID.String()
}

// Pages show thumbnails from the console itself. Browsers keep them, and originals stay where they are.
func TestPagesShowThumbnails(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own := p.emptyShop()
	v := p.signedIn(own.people["viewer"])
	at := "/c/" + own.id.String() + "/pictures/" + p.pictureOf(own)
	got := v.ask(http.MethodGet, at+"/small", nil)
	require.Equal(t, http.StatusOK, got.status, got.body)
	require.Contains(t, got.header.Get("Cache-Control"), "immutable")
	require.Equal(t, "inline; filename=image-160.jpg", got.header.Get("Content-Disposition"))
	require.Contains(t, got.header.Get("Content-Security-Policy"), "sandbox")
	shown, _, err := image.DecodeConfig(bytes.NewReader([]byte(got.body)))
	require.NoError(t, err)
	require.Equal(t, []int{160, 107}, []int{shown.Width, shown.Height})
	again := v.ask(http.MethodGet, at+"/small", nil, func(r *http.Request) { r.Header.Set("If-None-Match", got.header.Get("ETag")) })
	require.Equal(t, http.StatusNotModified, again.status)
	require.Empty(t, again.body)
	require.Equal(t, http.StatusNotFound, v.ask(http.MethodGet, at+"/original", nil).status)
}

// Pictures are added, put in order, removed and brought back; what is refused is said in words.
func TestPicturesOfProducts(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	s := p.emptyShop()
	c := p.calls(s)
	product, _ := c.do(http.MethodPost, "/catalog/products", map[string]any{"name": "Helmet", "price": 4990})["id"].(string)
	v, page := p.signedIn(s.people["owner"]), "/c/"+s.id.String()+"/products/"+product
	images := func() (all []any) {
		all, _ = c.do(http.MethodGet, "/catalog/products/"+product, nil)["photoFileIds"].([]any)
		return all
	}
	add := func(width int) string {
		got := v.upload(page+"/pictures", url.Values{"replace": {""}}, "file", "one.png", pngOf(t, width, 20))
		require.Equal(t, page+"#pictures", got.location, got.body)
		all := images()
		return all[len(all)-1].(string) //nolint:forcetypeassert // an id
	}
	change := func(by, value, location string) []any {
		got := v.ask(http.MethodPost, page+"/pictures/change", url.Values{by: {value}})
		require.Equal(t, page+location+"#pictures", got.location, got.body)
		return images()
	}
	a, b, d := add(30), add(40), add(50)
	require.Equal(t, []any{a, b, d}, images())
	require.Equal(t, []any{d, a, b}, change("first", d, "?by=first&moved="+d))
	require.Equal(t, []any{a, d, b}, change("down", d, "?by=down&moved="+d))
	require.Equal(t, []any{a, b, d}, change("up", b, "?by=up&moved="+b))
	require.Equal(t, []any{b, d, a}, change("order", b+","+d, ""))
	require.Equal(t, []any{b, a}, change("drop", d, "?at=1&gone="+d))
	got := v.ask(http.MethodGet, page+"?at=1&gone="+d, nil).body
	require.Contains(t, got, `name="restore" value="`+d+` 1"`)
	require.Contains(t, got, `alt="Helmet"`)
	require.Contains(t, got, "/pictures/"+b+"/large")
	require.Equal(t, []any{b, d, a}, change("restore", d+" 1", ""))

	square := v.upload(page+"/pictures", url.Values{"replace": {d}}, "file", "square.png", pngOf(t, 60, 60))
	require.Equal(t, page+"#pictures", square.location)
	require.Equal(t, []any{b, a}, []any{images()[0], images()[2]}, "it stands where the other one was")
	require.NotContains(t, images(), d)

	require.Equal(t, page+"?picture=format#pictures", v.upload(page+"/pictures", nil, "file", "a.jpg", []byte("no image")).location)
	require.Contains(t, v.ask(http.MethodGet, page+"?picture=format", nil).body, "This is no picture that can be shown")
	require.NotContains(t, v.ask(http.MethodGet, page+"?picture=pictures", nil).body, "note bad")
	require.Equal(t, page+"?picture=other#pictures", v.ask(http.MethodPost, page+"/pictures/change", url.Values{"restore": {uuid.NewString()}}).location)
	require.Len(t, images(), 3)
	viewer := p.signedIn(s.people["viewer"])
	require.NotContains(t, viewer.ask(http.MethodGet, page, nil).body, "pictures-add")
	require.Equal(t, http.StatusForbidden, viewer.ask(http.MethodPost, page+"/pictures/change", url.Values{"drop": {a}}).status)
	found := v.ask(http.MethodPost, "/c/"+s.id.String()+"/orders/new", url.Values{"p": {"Helmet"}, "do": {"find"}}).body
	require.Contains(t, found, "/pictures/"+b+"/small")
}

// Files of any kind are added to orders, saved, removed and brought back; who only looks changes none.
func TestFilesOfOrders(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	s := p.emptyShop()
	c := p.calls(s)
	order, _ := c.do(http.MethodPost, "/orders", map[string]any{"items": []any{map[string]any{"kind": "custom", "name": "Work", "unitPrice": 100}}})["id"].(string)
	v, page := p.signedIn(s.people["owner"]), "/c/"+s.id.String()+"/orders/"+order
	attached := func() (all []any) {
		all, _ = c.do(http.MethodGet, "/orders/"+order, nil)["attachmentFileIds"].([]any)
		return all
	}
	contract := []byte("%PDF-1.7\nthe contract")
	got := v.upload(page+"/files", nil, "file", "Vertrag <1>.pdf", contract)
	require.Equal(t, page+"#files", got.location, got.body)
	got = v.upload(page+"/files", nil, "file", "run.pdf", []byte("MZ\x90\x00\x03"))
	require.Equal(t, page+"?file=format#files", got.location, got.body)
	v.upload(page+"/files", nil, "file", "one.png", pngOf(t, 30, 20))
	all := attached()
	require.Len(t, all, 2)
	first, _ := all[0].(string)
	shown := v.ask(http.MethodGet, page+"?file=format", nil)
	for _, text := range []string{"Vertrag &lt;1&gt;.pdf", "PDF", "one.png", "Files of this kind are not taken", "/files/" + first, "files-add"} {
		require.Contains(t, shown.body, text)
	}
	file := v.ask(http.MethodGet, "/c/"+s.id.String()+"/files/"+first, nil)
	require.Equal(t, []string{string(contract), "application/pdf", "nosniff"}, []string{file.body, file.header.Get("Content-Type"), file.header.Get("X-Content-Type-Options")})
	require.Contains(t, file.header.Get("Content-Disposition"), "attachment; filename=")

	got = v.ask(http.MethodPost, page+"/files/change", url.Values{"drop": {first}})
	require.Equal(t, page+"?at=0&gone="+first+"#files", got.location, got.body)
	require.Equal(t, all[1:], attached())
	require.Contains(t, v.ask(http.MethodGet, page+"?gone="+first+"&at=0", nil).body, `name="restore" value="`+first+` 0"`)
	v.ask(http.MethodPost, page+"/files/change", url.Values{"restore": {first + " 0"}})
	require.Equal(t, all, attached())

	viewer := p.signedIn(s.people["viewer"])
	looked := viewer.ask(http.MethodGet, page, nil)
	require.Contains(t, looked.body, "one.png")
	require.NotContains(t, looked.body, "files-add")
	require.Equal(t, http.StatusForbidden, viewer.ask(http.MethodPost, page+"/files/change", url.Values{"drop": {first}}).status)
	stranger := p.emptyShop()
	require.Equal(t, http.StatusNotFound, p.signedIn(stranger.people["owner"]).ask(http.MethodGet, "/c/"+stranger.id.String()+"/files/"+first, nil).status)
}
