package money_test

import (
	"encoding/json"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
)

func TestParse(t *testing.T) {
	t.Parallel()
	amount := func(s string) (int64, error) { v, err := money.ParseAmount(s); return int64(v), err }
	qty := func(s string) (int64, error) { v, err := money.ParseQty(s); return int64(v), err }
	percent := func(s string) (int64, error) { v, err := money.ParsePercent(s); return int64(v), err }
	tests := []struct {
		name  string
		parse func(string) (int64, error)
		text  string
		want  int64
		code  string
	}{
		{"amount integer", amount, "1250", 1250, ""},
		{"amount negative", amount, "-7", -7, ""},
		{"amount with zero fraction", amount, "1.0", 1, ""},
		{"amount with exponent", amount, "1e2", 100, ""},
		{"amount whose exponent cancels the fraction", amount, "12.5E1", 125, ""},
		{"amount whose exponent cancels the zeros", amount, "1200e-2", 12, ""},
		{"amount zero of any size", amount, "-0.000e999999999999999999999", 0, ""},
		{"amount largest", amount, "9007199254740991", 9007199254740991, ""},
		{"amount smallest", amount, "-9007199254740991", -9007199254740991, ""},
		{"amount fraction", amount, "1.5", 0, apierr.Step},
		{"amount fraction that a float would lose", amount, "1.0000000000000000000001", 0, apierr.Step},
		{"amount above", amount, "9007199254740992", 0, apierr.Max},
		{"amount below", amount, "-9007199254740992", 0, apierr.Min},
		{"amount far above", amount, "1e400", 0, apierr.Max},
		{"amount huge exponent", amount, "1e99999999999999999999999999", 0, apierr.Max},
		{"amount tiny exponent", amount, "1e-99999999999999999999999999", 0, apierr.Step},
		{"amount string", amount, `"12"`, 0, apierr.Type},
		{"amount leading zero", amount, "012", 0, apierr.Type},
		{"amount empty", amount, "", 0, apierr.Type},
		{"amount plus", amount, "+1", 0, apierr.Type},
		{"amount bare point", amount, "1.", 0, apierr.Type},
		{"amount bare exponent", amount, "1e", 0, apierr.Type},
		{"amount trailing", amount, "1 ", 0, apierr.Type},
		{"amount NaN", amount, "NaN", 0, apierr.Type},
		{"qty", qty, "1.5", 1500, ""},
		{"qty three decimals", qty, "0.001", 1, ""},
		{"qty zeros after three decimals", qty, "0.1230000", 123, ""},
		{"qty four decimals", qty, "0.0001", 0, apierr.Step},
		{"qty largest", qty, "999999999999999.999", 999999999999999999, ""},
		{"qty above", qty, "1000000000000000", 0, apierr.Max},
		{"percent", percent, "12.25", 1225, ""},
		{"percent all", percent, "100", 10000, ""},
		{"percent above", percent, "100.01", 0, apierr.Max},
		{"percent below", percent, "-0.01", 0, apierr.Min},
		{"percent three decimals", percent, "0.001", 0, apierr.Step},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := tt.parse(tt.text)
			if tt.code == "" {
				require.NoError(t, err)
				require.Equal(t, tt.want, got)
				return
			}
			var e *money.ParseError
			require.ErrorAs(t, err, &e)
			require.Equal(t, tt.code, e.Code)
			require.Contains(t, e.Rule, "must be a")
		})
	}
}

type document struct {
	Total    money.Amount   `json:"total"`
	Qty      money.Qty      `json:"qty"`
	Discount *money.Percent `json:"discount"`
}

func TestJSONOfAStruct(t *testing.T) {
	t.Parallel()
	var d document
	require.NoError(t, json.Unmarshal([]byte(`{"total":1e3,"qty":2.50,"discount":10.5}`), &d))
	out, err := json.Marshal(d)
	require.NoError(t, err)
	require.JSONEq(t, `{"total":1000,"qty":2.5,"discount":10.5}`, string(out))

	require.NoError(t, json.Unmarshal([]byte(`{"total":null,"discount":null}`), &d))
	require.Equal(t, money.Amount(1000), d.Total)
	require.Nil(t, d.Discount)

	require.EqualError(t, json.Unmarshal([]byte(`{"total":1.5}`), &d),
		"must be a whole number of minor units between -9007199254740991 and 9007199254740991")
}

func TestRoundTripIsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		q := money.Qty(rapid.Int64Range(-int64(money.MaxQty), int64(money.MaxQty)).Draw(t, "qty"))
		text, err := q.MarshalJSON()
		require.NoError(t, err)
		value, ok := new(big.Rat).SetString(string(text))
		require.True(t, ok)
		require.Zero(t, value.Cmp(big.NewRat(int64(q), 1000)))
		if strings.Contains(string(text), ".") {
			require.NotEqual(t, byte('0'), text[len(text)-1])
		}
		back, err := money.ParseQty(text)
		require.NoError(t, err)
		require.Equal(t, q, back)
	})
}

