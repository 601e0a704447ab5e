// Package secret reads secrets from files, as Kubernetes and systemd hand them to a process.
package secret

import (
	"fmt"
	"os"
	"strings"
)

// File reads the secret in a file, without the line breaks at its end. The error names the flag that gave the file.
// Callers read anew for each use, so that a changed secret needs no restart.
func File(flag, path string) (string, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w; name a file that this process may read", flag, err)
	}
	text := strings.TrimRight(string(raw), "\r\n")
	if strings.TrimSpace(text) == "" {
		return "", fmt.Errorf("%s: %s is empty; write the secret into it", flag, path)
	}
	return text, nil
}
