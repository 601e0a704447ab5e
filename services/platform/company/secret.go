package company

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"strings"
)

const (
	base62       = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	livePrefix   = "svc_live_"
	testPrefix   = "svc_test_"
	publicLength = 8 // two of the cell, six random
	secretLength = 40
	prefixLength = len(livePrefix) + publicLength
	textLength   = prefixLength + 1 + secretLength
)

// tokenHash is the SHA-256 of a whole token. Nothing else of its secret is stored.
type tokenHash [sha256.Size]byte

// newPublicPart returns the public part of a new token: kind, cell and six random characters.
func newPublicPart(isTest bool, cell string) string {
	kind := livePrefix
	if isTest {
		kind = testPrefix
	}
	return kind + cell + randomText(publicLength-len(cell))
}

// newSecret adds a secret to the public part.
func newSecret(public string) (text string, hash tokenHash) {
	text = public + "_" + randomText(secretLength)
	return text, sha256.Sum256([]byte(text))
}

// randomText returns uniformly random base62 text: bytes that would bias it are rejected.
func randomText(n int) string {
	const fair = 256 / len(base62) * len(base62)
	out := make([]byte, 0, n)
	for buf := make([]byte, 2*n); len(out) < n; {
		_, _ = rand.Read(buf) // never returns an error
		for _, b := range buf {
			if int(b) < fair && len(out) < n {
				out = append(out, base62[int(b)%len(base62)])
			}
		}
	}
	return string(out)
}

// hashOf returns false for text that cannot be a token, which then costs no look-up.
func hashOf(text string) (hash tokenHash, ok bool) {
	if len(text) != textLength || text[prefixLength] != '_' {
		return hash, false
	}
	if !strings.HasPrefix(text, livePrefix) && !strings.HasPrefix(text, testPrefix) {
		return hash, false
	}
	// A copy on the stack: converting text of this length would allocate.
	var buf [textLength]byte
	copy(buf[:], text)
	return sha256.Sum256(buf[:]), true
}

// checkCell reports a name that cannot be the cell part of a token.
func checkCell(cell string) error {
	if len(cell) == 2 && strings.Trim(cell, base62) == "" {
		return nil
	}
	return fmt.Errorf("cell %q must be two letters or digits, such as c1", cell)
}
