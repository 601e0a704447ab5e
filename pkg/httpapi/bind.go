package httpapi

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/apierr"
	"github.com/tradegrid/tradegrid/pkg/jsontype"
)

// binder fills the input struct of one operation from a request: fields tagged `path`, `query` and `header` from
// parameters, the field Body from the body, and the embedded [Call] from the caller.
type binder struct {
	reg     huma.Registry
	params  []param
	child   string          // name of the last path parameter
	known   map[string]bool // names of query parameters
	prefix  []string        // query parameters of the form name[key]
	body    []int           // index of Body; nil if the operation has none
	bodyOpt bool            // the request may lack a body
	schema  *huma.Schema    // of Body
	call    []int
}

type param struct {
	index  []int
	name   string
	in     string // path, query or header
	schema *huma.Schema
	def    string // default; "" = none
	needed bool   // must be sent; those in the path always are
}

// params are the parameters of a request, or those that stand for them.
type params interface {
	param(in, name string) string
	emptyQuery(name string) bool
	queryNames() map[string]string
	queryArgs() []queryArg
}

// childParam in a path tag stands for the last parameter of the path of the operation.
const childParam = "$child"

func newBinder(reg huma.Registry, path string, t reflect.Type) *binder {
	b := &binder{reg: reg, known: map[string]bool{}, child: lastParam(path)}
	b.scan(t, nil)
	if b.call == nil {
		panic(fmt.Sprintf("input %s must embed httpapi.Call", t))
	}
	return b
}

func (b *binder) scan(t reflect.Type, at []int) {
	for i := range t.NumField() {
		f := t.Field(i)
		index := slices.Concat(at, []int{i})
		switch {
		case f.Type == reflect.TypeFor[Call]():
			b.call = index
		case f.Name == "Body" && len(at) == 0:
			b.body, b.schema = index, b.bodySchema(f, t.Name()+"Body")
			b.bodyOpt = f.Type.Kind() == reflect.Pointer || f.Tag.Get("body") == "command" && len(b.resolve(b.schema).Required) == 0
		case f.Type.Kind() == reflect.Struct && (f.Anonymous || f.Tag.Get("params") == "inline"):
			b.scan(f.Type, index)
		default:
			b.addParam(f, index)
		}
	}
}

func (b *binder) bodySchema(f reflect.StructField, hint string) *huma.Schema {
	t := deref(f.Type)
	if fields := patchFields(t); fields != nil {
		return derivedBody(b.reg, fields, patchSuffix)
	}
	if f.Tag.Get("body") != "" {
		return derivedBody(b.reg, t, inputSuffix)
	}
	return b.reg.Schema(t, true, hint)
}

func (b *binder) addParam(f reflect.StructField, index []int) {
	for _, in := range []string{"path", "query", "header"} {
		name, ok := f.Tag.Lookup(in)
		if !ok {
			continue
		}
		name, _, _ = strings.Cut(name, ",")
		if in == "path" && name == childParam {
			name = b.child
		}
		p := param{index: index, name: name, in: in, def: f.Tag.Get("default"), schema: huma.SchemaFromField(b.reg, f, f.Name), needed: f.Tag.Get("required") == "true"}
		if in == "query" {
			notBlank(p.schema)
		}
		b.params = append(b.params, p)
		b.known[name] = in == "query"
		if in == "query" && p.schema.Type == huma.TypeObject {
			b.prefix = append(b.prefix, name+"[")
		}
	}
}

// notBlank describes that a query parameter must have a value; bindParams checks it. Items of a list are separated by commas.
func notBlank(s *huma.Schema) {
	one := 1
	switch {
	case s.Type == huma.TypeArray:
		s.MinItems = &one
		if open(s.Items) {
			s.Items.Pattern, s.Items.PatternDescription = `^[^,]*[^,\s][^,]*$`, "text that is not blank"
		}
	case s.Type == huma.TypeObject:
		if of, ok := s.AdditionalProperties.(*huma.Schema); ok {
			notBlank(of)
		}
	case open(s):
		s.Pattern, s.PatternDescription = `\S`, "text that is not blank"
	}
}

// open reports whether a schema allows any text.
func open(s *huma.Schema) bool {
	return s.Type == huma.TypeString && s.Pattern == "" && s.Format == "" && len(s.Enum) == 0 && len(s.OneOf) == 0
}

// resolve returns the schema that s refers to.
func (b *binder) resolve(s *huma.Schema) *huma.Schema {
	if s.Ref == "" {
		return s
	}
	return b.reg.SchemaFromRef(s.Ref)
}

// lastParam returns the name of the last parameter of a path.
func lastParam(path string) string {
	name, _, _ := strings.Cut(path[strings.LastIndex(path, "{")+1:], "}")
	return name
}

