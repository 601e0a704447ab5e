package web

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
)

// Types of form fields beside those of the input element.
const (
	typeSelect = "select"
	typeArea   = "textarea"
	typeJSON   = "json" // a text area for JSON
	typeChecks = "checks"
	typeImages = "images" // one of several pictures
)

// Fields makes form fields from the body of an operation. Their names are the paths of the fields in JSON, such as
// address.city. Objects become their fields; arrays of texts take a line for each, or boxes to check where there is a choice; other
// arrays take JSON.
type Fields struct {
	Op    httpapi.Operation
	Only  []string          // the fields to show, in this order; nil = all
	But   []string          // fields not to show
	Value json.RawMessage   // what the fields have at first, such as the record; nil = nothing
	Typed url.Values        // what was typed; nil = the form is new
	Err   error             // the refusal of the API
	Help  map[string]string // help by name, instead of that of the catalog
	Pick  map[string][]Option
	Texts string // begins the keys of the texts that say what a field means, see [Request.help]; "" = those of the operation
	Raw   bool   // values are shown and sent as the API has them: amounts in minor units, and all of the body
}

const (
	yes = "true"
	no  = "false"
)

// FieldsOf returns the fields of a form; [Request.BodyOf] reads them.
func (q *Request) FieldsOf(f Fields) []Field {
	var record any
	if len(f.Value) > 0 {
		_ = json.Unmarshal(f.Value, &record) // fields of something else begin empty
	}
	var out []Field
	for _, s := range f.shapes() {
		out = append(out, q.field(f, s, record))
	}
	return out
}

// Faulty reports whether one of the fields shows the refusal. A form has to show what none of them does.
func Faulty(fields []Field) bool {
	return slices.ContainsFunc(fields, func(f Field) bool { return f.Fault != "" })
}

// Names are the fields of the form, as [Request.Label] gets them.
func (f Fields) Names() (names []string) {
	for _, s := range f.shapes() {
		names = append(names, s.Name)
	}
	return names
}

// shapes are the values that the form asks for, named by their paths.
func (f Fields) shapes() []httpapi.Shape {
	if f.Op.Body == nil {
		return nil
	}
	all := leaves(*f.Op.Body, "", 0)
	all = slices.DeleteFunc(all, func(s httpapi.Shape) bool { return within(s.Name, f.But) || f.Only != nil && !within(s.Name, f.Only) })
	if f.Only != nil {
		slices.SortStableFunc(all, func(x, y httpapi.Shape) int { return place(x.Name, f.Only) - place(y.Name, f.Only) })
	}
	return all
}

// within reports whether a path is one of the names, or below one.
func within(path string, names []string) bool { return place(path, names) < len(names) }

func place(path string, names []string) int {
	i := slices.IndexFunc(names, func(n string) bool { return path == n || strings.HasPrefix(path, n+".") })
	if i < 0 {
		return len(names)
	}
	return i
}

// maxNested is how deep forms go into objects; what is deeper is JSON.
const maxNested = 2

func leaves(s httpapi.Shape, at string, depth int) (all []httpapi.Shape) {
	for _, f := range s.Fields {
		f.Name = at + f.Name
		if f.Type == "object" && len(f.Fields) > 0 && depth < maxNested {
			all = append(all, leaves(f, f.Name+".", depth+1)...)
			continue
		}
		all = append(all, f)
	}
	return all
}

func (q *Request) field(f Fields, s httpapi.Shape, record any) Field {
	out := Field{
		Name: s.Name, Label: q.Label(s.Name), Type: inputType(s), Help: q.help(f, s), Required: s.Required && f.Op.Method == http.MethodPost, Fault: q.FaultOf(f.Err, s.Name),
		MaxLength: s.MaxLength, Autocomplete: "off",
	}
	if help, ok := f.Help[s.Name]; ok {
		out.Help = help
	}
	out.Value = q.valueText(s, at(record, s.Name))
	if IsAmount(s) && !f.Raw {
		out.Label, out.Help = out.Label+", "+q.Symbol(), cmp.Or(out.Help, q.T("form.amount", q.decimal("1250")))
		out.Value = q.decimal(out.Value)
	}
	q.compare(f, &out)
	options, picked := f.Pick[s.Name]
	if !picked {
		options = q.choices(s)
		if !f.Raw {
			options = slices.DeleteFunc(options, func(o Option) bool { return !q.Offers(o.Value) && o.Value != out.Value })
		}
	}
	if options == nil {
		return out
	}
	if s.Type == "array" {
		return out.checks(options)
	}
	out.Type = typeSelect
	if slices.ContainsFunc(options, func(o Option) bool { return o.Picture != nil }) {
		out.Type = typeImages
	}
	if !out.Required && !slices.ContainsFunc(options, func(o Option) bool { return o.Value == "" }) {
		options = slices.Insert(slices.Clone(options), 0, Option{Value: "", Text: q.T("form.none")})
	}
	if out.Value != "" && !slices.ContainsFunc(options, func(o Option) bool { return o.Value == out.Value }) { // saving is not to lose it
		options = append(slices.Clone(options), Option{Value: out.Value, Text: out.Value})
	}
	for i := range options {
		options[i].Selected = options[i].Value == out.Value
	}
	out.Options = options
	return out
}

