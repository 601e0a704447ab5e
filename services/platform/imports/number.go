package imports

import (
	"regexp"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/spreadsheet"
)

// numbers are the forms of the numbers of a file; see docs/reference/jobs.md#numbers.
type numbers struct {
	decimal  string // the separator of decimal places, "." or ","; "" if the request does not name it
	currency string
}

// decimal is a number of a cell as it was written.
type decimal struct {
	sign   string // "" or "-"
	whole  string
	places string // with zeros at their end
}

// groupSize is how many digits separators of thousands stand before.
const groupSize = 3

var (
	plain = regexp.MustCompile(`^([+-]?)([0-9]+)(?:[.,]([0-9]+))?$`)
	// grouped matches by separator of decimal places. All separators of thousands of a number are the same; India writes 12,34,567.
	grouped = map[string]*regexp.Regexp{
		".": regexp.MustCompile(`^([+-]?)([0-9]+|[1-9][0-9]{0,2}(?:` + alternatives(",") + `)|[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3})(?:\.([0-9]+))?$`),
		",": regexp.MustCompile(`^([+-]?)([0-9]+|[1-9][0-9]{0,2}(?:` + alternatives(".") + `))(?:,([0-9]+))?$`),
	}
	separators = strings.NewReplacer(".", "", ",", "", " ", "", "\u00a0", "", "\u2009", "", "\u202f", "", "'", "", "’", "")
)

// alternatives is an expression for groups of three digits after one of the separators of thousands.
func alternatives(separator string) string {
	var all []string
	for _, s := range []string{separator, " ", "\u00a0", "\u2009", "\u202f", "'", "’"} {
		all = append(all, "(?:"+regexp.QuoteMeta(s)+"[0-9]{3})+")
	}
	return strings.Join(all, "|")
}

// parse reads the number of a cell: that which its writer meant, or none.
func (n numbers) parse(v spreadsheet.Value) (decimal, *apierr.Field) {
	if v.Kind == spreadsheet.Time {
		return decimal{}, fault(apierr.Type, "is a date in this file; format the column as a number, and enter the value again")
	}
	text := strings.TrimSpace(textOf(v))
	form := plain
	if v.Kind != spreadsheet.Number && n.decimal != "" {
		form = grouped[n.decimal]
	}
	m := form.FindStringSubmatch(text)
	if m == nil {
		return decimal{}, n.wrong()
	}
	d := decimal{strings.TrimPrefix(m[1], "+"), strings.TrimLeft(separators.Replace(m[2]), "0"), m[3]}
	switch {
	case v.Kind == spreadsheet.Number:
		d.places = strings.TrimRight(d.places, "0") // programs store as many as they like
	case n.decimal == "" && len(d.places) == groupSize && len(m[2]) <= groupSize && m[2][0] != '0':
		return decimal{}, fault(apierr.Type, "may mean %s or %s; add the parameter decimalSeparator, the character before the decimal places in this file",
			d.sign+d.whole+d.places, d.sign+d.whole+"."+d.places)
	}
	if d.whole == "" {
		d.whole = "0"
	}
	return d, nil
}

func (n numbers) wrong() *apierr.Field {
	switch n.decimal {
	case ".":
		return fault(apierr.Type, "must be a number such as 1234.5 or 1,234.5, with three digits after each separator of thousands")
	case ",":
		return fault(apierr.Type, "must be a number such as 1234,5 or 1.234,5, with three digits after each separator of thousands")
	}
	return fault(apierr.Type, "must be a number such as 1234.5; for separators of thousands add the parameter decimalSeparator, the character before the decimal places in this file")
}

// number is a cell as a JSON number.
func (n numbers) number(v spreadsheet.Value) ([]byte, *apierr.Field) {
	d, wrong := n.parse(v)
	if wrong != nil {
		return nil, wrong
	}
	if d.places = strings.TrimRight(d.places, "0"); d.places != "" {
		d.places = "." + d.places
	}
	return []byte(d.sign + d.whole + d.places), nil
}

// integer is a cell as a JSON number without decimal places, which may be written as zeros: many programs write 5 as 5.0. After
// three of them nobody can tell whether a thousand is meant.
func (n numbers) integer(v spreadsheet.Value) ([]byte, *apierr.Field) {
	d, wrong := n.parse(v)
	switch {
	case wrong != nil:
		return nil, wrong
	case strings.Trim(d.places, "0") != "" || len(d.places) >= groupSize:
		return nil, fault(apierr.Step, "must be a whole number, without decimal places")
	}
	return []byte(d.sign + d.whole), nil
}

// amount is a cell as minor units, without rounding.
func (n numbers) amount(v spreadsheet.Value) ([]byte, *apierr.Field) {
	d, wrong := n.parse(v)
	if wrong != nil {
		return nil, wrong
	}
	digits := money.Digits(n.currency)
	if len(d.places) > digits {
		return nil, fault(apierr.Step, "must have at most %d decimal places, those of %s", digits, n.currency)
	}
	minor := strings.TrimLeft(d.whole+d.places+strings.Repeat("0", digits-len(d.places)), "0")
	if minor == "" {
		return []byte("0"), nil
	}
	return []byte(d.sign + minor), nil
}
