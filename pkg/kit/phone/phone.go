// Package phone compares phone numbers as people write them: with or without the code of their country, the prefix of national
// calls, separators and extensions. What a number without a country code means is decided by the calling code of the company. See
// docs/reference/rules.md#phone-numbers.
package phone

import (
	"slices"
	"strconv"
	"strings"

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
// 0 or 123, which equals nothing.
func (c Country) Key(text string) string {
	n, ok := c.read(text)
	if !ok {
		return ""
	}
	return strconv.Itoa(n.country) + " " + n.national + " " + n.extension
}

// National returns the digits that most spellings of a number have in common: those without the country code and without the prefix
// of national calls. It is "" for what is nobody's number.
func (c Country) National(text string) string {
	n, _ := c.read(text)
	return n.national
}

// Digits returns the digits of a text, of any script, as ASCII.
func Digits(text string) string { return phonenumbers.NormalizeDigitsOnly(text) }

// Spellings returns the digits of the spellings of a number, to look for it in an index. A text with such digits need not be the same
// number: its [Country.Key] tells. There are none for what is nobody's number.
func (c Country) Spellings(text string) []string {
	n, ok := c.read(text)
	if !ok {
		return nil
	}
	all := []string{Digits(text)}
	if n.parsed != nil {
		for _, digits := range c.spellings(n) {
			all = append(all, digits+n.extension)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// spellings are the digits of the spellings of a number without its extension.
func (c Country) spellings(n number) (all []string) {
	country := strconv.Itoa(n.country)
	trunks := trunksOf(n.country)
	international := c.internationalPrefix()
	for _, trunk := range trunks {
		for _, prefix := range []string{"", "00", international} {
			all = append(all, prefix+country+trunk+n.national)
		}
	}
	if n.country != c.code {
		return all
	}
	locals := []string{n.national, strings.TrimPrefix(n.national, c.area)}
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
func (c Country) read(text string) (n number, ok bool) {
	parsed := c.parse(text)
	if parsed == nil {
		n.national = Digits(text)
		return n, somebodys(n.national)
	}
	n = number{country: int(parsed.GetCountryCode()), national: national(parsed), extension: parsed.GetExtension(), parsed: parsed}
	parsed.Extension = nil
	if rest, ok := strings.CutPrefix(n.national, "1"); ok && n.country == mexico && len(rest) == mexican {
		n.national = rest
	}
	if !somebodys(n.national) && (!abroad(text) || len(n.national) >= shortest || !phonenumbers.IsValidNumber(parsed)) {
		return number{}, false
	}
	return n, true
}

// abroad reports whether a text has a country code for certain.
func abroad(text string) bool { return strings.ContainsAny(text, "+＋") }

// parse reads a text as a number of the country, unless it has the code of a country. nil = it is only known by its digits.
func (c Country) parse(text string) *phonenumbers.PhoneNumber {
	national, err := phonenumbers.Parse(text, c.region)
	if abroad(text) {
		if err != nil {
			return nil
		}
		return national
	}
	digits := Digits(text)
	withoutTrunk := c.trunk != "" && !strings.HasPrefix(digits, c.trunk)
	if withoutTrunk && strings.HasPrefix(digits, strconv.Itoa(c.code)) || err != nil || !phonenumbers.IsValidNumber(national) {
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

// Country is the country of a company.
type Country struct {
	region string // ISO 3166 code; ZZ = not known
	code   int    // calling code
	area   string // what all numbers have behind it, where several countries share one
	trunk  string // prefix of national calls; "" = there is none
}

const unknownRegion = "ZZ"

// CountryOf finds the country of a calling code such as +49. Some share one, and differ in the digits behind it: +1242 are the Bahamas.
func CountryOf(callingCode string) Country {
	digits := Digits(callingCode)
	c := Country{region: unknownRegion}
	for n := 1; n <= min(3, len(digits)) && c.code == 0; n++ {
		code, _ := strconv.Atoi(digits[:n]) // digits
		if regions := phonenumbers.GetRegionCodesForCountryCode(code); len(regions) > 0 {
			c.code, c.region = code, regions[0]
			c.narrow(regions, digits[n:])
		}
	}
	if c.code == 0 {
		return c
	}
	if c.trunk = phonenumbers.GetNddPrefixForRegion(c.region, true); c.trunk == strconv.Itoa(c.code) {
		c.trunk = "" // in North America the prefix is the country code
	}
	return c
}

// narrow chooses that of several regions whose numbers begin with the digits.
func (c *Country) narrow(regions []string, digits string) {
	if digits == "" {
		return
	}
	for _, region := range regions {
		if strings.HasPrefix(national(phonenumbers.GetExampleNumber(region)), digits) {
			c.region, c.area = region, digits
			return
		}
	}
}

func national(n *phonenumbers.PhoneNumber) string {
	if n == nil {
		return ""
	}
	return phonenumbers.GetNationalSignificantNumber(n)
}

// internationalPrefix is what people of the country dial before the code of another one.
func (c Country) internationalPrefix() string {
	other := "GB"
	if c.code == phonenumbers.GetCountryCodeForRegion(other) {
		other = "FR"
	}
	foreign := phonenumbers.GetExampleNumber(other)
	dialled := Digits(phonenumbers.FormatOutOfCountryCallingNumber(foreign, c.region))
	return strings.TrimSuffix(dialled, Digits(phonenumbers.Format(foreign, phonenumbers.E164)))
}
