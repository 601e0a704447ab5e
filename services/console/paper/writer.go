package paper

import (
	"strings"
	"time"

	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/clients"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/platform/company"
)

// Writer writes the documents of a company, in its language and its zone. It computes nothing: amounts and taxes are those of the records.
type Writer struct {
	texts    web.CustomerTexts
	lang     string
	zone     *time.Location
	settings company.Settings
	logo     *Picture
}

// NewWriter returns the writer of a company.
func NewWriter(texts web.CustomerTexts, s company.Settings, logo *Picture) Writer {
	zone, err := time.LoadLocation(s.TimeZone)
	if err != nil {
		zone = time.UTC // settings are checked when they are stored
	}
	return Writer{texts: texts, lang: texts.Language(s.Locale), zone: zone, settings: s, logo: logo}
}

// say is a text of the catalog in the language of the document.
func (w Writer) say(key string, args ...any) string { return w.texts.Text(w.lang, key, args...) }

// sheet is a document without its content.
func (w Writer) sheet(kind, title string) Sheet {
	s := w.settings
	from := []string{s.Name}
	if s.DocumentName != nil {
		from[0] = *s.DocumentName
	}
	from = append(from, lines(s.DocumentAddress, s.DocumentContact)...)
	out := Sheet{Kind: kind, Lang: w.lang, Title: title, Logo: w.logo, From: from}
	if s.DocumentTaxID != nil {
		out.Foot = append(out.Foot, w.say("paper.tax_id", *s.DocumentTaxID))
	}
	if kind == kindReceipt {
		out.Foot = append(out.Foot, lines(s.DocumentFooter)...)
		return out
	}
	if bank := lines(s.DocumentBank); bank != nil {
		out.Foot = append(out.Foot, strings.Join(bank, " · "))
	}
	out.Foot = append(out.Foot, lines(s.DocumentFooter)...)
	return out
}

// page is a document on paper of the size that the company prints on.
func (w Writer) page(title string) Sheet { return w.sheet(w.settings.DocumentPaper, title) }

// lines are the lines of texts that have some.
func lines(texts ...*string) (all []string) {
	for _, text := range texts {
		for line := range strings.Lines(record.OrZero(text)) {
			if line = strings.TrimSpace(line); line != "" {
				all = append(all, line)
			}
		}
	}
	return all
}

// number writes a decimal as people of the language do.
func (w Writer) number(text string) string {
	return web.Written(text, w.say("number.group"), w.say("number.point"))
}

// amount is money without its currency.
func (w Writer) amount(a money.Amount) string {
	return w.number(web.PlainAmount(int64(a), w.settings.Currency))
}

// money is an amount with the sign of its currency.
func (w Writer) money(a money.Amount) string {
	return web.WithSymbol(w.amount(a), money.Symbol(w.settings.Currency, w.lang), w.say("number.money"))
}

func (w Writer) qty(q money.Qty) string { return w.number(q.String()) }

func (w Writer) percent(p money.Percent) string {
	return strings.Replace(w.say("number.percent"), "0", w.number(p.String()), 1)
}

func (w Writer) date(at time.Time) string {
	return w.texts.Time(w.lang, "paper.date", at.In(w.zone))
}

// day is a date without a time, which is the same in every zone.
func (w Writer) day(at time.Time) string { return w.texts.Time(w.lang, "paper.date", at) }

func (w Writer) moment(at time.Time) string {
	return w.texts.Time(w.lang, "paper.moment", at.In(w.zone))
}

// fact adds a fact that has a text.
func (w Writer) fact(facts []Fact, key, text string) []Fact {
	if text == "" {
		return facts
	}
	return append(facts, Fact{Label: w.say(key), Text: text})
}

// sum adds an amount that is not nothing.
func (w Writer) sum(sums []Fact, label string, a money.Amount) []Fact {
	if a == 0 {
		return sums
	}
	return append(sums, Fact{Label: label, Text: w.money(a)})
}

// totals are the sums of a document, with its taxes by rate.
func (w Writer) totals(t lineitem.Totals) (sums []Fact) {
	if t.DiscountAmount != 0 || t.TaxMode == "added" && len(t.Taxes) > 0 {
		sums = w.sum(sums, w.say("paper.subtotal"), t.Subtotal)
	}
	sums = w.sum(sums, w.say("paper.discount"), -t.DiscountAmount)
	for _, tax := range t.Taxes {
		if t.TaxMode == "added" {
			sums = append(sums, Fact{Label: w.say("paper.tax.added", w.percent(tax.Rate), w.amount(tax.Base)), Text: w.money(tax.Amount)})
		}
	}
	sums = append(sums, Fact{Label: w.say("paper.total"), Text: w.money(t.Total), Strong: true})
	for _, tax := range t.Taxes {
		if t.TaxMode != "added" {
			sums = append(sums, Fact{Label: w.say("paper.tax.included", w.percent(tax.Rate), w.amount(tax.Base)), Text: w.money(tax.Amount)})
		}
	}
	return sums
}

// described is what stands below the name of a line.
func (w Writer) described(l lineitem.Line, more ...*string) (detail []string) {
	if l.SKU != nil {
		detail = append(detail, *l.SKU)
	}
	detail = append(detail, modifiers(l)...)
	if l.DiscountAmount != 0 {
		detail = append(detail, w.say("paper.line.discount", w.amount(-l.DiscountAmount)))
	}
	return append(detail, lines(more...)...)
}

// modifiers are the options of a line.
func modifiers(l lineitem.Line) (detail []string) {
	for _, m := range l.Modifiers {
		detail = append(detail, "+ "+m.Name)
	}
	return detail
}

// method is a way of payment.
func (w Writer) method(name string) string { return w.say("paper.method." + name) }

// measured is a quantity with its unit.
func (w Writer) measured(q money.Qty, unit *string) string {
	if unit == nil || *unit == "" {
		return w.qty(q)
	}
	return w.qty(q) + "\u00a0" + *unit
}

// addressed is the client as letters address it.
func addressed(c *clients.Client) (to []string) {
	if c == nil {
		return nil
	}
	to = lines(c.CompanyName)
	if len(to) == 0 || to[0] != c.DisplayName {
		to = append(to, c.DisplayName)
	}
	return append(to, lines(c.LegalAddress)...)
}
