// Package phone compares phone numbers as people write them: with or without the code of their country, the prefix of national
// calls, separators and extensions. What a number without a country code means is decided by the calling code of the company. See
// docs/reference/rules.md#phone-numbers.
package phone

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/nyaruka/phonenumbers"
)

const (
	shortest = 7 // digits of a number, without the code of its country, that is somebody's
	complete = 9 // digits from which on a number has its area code, although the prefix of national calls is missing
)

// number is a phone number that somebody may have.
type number struct {
	country   int    // its calling code; 0 = not known
	national  string // digits without that code and the prefix of national calls
	extension string
	parsed    *phonenumbers.PhoneNumber // without the extension; nil if the number is only known by its digits
}

// Key returns what is equal for all spellings of a number, and differs between numbers. It is "" for what is nobody's number, such as
// 0 or 123, which equals nothing. callingCode is that of the company, such as +49.
func Key(text, callingCode string) string {
	n, ok := read(text, callingCode)
	if !ok {
		return ""
	}
	return strconv.Itoa(n.country) + " " + n.national + " " + n.extension
}

// National returns the digits that most spellings of a number have in common: those without the country code and without the prefix
// of national calls. It is "" for what is nobody's number.
func National(text, callingCode string) string {
	n, _ := read(text, callingCode)
	return n.national
}

// Digits returns the digits of a text, of any script, as ASCII.
func Digits(text string) string { return phonenumbers.NormalizeDigitsOnly(text) }

