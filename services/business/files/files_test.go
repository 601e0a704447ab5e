package files_test

import (
	"bytes"
	"image"
	"image/color"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/services/business/files"
)

func TestUpload(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, k kit, objects func() int) {
		t.Helper()
		raw := picture(t, 1500, 1000, color.RGBA{0, 128, 255, 255})
		r := k.Do(t, "POST", "/files?name=bike", raw, as("image/jpeg"))
		f := r.OK(201)
		require.Equal(t, "/api/external/v1/files/"+id(f), r.Header.Get("Location"))
		for name, want := range (object{
			"companyId": k.Principal.Company.String(), "name": "bike.jpg", "mediaType": "image/jpeg", "size": float64(len(raw)),
			"width": 1500.0, "height": 1000.0, "sha256": hash(raw), "version": 1.0,
		}) {
			require.Equal(t, want, f[name], name)
		}
		require.Equal(t, 4, objects())
		got := k.Do(t, "GET", "/files/"+id(f), nil)
		require.Equal(t, f, got.OK(200))
		require.Equal(t, 304, k.Do(t, "GET", "/files/"+id(f), nil, apitest.Header{"If-None-Match", got.Header.Get("ETag")}).Status)
		require.Equal(t, f, k.Do(t, "GET", "/files", nil).OK(200)["items"].([]any)[0])

		content := k.Do(t, "GET", "/files/"+id(f)+"/content", nil)
		require.Equal(t, 200, content.Status)
		require.Equal(t, raw, content.Body)
		for name, want := range map[string]string{
			"Content-Type": "image/jpeg", "ETag": `"` + hash(raw) + `"`, "Cache-Control": "private, max-age=3600, immutable", "X-Content-Type-Options": "nosniff",
			"Content-Disposition": `inline; filename="bike.jpg"`, "Content-Security-Policy": "default-src 'none'; sandbox",
		} {
			require.Equal(t, want, content.Header.Get(name), name)
		}
		require.Equal(t, 304, k.Do(t, "GET", "/files/"+id(f)+"/content", nil, apitest.Header{"If-None-Match", content.Header.Get("ETag")}).Status)
		require.Equal(t, 200, k.Do(t, "GET", "/files/"+id(f)+"/content?size=small", nil, apitest.Header{"If-None-Match", content.Header.Get("ETag")}).Status)
		head := k.Do(t, "HEAD", "/files/"+id(f)+"/content", nil)
		require.Equal(t, 200, head.Status)
		require.Empty(t, head.Body)

		thumbs := f["thumbnails"].([]any)
		for i, want := range []struct {
			name          string
			width, height float64
		}{{"large", 1200, 800}, {"medium", 480, 320}, {"small", 160, 107}} {
			thumb := thumbs[i].(object)
			require.Equal(t, []any{want.name, "image/jpeg", want.width, want.height}, []any{thumb["name"], thumb["mediaType"], thumb["width"], thumb["height"]})
			status, header, body := k.fetch(t, urls(f)[want.name].(string))
			require.Equal(t, 200, status, "%s", body)
			require.Equal(t, `"`+thumb["sha256"].(string)+`"`, header.Get("ETag"))
			require.Equal(t, thumb["sha256"], hash(body))
			require.Len(t, body, int(thumb["size"].(float64)))
			img, _, err := image.DecodeConfig(bytes.NewReader(body))
			require.NoError(t, err)
			require.Equal(t, [2]int{int(want.width), int(want.height)}, [2]int{img.Width, img.Height})
		}
		k.Do(t, "DELETE", "/files/"+id(f), nil, apitest.Header{"If-Match", `"7-1"`}).Fault(412, "PRECONDITION_FAILED")
		k.Do(t, "DELETE", "/files/"+id(f), nil, apitest.Header{"If-Match", got.Header.Get("ETag")}).OK(204)
		k.Do(t, "GET", "/files/"+id(f), nil).Fault(404, "FILE_NOT_FOUND")
		k.Do(t, "DELETE", "/files/"+id(f), nil).Fault(404, "FILE_NOT_FOUND")
		status, _, _ := k.fetch(t, urls(f)["small"].(string))
		require.Equal(t, 404, status)
		_, err := k.files.Sweep(t.Context())
		require.NoError(t, err)
		require.Zero(t, objects())
	})
}

