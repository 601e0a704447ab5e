package binding

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIsEmail(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"anna@example.com": true, "anna+x@mail.example.com": true, "änna@exämple.com": true,
		"a@[127.0.0.1]": false, "a@[IPv6:::1]": false, "Anna <anna@example.com>": false, "anna@": false, "anna": false, "anna@example.com\n": false,
	} {
		require.Equal(t, want, IsEmail(text), text)
	}
}
