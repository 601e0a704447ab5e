package secret_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/secret"
)

func TestFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "password")
	_, err := secret.File("--kafka-password-file", path)
	require.ErrorContains(t, err, "--kafka-password-file: open "+path)
	for _, empty := range []string{"", "\n", " \r\n"} {
		require.NoError(t, os.WriteFile(path, []byte(empty), 0o600))
		_, err = secret.File("--kafka-password-file", path)
		require.EqualError(t, err, "--kafka-password-file: "+path+" is empty; write the secret into it")
	}
	for text, want := range map[string]string{"a": "a", "a\n": "a", "a\r\n": "a", " a b \n\n": " a b "} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		got, err := secret.File("--kafka-password-file", path)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}
