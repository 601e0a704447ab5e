package docs

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// signed is the example of docs/webhooks.md#verify; the test compares them.
func signed(secret string, header http.Header, body []byte) bool {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	want := []byte("sha256=" + hex.EncodeToString(mac.Sum(nil)))
	current := hmac.Equal(want, []byte(header.Get("X-Svc-Signature")))
	previous := hmac.Equal(want, []byte(header.Get("X-Svc-Signature-Previous"))) // while a rotation overlaps
	return current || previous
}

func TestTheDocumentedVerificationAcceptsBothSecretsOfARotation(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(root, "docs/webhooks.md"))
	require.NoError(t, err)
	_, section, _ := strings.Cut(string(page), "\n## Verify\n")
	_, example, found := strings.Cut(section, "```go\n")
	require.True(t, found)
	example, _, _ = strings.Cut(example, "```")
	own, err := os.ReadFile("webhooks_test.go")
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(example, "func signed("))
	require.Contains(t, string(own), "\n"+example, "copy the example of the page to this file")

	old, current, other := webhook.NewSecret(), webhook.NewSecret(), webhook.NewSecret()
	require.Len(t, current, 50, "docs/webhooks.md says how long a secret is")
	body := []byte(`{"event":"order.created"}`)
	header := func(current, previous string) http.Header {
		signer, err := webhook.NewSigner(current, previous)
		require.NoError(t, err)
		h := http.Header{}
		signer.Sign(h, webhook.Attempt{Event: "order.created", Number: 1, At: time.Now()}, body)
		return h
	}
	rotating, after := header(current, old), header(current, "")
	require.True(t, signed(current, rotating, body))
	require.True(t, signed(old, rotating, body))
	require.False(t, signed(other, rotating, body))
	require.False(t, signed(current, rotating, append(body, ' ')))
	require.True(t, signed(current, after, body))
	require.False(t, signed(old, after, body))
	require.False(t, signed(current, http.Header{}, body))
}
