package console

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Only light-dark() tells the schemes apart, which takes colours, so [browser.inspect] asks in the dark what colours can break.
func TestSchemesDifferInColoursOnly(t *testing.T) {
	t.Parallel()
	sheets := 0
	require.NoError(t, filepath.WalkDir("../../services/console", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		switch filepath.Ext(path) {
		case ".css":
			sheets++
		case ".html", ".js", ".svg":
		default:
			return nil
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NotContains(t, string(text), "prefers-color-scheme", "%s: let axe-core ask every rule in the dark, too (schemes of console_test.go)", path)
		return nil
	}))
	require.Greater(t, sheets, 5)
}
