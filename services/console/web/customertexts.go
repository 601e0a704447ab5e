package web

import "time"

// CustomerTexts is the texts of the console, for what a company tells its customers: pages outside the console, and mails.
type CustomerTexts struct{ in texts }

// NewCustomerTexts reads the texts.
func NewCustomerTexts() (CustomerTexts, error) {
	t, err := readTexts()
	return CustomerTexts{t}, err
}

// Language is the language of the catalog that is nearest to what is wanted: a BCP 47 tag, or several as Accept-Language has them.
func (c CustomerTexts) Language(wanted string) string { return c.in.choose(wanted) }

// Languages are all languages of the catalog.
func (c CustomerTexts) Languages() []string { return c.in.langs }

// Text is a text with its arguments.
func (c CustomerTexts) Text(lang, key string, args ...any) string {
	return c.in.text(lang, key, args...)
}

// Time writes a time in its zone, in a layout that is a text of the catalog.
func (c CustomerTexts) Time(lang, layout string, at time.Time) string {
	return c.in.dates[lang].format(at, c.in.text(lang, layout))
}
