package web

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/platform/company"
)

func TestTypedAmounts(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		currency, typed string
		want            any
	}{
		{"EUR", "12.50", int64(1250)},
		{"EUR", "12,5", int64(1250)},
		{"EUR", " 1 234.05 ", int64(123405)},
		{"EUR", "1\u202f234", int64(123400)},
		{"EUR", "-0.01", int64(-1)},
		{"EUR", "−3", int64(-300)},
		{"JPY", "500", int64(500)},
		{"KWD", "1.234", int64(1234)},
		{"EUR", "12.505", "12.505"},
		{"JPY", "1.5", "1.5"},
		{"EUR", "", ""},
		{"EUR", "-", "-"},
		{"EUR", "ten", "ten"},
		{"EUR", "1.2.3", "1.2.3"},
		{"EUR", "1e3", "1e3"},
		{"EUR", "99999999999999999999", "99999999999999999999"},
	} {
		q := &Request{Company: company.Company{}}
		q.Company.Currency = row.currency
		require.Equal(t, row.want, q.ParseAmount(row.typed), "%s %q", row.currency, row.typed)
	}
}