// was begins the names of hidden fields with what a form that changes a record showed at first.
const was = "was."

// compare puts what was typed into a field. A form that changes a record keeps what it showed at first, so that only what somebody has
// changed is sent. If the record has changed meanwhile, the form shows its values as they are now, and what was typed beside them.
func (q *Request) compare(f Fields, out *Field) {
	now := out.Value
	if f.Typed != nil {
		out.Value = strings.Join(f.Typed[out.Name], "\n")
	}
	if f.Op.Method != http.MethodPatch || f.Raw || f.Value == nil {
		return
	}
	out.Was = &now
	if f.Typed == nil || !f.Typed.Has(was+out.Name) {
		return
	}
	first := f.Typed.Get(was + out.Name)
	switch conflict := changedMeanwhile(f.Err); {
	case !conflict:
		out.Was = &first
	case unchanged(out.Value, first):
		out.Value = now
	case !unchanged(now, first) && !unchanged(now, out.Value):
		out.Fault = q.T("form.conflict", cmp.Or(now, q.T("form.none")))
	}
}

// changedMeanwhile reports whether a form was refused because the record is another than the form showed.
func changedMeanwhile(err error) bool {
	known, ok := apierr.As(err)
	return ok && known.Status == http.StatusPreconditionFailed
}

// unchanged reports whether a field has what it had, as far as a browser leaves it as it is.
func unchanged(typed, first string) bool {
	plain := func(text string) string { return strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")) }
	return plain(typed) == plain(first)
}

// IsAmount reports whether a value is money: it has the bounds of [money.Amount].
func IsAmount(s httpapi.Shape) bool {
	return s.Type == "integer" && s.Maximum != nil && *s.Maximum == float64(money.MaxAmount)
}

// checks makes boxes of the lines of a field. Values that are no choice stay among them, so that saving loses none.
func (f Field) checks(options []Option) Field {
	f.Type = typeChecks
	chosen := slices.DeleteFunc(strings.Split(f.Value, "\n"), func(v string) bool { return v == "" })
	for _, o := range options {
		o.Selected = slices.Contains(chosen, o.Value)
		f.Options = append(f.Options, o)
	}
	for _, v := range chosen {
		if !slices.ContainsFunc(options, func(o Option) bool { return o.Value == v }) {
			f.Options = append(f.Options, Option{Value: v, Text: v, Selected: true})
		}
	}
	return f
}

// inputType is how a value is typed.
func inputType(s httpapi.Shape) string {
	switch {
	case s.Type == "array" && s.Item != nil && s.Item.Type == "string":
		return typeArea
	case s.Type == "array", s.Type == "object":
		return typeJSON
	case s.Format == "date":
		return "date"
	case s.Format == "date-time":
		return "datetime-local"
	case s.Type == "integer", s.Type == "number":
		return "number"
	case s.MaxLength != nil && *s.MaxLength > 300:
		return typeArea
	}
	return ""
}

// choices are the values of a field that has few.
func (q *Request) choices(s httpapi.Shape) []Option {
	if s.Type == "boolean" {
		return []Option{{Value: yes, Text: q.T("form.yes")}, {Value: no, Text: q.T("form.no")}}
	}
	var out []Option
	for _, v := range s.Enum {
		out = append(out, Option{Value: v, Text: q.Word(v)})
	}
	return out
}

// localTime is how browsers write a time in a field.
const localTime = "2006-01-02T15:04"

// valueText is a value of a record as its field shows it.
func (q *Request) valueText(s httpapi.Shape, v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		if s.Format == "date-time" {
			if t, err := time.Parse(time.RFC3339, v); err == nil {
				return t.In(q.Zone).Format(localTime)
			}
		}
		return v
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return q.Typed(strconv.FormatFloat(v, 'f', -1, 64))
	case []any:
		if inputType(s) == typeArea {
			lines := make([]string, 0, len(v))
			for _, e := range v {
				line, _ := e.(string)
				lines = append(lines, line)
			}
			return strings.Join(lines, "\n")
		}
	}
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return ""
	}
	return string(raw)
}

// at is the value at a path of decoded JSON; nil if there is none.
func at(v any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		object, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = object[name]
	}
	return v
}

