package find

import (
	"encoding/json"
	"strings"
)

// record is a record as the API returns it.
type record map[string]json.RawMessage

// text is a field as text; "" if it is null or not there.
func (r record) text(name string) string {
	raw := string(r[name])
	if raw == "" || raw == "null" {
		return ""
	}
	var s string
	if json.Unmarshal(r[name], &s) == nil {
		return s
	}
	return raw
}

// hasContact reports whether the phone number or the address of the record is the one that was typed.
func (r record) hasContact(text string) bool {
	if isEmail(text) {
		return strings.EqualFold(r.text("email"), text)
	}
	own, typed := phoneOf(r.text("phone")), phoneOf(text)
	return len(own) >= sureDigits && len(typed) >= sureDigits && (strings.HasSuffix(own, typed) || strings.HasSuffix(typed, own))
}
