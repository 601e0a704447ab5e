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
