package web

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/platform/company"
)

// inLanguage is a request of somebody who reads a language, in a company with a currency.
func inLanguage(t *testing.T, lang, currency string) *Request {
	t.Helper()
	all, err := readTexts()
	require.NoError(t, err)
	return &Request{app: &App{texts: all}, lang: lang, Company: company.Company{Settings: company.Settings{Currency: currency}}}
}

func TestAmountsAreReadByPeople(t *testing.T) {
	t.Parallel()
	for currency, want := range map[string]map[int64]string{
		"EUR": {0: "0.00", 5: "0.05", -5: "−0.05", 123456: "1,234.56", 100000000: "1,000,000.00", -99999: "−999.99"},
		"JPY": {0: "0", 1234: "1,234", -1: "−1"},
		"KWD": {1: "0.001", 1234567: "1,234.567"},
	} {
		q := inLanguage(t, "en", currency)
		for minor, text := range want {
			require.Equal(t, text, q.Amount(minor), "%d %s", minor, currency)
		}
	}
	for number, texts := range map[string][3]string{
		"0": {"0", "0", "0"}, "12345.678": {"12,345.678", "12.345,678", "12\u202f345,678"}, "-1000": {"−1,000", "−1.000", "−1\u202f000"}, "999": {"999", "999", "999"},
	} {
		for i, lang := range []string{"en", "de", "ru"} {
			require.Equal(t, texts[i], inLanguage(t, lang, "EUR").Number(number))
		}
	}
	for _, row := range []struct{ lang, currency, want string }{
		{"en", "EUR", "−€1,234.56"},
		{"de", "EUR", "−1.234,56\u00a0€"},
		{"ru", "EUR", "−1\u202f234,56\u00a0€"},
		{"ru", "RUB", "−1\u202f234,56\u00a0₽"},
		{"en", "JPY", "−¥123,456"},
		{"en", "CHF", "−CHF\u00a01,234.56"},
		{"de", "CHF", "−1.234,56\u00a0CHF"},
		{"en", "CAD", "−CA$1,234.56"},
	} {
		require.Equal(t, row.want, inLanguage(t, row.lang, row.currency).Money(-123456))
	}
	require.Equal(t, "€0.05", (&Request{Company: company.Company{Settings: company.Settings{Currency: "EUR"}}}).Money(5), "a request outside of an app is English")
	require.Equal(t, "12,50", inLanguage(t, "ru", "EUR").Decimal(1250))
}

func TestSizesAreReadByPeople(t *testing.T) {
	t.Parallel()
	for n, texts := range map[int64][3]string{
		0: {"0 B", "0 B", "0 Б"}, 1023: {"1,023 B", "1.023 B", "1\u202f023 Б"}, 1536: {"1.5 KiB", "1,5 KiB", "1,5 КиБ"},
		10 << 20: {"10.0 MiB", "10,0 MiB", "10,0 МиБ"}, 3 << 29: {"1.5 GiB", "1,5 GiB", "1,5 ГиБ"},
	} {
		for i, lang := range []string{"en", "de", "ru"} {
			require.Equal(t, texts[i], inLanguage(t, lang, "EUR").Bytes(n))
		}
	}
}

func TestSharesAreWrittenAsInTheLanguage(t *testing.T) {
	t.Parallel()
	for lang, want := range map[string]string{"en": "94.5%", "de": "94,5\u00a0%", "ru": "94,5\u00a0%"} {
		require.Equal(t, want, inLanguage(t, lang, "EUR").Share(94.5))
	}
}
