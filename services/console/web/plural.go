package web

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// plurals are the forms of a word by the number before it: %d {record|records}, in languages with three forms {запись|записи|записей}.
// With the place of another argument in front, they go by that: {1:is|are}.
var plurals = regexp.MustCompile(`%(?:%|(?:\[(\d)\])?([sd]))|\{(?:(\d):)?([^{}|]*\|[^{}]*)\}`)

// filled is a text with its arguments, and with the forms of words that go with their numbers.
func filled(lang, text string, args []any) string {
	if !strings.Contains(text, "{") {
		return fmt.Sprintf(text, args...)
	}
	arg, verbs := 0, 0
	text = plurals.ReplaceAllStringFunc(text, func(found string) string {
		m := plurals.FindStringSubmatch(found)
		switch {
		case m[2] != "": // a verb, with its place from here on, so that a form may leave it out
			if arg++; m[1] != "" {
				arg = int(m[1][0] - '0')
			}
			verbs++
			return "%[" + strconv.Itoa(arg) + "]" + m[2]
		case m[4] == "":
			return found
		}
		of := arg
		if m[3] != "" {
			of = int(m[3][0] - '0')
		}
		forms := strings.Split(m[4], "|")
		form := forms[len(forms)-1]
		if of >= 1 && of <= len(args) {
			form = forms[min(formOf(lang, args[of-1]), len(forms)-1)]
		}
		if place := strings.Index(form, "%"); place >= 0 && place+1 < len(form) { // its verb is that of the argument it goes by
			arg, verbs = of, verbs+1
			form = form[:place] + "%[" + strconv.Itoa(of) + "]" + form[place+1:]
		} else if strings.Contains(m[4], "%") {
			arg = of
		}
		return form
	})
	if verbs == 0 {
		args = nil
	}
	return fmt.Sprintf(text, args...)
}

// formOf is the form that goes with a number in a language: 0 for one, then the others in the order of the catalog.
func formOf(lang string, number any) int {
	text := strings.NewReplacer(narrow, "", "\u00a0", "", "−", "").Replace(strings.TrimPrefix(fmt.Sprint(number), "-"))
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil { // with decimals, or no number
		return 1
	}
	switch {
	case lang != "ru" && n == 1, lang == "ru" && n%10 == 1 && n%100 != 11:
		return 0
	case lang != "ru", n%10 >= 2 && n%10 <= 4 && (n%100 < 12 || n%100 > 14):
		return 1
	}
	return 2
}
