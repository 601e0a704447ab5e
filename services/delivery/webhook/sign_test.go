package webhook_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

var at = time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC)

func attempt() webhook.Attempt {
	return webhook.Attempt{Event: "order.created", EventID: "e1", DeliveryID: "d1", WebhookID: "w1", Number: 3, At: at}
}

func signed(t require.TestingT, secret, previous string, body []byte) http.Header {
	s, err := webhook.NewSigner(secret, previous)
	require.NoError(t, err)
	h := http.Header{}
	s.Sign(h, attempt(), body)
	return h
}

// independent computes a signature as a receiver in another language would.
func independent(key []byte, content string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(content))
	return mac.Sum(nil)
}

func TestSignFillsEveryHeader(t *testing.T) {
	t.Parallel()
	secret, old := webhook.NewSecret(), webhook.NewSecret()
	body := []byte(`{"event":"order.created"}`)
	standard := func(secret string) string {
		raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		require.NoError(t, err)
		require.Len(t, raw, 32)
		return "v1," + base64.StdEncoding.EncodeToString(independent(raw, "d1.1795167000."+string(body)))
	}
	want := http.Header{}
	want.Set("Content-Type", "application/json")
	want.Set("User-Agent", "svc-webhooks/1.0")
	want.Set("X-Svc-Event", "order.created")
	want.Set("X-Svc-Delivery-Id", "d1")
	want.Set("X-Svc-Webhook-Id", "w1")
	want.Set("X-Svc-Attempt", "3")
	want.Set("X-Svc-Event-Id", "e1")
	want.Set("X-Svc-Timestamp", "1795167000")
	want.Set("X-Svc-Signature", "sha256="+hex.EncodeToString(independent([]byte(secret), string(body))))
	want.Set("webhook-id", "d1")
	want.Set("webhook-timestamp", "1795167000")
	want.Set("webhook-signature", standard(secret))
	require.Equal(t, want, signed(t, secret, "", body))

	want.Set("X-Svc-Signature-Previous", "sha256="+hex.EncodeToString(independent([]byte(old), string(body))))
	want.Set("webhook-signature", standard(secret)+" "+standard(old))
	require.Equal(t, want, signed(t, secret, old, body))
}

func TestAddingToASignedHeaderLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	secret, body := webhook.NewSecret(), []byte("{}")
	before := signed(t, secret, "", body)
	for name := range before {
		h := signed(t, secret, "", body)
		h.Add(name, "more")
		want := before.Clone()
		want[name] = append(want[name], "more")
		require.Equal(t, want, h)
	}
}

func TestSignVerifyRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		secret, old := webhook.NewSecret(), webhook.NewSecret()
		body := rapid.SliceOf(rapid.Byte()).Draw(t, "body")
		h := signed(t, secret, old, body)
		require.NoError(t, webhook.Verify(secret, h, body, at, time.Minute))
		require.NoError(t, webhook.Verify(old, h, body, at, time.Minute), "the old secret holds during the overlap")
		require.ErrorIs(t, webhook.Verify(webhook.NewSecret(), h, body, at, time.Minute), webhook.ErrBadSignature)
		require.ErrorIs(t, webhook.Verify(old, signed(t, secret, "", body), body, at, 0), webhook.ErrBadSignature)
	})
}

func TestTamperingAnyByteFails(t *testing.T) {
	t.Parallel()
	secret := webhook.NewSecret()
	protected := []string{
		webhook.HeaderSignature, webhook.HeaderDeliveryID, webhook.HeaderTimestamp,
		webhook.HeaderStandardID, webhook.HeaderStandardTimestamp, webhook.HeaderStandardSignature,
	}
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.SliceOfN(rapid.Byte(), 1, 300).Draw(t, "body")
		h := signed(t, secret, "", body)
		flip := byte(rapid.IntRange(1, 255).Draw(t, "flip"))

		forged := bytes.Clone(body)
		forged[rapid.IntRange(0, len(body)-1).Draw(t, "position")] ^= flip
		require.ErrorIs(t, webhook.Verify(secret, h, forged, at, 0), webhook.ErrBadSignature)

		name := rapid.SampledFrom(protected).Draw(t, "header")
		value := []byte(h.Get(name))
		value[rapid.IntRange(0, len(value)-1).Draw(t, "at")] ^= flip
		h.Set(name, string(value))
		require.Error(t, webhook.Verify(secret, h, body, at, 0))
	})
}

func TestVerifyErrors(t *testing.T) {
	t.Parallel()
	secret, body := webhook.NewSecret(), []byte("{}")
	specOnly := signed(t, secret, "", body)
	for _, name := range []string{webhook.HeaderStandardID, webhook.HeaderStandardTimestamp, webhook.HeaderStandardSignature} {
		specOnly.Del(name)
	}
	stripped := signed(t, secret, "", body)
	stripped.Del(webhook.HeaderStandardSignature)
	require.NoError(t, webhook.Verify(secret, specOnly, body, at, 0), "a sender without the trio is fine when time is not checked")
	require.ErrorIs(t, webhook.Verify(secret, specOnly, body, at, time.Minute), webhook.ErrUnsigned)
	require.ErrorIs(t, webhook.Verify(secret, stripped, body, at, 0), webhook.ErrBadSignature)
	require.ErrorIs(t, webhook.Verify(secret, http.Header{}, body, at, 0), webhook.ErrUnsigned)

	full := signed(t, secret, "", body)
	require.ErrorIs(t, webhook.Verify(secret, full, body, at.Add(61*time.Second), time.Minute), webhook.ErrExpired)
	require.ErrorIs(t, webhook.Verify(secret, full, body, at.Add(-62*time.Second), time.Minute), webhook.ErrExpired)
	require.NoError(t, webhook.Verify(secret, full, body, at.Add(59*time.Second), time.Minute))
	require.ErrorContains(t, webhook.Verify("secret", full, body, at, 0), "whsec_")
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	secret := webhook.NewSecret()
	require.Len(t, secret, 6+44)
	require.NotEqual(t, secret, webhook.NewSecret())
	require.NoError(t, webhook.CheckSecret(secret))
	require.Equal(t, secret[len(secret)-4:], webhook.SecretHint(secret))
	require.Empty(t, webhook.SecretHint("short"))
	for _, bad := range []string{"", "whsec_", "whsec_AAAA", secret[6:], secret + "A", secret[:len(secret)-1]} {
		require.ErrorContains(t, webhook.CheckSecret(bad), "copy it completely")
		_, err := webhook.NewSigner(bad, "")
		require.Error(t, err)
		_, err = webhook.NewVerifier(bad)
		require.Error(t, err)
	}
	_, err := webhook.NewSigner(secret, "bad")
	require.ErrorContains(t, err, "previous secret")
}

func BenchmarkSign(b *testing.B) {
	s, err := webhook.NewSigner(webhook.NewSecret(), "")
	require.NoError(b, err)
	body, a := bytes.Repeat([]byte("x"), 1024), attempt()
	h := make(http.Header, 16)
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		clear(h)
		s.Sign(h, a, body)
	}
}

func BenchmarkVerify(b *testing.B) {
	secret := webhook.NewSecret()
	v, err := webhook.NewVerifier(secret)
	require.NoError(b, err)
	body := bytes.Repeat([]byte("x"), 1024)
	h := signed(b, secret, "", body)
	b.ReportAllocs()
	for b.Loop() {
		if err := v.Verify(h, body, at, time.Minute); err != nil {
			b.Fatal(err)
		}
	}
}
