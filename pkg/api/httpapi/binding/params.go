package binding

import (
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

// Source is where parameters come from: a request, or what stands for one.
type Source interface {
	Param(in, name string) string // in is path or header here
	QueryArgs() []QueryArg        // in the order in which they were sent
}

// QueryArg is a parameter of a query.
type QueryArg struct{ Name, Value string }

func (b *Binder) bindParams(r Source, c *checker, in reflect.Value) {
	args := r.QueryArgs()
	sent := map[string][]string{}
	for _, arg := range args {
		sent[arg.Name] = append(sent[arg.Name], arg.Value)
	}
	for _, p := range b.params {
		if p.in == "query" && p.schema.Type == huma.TypeObject {
			b.bindKeyed(args, c, in.FieldByIndex(p.index), p)
			continue
		}
		text := ""
		if p.in != "query" {
			text = r.Param(p.in, p.name)
		} else if values := sent[p.name]; len(values) > 0 {
			var ok bool
			if text, ok = c.one(p, values); !ok {
				continue
			}
		}
		if text == "" {
			text = p.def
		}
		if text == "" && p.needed {
			c.faults.Add(p.name, apierr.Required, "is required; set a value")
		}
		if text == "" && p.in != "path" {
			continue
		}
		before := len(c.faults)
		v := c.value(p.name, p.schema, paramValue(p.schema, text))
		if len(c.faults) > before {
			continue
		}
		if err := setParam(in.FieldByIndex(p.index), v); err != nil {
			c.faults.Add(p.name, apierr.Format, "%s", err.Error())
		}
	}
	for name := range sent {
		if !b.known[name] && !b.prefixed(name) {
			c.unknown = few(c.unknown, name)
		}
	}
}

// one is the text of a query parameter. A list may be sent in several parts; ignoring one, or an empty value, would return other
// records than were asked for.
func (c *checker) one(p param, values []string) (text string, ok bool) {
	switch {
	case slices.ContainsFunc(values, func(v string) bool { return strings.TrimSpace(v) == "" }):
		c.faults.Add(p.name, apierr.Format, "must not be empty: set a value or omit the parameter")
	case len(values) > 1 && p.schema.Type != huma.TypeArray:
		c.faults.Add(p.name, apierr.Conflict, "takes one value and is sent %d times; send it once", len(values))
	default:
		return strings.Join(values, ","), true
	}
	return "", false
}

// rejectParams makes faults of the unknown query parameters: who filters by one expects fewer records.
func (b *Binder) rejectParams(c *checker) {
	for _, name := range slices.Sorted(slices.Values(c.unknown)) {
		c.faults.Add(name, apierr.Unknown, "is not a parameter of this operation%s", b.instead(name))
	}
	c.unknown = nil
}

// instead says what to send in place of an unknown query parameter.
func (b *Binder) instead(name string) string {
	var known []string
	for _, p := range b.params {
		if p.in == "query" {
			known = append(known, p.name)
		}
	}
	slices.Sort(known)
	stem, _, _ := strings.Cut(name, "[")
	switch nearest := apierr.Nearest(stem, known); {
	case len(known) == 0:
		return "; it has none: omit it"
	case nearest != "":
		return fmt.Sprintf("; did you mean %s? It knows %s", nearest, strings.Join(known, ", "))
	default:
		return "; it knows " + strings.Join(known, ", ")
	}
}

// bindKeyed fills a map of strings from the query parameters name[key].
func (b *Binder) bindKeyed(args []QueryArg, c *checker, into reflect.Value, p param) {
	values := map[string]string{}
	for _, arg := range args {
		rest, ok := strings.CutPrefix(arg.Name, p.name)
		if !ok || rest != "" && rest[0] != '[' {
			continue
		}
		key, closed := strings.CutSuffix(strings.TrimPrefix(rest, "["), "]")
		_, twice := values[key]
		if closed && key != "" {
			c.key(arg.Name, p.schema, key)
		}
		switch text := strings.TrimSpace(arg.Value); {
		case rest == "" || !closed || key == "":
			c.faults.Add(arg.Name, apierr.Format, "must be sent as %s[key]=value", p.name)
		case text == "":
			c.faults.Add(arg.Name, apierr.Format, "must not be empty: set a value or omit the parameter")
		case twice:
			c.faults.Add(arg.Name, apierr.Conflict, "is a duplicate; send it once")
		default:
			values[key] = fmt.Sprint(c.value(arg.Name, p.schema.AdditionalProperties.(*huma.Schema), text)) //nolint:errcheck,forcetypeassert // of a map of strings
		}
	}
	if len(values) > 0 {
		into.Set(reflect.ValueOf(values).Convert(into.Type()))
	}
}

func (b *Binder) prefixed(name string) bool {
	return slices.ContainsFunc(b.prefix, func(p string) bool { return strings.HasPrefix(name, p) })
}

// paramValue converts the text of a parameter to the JSON type of its schema;
// text that does not convert stays a string, which validation reports.
func paramValue(s *huma.Schema, text string) any {
	switch s.Type {
	case huma.TypeInteger, huma.TypeNumber:
		if json.Valid([]byte(text)) && (text[0] == '-' || (text[0] >= '0' && text[0] <= '9')) {
			return json.Number(text)
		}
	case huma.TypeBoolean:
		switch text {
		case "true", "1":
			return true
		case "false", "0":
			return false
		}
	case huma.TypeArray:
		parts := strings.Split(text, ",")
		items := make([]any, len(parts))
		for i, part := range parts {
			items[i] = paramValue(s.Items, strings.TrimSpace(part))
		}
		return items
	}
	return text
}

func setParam(f reflect.Value, v any) error {
	if f.Kind() == reflect.Pointer {
		f.Set(reflect.New(f.Type().Elem()))
		f = f.Elem()
	}
	if u, ok := f.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return u.UnmarshalText(fmt.Append(nil, v))
	}
	switch v := v.(type) {
	case string:
		f.SetString(v)
	case bool:
		f.SetBool(v)
	case json.Number:
		n, err := strconv.ParseInt(string(v), 10, 64)
		if err != nil {
			return fmt.Errorf("must be a whole number")
		}
		f.SetInt(n)
	case []any:
		out := reflect.MakeSlice(f.Type(), len(v), len(v))
		for i, item := range v {
			if err := setParam(out.Index(i), item); err != nil {
				return err
			}
		}
		f.Set(out)
	}
	return nil
}

