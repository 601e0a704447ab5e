package imports

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/spreadsheet"
)

// column is a column of the file.
type column struct {
	name  string         // as the records have it
	field *field         // nil = it is not stored
	code  bool           // see codes
	zone  *time.Location // of its times
	out   bool           // its cells are left out, because the request names no field for it
}

// UnknownColumn is a column that records do not have.
type UnknownColumn struct {
	Column     string `json:"column"`
	DidYouMean string `json:"didYouMean,omitempty"`
}

// withZone is a header that names the zone of its times, as exports write it.
var withZone = regexp.MustCompile(`^(\w+) \(([\w/+-]+)\)$`)

// own are the fields of the records, also those that the platform maintains.
func (t *table) own() []string {
	own := []string{currencyColumn}
	for _, f := range t.list.Fields {
		own = append(own, f.Name)
	}
	return own
}

// plan matches the header of the file with the fields of the records; columns are their names instead, comma-separated.
func (t *table) plan(header []spreadsheet.Value, columns, key string) error {
	t.at, t.seen, t.header = map[string]int{}, map[claim]int{}, textsOf(header)
	t.ignored, t.unknown, t.key = nil, nil, ""
	fields, own := fieldsOf(t.source.Input), t.own()
	known := t.known(fields, own)
	t.columns = make([]column, len(header))
	var faults apierr.Fields
	names := t.mapped(columns, known, &faults)
	for i, cell := range header {
		c := column{name: strings.TrimSpace(cell.Text), zone: t.zone}
		if m := withZone.FindStringSubmatch(c.name); m != nil {
			c.name, c.zone = m[1], zoneOf(m[2])
		}
		if names != nil {
			if c.out = i >= len(names) || names[i] == ""; c.out {
				t.columns[i].out = true
				continue
			}
			c.name = names[i]
		}
		if c.name == "" {
			continue
		}
		if name, ok := known[plainName(c.name)]; ok {
			c.name = name
		}
		if _, twice := t.at[c.name]; twice {
			faults.Add("body", apierr.Conflict, "has the column %s twice; leave one out", c.name)
		}
		c.field, c.code = fields[t.fieldName(c.name)], slices.Contains(codes, c.name)
		t.at[c.name], t.columns[i] = i, c
		switch {
		case c.field != nil || t.consumes(c.name):
		case slices.Contains(own, c.name):
			t.ignored = append(t.ignored, c.name)
		default:
			t.unknown = append(t.unknown, UnknownColumn{c.name, apierr.Nearest(c.name, append(namesOf(fields), own...))})
		}
	}
	t.chooseKey(key, &faults)
	if !slices.ContainsFunc(t.columns, func(c column) bool { return c.field != nil }) {
		faults.Add("body", apierr.Required, "has no column that is a field of %s; the first row must name fields, such as %s, and has %s", t.source.Resource, namesOf(fields)[0], t.found())
	}
	return faults.Err()
}

// mapped are the names of the columns that a request has; nil = it leaves them to the file.
func (t *table) mapped(columns string, known map[string]string, faults *apierr.Fields) []string {
	if columns == "" {
		return nil
	}
	names := strings.Split(columns, ",")
	if len(names) > len(t.columns) {
		faults.Add("columns", apierr.Length, "names %d columns, of which the file has %d", len(names), len(t.columns))
	}
	for i, name := range names {
		if names[i] = strings.TrimSpace(name); names[i] != "" && known[plainName(name)] == "" {
			faults.Add("columns", apierr.Unknown, "names the field %s, which %s do not have", shorten(names[i]), t.source.Resource)
		}
	}
	return names
}

func textsOf(cells []spreadsheet.Value) []string {
	texts := make([]string, len(cells))
	for i, cell := range cells {
		texts[i] = strings.TrimSpace(cell.Text)
	}
	return texts
}

// known are the names that columns may have, by their [plainName].
func (t *table) known(fields map[string]*field, own []string) map[string]string {
	known := map[string]string{}
	for _, name := range slices.Concat(own, stockKeys, namesOf(fields)) {
		known[plainName(name)] = name
	}
	if t.consumes(imagesColumn) {
		known[plainName(imagesColumn)] = imagesColumn
	}
	return known
}

// plainName is the form in which names of columns are compared: External ID and external_id are externalId.
func plainName(name string) string {
	return strings.NewReplacer(" ", "", "_", "", "-", "").Replace(strings.ToLower(name))
}

// found lists the columns of the file, with the names that may have been meant by those that are unknown.
func (t *table) found() string {
	var names []string
	for _, c := range t.columns {
		if c.name == "" {
			continue
		}
		name := strconv.Quote(shorten(c.name))
		if i := slices.IndexFunc(t.unknown, func(u UnknownColumn) bool { return u.Column == c.name && u.DidYouMean != "" }); i >= 0 {
			name += " (did you mean " + t.unknown[i].DidYouMean + "?)"
		}
		if names = append(names, name); len(names) == maxUnknown {
			break
		}
	}
	return strings.Join(names, ", ")
}

// maxHeader is how many characters of a header an error repeats.
const maxHeader = 64

func shorten(text string) string {
	if r := []rune(text); len(r) > maxHeader {
		return string(r[:maxHeader]) + "…"
	}
	return text
}

func namesOf(fields map[string]*field) []string {
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (t *table) has(name string) bool { _, ok := t.at[name]; return ok }

// chooseKey decides by which columns records are found.
func (t *table) chooseKey(key string, faults *apierr.Fields) {
	var can []string
	var columns [][]string
	add := func(ok bool, name string, needs ...string) {
		if ok {
			can, columns = append(can, name), append(columns, needs)
		}
	}
	if t.source.Resource == stocks {
		add(true, keyID, "productId")
		add(true, keySKU, t.skuColumn())
	} else {
		add(true, keyID, "id")
		add(t.source.BySKU, keySKU, "sku")
		add(t.source.External, keyExternal, "source", "externalId")
	}
	complete := func(needs []string) bool {
		return !slices.ContainsFunc(needs, func(name string) bool { return !t.has(name) && (name != "source" || t.origin == "") })
	}
	if key == keyNone && t.source.Resource != stocks {
		t.key = keyNone
		return
	}
	if key == "" {
		if i := slices.IndexFunc(columns, complete); i >= 0 {
			t.key = can[i]
			return
		}
		faults.Add("key", apierr.Required, "cannot be found: the file has none of the columns %s, but %s", strings.Join(slices.Concat(columns...), ", "), t.found())
		return
	}
	i := slices.Index(can, key)
	switch {
	case i < 0:
		faults.Add("key", apierr.Enum, "must be one of %s for %s", strings.Join(can, ", "), t.source.Resource)
	case !complete(columns[i]):
		faults.Add("key", apierr.Required, "needs the columns %s in the file", strings.Join(columns[i], ", "))
	}
	t.key = key
}
