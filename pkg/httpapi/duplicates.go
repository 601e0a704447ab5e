package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// duplicateKeysError holds the paths of duplicate keys. JSON parsers differ in which of the values they use, so the
// client and a proxy may disagree.
type duplicateKeysError []string

func (e duplicateKeysError) Error() string { return fmt.Sprintf("has duplicate keys: %q", []string(e)) }

// checkKeys finds duplicate keys in valid JSON; tree is its decoded form.
func checkKeys(raw []byte, tree any) error {
	if countColons(raw) == countKeys(tree) {
		return nil // the decoder dropped no key
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var found duplicateKeysError
	if err := walkKeys(dec, "", &found); err != nil {
		return fmt.Errorf("is not valid JSON: %w", err)
	}
	return found
}

// countColons counts the colons outside strings: one per key.
func countColons(raw []byte) (n int) {
	inText := false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"':
			inText = !inText
		case c == '\\' && inText:
			i++
		case c == ':' && !inText:
			n++
		}
	}
	return n
}

func countKeys(tree any) (n int) {
	switch v := tree.(type) {
	case map[string]any:
		n = len(v)
		for _, item := range v {
			n += countKeys(item)
		}
	case []any:
		for _, item := range v {
			n += countKeys(item)
		}
	}
	return n
}

// walkKeys reads one value and collects the paths of duplicate keys.
func walkKeys(dec *json.Decoder, path string, found *duplicateKeysError) error {
	token, err := dec.Token()
	if err != nil {
		return err //nolint:wrapcheck // the caller wraps
	}
	opening, ok := token.(json.Delim)
	if !ok {
		return nil
	}
	seen := map[string]bool{}
	for i := 0; dec.More(); i++ {
		at := path + "[" + strconv.Itoa(i) + "]"
		if opening == '{' {
			key, err := dec.Token()
			if err != nil {
				return err //nolint:wrapcheck // the caller wraps
			}
			name, _ := key.(string) // keys are
			if at = join(path, name); seen[name] && len(*found) <= maxFaults {
				*found = append(*found, at)
			}
			seen[name] = true
		}
		if err := walkKeys(dec, at, found); err != nil {
			return err
		}
	}
	_, err = dec.Token() // the end of the object or array
	return err           //nolint:wrapcheck // the caller wraps
}
