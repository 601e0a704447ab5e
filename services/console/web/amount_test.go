package web

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/platform/company"
)

func TestAmountsAreReadByPeople(t *testing.T) {
	t.Parallel()
	for currency, want := range map[string]map[int64]string{
		"EUR": {0: "0.00", 5: "0.05", -5: "−0.05", 123456: "1\u202f234.56", 100000000: "1\u202f000\u202f000.00", -99999: "−999.99"},
		"JPY": {0: "0", 1234: "1\u202f234", -1: "−1"},
		"KWD": {1: "0.001", 1234567: "1\u202f234.567"},
	} {
		q := &Request{Company: company.Company{Settings: company.Settings{Currency: currency}}}
		for minor, text := range want {
			require.Equal(t, text, q.Amount(minor), "%d %s", minor, currency)
			require.Equal(t, text+"\u00a0"+currency, q.Money(minor))
		}
	}
	for number, text := range map[string]string{"0": "0", "12345.678": "12\u202f345.678", "-1000": "−1\u202f000", "999": "999"} {
		require.Equal(t, text, Decimal(number))
	}
}
