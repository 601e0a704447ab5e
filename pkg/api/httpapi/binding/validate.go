package binding

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
)

// defaultItems bounds an array without a bound in its schema.
const defaultItems = 500

// checker validates an input against the schema in the API description. It reports the faults, up to more than a response lists,
// and normalizes values: strings are trimmed, numbers have no exponent. See docs/reference/conventions.md#null-and-absent.
type checker struct {
	reg     huma.Registry
	faults  apierr.Fields
	ignored []string // unknown fields: as many as a response can list
	unknown []string // the same of query parameters
}

// rejectUnknown makes faults of the unknown fields.
func (c *checker) rejectUnknown() {
	for _, name := range c.ignored {
		c.faults.Add(name, apierr.Unknown, "is unknown; correct the name or omit it")
	}
	c.ignored = nil
}

func (c *checker) ignore(name string) { c.ignored = few(c.ignored, name) }

// few appends a name, unless there are more already than a response lists.
func few(names []string, name string) []string {
	if len(names) > apierr.MaxListed {
		return names
	}
	return append(names, name)
}

// value validates v at path and returns its normalized form.
func (c *checker) value(path string, s *huma.Schema, v any) any {
	s, null := jsontype.Resolve(c.reg, s)
	if v == nil {
		if !null && !s.Nullable && s.Type != "" {
			c.faults.Add(path, apierr.Type, "must not be null; omit the field instead")
		}
		return v
	}
	switch s.Type {
	case huma.TypeString:
		return c.text(path, s, v)
	case huma.TypeInteger, huma.TypeNumber:
		return c.number(path, s, v)
	case huma.TypeBoolean:
		if _, ok := v.(bool); !ok {
			c.wrongType(path, "true or false", v)
		}
	case huma.TypeArray:
		return c.array(path, s, v)
	case huma.TypeObject:
		return c.object(path, s, v)
	default:
		c.free(path, v, len(s.AnyOf) == 0) // who knows which schema it is looks closer, as a batch does at its items
	}
	return v
}

func (c *checker) wrongType(path, want string, v any) {
	c.faults.Add(path, apierr.Type, "must be %s, not %s", want, kindOf(v))
}

func kindOf(v any) string {
	switch v.(type) {
	case string:
		return "a string"
	case json.Number:
		return "a number"
	case bool:
		return "a boolean"
	case []any:
		return "an array"
	case map[string]any:
		return "an object"
	}
	return "null"
}

func (c *checker) text(path string, s *huma.Schema, v any) any {
	raw, ok := v.(string)
	if !ok {
		c.wrongType(path, "a string", v)
		return v
	}
	text := strings.TrimSpace(raw)
	if strings.TrimFunc(text, invisible) == "" {
		text = ""
	}
	if text == "" && s.Nullable {
		return nil // an empty optional string becomes null before its length and format are checked
	}
	n := utf8.RuneCountInString(text)
	switch {
	case !c.storable(path, "", text):
	case s.MinLength != nil && n < *s.MinLength:
		c.faults.Add(path, apierr.Length, "must have at least %d non-blank character(s)", *s.MinLength)
	case s.MaxLength != nil && n > *s.MaxLength:
		c.faults.Add(path, apierr.Length, "must have at most %d characters, has %d", *s.MaxLength, n)
	case len(s.Enum) > 0 && !slices.Contains(s.Enum, any(text)):
		c.faults.Add(path, apierr.Enum, "must be one of %s", enumText(s.Enum))
	case s.Pattern != "" && !pattern(s.Pattern).MatchString(text):
		c.faults.Add(path, apierr.Format, "must match %s", patternText(s))
	case s.Format != "":
		if rule := BrokenRule(s.Format, text); rule != "" {
			c.faults.Add(path, apierr.Format, "%s", rule)
		}
	}
	return text
}

// storable checks that the database can store a text; what names it, if that is not path.
func (c *checker) storable(path, what, text string) bool {
	switch {
	case !utf8.ValidString(text):
		c.faults.Add(path, apierr.Format, "%smust be UTF-8", what)
	case strings.ContainsRune(text, 0):
		c.faults.Add(path, apierr.Format, "%smust not contain the character U+0000; remove it", what)
	default:
		return true
	}
	return false
}

// invisible reports whether nobody sees a character. Joiners and the like are a part of texts that have others.
func invisible(r rune) bool {
	const braille = '\u2800' // without dots
	return unicode.In(r, unicode.White_Space, unicode.Cc, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) && r != 0 || r == braille
}

func enumText(values []any) string {
	var texts []string
	for _, v := range values {
		if v != nil { // null is not sent as text
			texts = append(texts, fmt.Sprint(v))
		}
	}
	return strings.Join(texts, ", ")
}

func patternText(s *huma.Schema) string {
	if s.PatternDescription != "" {
		return s.PatternDescription
	}
	return "the pattern " + s.Pattern
}

var patterns sync.Map // string → *regexp.Regexp; the set of patterns is fixed by the schemas