// Spellings returns the digits of the spellings of a number, to look for it in an index. A text with such digits need not be the same
// number: its [Key] tells. There are none for what is nobody's number.
func Spellings(text, callingCode string) []string {
	n, ok := read(text, callingCode)
	if !ok {
		return nil
	}
	all := []string{Digits(text)}
	if n.parsed != nil {
		for _, digits := range spellings(n, homeOf(callingCode)) {
			all = append(all, digits+n.extension)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// spellings are the digits of the spellings of a number without its extension, in a country.
func spellings(n number, home *home) (all []string) {
	country := strconv.Itoa(n.country)
	trunks := trunksOf(n.country)
	for _, trunk := range trunks {
		for _, abroad := range []string{"", "00", home.abroad} {
			all = append(all, abroad+country+trunk+n.national)
		}
	}
	if n.country != home.code {
		return all
	}
	locals := []string{n.national, strings.TrimPrefix(n.national, home.area)}
	if area, ok := strings.CutPrefix(n.national, "9"); ok && n.country == argentina {
		for i := 2; i <= 4 && i < len(area); i++ {
			locals = append(locals, area[:i]+"15"+area[i:])
		}
	}
	all = append(all, Digits(phonenumbers.Format(n.parsed, phonenumbers.NATIONAL)))
	for _, local := range locals {
		for _, trunk := range trunks {
			all = append(all, trunk+local)
		}
	}
	return all
}

// Mobile numbers of some countries are written in another way at home: Argentina has 15 behind the area code, of 2 to 4 digits, in
// place of a 9 before it; Mexico had a 1 behind the country code until 2019.
const (
	argentina = 54
	mexico    = 52
	mexican   = 10 // digits of its numbers
)

// trunksOf are the prefixes that people leave between the country code and a number, or put before it in the country. None is one of them.
func trunksOf(country int) []string {
	trunks := []string{""}
	if trunk := phonenumbers.GetNddPrefixForRegion(phonenumbers.GetRegionCodeForCountryCode(country), true); trunk != "" {
		trunks = append(trunks, trunk)
	}
	if country == mexico {
		trunks = append(trunks, "1")
	}
	return trunks
}

// read parses a number. ok is false for what is nobody's number.
func read(text, callingCode string) (n number, ok bool) {
	home := homeOf(callingCode)
	parsed := parse(text, home)
	if parsed == nil {
		n.national = Digits(text)
		return n, somebodys(n.national)
	}
	n = number{country: int(parsed.GetCountryCode()), national: national(parsed), extension: parsed.GetExtension(), parsed: parsed}
	parsed.Extension = nil
	if rest, ok := strings.CutPrefix(n.national, "1"); ok && n.country == mexico && len(rest) == mexican {
		n.national = rest
	}
	if !somebodys(n.national) && !(abroad(text) && len(n.national) < shortest && phonenumbers.IsValidNumber(parsed)) {
		return number{}, false
	}
	return n, true
}

// abroad reports whether a text has a country code for certain.
func abroad(text string) bool { return strings.ContainsAny(text, "+＋") }

// parse reads a text as a number of the country, unless it has the code of a country. nil = it is only known by its digits.
func parse(text string, home *home) *phonenumbers.PhoneNumber {
	national, err := phonenumbers.Parse(text, home.region)
	if abroad(text) {
		if err != nil {
			return nil
		}
		return national
	}
	digits := Digits(text)
	withoutTrunk := home.trunk != "" && !strings.HasPrefix(digits, home.trunk)
	if withoutTrunk && strings.HasPrefix(digits, strconv.Itoa(home.code)) || err != nil || !phonenumbers.IsValidNumber(national) {
		// The plus before a country code is often lost, as in 49171…, or written as 00, wherever that is dialled.
		if other, failed := phonenumbers.Parse("+"+strings.TrimPrefix(text, "00"), unknownRegion); failed == nil && phonenumbers.IsValidNumber(other) {
			return other
		}
	}
	// Without the prefix of national calls a short number has no area code. A leading zero is lost where numbers are kept as numbers.
	if err != nil || withoutTrunk && len(digits) < complete && Digits(phonenumbers.Format(national, phonenumbers.NATIONAL)) != digits {
		return nil
	}
	return national
}

// somebodys reports whether digits may be a person's number: not too few, not all the same, and not those of a keyboard in order.
func somebodys(digits string) bool {
	return len(digits) >= shortest && strings.Trim(digits, digits[:1]) != "" &&
		!strings.Contains("01234567890", digits) && !strings.Contains("9876543210", digits)
}

// home is the country of a company.
type home struct {
	region string // ISO 3166 code; ZZ = not known
	code   int    // calling code
	area   string // what all numbers have behind it, where several countries share one
	trunk  string // prefix of national calls; "" = there is none
	abroad string // digits before the country code in international calls
}

// homes keeps the countries by calling code. There are about 250.
var homes sync.Map

const maxCode = 5 // characters of a calling code that companies may have

func homeOf(callingCode string) *home {
	if known, ok := homes.Load(callingCode); ok {
		return known.(*home) //nolint:errcheck,forcetypeassert // nothing else is stored
	}
	h := newHome(Digits(callingCode))
	if len(callingCode) <= maxCode {
		homes.Store(callingCode, h)
	}
	return h
}

const unknownRegion = "ZZ"

// newHome finds the country of a calling code. Some share one, and differ in the digits behind it: +1242 are the Bahamas.
func newHome(digits string) *home {
	h := &home{region: unknownRegion}
	for n := 1; n <= min(3, len(digits)) && h.code == 0; n++ {
		code, _ := strconv.Atoi(digits[:n]) // digits
		regions := phonenumbers.GetRegionCodesForCountryCode(code)
		if len(regions) == 0 {
			continue
		}
		h.code, h.region = code, regions[0]
		for _, region := range regions {
			if rest := digits[n:]; rest != "" && strings.HasPrefix(national(phonenumbers.GetExampleNumber(region)), rest) {
				h.region, h.area = region, rest
				break
			}
		}
	}
	if h.code == 0 {
		return h
	}
	if h.trunk = phonenumbers.GetNddPrefixForRegion(h.region, true); h.trunk == strconv.Itoa(h.code) {
		h.trunk = "" // in North America the prefix is the country code
	}
	h.abroad = internationalPrefix(h)
	return h
}

func national(n *phonenumbers.PhoneNumber) string {
	if n == nil {
		return ""
	}
	return phonenumbers.GetNationalSignificantNumber(n)
}

// internationalPrefix is what people of the country dial before the code of another one.
func internationalPrefix(h *home) string {
	other := "GB"
	if h.code == phonenumbers.GetCountryCodeForRegion(other) {
		other = "FR"
	}
	foreign := phonenumbers.GetExampleNumber(other)
	dialled := Digits(phonenumbers.FormatOutOfCountryCallingNumber(foreign, h.region))
	return strings.TrimSuffix(dialled, Digits(phonenumbers.Format(foreign, phonenumbers.E164)))
}
