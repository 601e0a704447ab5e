package phone_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nyaruka/phonenumbers"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/kit/phone"
)

func TestSpellingsOfTheSameNumber(t *testing.T) {
	t.Parallel()
	for code, numbers := range map[string][][]string{
		"+33":   {{"+33 6 12 34 56 78", "06 12 34 56 78", "0033 6 12 34 56 78", "612345678", "33612345678", "+33 (0)6 12 34 56 78", "06.12.34.56.78"}},
		"+49":   {{"+49 171 5551234", "0171 5551234", "0171/5551234", "0049 171 5551234", "+49 (0)171 5551234", "491715551234", "1715551234", "＋４９ １７１ ５５５１２３４"}, {"+49 30 123-45", "4930(12345)", "030 12345"}},
		"+44":   {{"+44 7911 123456", "07911 123456", "00447911123456", "7911123456", "+44 (0)7911 123456"}},
		"+81":   {{"+81 90-1234-5678", "090-1234-5678", "010 81 90-1234-5678"}},
		"+7":    {{"+7 916 123-45-67", "8 916 123-45-67", "8 (916) 1234567", "9161234567", "79161234567", "810 7 916 123-45-67"}},
		"+1":    {{"+1 650-253-0000", "(650) 253-0000", "1-650-253-0000", "6502530000", "011 1 650 253 0000"}, {"+49 171 5551234", "011 49 171 5551234", "491715551234", "00491715551234"}},
		"+39":   {{"+39 02 1234 5678", "02 1234 5678", "0039 02 12345678", "390212345678"}, {"+39 347 1234567", "347 1234567", "3471234567"}},
		"+36":   {{"+36 20 123 4567", "06 20 123 4567", "20 123 4567"}},
		"+54":   {{"+54 9 11 2345-6789", "011 15-2345-6789"}},
		"+52":   {{"+52 55 1234 5678", "55 1234 5678", "+52 1 55 1234 5678", "5215512345678"}},
		"+20":   {{"+20 10 1234 5678", "٠١٠ ١٢٣٤ ٥٦٧٨", "010 12345678"}},
		"+1242": {{"+1 242 322 1234", "322 1234", "242 322 1234"}},
		"+30":   {{"+30 694 123 4567", "6941234567", "0030 6941234567"}},
	} {
		keys := map[string]string{}
		for _, spellings := range numbers {
			key := phone.CountryOf(code).Key(spellings[0])
			require.NotEmpty(t, key, spellings[0])
			require.Empty(t, keys[key], "two numbers are the same")
			keys[key] = spellings[0]
			for _, text := range spellings {
				require.Equal(t, key, phone.CountryOf(code).Key(text), "%s: %s", code, text)
				found := phone.CountryOf(code).Spellings(text)
				for _, stored := range spellings {
					if ascii(stored) {
						require.Contains(t, found, phone.Digits(stored), "%s: %s is looked for, %s is stored", code, text, stored)
					}
				}
				require.LessOrEqual(t, len(found), 24)
			}
		}
	}
}

// ascii reports whether a number has ASCII digits only, by which it is stored in the index.
func ascii(text string) bool { return strings.Trim(text, "+()-./ 0123456789") == "" }

func TestNumbersThatAreNot(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"+1", "+33", "+49", "+999", ""} {
		for _, text := range []string{"", "0", "123", "1234", "12345", "0000000", "000-000-0000", "1111111111", "123456789", "0123456789", "1234567890", "987654321", "n/a", "none", "-", "+", "77", "unknown", "+49 1", "00 00 00 00 00"} {
			require.Empty(t, phone.CountryOf(code).Key(text), "%s: %q", code, text)
			require.Empty(t, phone.CountryOf(code).Spellings(text), "%s: %q", code, text)
		}
	}
}

func TestNumbersOfDifferentPeople(t *testing.T) {
	t.Parallel()
	for _, pair := range [][3]string{
		{"+49", "+49 30 1234567 ext. 5", "+49 30 12345675"},
		{"+49", "+49 30 1234567 ext. 5", "+49 30 1234567"},
		{"+49", "+49 30 1234567 ext. 5", "+49 30 1234567 ext. 6"},
		{"+49", "030 1234567 доб. 5", "030 1234567 доб. 6"},
		{"+49", "3012345", "+49 30 12345"},
		{"+1", "3012345678", "+49 3012345678"},
		{"+33", "06 12 34 56 78", "+49 6 12 34 56 78"},
		{"+49", "030 1234567", "031 1234567"},
	} {
		require.NotEmpty(t, phone.CountryOf(pair[0]).Key(pair[1]))
		require.NotEqual(t, phone.CountryOf(pair[0]).Key(pair[1]), phone.CountryOf(pair[0]).Key(pair[2]), pair)
	}
	require.Equal(t, phone.CountryOf("+49").Key("+49 30 1234567 ext. 5"), phone.CountryOf("+49").Key("030 1234567 x5"))
	require.Equal(t, phone.CountryOf("+999").Key("5 550 199"), phone.CountryOf("+999").Key("555-0199"), "of a country that nobody knows")
}

// Valid numbers of all countries, in all forms in which they are written there, are found by each other.
func TestNumbersOfAllCountries(t *testing.T) {
	t.Parallel()
	for region := range phonenumbers.GetSupportedRegions() {
		for _, kind := range []phonenumbers.PhoneNumberType{phonenumbers.FIXED_LINE, phonenumbers.MOBILE} {
			n := phonenumbers.GetExampleNumberForType(region, kind)
			if n == nil {
				continue
			}
			code := "+" + fmt.Sprint(n.GetCountryCode())
			key := phone.CountryOf(code).Key(phonenumbers.Format(n, phonenumbers.E164))
			if key == "" || len(phonenumbers.GetNationalSignificantNumber(n)) < 7 {
				continue // 1234567 is the example of some; where numbers are shorter, they need the country code
			}
			found := phone.CountryOf(code).Spellings(phonenumbers.Format(n, phonenumbers.E164))
			for _, form := range []phonenumbers.PhoneNumberFormat{phonenumbers.E164, phonenumbers.INTERNATIONAL, phonenumbers.NATIONAL, phonenumbers.RFC3966} {
				text := phonenumbers.Format(n, form)
				if region == "AR" && kind == phonenumbers.MOBILE && form == phonenumbers.NATIONAL {
					text = "011 15-2345-6789" // the library takes another group of digits for the area code
				}
				require.Equal(t, key, phone.CountryOf(code).Key(text), "%s: %s", region, text)
				require.Contains(t, found, phone.Digits(text), "%s: %s", region, text)
			}
		}
	}
}

// Any text has a key or none; a text with a key is among its own spellings.
func TestAnyText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[+0-9()/ .x#-]{0,20}`)).Draw(t, "text")
		code := rapid.SampledFrom([]string{"+1", "+7", "+33", "+39", "+49", "+81", "+999", ""}).Draw(t, "code")
		found := phone.CountryOf(code).Spellings(text)
		require.Equal(t, phone.CountryOf(code).Key(text) == "", len(found) == 0)
		if len(found) > 0 {
			require.Contains(t, found, phone.Digits(text))
		}
	})
}