func pattern(p string) *regexp.Regexp {
	if re, ok := patterns.Load(p); ok {
		return re.(*regexp.Regexp) //nolint:errcheck // only this function stores, and only this type
	}
	re := regexp.MustCompile(p)
	patterns.Store(p, re)
	return re
}

// BrokenRule returns the rule of a format, such as uuid, that text breaks, or "".
func BrokenRule(format, text string) string {
	ok := true
	rule := ""
	switch format {
	case "uuid":
		_, err := uuid.Parse(text)
		ok, rule = err == nil && len(text) == 36, "must be a UUID such as 0192d3a5-6f0e-7c1a-9b1e-2f6d8a4c1e55"
	case "date-time":
		at, err := time.Parse(time.RFC3339, text)
		year := at.UTC().Year() // an offset may move the instant outside the years that responses can represent
		ok, rule = err == nil && year >= 1 && year <= 9999, "must be an RFC 3339 date-time such as 2026-11-20T09:30:00Z"
	case "date":
		_, err := time.Parse(time.DateOnly, text)
		ok, rule = err == nil, "must be a date, YYYY-MM-DD"
	case "email":
		ok, rule = IsEmail(text), "must be an e-mail address such as name@example.com"
	case "uri":
		u, err := url.Parse(text)
		ok, rule = err == nil && u.Scheme != "" && u.Host != "", "must be an absolute URL such as https://example.com/hook"
	}
	if ok {
		return ""
	}
	return rule
}

// IsEmail reports whether a text is an e-mail address alone, at a name: mail to [127.0.0.1] would reach whatever listens there.
func IsEmail(text string) bool {
	a, err := mail.ParseAddress(text)
	return err == nil && a.Address == text && !strings.HasSuffix(text, "]")
}

func (c *checker) number(path string, s *huma.Schema, v any) any {
	num, ok := v.(json.Number)
	if !ok {
		c.wrongType(path, "a number", v)
		return v
	}
	text, decimals, err := plainDecimal(string(num))
	if err != nil {
		c.faults.Add(path, apierr.Max, "%s", err.Error())
		return v
	}
	f, _ := strconv.ParseFloat(text, 64) // only used to compare with bounds, which are exact in float64; infinite beyond its range
	switch {
	case s.Type == huma.TypeInteger && decimals > 0:
		c.faults.Add(path, apierr.Step, "must be a whole number")
	case decimals > allowedDecimals(s):
		c.faults.Add(path, apierr.Step, "must have at most %d decimal places", allowedDecimals(s))
	case s.Minimum != nil && f < *s.Minimum:
		c.faults.Add(path, apierr.Min, "must be at least %s", trimFloat(*s.Minimum))
	case s.ExclusiveMinimum != nil && f <= *s.ExclusiveMinimum:
		c.faults.Add(path, apierr.Min, "must be greater than %s", trimFloat(*s.ExclusiveMinimum))
	case s.Maximum != nil && f > *s.Maximum:
		c.faults.Add(path, apierr.Max, "must be at most %s", trimFloat(*s.Maximum))
	case s.ExclusiveMaximum != nil && f >= *s.ExclusiveMaximum:
		c.faults.Add(path, apierr.Max, "must be less than %s", trimFloat(*s.ExclusiveMaximum))
	case math.IsInf(f, 0):
		c.faults.Add(path, apierr.Max, "is too large")
	}
	return json.Number(text)
}