// BodyOf is the JSON body of an operation from the form that [Request.FieldsOf] made. A field that is not in the form is not
// sent, nor is one of a form that changes a record if it has what it had. An empty one is not sent by a form that creates, and empties the field in one that changes. What cannot be read as the
// type of its field is sent as it was typed, so that the API says what is wrong.
func (q *Request) BodyOf(f Fields, form url.Values) map[string]any {
	body := map[string]any{}
	for _, s := range f.shapes() {
		if !form.Has(s.Name) {
			continue
		}
		text := strings.ReplaceAll(strings.Join(form[s.Name], "\n"), "\r\n", "\n") // of boxes, a line for each
		if f.Op.Method == http.MethodPatch && form.Has(was+s.Name) && unchanged(text, form.Get(was+s.Name)) {
			continue
		}
		if strings.TrimSpace(text) != "" {
			v := q.parsed(s, text)
			if IsAmount(s) && !f.Raw {
				v = q.ParseAmount(text)
			}
			put(body, s.Name, v)
			continue
		}
		if f.Op.Method == http.MethodPatch || s.Required && s.Nullable {
			if v, ok := emptied(s); ok {
				put(body, s.Name, v)
			}
		}
	}
	return body
}

// emptied is the value of a field that is left empty; ok is false if it cannot be, so that it stays as it is.
func emptied(s httpapi.Shape) (v any, ok bool) {
	switch {
	case s.Nullable:
		return nil, true
	case s.Type == "array":
		return []any{}, true
	case s.Type == "string" && s.Format == "" && s.Enum == nil:
		return "", true
	}
	return nil, false
}

// parsed is what was typed as JSON has it.
func (q *Request) parsed(s httpapi.Shape, text string) any {
	switch kind := inputType(s); {
	case kind == typeJSON:
		var v any
		if json.Unmarshal([]byte(text), &v) == nil {
			return v
		}
	case kind == typeArea && s.Type == "array":
		lines := []string{}
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" {
				lines = append(lines, line)
			}
		}
		return lines
	case kind == "number":
		if n, ok := ParseNumber(text); ok && json.Valid([]byte(n)) {
			return json.Number(n)
		}
	case kind == "datetime-local":
		if t, err := time.ParseInLocation(localTime, text, q.Zone); err == nil {
			return t.UTC().Format(time.RFC3339)
		}
	case s.Type == "boolean" && (text == yes || text == no):
		return text == yes
	}
	return text
}

// put sets the value at a path.
func put(object map[string]any, path string, v any) {
	for {
		name, rest, deeper := strings.Cut(path, ".")
		if !deeper {
			object[name] = v
			return
		}
		inner, ok := object[name].(map[string]any)
		if !ok {
			inner = map[string]any{}
			object[name] = inner
		}
		object, path = inner, rest
	}
}

// Label names a field for people: the text field.NAME of the catalog, or else the words of its name.
func (q *Request) Label(path string) string {
	return q.Named("field."+path, path)
}

// Named is a text of the catalog, or else the words of a name in the code. Languages other than English have a text for each.
func (q *Request) Named(key, name string) string {
	if text, ok := q.app.texts.find(q.lang, key); ok {
		return text
	}
	return words(name)
}

// help says what a field means, for those that need it: the text of its form, of its operation, or of all fields of this name. The API
// description is no such text, since it is English and speaks to developers; only a form that shows the API as it is has it.
func (q *Request) help(f Fields, s httpapi.Shape) string {
	if f.Raw {
		return s.Doc
	}
	for _, key := range []string{f.Texts + ".help." + s.Name, "help." + f.Op.ID + "." + s.Name, "help." + s.Name} {
		if q.app.texts.has(key) {
			return q.T(key)
		}
	}
	return ""
}

// Word is a value of an enum for people, alone in a field or a cell; see [Request.InlineWord].
func (q *Request) Word(value string) string {
	text := q.InlineWord(value)
	if !Wordy(value) {
		return text
	}
	r, n := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(r)) + text[n:]
}

// InlineWord is a value of an enum as it stands within a sentence: the text value.NAME of the catalog, or that of the field or list of
// this name in a language other than English, or else its words. Codes, such as GET, 4xx or image/png, stay as they are.
func (q *Request) InlineWord(value string) string {
	if text, ok := q.app.texts.word(q.lang, value); ok {
		return text
	}
	if !Wordy(value) {
		return value
	}
	return strings.ToLower(words(value))
}

// Wordy reports whether a value of an enum is made of words, which other languages have to translate, and is not a code.
func Wordy(value string) bool {
	return value != "" && value[0] >= 'a' && value[0] <= 'z' && !strings.ContainsAny(value, ":/")
}

// words makes "unit price" of unitPrice or unit_price, and begins with a capital letter.
func words(name string) string {
	var b strings.Builder
	for i, r := range name {
		switch {
		case r == '_' || r == '.' || r == '-':
			b.WriteByte(' ')
		case unicode.IsUpper(r) && i > 0:
			b.WriteByte(' ')
			b.WriteRune(unicode.ToLower(r))
		case i == 0:
			b.WriteRune(unicode.ToUpper(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
