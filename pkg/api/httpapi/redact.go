package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi/binding"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
)

const redacted = "[redacted]"

// Names of fields and parameters whose values are not recorded, without case and punctuation. Headers carry credentials, and beside a
// certificate may stand its key.
//
//nolint:gochecknoglobals // constant lists
var (
	secretParts = []string{
		"secret", "password", "passwd", "passphrase", "token", "headers", "clientcertificate", "clientkey", "signature", "authorization", "credential", "cookie", "bearer",
		"apikey", "accesskey", "privatekey", "signingkey", "encryptionkey", "sessionid", "cardnumber", "securitycode",
	}
	secretNames  = []string{"pwd", "auth", "jwt", "sid", "sig", "otp", "pin", "cvv", "cvc", "pan"}
	secretParams = []string{"key", "code"} // only in a query
)

// longestName is how many bytes of a name count; a longer one is no name.
const longestName = 64

func secretName(name string) bool {
	if len(name) > longestName {
		name = name[len(name)-longestName:]
	}
	plain := make([]byte, 0, longestName)
	for _, c := range []byte(name) {
		switch {
		case c >= 'A' && c <= 'Z':
			plain = append(plain, c+'a'-'A')
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			plain = append(plain, c)
		}
	}
	return slices.Contains(secretNames, string(plain)) ||
		slices.ContainsFunc(secretParts, func(part string) bool { return bytes.Contains(plain, []byte(part)) })
}

// withoutSecretTexts returns a text without the secrets that are told by what stands before them: who signs in to a URL, the value behind
// the name of a secret, credentials of HTTP, and tokens of the platform. It reads the text once, because texts are long and many.
func withoutSecretTexts(text string) string {
	var out strings.Builder
	from := 0
	for i := 0; i < len(text); i++ {
		start, end := 0, 0
		switch text[i] {
		case ':', '=':
			start, end = secretBehind(text, i)
		case ' ':
			start, end = credentialsBehind(text, i)
		case '_':
			start, end = tokenAround(text, i)
		}
		if end > start && start >= from && text[start:end] != redacted {
			out.WriteString(text[from:start])
			out.WriteString(redacted)
			from, i = end, end-1
		}
	}
	if from == 0 {
		return text
	}
	out.WriteString(text[from:])
	return out.String()
}

// secretBehind finds the secret behind a colon or an equals sign.
func secretBehind(text string, at int) (start, end int) {
	if rest := text[at:]; strings.HasPrefix(rest, "://") {
		authority := rest[3:][:until(rest[3:], " \t\r\n/?#\"'<>")]
		return at + 3, at + 3 + max(strings.LastIndexByte(authority, '@'), 0)
	}
	first := at
	for first > 0 && at-first <= longestName && partOfName(text[first-1]) {
		first--
	}
	name := strings.Trim(text[first:at], `"' `)
	inQuery := text[at] == '=' && first > 0 && strings.IndexByte("?&;", text[first-1]) >= 0 && slices.Contains(secretParams, strings.ToLower(name))
	if len(name) < 3 || !inQuery && !secretName(lastWord(name)) {
		return 0, 0
	}
	start = at + 1
	for start < len(text) && strings.IndexByte(` "'`, text[start]) >= 0 {
		start++
	}
	end = start + until(text[start:], valueEnds)
	if scheme := text[start:end]; strings.EqualFold(scheme, "bearer") || strings.EqualFold(scheme, "basic") {
		return 0, 0 // the space behind it
	}
	return start, end
}

const valueEnds = " \t\r\n&;,\"'<>"

// until is the length of the beginning of a text without any of the bytes.
func until(text, bytes string) int {
	if n := strings.IndexAny(text, bytes); n >= 0 {
		return n
	}
	return len(text)
}

func partOfName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte(`_.-"' `, c) >= 0
}

// lastWord is the name at the end of a text.
func lastWord(text string) string { return text[strings.LastIndexByte(text, ' ')+1:] }

// credentialsBehind finds what follows the scheme Bearer or Basic. Words of a sentence are shorter, and have no digits.
func credentialsBehind(text string, at int) (start, end int) {
	before := lastWord(text[max(0, at-len(" bearer")):at])
	if before = strings.TrimLeft(before, `"':=`); !strings.EqualFold(before, "bearer") && !strings.EqualFold(before, "basic") {
		return 0, 0
	}
	end = at + 1 + until(text[at+1:], valueEnds)
	if credentials := text[at+1 : end]; len(credentials) < 16 && !strings.ContainsAny(credentials, "0123456789") {
		return 0, 0
	}
	return at + 1, end
}

// tokenAround finds a token of the platform by the first underscore in it.
func tokenAround(text string, at int) (start, end int) {
	for _, prefix := range []string{"svc", "whsec"} {
		if start = at - len(prefix); strings.HasSuffix(text[:at], prefix) && (start == 0 || !partOfName(text[start-1]) || text[start-1] == ' ' || text[start-1] == '"') {
			if end = at + until(text[at:], valueEnds); end-at > 12 {
				return start, end
			}
		}
	}
	return 0, 0
}

// withoutSecrets returns a copy of a decoded body without the values of secret fields.
func withoutSecrets(v any) any {
	switch v := v.(type) {
	case string:
		return withoutSecretTexts(v)
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, value := range v {
			if out[name] = withoutSecrets(value); secretName(name) || name == "value" && (namesSecret(v["name"]) || namesSecret(v["key"])) {
				out[name] = redacted
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = withoutSecrets(item)
		}
		return out
	}
	return v
}

// namesSecret reports whether the field beside a value says that it is secret.
func namesSecret(name any) bool {
	text, ok := name.(string)
	return ok && secretName(text)
}

// WithoutSecrets returns a JSON body without the values of secret fields, and without the secrets in others.
func WithoutSecrets(raw []byte) (json.RawMessage, error) {
	body := binding.Body{Raw: raw}
	tree, err := body.Tree()
	if err != nil {
		return nil, fmt.Errorf("read body: %w", err)
	}
	return jsontype.Marshal(withoutSecrets(tree))
}

// TargetWithoutSecrets returns a path with its query, without the values of secret parameters, and without the secrets in others.
func TargetWithoutSecrets(target string) string {
	path, query, ok := strings.Cut(target, "?")
	path = withoutSecretTexts(path)
	if !ok {
		return path
	}
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		pairs[i] = pairWithoutSecrets(pair)
	}
	return path + "?" + strings.Join(pairs, "&")
}

// pairWithoutSecrets is one parameter of a query, as it was sent unless it has a secret.
func pairWithoutSecrets(pair string) string {
	name, value, _ := strings.Cut(pair, "=")
	plain := unescapedQuery(name)
	if _, key, keyed := strings.Cut(strings.TrimSuffix(plain, "]"), "["); keyed && secretName(key) || secretName(plain) || slices.Contains(secretParams, strings.ToLower(plain)) {
		return name + "=" + url.QueryEscape(redacted)
	}
	value = unescapedQuery(value)
	if clean := withoutSecretTexts(value); clean != value {
		return name + "=" + url.QueryEscape(clean)
	}
	return pair
}

// unescapedQuery decodes a part of a query. One that cannot be decoded stays as it is.
func unescapedQuery(part string) string {
	text, err := url.QueryUnescape(part)
	if err != nil {
		return part
	}
	return text
}
