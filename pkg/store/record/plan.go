package record

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
)

// Plan describes the JSON names and columns of a struct, including its embedded structs.
//
// Tags: json names the field. db names the column if it is not the snake case of the JSON name; db:"-" means no column,
// the option insert excludes the column from updates, the option text reads it with a cast, and the option as=name lists a change
// under this name: of a field without a JSON name, or, with db:"-,as=amountDue", of a computed field. search:"text" and
// search:"phone" add the field to the text that search= matches. null:"zero" accepts null in a body as the zero value.
type Plan struct {
	typ    reflect.Type
	fields []field
	byName map[string]int
}

type field struct {
	index      []int
	typ        reflect.Type
	tag        reflect.StructTag
	name       string // JSON name; "" = not in JSON
	column     string // quoted if SQL requires it; "" = no column
	insertOnly bool
	asText     bool
	changedAs  string // name in a list of changes; default name
	compared   bool   // a change of it counts, although it is computed
	equal      func(a, b reflect.Value) bool
}

var plans sync.Map // reflect.Type → *Plan

// PlanOf returns the plan of a struct type. It panics on invalid tags, which are programming errors.
func PlanOf[T any]() *Plan { return planOf(reflect.TypeFor[T]()) }

func planOf(t reflect.Type) *Plan {
	if p, ok := plans.Load(t); ok {
		return p.(*Plan) //nolint:errcheck,forcetypeassert // only this function stores, and only this type
	}
	p := &Plan{typ: t, byName: map[string]int{}}
	p.scan(t, nil)
	p.check()
	got, _ := plans.LoadOrStore(t, p)
	return got.(*Plan) //nolint:errcheck,forcetypeassert // as above
}

// knownTags are the tag keys allowed on fields of records, inputs and filters.
var knownTags = []string{
	"json", "db", "required", "default", "null", "nullable", "search", "where", "query", "path", "header", "enum", "doc", "format",
	"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "minItems", "maxItems", "maxProperties",
	"pattern", "patternDescription", "example", "params", "body",
}

// CheckTags panics if a field of t, or of a struct embedded in it, has an unknown tag key.
func CheckTags(t reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		for rest := strings.TrimSpace(string(f.Tag)); rest != ""; {
			key, after, ok := strings.Cut(rest, ":\"")
			end := closingQuote(after)
			if !ok || end < 0 {
				panic(fmt.Sprintf("%s.%s: malformed tag %q", t, f.Name, f.Tag))
			}
			if !slices.Contains(knownTags, key) {
				panic(fmt.Sprintf("%s.%s: unknown tag %q; use one of %s", t, f.Name, key, strings.Join(knownTags, ", ")))
			}
			rest = strings.TrimSpace(after[end+1:])
		}
		if f.Anonymous && f.Type.Kind() == reflect.Struct {
			CheckTags(f.Type)
		}
	}
}

func closingQuote(s string) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}

func (p *Plan) scan(t reflect.Type, at []int) {
	if t.Kind() != reflect.Struct {
		panic(fmt.Sprintf("%s is not a struct", t))
	}
	for i := range t.NumField() {
		f := t.Field(i)
		index := slices.Concat(at, []int{i})
		switch {
		case f.Anonymous && f.Type.Kind() == reflect.Pointer:
			panic(fmt.Sprintf("%s embeds the pointer %s: embed the struct", t, f.Type))
		case f.Anonymous && f.Type.Kind() == reflect.Struct && f.Tag.Get("json") == "":
			p.scan(f.Type, index)
		case !f.IsExported():
			if f.Tag.Get("db") != "" {
				panic(fmt.Sprintf("%s.%s has a column but is not exported", t, f.Name))
			}
		default:
			p.add(f, index)
		}
	}
}

func (p *Plan) add(f reflect.StructField, index []int) {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "" {
		name = f.Name
	}
	column, options, _ := strings.Cut(f.Tag.Get("db"), ",")
	out := field{
		index: index, typ: f.Type, tag: f.Tag, insertOnly: slices.Contains(strings.Split(options, ","), "insert"),
		asText: slices.Contains(strings.Split(options, ","), "text"), equal: equality(f.Type),
	}
	switch {
	case column == "-":
	case column != "":
		out.column = quoted(column)
	case name == "-":
		out.column = quoted(snake(f.Name))
	default:
		out.column = quoted(snake(name))
	}
	if name != "-" {
		out.name = name
	}
	out.changedAs = out.name
	for option := range strings.SplitSeq(options, ",") {
		if as, ok := strings.CutPrefix(option, "as="); ok {
			out.changedAs, out.compared = as, column == "-"
		}
	}
	p.fields = append(p.fields, out)
}

func (p *Plan) check() {
	columns := map[string]bool{}
	for i, f := range p.fields {
		if _, twice := p.byName[f.name]; twice && f.name != "" {
			panic(fmt.Sprintf("%s has the JSON name %s twice: encoding/json would drop both", p.typ, f.name))
		}
		if columns[f.column] && f.column != "" {
			panic(fmt.Sprintf("%s has the column %s twice", p.typ, f.column))
		}
		columns[f.column] = true
		if f.name != "" {
			p.byName[f.name] = i
		}
	}
	CheckTags(p.typ)
}

// snake converts a JSON name to a column name: displayName to display_name.
func snake(name string) string {
	var b strings.Builder
	runes := []rune(strings.ReplaceAll(name, "IDs", "Ids"))
	for i, r := range runes {
		if unicode.IsUpper(r) && i > 0 && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// keywords are SQL keywords that must be quoted as column names.
var keywords = []string{"position", "order", "group", "user", "from", "to", "limit", "offset", "default", "check", "primary", "end"}

func quoted(column string) string {
	if slices.Contains(keywords, column) {
		return pgx.Identifier{column}.Sanitize()
	}
	return column
}

// shown is the precision of [jsontype.Time] in JSON: sending back a value as read must not count as a change.
const shown = time.Millisecond

// equality returns a function that compares two values as clients see them: times at JSON precision, and nested values
// by their JSON.
func equality(t reflect.Type) func(a, b reflect.Value) bool {
	if t.Kind() == reflect.Pointer {
		same := equality(t.Elem())
		return func(a, b reflect.Value) bool {
			if a.IsNil() || b.IsNil() {
				return a.IsNil() == b.IsNil()
			}
			return same(a.Elem(), b.Elem())
		}
	}
	if t == reflect.TypeFor[jsontype.Time]() {
		return func(a, b reflect.Value) bool { return asTime(a).Truncate(shown).Equal(asTime(b).Truncate(shown)) }
	}
	if isTime(t) {
		return func(a, b reflect.Value) bool { return asTime(a).Equal(asTime(b)) }
	}
	if plain(t) {
		return reflect.Value.Equal
	}
	return func(a, b reflect.Value) bool { return string(asJSON(a)) == string(asJSON(b)) }
}

// plain reports whether == compares the values completely, without pointers.
func plain(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return plain(t.Elem())
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.String:
		return true
	default:
		return false
	}
}

func asJSON(v reflect.Value) []byte {
	raw, err := json.Marshal(v.Interface())
	if err != nil {
		panic(fmt.Sprintf("cannot encode %s as JSON: %v", v.Type(), err)) // fields of records are decoded from JSON
	}
	return raw
}

// counts reports whether a change of the field is a change of the record.
func (p *Plan) counts(f field) bool { return f.compared || p.own(f) }

// own reports whether the field has a column that belongs neither to the key nor to the meta.
func (p *Plan) own(f field) bool {
	switch f.column {
	case "", "company_id", "id", "version", "ev_pos", "created_at", "updated_at":
		return false
	}
	return true
}
