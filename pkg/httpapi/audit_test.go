package httpapi

import (
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
