package web

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"

	"golang.org/x/text/language"
)

//go:embed texts/*.json
var textFiles embed.FS

// texts is the catalog: for each language, texts by key. A language is a file in texts.
type texts struct {
	byLang  map[string]map[string]string
	langs   []string // English first
	dates   map[string]dateWords
	matcher language.Matcher
}

const english = "en"

// readTexts reads the texts of all languages once; nobody changes them.
var readTexts = sync.OnceValues(func() (texts, error) {
	t := texts{byLang: map[string]map[string]string{}, langs: []string{english}, dates: map[string]dateWords{}}
	entries, err := textFiles.ReadDir("texts")
	if err != nil {
		return t, fmt.Errorf("read texts: %w", err)
	}
	for _, e := range entries {
		raw, err := fs.ReadFile(textFiles, "texts/"+e.Name())
		if err != nil {
			return t, fmt.Errorf("read texts: %w", err)
		}
		lang, all := strings.TrimSuffix(e.Name(), path.Ext(e.Name())), map[string]string{}
		if err := json.Unmarshal(raw, &all); err != nil {
			return t, fmt.Errorf("read texts %s: %w", e.Name(), err)
		}
		t.dates[lang] = dateWords{
			strings.Fields(all["date.months"]), strings.Fields(all["date.months.short"]), strings.Fields(all["date.days"]), strings.Fields(all["date.days.short"]), all["date.day"],
		}
		if t.byLang[lang] = all; lang != english {
			t.langs = append(t.langs, lang)
		}
	}
	tags := make([]language.Tag, len(t.langs))
	for i, lang := range t.langs {
		if tags[i], err = language.Parse(lang); err != nil {
			return t, fmt.Errorf("read texts: %s: %w", lang, err)
		}
	}
	t.matcher = language.NewMatcher(tags)
	return t, nil
})

// choose picks the language that a browser asks for.
func (t texts) choose(accept string) string {
	if len(accept) > 200 {
		accept = accept[:200]
	}
	tags, _, err := language.ParseAcceptLanguage(accept)
	if err != nil || len(tags) == 0 {
		return english
	}
	_, i, sure := t.matcher.Match(tags...)
	if sure == language.No {
		return english
	}
	return t.langs[i]
}

// text returns a text with its arguments. A key that the language lacks is shown in English; tests look for both.
func (t texts) text(lang, key string, args ...any) string {
	text, ok := t.find(lang, key)
	if !ok {
		return key
	}
	if len(args) == 0 {
		return text
	}
	return filled(lang, text, args)
}

// find is the text of a key, if there is one.
func (t texts) find(lang, key string) (text string, ok bool) {
	if text, ok = t.byLang[lang][key]; !ok {
		text, ok = t.byLang[english][key]
	}
	return text, ok
}

// word is the text of a value of an enum, if there is one. Where the value is the name of a field or of a list, such as what a list is
// sorted by, other languages than English need no second text for it.
func (t texts) word(lang, value string) (text string, ok bool) {
	if text, ok = t.find(lang, "value."+value); ok || lang == english {
		return text, ok
	}
	for _, kind := range []string{"field.", "resource."} {
		if text, ok = t.byLang[lang][kind+value]; ok {
			return text, true
		}
	}
	return "", false
}

// has reports whether there is such a text.
func (t texts) has(key string) bool {
	_, ok := t.byLang[english][key]
	return ok
}
