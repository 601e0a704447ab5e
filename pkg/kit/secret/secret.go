// Package secret reads secrets from files, as Kubernetes and systemd provide them.
package secret

import (
	"fmt"
	"os"
	"strings"
)

// File reads the secret in a file, without trailing line breaks. The error names the flag of the file.
// Callers read the file at each use, so that a changed secret needs no restart.
func File(flag, path string) (string, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w; must be a file that this process can read", flag, err)
	}
	text := strings.TrimRight(string(raw), "\r\n")
	if strings.TrimSpace(text) == "" {
		return "", fmt.Errorf("%s: %s is empty; write the secret into it", flag, path)
	}
	return text, nil
}