func deref(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// bind validates and fills the input and reports all faults at once.
func (b *binder) bind(r *request, in reflect.Value) error {
	c := &checker{reg: b.reg}
	b.bindParams(r, c, in)
	if b.body != nil {
		if err := b.bindBody(r, c, in); err != nil {
			return err
		}
	}
	if err := r.unknown(c); err != nil {
		return err
	}
	if err := c.faults.Err(); err != nil {
		return err
	}
	in.FieldByIndex(b.call).Set(reflect.ValueOf(r.call))
	return nil
}

func (b *binder) bindParams(r params, c *checker, in reflect.Value) {
	for _, p := range b.params {
		if p.in == "query" && p.schema.Type == huma.TypeObject {
			b.bindKeyed(r, c, in.FieldByIndex(p.index), p)
			continue
		}
		text := r.param(p.in, p.name)
		if p.in == "query" && r.emptyQuery(p.name) {
			c.faults.Add(p.name, apierr.Format, "must not be empty: set a value or omit the parameter")
			continue
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
	for name := range r.queryNames() {
		if !b.known[name] && !b.prefixed(name) {
			c.ignore(name)
		}
	}
}

// bindKeyed fills a map of strings from the query parameters name[key].
func (b *binder) bindKeyed(r params, c *checker, into reflect.Value, p param) {
	values := map[string]string{}
	for _, arg := range r.queryArgs() {
		rest, ok := strings.CutPrefix(arg.name, p.name)
		if !ok || rest != "" && rest[0] != '[' {
			continue
		}
		key, closed := strings.CutSuffix(strings.TrimPrefix(rest, "["), "]")
		_, twice := values[key]
		if rule, ok := p.schema.Extensions[jsontype.PropertyNames].(*huma.Schema); ok && closed && key != "" {
			c.propertyName(arg.name, rule, key)
		}
		switch text := strings.TrimSpace(arg.value); {
		case rest == "" || !closed || key == "":
			c.faults.Add(arg.name, apierr.Format, "must be sent as %s[key]=value", p.name)
		case text == "":
			c.faults.Add(arg.name, apierr.Format, "must not be empty: set a value or omit the parameter")
		case twice:
			c.faults.Add(arg.name, apierr.Conflict, "is a duplicate; send it once")
		default:
			values[key] = fmt.Sprint(c.value(arg.name, p.schema.AdditionalProperties.(*huma.Schema), text)) //nolint:errcheck,forcetypeassert // of a map of strings
		}
	}
	if len(values) > 0 {
		into.Set(reflect.ValueOf(values).Convert(into.Type()))
	}
}

func (b *binder) prefixed(name string) bool {
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

func (b *binder) bindBody(r *request, c *checker, in reflect.Value) error {
	target := in.FieldByIndex(b.body)
	if len(r.body) == 0 {
		switch {
		case !b.bodyOpt:
			c.faults.Add(bodyField, apierr.Required, "is required: send a JSON object")
			return nil
		case target.Kind() == reflect.Pointer:
			return nil
		}
		r.body = []byte("{}") // with its defaults
	}
	tree, err := r.bodyTree()
	defer r.processing()()
	if f, invalid := apierr.As(err); invalid {
		c.faults = append(c.faults, f.Fields...)
		return nil
	}
	tree = c.value("", b.schema, tree)
	for i, f := range c.faults {
		if f.Field == "" {
			c.faults[i].Field, c.faults[i].Message = bodyField, bodyField+f.Message
		}
	}
	if len(c.faults) > 0 {
		return nil
	}
	// Decode what was validated: the decoder matches names case-insensitively.
	raw, err := json.Marshal(tree)
	if err != nil {
		return fmt.Errorf("encode normalized body: %w", err)
	}
	if target.Kind() == reflect.Pointer {
		target.Set(reflect.New(target.Type().Elem()))
		target = target.Elem()
	}
	if err := json.Unmarshal(raw, target.Addr().Interface()); err != nil {
		var typeErr *json.UnmarshalTypeError
		if errors.As(err, &typeErr) {
			c.faults.Add(typeErr.Field, apierr.Type, "has the wrong type")
			return nil
		}
		c.faults.Add(bodyField, apierr.Format, "%s", err.Error())
	}
	return nil
}

// versionPattern is what If-Match may be.
const versionPattern = `^(\*|(W/)?("[0-9]{1,18}"|[0-9]{1,18}))$`

// parseVersion parses If-Match.
func parseVersion(text string) (*int64, error) {
	if text == "*" {
		return nil, nil //nolint:nilnil // any version
	}
	v, err := strconv.ParseInt(strings.Trim(strings.TrimPrefix(text, "W/"), `"`), 10, 64)
	if err != nil || !pattern(versionPattern).MatchString(text) {
		return nil, apierr.InvalidField("If-Match", apierr.Format, `must be the ETag of the record, such as "3"; omit the header to change any version`)
	}
	return &v, nil
}

func parseKey(header string, text string) (uuid.UUID, error) {
	text = strings.Trim(text, `"`)
	id, err := uuid.Parse(text)
	if err != nil || len(text) != 36 {
		return uuid.Nil, apierr.InvalidField(header, apierr.Format, "must be a UUID; use a new one for each change")
	}
	return id, nil
}

// unknown handles fields and parameters that the operation does not have: it lists them in a header, or rejects
// the request if the client asked for strict handling. See docs/reference/conventions.md#unknown-fields.
func (r *request) unknown(c *checker) error {
	if len(c.ignored) == 0 {
		return nil
	}
	if r.strict() {
		for _, name := range c.ignored {
			c.faults.Add(name, apierr.Unknown, "is unknown; correct the name or omit it")
		}
		return c.faults.Err()
	}
	r.showIgnored(c.ignored)
	return nil
}

// strict reports whether unknown fields are errors.
func (r *request) strict() bool { return strings.Contains(r.header("Prefer"), "handling=strict") }

// showIgnored lists the names of fields and parameters, and those listed before, in a header.
func (r *request) showIgnored(names []string) {
	if len(names) == 0 {
		return
	}
	r.ignored = slices.Compact(slices.Sorted(slices.Values(append(r.ignored, names...))))
	r.fc.Set("X-Ignored-Fields", headerSafe(strings.Join(r.ignored, ", ")))
}

// headerSafe makes text from a client safe for a header: no control characters, and bounded in length.
func headerSafe(s string) string {
	s = strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' {
			return '?'
		}
		return c
	}, s)
	return s[:min(len(s), 1024)]
}
