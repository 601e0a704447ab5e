package find

import (
	"encoding/json"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/kit/phone"
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

// hasContact reports whether the phone number or the address of the record is the one that was typed, or ends in it. callingCode is
// that of the company.
func (r record) hasContact(text, callingCode string) bool {
	if isEmail(text) {
		return strings.EqualFold(r.text("email"), text)
	}
	home := phone.CountryOf(callingCode)
	if key := home.Key(text); key != "" && key == home.Key(r.text("phone")) {
		return true
	}
	own, typed := phoneOf(r.text("phone")), phoneOf(text)
	return len(own) >= sureDigits && len(typed) >= sureDigits && (strings.HasSuffix(own, typed) || strings.HasSuffix(typed, own))
}
