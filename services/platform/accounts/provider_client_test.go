package accounts

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/stretchr/testify/require"
)

// endless repeats a byte, and counts how often.
type endless struct{ n *atomic.Int64 }

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	e.n.Add(int64(len(p)))
	return len(p), nil
}

// A provider that answers without an end, in a small body that grows, or with a key that takes seconds, is given up early.
func TestAnswersOfAProviderAreBounded(t *testing.T) {
	t.Parallel()
	var sent atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/endless/.well-known/openid-configuration":
			_, _ = io.Copy(w, endless{&sent})
		case "/bomb/.well-known/openid-configuration":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = io.CopyN(z, endless{&sent}, 64<<20)
			_ = z.Close()
		case "/headers/.well-known/openid-configuration":
			w.Header().Set("X-Long", strings.Repeat("a", 128<<10))
		case "/keys":
			_ = json.NewEncoder(w).Encode(map[string]any{"keys": []any{map[string]string{"kty": "RSA", "e": "AQAB", "n": strings.Repeat("_", 100_000)}}})
		}
	}))
	t.Cleanup(server.Close)
	for path, want := range map[string]string{"/endless": "more than 262144 bytes", "/bomb": "more than 262144 bytes", "/headers": "response headers"} {
		p := NewProvider(ProviderConfig{Issuer: server.URL + path})
		_, err := p.discovered(t.Context(), time.Now())
		require.ErrorContains(t, err, want, path)
	}
	require.Less(t, sent.Load(), int64(80<<20))

	ctx := oidc.ClientContext(context.Background(), newProviderClient())
	keys := oidc.NewRemoteKeySet(ctx, server.URL+"/keys")
	_, err := keys.VerifySignature(ctx, "eyJhbGciOiJSUzI1NiJ9.e30."+strings.Repeat("A", 100_000))
	require.ErrorContains(t, err, errLargeKey.Error())
}
