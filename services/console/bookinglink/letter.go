package bookinglink

import (
	"strings"

	"github.com/tradegrid/tradegrid/services/business/scheduling"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// Letters writes what customers are told of their bookings by e-mail, in the language of the company.
type Letters struct{ texts web.CustomerTexts }

// NewLetters returns the letters.
func NewLetters(texts web.CustomerTexts) Letters { return Letters{texts} }

// Write returns the letter of a kind.
func (w Letters) Write(kind string, l scheduling.Letter) (subject, text string) {
	lang := w.texts.Language(l.Locale)
	say := func(key string, args ...any) string { return w.texts.Text(lang, key, args...) }
	what := []string{w.texts.Time(lang, "visit.moment", l.StartAt)}
	if l.Service != "" {
		what = append(what, l.Service)
	}
	what = append(what, l.Resource)
	parts := []string{say("letter.greeting", l.Customer), say("letter."+kind+".text", l.Company), strings.Join(what, "\n")}
	if l.URL != "" {
		parts = append(parts, say("letter.link")+"\n"+l.URL)
	}
	parts = append(parts, l.Company)
	return say("letter."+kind+".subject", l.Company), strings.Join(parts, "\n\n")
}