// TestPostgresForms uses pgx's own codecs in both wire formats, scalars and arrays.
func TestPostgresForms(t *testing.T) {
	t.Parallel()
	m := pgtype.NewMap()
	in := []money.Qty{0, 1, -1, 1500, 1000, 123456789, -money.MaxQty, money.MaxQty}
	for _, format := range []int16{pgtype.BinaryFormatCode, pgtype.TextFormatCode} {
		wire, err := m.Encode(pgtype.NumericArrayOID, format, in, nil)
		require.NoError(t, err)
		var out []money.Qty
		require.NoError(t, m.Scan(pgtype.NumericArrayOID, format, wire, &out))
		require.Equal(t, in, out)
		for _, q := range in {
			wire, err := m.Encode(pgtype.NumericOID, format, q, nil)
			require.NoError(t, err)
			var one money.Qty
			require.NoError(t, m.Scan(pgtype.NumericOID, format, wire, &one))
			require.Equal(t, q, one)
			var text pgtype.Numeric
			require.NoError(t, m.Scan(pgtype.NumericOID, format, wire, &text))
			decimal, err := text.MarshalJSON()
			require.NoError(t, err)
			value, ok := new(big.Rat).SetString(string(decimal))
			require.True(t, ok)
			require.Zero(t, value.Cmp(big.NewRat(int64(q), 1000)))
		}
		var null *money.Qty
		require.NoError(t, m.Scan(pgtype.NumericOID, format, nil, &null))
		require.Nil(t, null)
		require.Error(t, m.Scan(pgtype.NumericOID, format, nil, new(money.Qty)))
		wire, err = m.Encode(pgtype.NumericOID, format, pgtype.Numeric{Int: big.NewInt(12345), Exp: -4, Valid: true}, nil)
		require.NoError(t, err)
		require.ErrorContains(t, m.Scan(pgtype.NumericOID, format, wire, new(money.Qty)), "at most 3 decimal places")

		wire, err = m.Encode(pgtype.Int8ArrayOID, format, []money.Amount{-5, 7}, nil)
		require.NoError(t, err)
		var amounts []money.Amount
		require.NoError(t, m.Scan(pgtype.Int8ArrayOID, format, wire, &amounts))
		require.Equal(t, []money.Amount{-5, 7}, amounts)
	}
}

func TestSchemaTakesStructTags(t *testing.T) {
	t.Parallel()
	type line struct {
		Price    money.Amount  `json:"price" minimum:"0"`
		Qty      money.Qty     `json:"qty,omitempty" default:"1000" exclusiveMinimum:"0" maximum:"1000000"`
		Discount money.Percent `json:"discount,omitempty" maximum:"50"`
	}
	registry := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	schema := huma.SchemaFromType(registry, reflect.TypeFor[line]())
	require.NotNil(t, schema)
	out, err := json.Marshal(schema.Properties)
	require.NoError(t, err)
	require.JSONEq(t, `{
		"price": {"type": "integer", "format": "int64", "minimum": 0, "maximum": 9007199254740991},
		"qty": {"type": "number", "default": 1, "exclusiveMinimum": 0, "maximum": 1000000, "x-decimals": 3},
		"discount": {"type": "number", "minimum": 0, "maximum": 50, "x-decimals": 2}
	}`, string(out))
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"0", "-1", "1.5", "1e2", "1.25E+1", "0.0010", "100", "9007199254740992", "1e-5", "-0", "1e"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var n json.Number
		isNumber := json.Valid([]byte(s)) && json.Unmarshal([]byte(s), &n) == nil && string(n) == s
		a, errA := money.ParseAmount(s)
		q, errQ := money.ParseQty([]byte(s))
		p, errP := money.ParsePercent(s)
		if !isNumber {
			require.Error(t, errA)
			require.Error(t, errQ)
			require.Error(t, errP)
			return
		}
		if i := strings.IndexAny(s, "eE"); i >= 0 && len(s)-i > 5 {
			return // math/big would build the whole number
		}
		exact, ok := new(big.Rat).SetString(s)
		require.True(t, ok)
		check := func(got, scale, low, high int64, err error) {
			want := new(big.Rat).Mul(exact, new(big.Rat).SetInt64(scale))
			inside := want.IsInt() && want.Num().IsInt64() && want.Num().Int64() >= low && want.Num().Int64() <= high
			require.Equal(t, inside, err == nil, "%s at scale %d: %v", s, scale, err)
			if inside {
				require.Equal(t, want.Num().Int64(), got)
			}
		}
		check(int64(a), 1, -int64(money.MaxAmount), int64(money.MaxAmount), errA)
		check(int64(q), 1000, -int64(money.MaxQty), int64(money.MaxQty), errQ)
		check(int64(p), 100, 0, int64(money.MaxPercent), errP)
	})
}
