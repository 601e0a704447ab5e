package web

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

// families are codes of which each domain has its own, by their ends. They share a text.
var families = []string{"NOT_FOUND", "EXTERNAL_ID_TAKEN"}

// maxRefusedLines is how many lines of a document a refusal names.
const maxRefusedLines = 5

// Why says what the API refuses: the text of the code, with the details of the refusal in it, or else the message of the API.
//
// A text has alternatives with " | " between them. The first is shown whose {details} the refusal all has. {left} is shown as it is,
// {left:money} as an amount, {at:time} as a time, {status:word} as a value of an enum, {field:field} as the label of a field, and {lines}
// by the text CODE.line for each line.
func (q *Request) Why(e *apierr.Error) string {
	d := details{q: q, of: metaOf(e)}
	path, rest, ofField := fieldOf(e.Message)
	keys := []string{"refusal." + e.Code}
	if ofField {
		keys = slices.Insert(keys, 0, "refusal."+e.Code+"."+path)
	}
	for _, end := range families {
		if strings.HasSuffix(e.Code, "_"+end) {
			keys = append(keys, "refusal.other."+end)
		}
	}
	for _, key := range keys {
		if text, ok := d.fill(key, e.Code); ok {
			return text
		}
	}
	return Sentence(rest)
}

var beginsWithField = regexp.MustCompile(`^([a-z][A-Za-z0-9]*(?:\[\d+\])?(?:\.[A-Za-z0-9]+(?:\[\d+\])?)*): `)

// fieldOf splits the message of a refusal that is about a field.
func fieldOf(message string) (path, rest string, ok bool) {
	m := beginsWithField.FindStringSubmatch(message)
	if m == nil {
		return "", message, false
	}
	return m[1], message[len(m[0]):], true
}

// metaOf are the details of a refusal as clients get them.
func metaOf(e *apierr.Error) (meta map[string]any) {
	raw, err := json.Marshal(e.Meta)
	if err != nil {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	_ = d.Decode(&meta) // without details, texts that need some are left out
	return meta
}

// details fill the texts of refusals.
type details struct {
	q  *Request
	of map[string]any
}

var detail = regexp.MustCompile(`\{(\w+)(?::(\w+))?\}`)

// fill is the first alternative of a text whose details there all are.
func (d details) fill(key, code string) (string, bool) {
	text, ok := d.q.app.texts.find(d.q.lang, key)
	if !ok {
		return "", false
	}
	for alternative := range strings.SplitSeq(text, " | ") {
		complete, values := true, []any{}
		format := detail.ReplaceAllStringFunc(strings.ReplaceAll(alternative, "%", "%%"), func(m string) string {
			parts := detail.FindStringSubmatch(m)
			value := d.value(parts[1], parts[2], code)
			complete, values = complete && value != "", append(values, value)
			return "%s"
		})
		if complete {
			return filled(d.q.lang, format, values), true
		}
	}
	return "", false
}

// value is a detail for people; "" = there is none.
func (d details) value(name, kind, code string) string {
	if name == "name" {
		return d.name()
	}
	switch v := d.of[name].(type) {
	case nil:
		return ""
	case []any:
		var all []string
		for _, one := range v[:min(len(v), maxRefusedLines)] {
			line, isLine := one.(map[string]any)
			text, ok := d.one(one, kind), true
			if isLine {
				text, ok = details{d.q, line}.fill("refusal."+code+".line", code)
			}
			if ok {
				all = append(all, text)
			}
		}
		return strings.Join(all, ", ")
	case map[string]any:
		var all []string
		for of, one := range v {
			all = append(all, d.q.Word(of)+" "+d.one(one, kind))
		}
		slices.Sort(all)
		return strings.Join(all, ", ")
	default:
		return d.one(v, kind)
	}
}

// one is a single value for people.
func (d details) one(v any, kind string) string {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil && kind == "money" {
			return d.q.Money(n)
		}
		return d.q.Number(v.String())
	case string:
		switch at, err := time.Parse(time.RFC3339, v); {
		case kind == "time" && err == nil:
			return d.q.At(at).Short()
		case kind == "word":
			return d.q.InlineWord(v)
		case kind == "field":
			return d.q.Label(lastName(v))
		}
		return v
	}
	return ""
}

// lastName is the name of the field at a path such as items[2].productId.
func lastName(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// name is what a line of a document is of: its name, or that of its product.
func (d details) name() string {
	if name, _ := d.of["name"].(string); name != "" {
		return name
	}
	text, _ := d.of["productId"].(string)
	id, err := uuid.Parse(text)
	if err != nil {
		return ""
	}
	raw, err := Call[JSON](d.q.HTTP.Context(), d.q, "getProduct", ByID(id))
	if err != nil {
		return "" // the refusal is said without the line
	}
	var product struct{ Name string }
	if Decode(raw, &product) != nil {
		return ""
	}
	return product.Name
}
