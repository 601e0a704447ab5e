package httpapi_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

const maxUpload = 3 << 20

// received is what an operation saw of a file.
type received struct {
	Size   int64  `json:"size"`
	Hash   string `json:"hash"`
	Reread string `json:"reread"`
	Middle string `json:"middle"`
	Media  string `json:"media"`
}

type uploadThing struct{ httpapi.Call }

// uploading has an operation that takes files, all of which may hold 16 MiB together, and those of a company 4.
func uploading(t *testing.T) *kit {
	t.Helper()
	f := setup(t, func(cfg *httpapi.Config) { cfg.UploadBytes = 16 << 20 })
	f.token("other", func(p *access.Principal) { p.Company = tenant.NewID() })
	r := httpapi.Group{Tag: "Things", Scope: "orders", Component: "orders"}.On(f.api, f.db)
	prepare := func(_ context.Context, in *uploadThing) (received, error) {
		u := in.Upload()
		h, middle := sha256.New(), make([]byte, 10)
		if _, err := io.Copy(h, u.Reader()); err != nil {
			return received{}, err
		}
		if _, err := u.ReadAt(middle, u.Size/2); err != nil && !errors.Is(err, io.EOF) {
			return received{}, err
		}
		return received{Size: u.Size, Hash: hex.EncodeToString(u.SHA256[:]), Reread: hex.EncodeToString(h.Sum(nil)), Middle: hex.EncodeToString(middle), Media: u.Media}, nil
	}
	httpapi.ChangePrepared(r, "/uploads", "upload", "Upload", prepare,
		func(_ context.Context, _ *db.Tx, _ *uploadThing, v received) (received, error) { return v, nil }, httpapi.Uploads(maxUpload, "image/png"))
	return f
}

func fileOf(n int) string {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(n)}).Read(b)
	return string(b)
}

// uploadHead is that of a request with a file.
func uploadHead(token, length string) string {
	return fmt.Sprintf("POST %s/uploads HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: image/png; q=1\r\n%s\r\n\r\n", httpapi.BasePath, token, length)
}

func TestFilesArriveAsTheyAreSent(t *testing.T) {
	t.Parallel()
	f := uploading(t)
	address := f.listen()
	c := dial(t, address)
	for _, n := range []int{1, 256<<10 - 1, 256 << 10, 256<<10 + 1, 1 << 20, maxUpload} {
		body := fileOf(n)
		sum := sha256.Sum256([]byte(body))
		for _, chunked := range []bool{false, true} {
			if chunked {
				c.send("%s", uploadHead("all", "Transfer-Encoding: chunked"))
				for part := body; part != ""; {
					piece := part[:min(len(part), 100_000)]
					c.send("%x\r\n%s\r\n", len(piece), piece)
					part = part[len(piece):]
				}
				c.send("0\r\n\r\n")
			} else {
				c.send("%s%s", uploadHead("all", fmt.Sprintf("Content-Length: %d", n)), body)
			}
			got := c.answer()
			got.is(t, 200, "")
			hash := hex.EncodeToString(sum[:])
			middle := make([]byte, 10)
			copy(middle, body[n/2:])
			require.Equal(t, map[string]any{
				"size": float64(n), "hash": hash, "reread": hash, "media": "image/png", "middle": hex.EncodeToString(middle),
			}, got.body)
		}
	}
}

func TestFilesThatAreRefused(t *testing.T) {
	t.Parallel()
	f := uploading(t)
	address := f.listen()
	c := dial(t, address)
	c.send("%s", uploadHead("all", fmt.Sprintf("Content-Length: %d", maxUpload+1)))
	got := c.answer()
	got.is(t, 413, "PAYLOAD_TOO_LARGE")
	require.Contains(t, got.body["message"], "send a smaller file")
	c = dial(t, address)
	c.send("%s", uploadHead("all", "Transfer-Encoding: chunked"))
	for n := 0; n <= maxUpload; n += 1 << 20 {
		c.send("%x\r\n%s\r\n", 1<<20, fileOf(1<<20))
	}
	c.answer().is(t, 413, "PAYLOAD_TOO_LARGE")
	for _, length := range []string{"Content-Length: 0", "Transfer-Encoding: chunked"} {
		c = dial(t, address)
		c.send("%s", uploadHead("all", length))
		if length != "Content-Length: 0" {
			c.send("0\r\n\r\n")
		}
		require.Equal(t, map[string]string{"body": "REQUIRED"}, c.answer().faults(t))
	}
	c = dial(t, address)
	c.send("%s", strings.Replace(uploadHead("all", "Content-Length: 3"), "image/png", "image/svg+xml", 1)+"abc")
	got = c.answer()
	got.is(t, 415, "UNSUPPORTED_MEDIA_TYPE")
	require.Contains(t, got.body["message"], "image/png")
	c = dial(t, address)
	c.send("%s", uploadHead("all", "Content-Length: 10")+"abc")
	require.NoError(t, c.Close())
}

