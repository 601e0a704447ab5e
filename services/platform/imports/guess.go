package imports

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tradegrid/tradegrid/pkg/kit/spreadsheet"
)

// heads are names that shops and other programs give to the columns of a field, in English, German and Russian, as [plainHead] has them. The
// names of the fields themselves need no line.
var heads = map[string][]string{
	"sku":             {"artikelnummer", "artikelnr", "artnr", "artikelno", "itemnumber", "itemno", "articlenumber", "productcode", "itemcode", "bestellnummer", "produktnummer", "variantsku", "артикул", "артикултовара", "кодтовара"},
	"name":            {"bezeichnung", "artikelbezeichnung", "artikelname", "artikel", "produkt", "produktname", "product", "productname", "item", "itemname", "title", "titel", "lieferant", "supplier", "dienstleistung", "leistung", "service", "наименование", "наименованиетовара", "название", "названиетовара", "товар", "номенклатура", "услуга", "поставщик"},
	"description":     {"beschreibung", "langtext", "text", "produktbeschreibung", "описание"},
	"price":           {"preis", "vk", "vkpreis", "verkaufspreis", "vkbrutto", "bruttopreis", "sellingprice", "retailprice", "saleprice", "unitprice", "einzelpreis", "listenpreis", "uvp", "цена", "ценапродажи", "розничнаяцена", "ценарозничная", "продажнаяцена"},
	"cost":            {"ek", "ekpreis", "einkaufspreis", "einstandspreis", "purchaseprice", "buyingprice", "costprice", "kosten", "себестоимость", "закупочнаяцена", "ценазакупки"},
	"barcode":         {"ean", "ean13", "gtin", "upc", "strichcode", "eancode", "штрихкод"},
	"brand":           {"marke", "hersteller", "manufacturer", "бренд", "марка", "торговаямарка", "производитель"},
	"model":           {"modell", "typ", "модель"},
	"unit":            {"einheit", "mengeneinheit", "me", "uom", "единица", "единицаизмерения", "едизм", "ед"},
	"tags":            {"schlagworte", "schlagwörter", "stichworte", "labels", "метки", "теги"},
	"durationMinutes": {"dauer", "dauerminuten", "duration", "minutes", "minuten", "длительность", "длительностьмин", "продолжительность"},
	"displayName":     {"name", "kunde", "kundenname", "client", "clientname", "customer", "customername", "fullname", "anzeigename", "клиент", "покупатель", "контрагент", "фио", "полноеимя", "наименование"},
	"firstName":       {"vorname", "givenname", "forename", "имя"},
	"lastName":        {"nachname", "familienname", "surname", "familyname", "фамилия"},
	"companyName":     {"firma", "firmenname", "company", "unternehmen", "organisation", "organization", "компания", "организация", "названиекомпании"},
	"phone":           {"telefon", "telefonnummer", "telefonnr", "tel", "mobil", "mobiltelefon", "handy", "phonenumber", "mobile", "telephone", "телефон", "номертелефона", "мобильный", "мобильныйтелефон", "тел"},
	"email":           {"mail", "emailadresse", "emailaddress", "mailadresse", "почта", "электроннаяпочта", "элпочта"},
	"birthday":        {"geburtstag", "geburtsdatum", "birthdate", "dateofbirth", "деньрождения", "датарождения"},
	"note":            {"notiz", "notizen", "bemerkung", "bemerkungen", "kommentar", "notes", "comment", "remarks", "комментарий", "примечание", "заметка", "заметки"},
	"externalId":      {"kundennummer", "kundennr", "kdnr", "clientnumber", "customernumber", "customerno", "lieferantennummer", "fremdnummer", "внешнийкод", "внешнийid", "номерклиента"},
	"contactPerson":   {"ansprechpartner", "kontaktperson", "contact", "контактноелицо"},
	"qty":             {"menge", "bestand", "lagerbestand", "anzahl", "quantity", "stock", "onhand", "stockqty", "istbestand", "количество", "колво", "остаток"},
	"reorderPoint":    {"meldebestand", "mindestbestand", "minbestand", "minstock", "reorderlevel", "точказаказа", "неснижаемыйостаток", "минимальныйостаток"},
	"hasStock":        {"учётостатков", "учетостатков"},
	"warehouseName":   {"lager", "lagerort", "lagername", "warehouse", "location", "standort", "склад"},
}