// BindQuery fills the parameters of an input from those of a query, without a request. Unknown ones are faults.
func (b *Binder) BindQuery(params map[string]string, in reflect.Value) error {
	c := &checker{reg: b.reg}
	b.bindParams(query(params), c, in)
	b.rejectParams(c)
	return c.faults.Err()
}

// query are the parameters of a query without a request.
type query map[string]string

func (query) Param(string, string) string { return "" }

func (q query) QueryArgs() []QueryArg {
	var all []QueryArg
	for _, name := range slices.Sorted(maps.Keys(q)) {
		all = append(all, QueryArg{name, q[name]})
	}
	return all
}

// Query are the parameters that fill a filter of an operation: a struct with fields tagged query, of which those that are zero are
// left out.
func Query(filter any) url.Values {
	values := url.Values{}
	addQuery(values, reflect.ValueOf(filter))
	return values
}

func addQuery(values url.Values, of reflect.Value) {
	for i := range of.NumField() {
		f, v := of.Type().Field(i), of.Field(i)
		switch name := f.Tag.Get("query"); {
		case name == "" && f.Anonymous:
			addQuery(values, v)
		case name != "" && (!v.IsZero() || f.Tag.Get("default") == "true"): // false has to be said then
			values.Set(name, queryText(v))
		}
	}
}

// queryText is a parameter as clients send it.
func queryText(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Pointer:
		return queryText(v.Elem())
	case reflect.Slice:
		texts := make([]string, v.Len())
		for i := range texts {
			texts[i] = queryText(v.Index(i))
		}
		return strings.Join(texts, ",")
	default:
		return fmt.Sprint(v.Interface())
	}
}