func trimFloat(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// allowedDecimals is the limit in the schema; without one, only the length of the number is bounded.
func allowedDecimals(s *huma.Schema) int {
	if n, ok := s.Extensions["x-decimals"].(int); ok {
		return n
	}
	return math.MaxInt
}

// Limits of a number in JSON.
const (
	maxDigits   = 64
	maxExponent = 100
)

// plainDecimal writes a JSON number without exponent and without trailing zeros after the point, and counts its decimal
// places. A number whose exponent is beyond [maxExponent] is too large or too fine for any field, and stays as it is.
func plainDecimal(text string) (plain string, decimals int, err error) {
	mantissa, exponent, hasExp := strings.Cut(strings.ToLower(text), "e")
	if len(mantissa) > maxDigits {
		return "", 0, fmt.Errorf("must have at most %d digits", maxDigits)
	}
	if hasExp && strings.Trim(mantissa, "-0.") != "" {
		if e, err := strconv.Atoi(exponent); err != nil || e > maxExponent || e < -maxExponent {
			if strings.HasPrefix(exponent, "-") {
				return text, math.MaxInt, nil
			}
			return text, 0, nil
		}
		r, ok := new(big.Rat).SetString(text)
		if !ok {
			return "", 0, fmt.Errorf("is not a number")
		}
		mantissa = r.FloatString(maxDigits + maxExponent) // exact
	}
	if strings.Contains(mantissa, ".") {
		mantissa = strings.TrimSuffix(strings.TrimRight(mantissa, "0"), ".")
	}
	_, places, _ := strings.Cut(mantissa, ".")
	return mantissa, len(places), nil
}

func (c *checker) array(path string, s *huma.Schema, v any) any {
	items, ok := v.([]any)
	if !ok {
		c.wrongType(path, "an array", v)
		return v
	}
	limit := defaultItems
	if s.MaxItems != nil {
		limit = *s.MaxItems
	}
	switch {
	case len(items) > limit:
		c.faults.Add(path, apierr.Max, "must have at most %d entries, has %d", limit, len(items))
		return v
	case s.MinItems != nil && len(items) < *s.MinItems:
		c.faults.Add(path, apierr.Min, "must have at least %d entries", *s.MinItems)
	}
	for i, item := range items {
		if c.faults.Full() {
			break
		}
		items[i] = c.value(path+"["+strconv.Itoa(i)+"]", s.Items, item)
	}
	return items
}

func (c *checker) object(path string, s *huma.Schema, v any) any {
	obj, ok := v.(map[string]any)
	if !ok {
		c.wrongType(path, "an object", v)
		return v
	}
	if s.MaxProperties != nil && len(obj) > *s.MaxProperties {
		c.faults.Add(path, apierr.Max, "must have at most %d entries, has %d", *s.MaxProperties, len(obj))
	}
	for _, name := range s.Required {
		if _, sent := obj[name]; !sent {
			c.faults.Add(join(path, name), apierr.Required, "is required")
		}
	}
	for name, p := range s.Properties {
		if _, sent := obj[name]; !sent && p.Default != nil {
			obj[name] = defaultOf(p)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(obj)) {
		if c.faults.Full() {
			break
		}
		v, keep := c.property(join(path, name), s, name, obj[name])
		if obj[name] = v; !keep {
			delete(obj, name)
		}
	}
	return obj
}

var defaults sync.Map // *huma.Schema → its default as read from JSON; the set of schemas is fixed

// defaultOf returns the default of a schema as decoded JSON.
func defaultOf(s *huma.Schema) any {
	if v, ok := defaults.Load(s); ok {
		return v
	}
	raw, err := json.Marshal(s.Default)
	if err != nil {
		panic(err) // defaults come from struct tags
	}
	v, err := Parse(raw)
	if err != nil {
		panic(err)
	}
	defaults.Store(s, v)
	return v
}

// property checks one property; keep is false for one that the schema does not have.
func (c *checker) property(path string, s *huma.Schema, name string, v any) (normal any, keep bool) {
	if p, known := s.Properties[name]; known {
		return c.value(path, p, v), true
	}
	if of, isMap := s.AdditionalProperties.(*huma.Schema); isMap {
		c.key(path, s, name)
		return c.value(path, of, v), true
	}
	c.free(path, v, true)
	if len(s.Properties) > 0 {
		c.ignore(path)
		return v, false
	}
	return v, true
}

// key checks the key of a map.
func (c *checker) key(path string, of *huma.Schema, name string) {
	if !c.storable(path, "the key ", name) {
		return
	}
	rule, ok := of.Extensions[jsontype.PropertyNames].(*huma.Schema)
	if !ok {
		return
	}
	n := utf8.RuneCountInString(name)
	tooShort, tooLong := rule.MinLength != nil && n < *rule.MinLength, rule.MaxLength != nil && n > *rule.MaxLength
	switch {
	case rule.Pattern != "" && (tooShort || tooLong || !pattern(rule.Pattern).MatchString(name)):
		c.faults.Add(path, apierr.Format, "the key must be %s", patternText(rule))
	case tooShort:
		c.faults.Add(path, apierr.Length, "the key must have at least %d characters", *rule.MinLength)
	case tooLong:
		c.faults.Add(path, apierr.Length, "the key must have at most %d characters, has %d", *rule.MaxLength, n)
	}
}

// free checks the bounds of a value that has no schema, and that it can be stored if it will be as it is. It names the places of
// what is wrong and no others: to name each would take more time than all else, where keys are long.
func (c *checker) free(path string, v any, stored bool) {
	if c.faults.Full() || within(v, stored) {
		return
	}
	switch v := v.(type) {
	case string:
		c.storable(path, "", v)
	case []any:
		if len(v) > defaultItems {
			c.faults.Add(path, apierr.Max, "must have at most %d entries, has %d", defaultItems, len(v))
			return
		}
		for i, item := range v {
			if !within(item, stored) {
				c.free(path+"["+strconv.Itoa(i)+"]", item, stored)
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if stored && !plain(name) {
				c.storable(join(path, name), "the key ", name)
			}
			if !within(v[name], stored) {
				c.free(join(path, name), v[name], stored)
			}
		}
	}
}

// within reports whether a value without a schema is within its bounds, and can be stored if it will be.
func within(v any, stored bool) bool {
	switch v := v.(type) {
	case string:
		return !stored || plain(v)
	case []any:
		return len(v) <= defaultItems && !slices.ContainsFunc(v, func(item any) bool { return !within(item, stored) })
	case map[string]any:
		for name, item := range v {
			if stored && !plain(name) || !within(item, stored) {
				return false
			}
		}
	}
	return true
}

// plain reports whether the database can store a text.
func plain(text string) bool { return utf8.ValidString(text) && !strings.ContainsRune(text, 0) }

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
