package money_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/money"
)

func TestDigits(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]int{"EUR": 2, "USD": 2, "JPY": 0, "KWD": 3, "QQQ": 2, "": 2} {
		require.Equal(t, want, money.Digits(code), code)
	}
}

func TestSymbol(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ code, lang, want string }{
		{"EUR", "en", "€"},
		{"EUR", "de", "€"},
		{"GBP", "ru", "£"},
		{"USD", "de", "$"},
		{"CAD", "en", "CA$"},
		{"CAD", "de", "CA$"},
		{"RUB", "ru", "₽"},
		{"RUB", "en", "RUB"},
		{"CHF", "de", "CHF"},
		{"QQQ", "de", "QQQ"},
		{"", "en", ""},
		{"EUR", "", "€"},
		{"EUR", "no tag", "€"},
	} {
		require.Equal(t, row.want, money.Symbol(row.code, row.lang), "%s in %q", row.code, row.lang)
	}
}