func TestBadUploads(t *testing.T) {
	t.Parallel()
	k := setup(t)
	good := red(t)
	svg := []byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`)
	for name, c := range map[string]struct {
		raw    []byte
		media  string
		status int
		code   string
	}{
		"svg":            {svg, "image/svg+xml", 415, "UNSUPPORTED_MEDIA_TYPE"},
		"svg as png":     {svg, "image/png", 400, "VALIDATION_ERROR"},
		"json":           {[]byte(`{}`), "application/json", 415, "UNSUPPORTED_MEDIA_TYPE"},
		"form":           {good, "multipart/form-data; boundary=x", 415, "UNSUPPORTED_MEDIA_TYPE"},
		"another type":   {good, "image/png", 400, "VALIDATION_ERROR"},
		"nothing":        {nil, "image/png", 400, "VALIDATION_ERROR"},
		"half":           {good[:len(good)/2], "image/jpeg", 400, "VALIDATION_ERROR"},
		"too many bytes": {make([]byte, files.MaxSize+1), "image/jpeg", 413, "PAYLOAD_TOO_LARGE"},
		"too much":       {append(good, make([]byte, limit)...), "image/jpeg", 409, "FILE_QUOTA_EXCEEDED"},
	} {
		k.Do(t, "POST", "/files", c.raw, as(c.media)).Fault(c.status, c.code)
		require.NotEmpty(t, name)
	}
	require.Equal(t, map[string]string{"Content-Type": "CONFLICT"}, k.Do(t, "POST", "/files", good, as("image/gif")).Fields())
	require.Equal(t, map[string]string{"body": "FORMAT"}, k.Do(t, "POST", "/files", svg, as("image/gif")).Fields())
	for _, name := range []string{"..%2Fx.jpg", "a%5Cb.jpg", "a%00b.jpg", "%20", strings.Repeat("n", 256)} {
		require.Contains(t, k.Do(t, "POST", "/files?name="+name, good, as("image/jpeg")).Fields(), "name", name)
	}
	require.Equal(t, map[string]string{"page": "UNKNOWN"}, k.Do(t, "POST", "/files?page=1", good, as("image/jpeg")).Fields())
	k.Do(t, "POST", "/files", good, as("image/jpeg"), apitest.Header{"Content-Encoding", "gzip"}).Fault(415, "UNSUPPORTED_MEDIA_TYPE")
	require.Empty(t, k.Do(t, "GET", "/files", nil).OK(200)["items"])
	k.Do(t, "POST", "/files", good, as("application/octet-stream")).OK(201)
}

// The name of a file says what it is, for those who save it.
func TestNames(t *testing.T) {
	t.Parallel()
	k := setup(t)
	for sent, want := range map[string][2]string{
		"":                         {"image.jpg", `inline; filename="image.jpg"`},
		"?name=a.JPEG":             {"a.JPEG", `inline; filename="a.JPEG"`},
		"?name=x.html":             {"x.html.jpg", `inline; filename="x.html.jpg"`},
		"?name=%22q%22.jpg":        {`"q".jpg`, `inline; filename="_q_.jpg"; filename*=UTF-8''%22q%22.jpg`},
		"?name=R%C3%A4der%201.jpg": {"Räder 1.jpg", `inline; filename="R_der 1.jpg"; filename*=UTF-8''R%C3%A4der%201.jpg`},
	} {
		f := k.Do(t, "POST", "/files"+sent, red(t), as("image/jpeg")).OK(201)
		require.Equal(t, want[0], f["name"])
		require.Equal(t, want[1], k.Do(t, "GET", "/files/"+id(f)+"/content", nil).Header.Get("Content-Disposition"))
	}
	found := k.Do(t, "GET", "/files?search=r%C3%A4d&mediaType=image/jpeg&sort=name", nil).OK(200)["items"].([]any)
	require.Len(t, found, 1)
	require.Empty(t, k.Do(t, "GET", "/files?mediaType=image/png", nil).OK(200)["items"])
}

// A repeat with the same key and the same bytes is the same upload.
func TestIdempotency(t *testing.T) {
	t.Parallel()
	k := setup(t)
	key := apitest.Header{"X-Idempotency-Key", uuid.NewString()}
	first := k.Do(t, "POST", "/files?name=a.jpg", red(t), as("image/jpeg"), key).OK(201)
	again := k.Do(t, "POST", "/files?name=a.jpg", red(t), as("image/jpeg"), key)
	require.Equal(t, first, again.OK(201))
	require.Equal(t, "true", again.Header.Get("X-Idempotent-Replayed"))
	k.Do(t, "POST", "/files?name=a.jpg", picture(t, 3, 3, color.White), as("image/jpeg"), key).Fault(422, "IDEMPOTENCY_KEY_REUSED")
	k.Do(t, "POST", "/files?name=b.jpg", red(t), as("image/jpeg"), key).Fault(422, "IDEMPOTENCY_KEY_REUSED")
	require.Len(t, k.Do(t, "GET", "/files", nil).OK(200)["items"], 1)
}

func TestSignedURLs(t *testing.T) {
	t.Parallel()
	k := setup(t)
	f := k.upload(t, red(t))
	link := urls(f)["medium"].(string)
	status, header, _ := k.fetch(t, link)
	require.Equal(t, 200, status)
	require.Equal(t, 304, first(k.fetch(t, link, "If-None-Match", header.Get("ETag"))))
	require.Equal(t, urls(f), urls(k.Do(t, "GET", "/files/"+id(f), nil).OK(200)), "the same for a while")

	other := k.server.Company()
	foreign := kit{Client: other, server: k.server}.upload(t, red(t))
	for name, wrong := range map[string]string{
		"size":      changed(t, link, "size", "original"),
		"no size":   changed(t, link, "size", "huge"),
		"company":   changed(t, link, "company", other.Principal.Company.String()),
		"expiry":    changed(t, link, "expires", "99999999999"),
		"no expiry": changed(t, link, "expires", "x"),
		"signature": changed(t, link, "signature", "k.AAAA"),
		"key":       changed(t, link, "signature", "other."+strings.SplitN(link, ".", 2)[1]),
		"file":      strings.Replace(link, id(f), id(foreign), 1),
	} {
		status, _, body := k.fetch(t, wrong)
		require.Equal(t, 403, status, "%s: %s", name, body)
		require.Contains(t, string(body), "FILE_URL_INVALID", name)
	}
	status, _, body := k.fetch(t, changed(t, link, "signature", ""))
	require.Equal(t, 401, status, "%s", body)
	k.later(61 * time.Minute)
	k.later(15 * time.Minute)
	status, _, body = k.fetch(t, link)
	require.Equal(t, 403, status)
	require.Contains(t, string(body), "FILE_URL_EXPIRED")
	fresh := urls(k.Do(t, "GET", "/files/"+id(f), nil).OK(200))
	require.NotEqual(t, urls(f), fresh)
	require.Equal(t, 200, first(k.fetch(t, fresh["medium"].(string))))

	// With a token, the signature does not count.
	require.Equal(t, 200, k.Do(t, "GET", path(link), nil).Status)
	other.Do(t, "GET", path(link), nil).Fault(404, "FILE_NOT_FOUND")
	other.Do(t, "GET", "/files/"+id(f), nil).Fault(404, "FILE_NOT_FOUND")
	other.Do(t, "DELETE", "/files/"+id(f), nil).Fault(404, "FILE_NOT_FOUND")
	require.Len(t, other.Do(t, "GET", "/files", nil).OK(200)["items"], 1)
}

func first[A, B, C any](a A, _ B, _ C) A { return a }

// Guessing signatures is refused by address, as guessing tokens is.
func TestGuessedSignatures(t *testing.T) {
	t.Parallel()
	k := setup(t)
	f := k.upload(t, red(t))
	link := urls(f)["small"].(string)
	refused := 0
	for range 1000 {
		status, header, _ := k.fetch(t, changed(t, link, "signature", "k."+uuid.NewString()))
		if status == 429 {
			require.NotEmpty(t, header.Get("Retry-After"))
			refused++
			break
		}
		require.Equal(t, 403, status)
	}
	require.Positive(t, refused)
	require.Equal(t, 200, first(k.fetch(t, link)), "others behind the address go on")
}

// Bytes count until they are deleted, and owners are told.
func TestQuota(t *testing.T) {
	t.Parallel()
	k := alone(t)
	big := append(red(t), make([]byte, limit-100<<10)...)
	f := k.upload(t, big)
	k.upload(t, append(red(t), make([]byte, 80<<10)...))
	fault := k.Do(t, "POST", "/files", big, as("image/jpeg")).Fault(409, "FILE_QUOTA_EXCEEDED")
	require.Equal(t, float64(limit), fault["meta"].(object)["limit"])
	var notices int
	require.NoError(t, k.db.QueryRow(t.Context(), `SELECT count(*) FROM notices WHERE company_id = $1 AND kind = 'quota.files'`, k.Principal.Company).Scan(&notices))
	require.Equal(t, 1, notices)
	k.Do(t, "DELETE", "/files/"+id(f), nil).OK(204)
	k.upload(t, big)
	k.later(25 * time.Hour)
	_, err := k.files.Sweep(t.Context())
	require.NoError(t, err)
	require.Empty(t, k.Do(t, "GET", "/files", nil).OK(200)["items"])
	var used int64
	require.NoError(t, k.db.QueryRow(t.Context(), `SELECT COALESCE(sum(bytes), 0)::INT8 FROM storage_usage WHERE company_id = $1 AND kind = 'files'`, k.Principal.Company).Scan(&used))
	require.Zero(t, used)
}

// Many uploads at once are all stored, whichever of them wait.
func TestParallelUploads(t *testing.T) {
	t.Parallel()
	k := setup(t)
	var wg sync.WaitGroup
	for range 12 {
		wg.Go(func() {
			if r := k.Do(t, "POST", "/files", red(t), as("image/jpeg")); r.Status != 201 {
				t.Errorf("%d: %s", r.Status, r.Body)
			}
		})
	}
	wg.Wait()
	require.Len(t, k.Do(t, "GET", "/files", nil).OK(200)["items"], 12)
}