// What a company's uploads hold is bounded, and released at their end, however that comes.
func TestMemoryOfUploadsIsBounded(t *testing.T) {
	t.Parallel()
	f := uploading(t)
	address := f.listen()
	post := func(token string, n int) response {
		c := dial(t, address)
		go func() { _, _ = io.WriteString(c, uploadHead(token, fmt.Sprintf("Content-Length: %d", n))+fileOf(n)) }() // it may be refused before its end
		return c.answer()
	}
	hold := func() *client {
		c := dial(t, address)
		c.send("%s%s", uploadHead("all", fmt.Sprintf("Content-Length: %d", maxUpload)), fileOf(maxUpload-1))
		return c
	}
	slow := hold()
	got := post("all", 2<<20)
	for tries := 0; got.StatusCode == http.StatusOK; tries++ {
		// The slow one is not being read yet, or found the other one in its way.
		require.Less(t, tries, 100)
		require.NoError(t, slow.Close())
		slow = hold()
		time.Sleep(10 * time.Millisecond)
		got = post("all", 2<<20)
	}
	got.is(t, 503, "SERVICE_UNAVAILABLE")
	require.Equal(t, map[string]any{"reason": string(apierr.Overloaded)}, got.body["meta"])
	post("other", 2<<20).is(t, 200, "")
	post("all", 1<<19).is(t, 200, "")
	require.NoError(t, slow.Close())
	for tries := 0; post("all", maxUpload).StatusCode != http.StatusOK; tries++ { // until the end of the connection is seen
		require.Less(t, tries, 1000)
		time.Sleep(10 * time.Millisecond)
	}
	for range 20 {
		post("all", maxUpload).is(t, 200, "")
	}
}

// Files that are announced and do not arrive take little memory.
func TestUnsentFilesTakeNoMemory(t *testing.T) { //nolint:paralleltest // measures the memory of the process
	f := uploading(t)
	address := f.listen()
	live := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := live()
	for range 40 {
		dial(t, address).send("%s", uploadHead("all", fmt.Sprintf("Content-Length: %d", maxUpload))+"x")
	}
	time.Sleep(200 * time.Millisecond) // until all of them are being read; more only makes the test easier
	require.Less(t, live()-before, int64(16<<20))
}

// A file is a part of what makes a request the same.
func TestRepeatedUploads(t *testing.T) {
	t.Parallel()
	f := uploading(t)
	key := uuid.NewString()
	send := func(body string) response {
		return f.do(request{method: "POST", path: "/uploads", body: body, token: "all", headers: map[string]string{"Content-Type": "image/png", "X-Idempotency-Key": key}})
	}
	first := send("abc")
	first.is(t, 200, "")
	again := send("abc")
	require.Equal(t, "true", again.Header.Get("X-Idempotent-Replayed"))
	require.Equal(t, first.body, again.body)
	send("abd").is(t, 422, "IDEMPOTENCY_KEY_REUSED")
}

// A part of this process hands a file on while it receives it: the rules of uploads hold, of size, type and memory.
func TestInternalCallersSendFiles(t *testing.T) {
	t.Parallel()
	f := uploading(t)
	by, _ := f.internalCaller()
	send := func(media string, body io.Reader) (got received, err error) {
		err = ask(t, f.api, by, "upload", httpapi.Input{File: &httpapi.Sent{Media: media, Body: body}}, &got)
		return got, err
	}
	for _, n := range []int{1, 256 << 10, maxUpload} {
		body := fileOf(n)
		sum := sha256.Sum256([]byte(body))
		got, err := send("image/png", strings.NewReader(body))
		require.NoError(t, err)
		require.Equal(t, received{int64(n), hex.EncodeToString(sum[:]), hex.EncodeToString(sum[:]), got.Middle, "image/png"}, got)
	}
	_, err := send("image/png", strings.NewReader(fileOf(maxUpload+1)))
	require.Equal(t, http.StatusRequestEntityTooLarge, refusal(t, err).Status)
	_, err = send("text/plain", strings.NewReader("x"))
	require.Equal(t, http.StatusUnsupportedMediaType, refusal(t, err).Status)
	_, err = send("image/png", strings.NewReader(""))
	require.Equal(t, "body", refusal(t, err).Fields[0].Field)
	_, err = send("image/png", io.MultiReader(strings.NewReader("x"), brokenOff{}))
	require.Equal(t, http.StatusRequestTimeout, refusal(t, err).Status)
	for range 2 {
		_, err = send("image/png", strings.NewReader(fileOf(maxUpload)))
		require.NoError(t, err, "what was held is given back")
	}
}

// brokenOff is what is left of a file whose sender is gone.
type brokenOff struct{}

func (brokenOff) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