// unitNames are names that shops give to the units that every company has, by the codes of these.
var unitNames = map[string][]string{
	"pcs": {"stk", "stück", "stueck", "st", "pc", "piece", "pieces", "each", "ea", "шт", "штука", "штук", "штуки"}, "kg": {"kilo", "kilogramm", "kilogram", "кг", "килограмм"}, "g": {"gr", "gramm", "gram", "г", "гр", "грамм"},
	"l": {"liter", "litre", "ltr", "л", "литр"}, "ml": {"milliliter", "millilitre", "мл"}, "m": {"meter", "metre", "mtr", "м", "метр"}, "m2": {"m²", "qm", "sqm", "м²", "м2", "кв.м", "кв. м"},
	"h": {"std", "stunde", "stunden", "hour", "hours", "ч", "час"}, "min": {"minute", "minuten", "minutes", "мин", "минута"}, "pack": {"packung", "packungen", "pck", "pkg", "paket", "pak", "уп", "упак", "упаковка"},
}

// unitOf is the code of a unit, if the text is a usual name of one, and else the text.
func unitOf(text string) string {
	name := strings.ToLower(strings.TrimSuffix(strings.TrimSpace(text), "."))
	for code, usual := range unitNames {
		if name == code || slices.Contains(usual, name) {
			return code
		}
	}
	return text
}

// plainHead is the form in which guesses compare heads: only letters and digits count.
func plainHead(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" _-.,/()[]:*#\u00a0", r) {
			return -1
		}
		return r
	}, strings.ToLower(name))
}

// currencySuffix is what shops write behind the heads of amounts.
var currencySuffix = regexp.MustCompile(`(?:in)?(?:€|eur|euro|\$|usd|£|gbp|chf|₽|rub|руб)$`)

// guess returns the field that each column of the header has the name of, or a usual name; "" = it is not known. No field is guessed twice: names
// of the fields themselves go first.
func (t *table) guess(header []spreadsheet.Value, fields map[string]*field, known map[string]string) []string {
	all := make([]string, len(header))
	taken := map[string]bool{}
	take := func(i int, name string) {
		if all[i] == "" && name != "" && !taken[name] {
			all[i], taken[name] = name, true
		}
	}
	for i, cell := range header {
		name := strings.TrimSpace(cell.Text)
		if m := withZone.FindStringSubmatch(name); m != nil {
			name = m[1]
		}
		take(i, known[plainName(name)])
	}
	for i, cell := range header {
		plain := plainHead(cell.Text)
		for _, head := range []string{plain, currencySuffix.ReplaceAllString(plain, "")} {
			take(i, t.fieldOfHead(head, fields))
		}
	}
	return all
}

// fieldOfHead is the field that a head is a usual name of; of several, that which these records have.
func (t *table) fieldOfHead(head string, fields map[string]*field) string {
	var found []string
	for name, usual := range heads {
		isField := fields[t.fieldName(name)] != nil || t.consumes(name)
		if isField && (plainHead(name) == head || slices.Contains(usual, head)) {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	if len(found) == 0 {
		return ""
	}
	return found[0]
}

var (
	commaDecimals = regexp.MustCompile(`^[+-]?(?:[0-9]+|[0-9]{1,3}(?:[. '’\x{00a0}\x{202f}][0-9]{3})+),(?:[0-9]{1,2}|[0-9]{4,})$|^[+-]?[0-9]{1,3}(?:\.[0-9]{3})+,[0-9]+$`)
	pointDecimals = regexp.MustCompile(`^[+-]?(?:[0-9]+|[0-9]{1,3}(?:[, '’\x{00a0}\x{202f}][0-9]{3})+)\.(?:[0-9]{1,2}|[0-9]{4,})$|^[+-]?[0-9]{1,3}(?:,[0-9]{3})+\.[0-9]+$`)
)

// votes count the numbers of a file by the separator that they can only mean.
type votes struct{ commas, points int }

func (v *votes) count(cell spreadsheet.Value) {
	text := strings.TrimSpace(cell.Text)
	switch {
	case cell.Kind != spreadsheet.Text:
	case commaDecimals.MatchString(text):
		v.commas++
	case pointDecimals.MatchString(text):
		v.points++
	}
}

// separator is that of the file; "" = its numbers do not tell.
func (v *votes) separator() string {
	switch {
	case v.commas > 0 && v.points == 0:
		return ","
	case v.points > 0 && v.commas == 0:
		return "."
	}
	return ""
}

// charsetOf guesses the encoding of a text file that is no UTF-8: texts of Cyrillic letters have several of them in a row. "" = it is UTF-8,
// or UTF-16, which is not read.
func charsetOf(raw []byte) string {
	if utf8.Valid(raw) || bytes.HasPrefix(raw, []byte("\xff\xfe")) || bytes.HasPrefix(raw, []byte("\xfe\xff")) {
		return ""
	}
	high, inRow, before := 0, 0, false
	for _, b := range raw {
		letter := b >= 0xc0
		if letter {
			high++
		}
		if letter && before {
			inRow++
		}
		before = letter
	}
	if inRow*2 > high {
		return "windows-1251"
	}
	return "windows-1252"
}
