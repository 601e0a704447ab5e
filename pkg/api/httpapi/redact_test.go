package httpapi

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What an operator sends is recorded without secrets, at any depth, and the body itself stays as it was.
func TestRecordedBodiesHaveNoSecrets(t *testing.T) {
	t.Parallel()
	body := map[string]any{"name": "x", "apiSecret": "s", "list": []any{map[string]any{"Password": "p", "note": "n"}}, "accessToken": map[string]any{"text": "t"}}
	require.Equal(t, map[string]any{
		"name": "x", "apiSecret": redacted, "list": []any{map[string]any{"Password": redacted, "note": "n"}}, "accessToken": redacted,
	}, withoutSecrets(body))
	require.Equal(t, "s", body["apiSecret"])
}

func TestSecretsByName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"authorization", "Proxy-Authorization", "apiKey", "api_key", "X-API-Key", "apikey", "cookie", "Set-Cookie", "passwd", "password", "newPassword", "passphrase", "pwd", "cardNumber", "card_number", "cvv", "CVC",
		"clientSecret", "secretKey", "refresh_token", "tokenId", "privateKey", "private-key", "accessKeyId", "signingKey", "credentials", "sessionId", "jwt", "signature", "headers", "auth", "bearer", "otp", "pin", "sig",
	} {
		require.JSONEq(t, `{"a":[{"`+name+`":"`+redacted+`"}]}`, recorded(t, `{"a":[{"`+name+`":{"x":"hidden"}}]}`), name)
		require.Equal(t, "/orders?a=1&"+name+"=%5Bredacted%5D", TargetWithoutSecrets("/orders?a=1&"+name+"=hidden"), name)
		require.Equal(t, "/orders?metadata["+name+"]=%5Bredacted%5D", TargetWithoutSecrets("/orders?metadata["+name+"]=hidden"), name)
		require.JSONEq(t, `[{"name":"`+name+`","value":"`+redacted+`"}]`, recorded(t, `[{"name":"`+name+`","value":"hidden"}]`), name)
	}
	for _, name := range []string{"name", "key", "keys", "author", "pinned", "panel", "sidebar", "category", "idempotencyKey", "companyName", "status", "signedAt", "code"} {
		require.JSONEq(t, `{"`+name+`":"shown"}`, recorded(t, `{"`+name+`":"shown"}`), name)
	}
	require.Equal(t, "/orders?key=%5Bredacted%5D", TargetWithoutSecrets("/orders?key=hidden"))
}

func TestSecretsInTexts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"https://u:hidden@example.com/x?y=1":                 "https://[redacted]@example.com/x?y=1",
		"see postgres://shop:hid%40den@db:5432/shop, please": "see postgres://[redacted]@db:5432/shop, please",
		"https://example.com/hook?token=hidden&x=1":          "https://example.com/hook?token=[redacted]&x=1",
		"https://example.com/hook?a=1&key=hidden":            "https://example.com/hook?a=1&key=[redacted]",
		"https://example.com/hook?X-Amz-Signature=hidden":    "https://example.com/hook?X-Amz-Signature=[redacted]",
		"Authorization: Bearer hiddenhidden0":                "Authorization: Bearer [redacted]",
		"curl -H 'authorization: Basic dTpoaWRkZW4='":        "curl -H 'authorization: Basic [redacted]'",
		"api_key=hidden; theme=dark":                         "api_key=[redacted]; theme=dark",
		`{"password": "hidden", "n": 1}`:                     `{"password": "[redacted]", "n": 1}`,
		"PGPASSWORD=hidden psql":                             "PGPASSWORD=[redacted] psql",
		"the token svc_live_0123456789abcdef is mine":        "the token [redacted] is mine",
		"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=": "[redacted]",
	} {
		require.Equal(t, want, withoutSecretTexts(text))
		require.Equal(t, want, withoutSecretTexts(want), "once is enough")
	}
	for _, text := range []string{"basic cover, bearer of the key", "a@b.example", "https://example.com/@shop", "Token of thanks", "12 = 3 * 4", "key: under the mat", "https://example.com/?q=key"} {
		require.Equal(t, text, withoutSecretTexts(text))
	}
	require.Equal(t, "/hooks/https:%2F%2Fx?url=https%3A%2F%2F%5Bredacted%5D%40x%2F", TargetWithoutSecrets("/hooks/https:%2F%2Fx?url=https%3A%2F%2Fu%3Ahidden%40x%2F"))
	require.Equal(t, "/orders?token=%5Bredacted%5D&%zz=1", TargetWithoutSecrets("/orders?token=%zz&%zz=1"), "what cannot be decoded")
	require.Equal(t, "/orders?search=a+b", TargetWithoutSecrets("/orders?search=a+b"), "as it was sent")
}

func recorded(t *testing.T, body string) string {
	t.Helper()
	raw, err := WithoutSecrets([]byte(body))
	require.NoError(t, err)
	return string(raw)
}

// A refused body of 32 KiB is recorded with every request: it must cost little more than reading it does.
func BenchmarkWithoutSecrets(b *testing.B) {
	for name, text := range map[string]string{"words": "a note of some words. ", "secrets": "token=abcdef; ", "names": "tokentokentoken", "urls": "https://a.example/b ", "signs": "a=b:c@d "} {
		body := []byte(`{"note":"` + strings.Repeat(text, (32<<10)/len(text)) + `"}`)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, _ = WithoutSecrets(body)
			}
		})
	}
}
