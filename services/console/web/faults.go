package web

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
)

// faultTexts are the keys of the texts for the rules that people break while typing, by their formats in the API. The arguments are
// those of the rule.
var faultTexts = map[string]string{
	"is required": "fault.required",
	"must not be null; omit the field instead":                    "fault.required",
	"must have at least %d non-blank character(s)":                "fault.required",
	"must have at most %d characters, has %d":                     "fault.length",
	"must be one of %s":                                           "fault.enum",
	"must be a whole number":                                      "fault.whole",
	"must have at most %d decimal places":                         "fault.decimals",
	"must be at least %s":                                         "fault.min",
	"must be greater than %s":                                     "fault.above",
	"must be at most %s":                                          "fault.max",
	"must be less than %s":                                        "fault.below",
	"must have at most %d digits":                                 "fault.digits",
	"is too large":                                                "fault.large",
	"is not a number":                                             "fault.number",
	"must have at most %d entries, has %d":                        "fault.many",
	"must have at least %d entries":                               "fault.few",
	"must match %s":                                               "fault.pattern",
	"must be an e-mail address such as name@example.com":          "fault.email",
	"must be a date, YYYY-MM-DD":                                  "fault.date",
	"must be an RFC 3339 date-time such as 2026-11-20T09:30:00Z":  "fault.time",
	"must be a UUID such as 0192d3a5-6f0e-7c1a-9b1e-2f6d8a4c1e55": "fault.choice",
	"must be an absolute URL such as https://example.com/hook":    "fault.url",
	"%smust be UTF-8":                                             "fault.characters",
	"%smust not contain the character U+0000; remove it":          "fault.characters",
}

// ruleTexts are those of rules of the domains that people break in forms of the console.
var ruleTexts = map[string]string{
	"is required, because the resource is for certain services; choose one of its serviceIds":          "fault.service",
	"is required without serviceId; set one of them":                                                   "fault.service.or",
	"is required, because the outcome of the stage is lost":                                            "fault.lost",
	"must have a value of the attribute %s (%s), which the category requires":                          "fault.attribute",
	"must be after from, which is %s; divide hours across midnight in two, up to 24:00 and from 00:00": "fault.hours",
	"must not be after dateTo":                                "fault.days",
	"is empty; count the cash, or close the shift without it": "fault.count",
	"must not be 0: it is what the points change by":          "fault.nothing",
	"must be at least %s, the part that is paid in cash":      "fault.cash",
	"must be another warehouse than warehouseId":              "fault.same_warehouse",

	// filters of webhooks
	"has %d bytes; at most %d are allowed":                                                                                  "fault.filter.large",
	"the filter must be a JSON object of paths and values, such as {\"data.status\": \"new\"}":                              "fault.filter.json",
	"the filter has %d keys; at most %d are allowed":                                                                        "fault.filter.keys",
	"is a duplicate key; use one key with an array to match any of several values":                                          "fault.filter.twice",
	"the path has %d segments; at most %d are allowed":                                                                      "fault.filter.deep",
	"the path has an empty segment; write names and array indexes with single dots between them, such as data.lines.0.kind": "fault.filter.dots",
	"an empty array never matches; list at least one value or omit the key":                                                 "fault.filter.empty",
	"can never match; did you mean %s? %s":                                                                                  "fault.filter.meant",
	"can never match; name a field of it, such as data.status. %s":                                                          "fault.filter.data",
	"can never match: the events have no field %s%s":                                                                        "fault.filter.field",
}

// typeTexts are those of a value of the wrong type, by the type that the rule asks for.
var typeTexts = map[string]string{"a number": "fault.number", "a whole number": "fault.whole", "a string": "fault.text"}

const (
	wrongType = "must be %s, not %s"
	pattern   = "must match %s"
)

// FaultText is what is wrong with a field: a text of the catalog if it has one for the rule, else in English the message of the API
// without the path of the field, and in other languages the text of the kind of the fault.
func (q *Request) FaultText(f apierr.Field) string {
	rule, args := f.Rule, f.Args
	if rule == "%s" && len(args) == 1 {
		if text, ok := args[0].(string); ok {
			rule, args = text, nil
		}
	}
	key, ok := faultTexts[rule]
	if !ok {
		key, ok = ruleTexts[rule]
	}
	args = q.readable(args)
	if rule == wrongType {
		want, _ := args[0].(string)
		key, ok = typeTexts[want]
	}
	if rule == pattern && q.lang != english {
		ok = false // what has to match is described in English
	}
	if !ok && q.lang == english || rule == "" {
		return q.Words(strings.TrimPrefix(f.Message, f.Field+": "))
	}
	if !ok {
		return q.T("fault.code." + f.Code)
	}
	text := q.T(key)
	if n := strings.Count(text, "%"); n <= len(args) {
		text = q.T(key, args[:n]...)
	}
	return text
}

// readable are the arguments of a rule, with amounts as people read them.
func (q *Request) readable(args []any) []any {
	all := slices.Clone(args)
	for i, arg := range all {
		if n, ok := arg.(money.Amount); ok {
			all[i] = q.Money(int64(n))
		}
	}
	return all
}

// Sentence is a text with a capital letter.
func Sentence(text string) string {
	r, n := utf8.DecodeRuneInString(text)
	if n == 0 {
		return ""
	}
	return string(unicode.ToUpper(r)) + text[n:]
}

// FaultOf is what an error says of a field; "" = it is not about the field. Conflicts name their field at the beginning.
func (q *Request) FaultOf(err error, field string) string {
	known, ok := apierr.As(err)
	if !ok {
		return ""
	}
	if len(known.Fields) == 0 && strings.HasPrefix(known.Message, field+": ") {
		return q.Why(known)
	}
	for _, f := range known.Fields {
		if f.Field == field {
			return q.FaultText(f)
		}
	}
	return ""
}

// FaultWithin is what an error says of a field or of its parts, such as filter.data.status or events[0], with the part's name.
func (q *Request) FaultWithin(err error, field string) string {
	known, ok := apierr.As(err)
	if !ok {
		return ""
	}
	var all []string
	for _, f := range known.Fields {
		switch rest, within := strings.CutPrefix(f.Field, field); {
		case within && rest == "":
			all = append(all, q.FaultText(f))
		case within && (rest[0] == '.' || rest[0] == '['):
			all = append(all, strings.TrimPrefix(rest, ".")+": "+q.FaultText(f))
		}
	}
	return strings.Join(all, "; ")
}
