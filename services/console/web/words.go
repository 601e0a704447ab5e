package web

import (
	"regexp"
	"strings"
	"sync"
)

// rowTexts are the keys of the texts for what is wrong with rows and files of imports, by their formats in the API.
var rowTexts = map[string]string{
	"must be a number such as 1234.5 or 1,234.5, with three digits after each separator of thousands":                                                       "fault.number",
	"must be a number such as 1234,5 or 1.234,5, with three digits after each separator of thousands":                                                       "fault.number",
	"must be a number such as 1234.5; for separators of thousands add the parameter decimalSeparator, the character before the decimal places in this file": "fault.number",
	"may mean %s or %s; add the parameter decimalSeparator, the character before the decimal places in this file":                                           "fault.row.ambiguous",
	"must be a whole number, without decimal places":                                                                                                        "fault.whole",
	"must have at most %d decimal places, those of %s":                                                                                                      "fault.row.decimals",
	"is a date in this file; format the column as a number, and enter the value again":                                                                      "fault.row.is_date",
	"is a date in this file; format the column as text, and enter the value again":                                                                          "fault.row.is_date",
	"is %s, a number that has lost digits; format the column as text, and enter the value again":                                                            "fault.row.lost",
	"is the error %s of a formula; correct it, or empty the cell":                                                                                           "fault.row.formula",
	"is the number %s; format the cell as a date":                                                                                                           "fault.row.is_number",
	"is the number %s; format the cell as a date and time":                                                                                                  "fault.row.is_number",
	"must be addresses that begin with https:// or http://, separated by spaces":                                                                            "fault.row.addresses",
	"must be addresses of at most %d characters":                                                                                                            "fault.row.address.long",
	"must be at most %d addresses":                                                                                                                          "fault.row.addresses.many",
	"must be JSON, as in the API; a longer text than a cell of a workbook can have was cut":                                                                 "fault.row.json",
	"must be a UUID, or empty for a new record":                                                                                                             "fault.row.id",
	"must be a date":          "fault.date",
	"must be a date and time": "fault.time",
	"must be a date without a time of day, such as 2026-11-20":                                                          "fault.date",
	"must be true or false, or yes or no":                                                                               "fault.row.boolean",
	"is that of row %d, too; leave one of the rows out":                                                                 "fault.row.twice",
	"is that of row %d, too; change it in one of the rows":                                                              "fault.row.twice",
	"has a value, but no name in the first row; name it, or put a cell with a separator before it into quotation marks": "fault.row.beyond",
	"is not the name of a warehouse; use that of one, or warehouseId":                                                   "fault.row.warehouse",
	"is the name of several warehouses; use warehouseId":                                                                "fault.row.warehouses",
	"must be %s, that of the company; convert the amounts":                                                              "fault.row.currency",
	"must be the code of a unit from GET /catalog/units, such as pcs or kg":                                             "fault.row.unit",
	"is UTF-16; save it as CSV UTF-8":                                                                                   "fault.file.utf16",
	"has more than %d rows; split it":                                                                                   "fault.file.rows",
	"row %d has a cell that cannot be read: cell %d %s":                                                                 "fault.file.cell",
	"row %d has more than %d cells; leave out columns":                                                                  "fault.file.columns",
}

// said is a rule that an API sentence may be.
type said struct {
	is  *regexp.Regexp
	key string
}

// sentences are the rules whose texts the catalog has, as sentences with their arguments.
var sentences = sync.OnceValue(func() (all []said) {
	for _, texts := range []map[string]string{rowTexts, faultTexts} {
		for rule, key := range texts {
			pattern := strings.NewReplacer("%s", "([^,;]*?)", "%d", "([0-9]+)").Replace(regexp.QuoteMeta(rule))
			all = append(all, said{regexp.MustCompile("^" + pattern + "$"), key})
		}
	}
	return all
})

// cellTexts begins the keys of texts about cells; the numbers in these are written as people of the language write them.
const cellTexts = "fault.row."

var plainNumber = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

// Words is what a sentence of the API says, in the language of the person if the catalog has a text for it. Reports of jobs have
// sentences only, without the rules that they were made of.
func (q *Request) Words(message string) string {
	for _, s := range sentences() {
		m := s.is.FindStringSubmatch(message)
		if m == nil {
			continue
		}
		args := make([]any, 0, len(m)-1)
		for _, arg := range m[1:] {
			if strings.HasPrefix(s.key, cellTexts) && plainNumber.MatchString(arg) {
				arg = q.Number(arg)
			}
			args = append(args, arg)
		}
		return formatted(q.lang, q.T(s.key), args)
	}
	return Sentence(message)
}

var verb = regexp.MustCompile(`%(\[[0-9]+\])?d`)

// formatted is a text with arguments that are texts.
func formatted(lang, text string, args []any) string {
	text = verb.ReplaceAllString(text, "%${1}s")
	if n := strings.Count(text, "%"); n < len(args) && !strings.Contains(text, "%[") {
		args = args[:n]
	}
	return filled(lang, text, args)
}

// CodeText is what an error says of a record, by its code if the catalog has a text for that.
func (q *Request) CodeText(code, message string) string {
	if text, ok := q.app.texts.find(q.lang, "fault.code."+code); ok {
		return text
	}
	return q.Words(message)
}
