package imports

import (
	"bytes"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"golang.org/x/text/number"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/spreadsheet"
)

func TestNumbersOfFiles(t *testing.T) {
	t.Parallel()
	type read func(numbers, spreadsheet.Value) ([]byte, *apierr.Field)
	amount, whole, quantity := read(numbers.amount), read(numbers.integer), read(numbers.number)
	for _, c := range []struct {
		read            read
		separator, text string
		want            string // or the code of the fault
	}{
		{amount, "", "12.5", "1250"},
		{amount, "", "12,50", "1250"},
		{amount, "", "-0,5", "-50"},
		{amount, "", "+7", "700"},
		{amount, "", "007", "700"},
		{amount, "", "0", "0"},
		{amount, "", "1.500", "TYPE"},
		{amount, "", "2.990", "TYPE"},
		{amount, "", "1,250", "TYPE"},
		{amount, "", "10.000", "TYPE"},
		{amount, "", "1.234", "TYPE"},
		{amount, "", "1234.500", "STEP"},
		{amount, "", "0.500", "STEP"},
		{amount, "", "1.5000", "STEP"},
		{amount, "", "1.234,5", "TYPE"},
		{amount, "", "1 234", "TYPE"},
		{amount, "", "1'234", "TYPE"},
		{amount, ",", "1.500", "150000"},
		{amount, ",", "1.500,00", "150000"},
		{amount, ",", "1 500,5", "150050"},
		{amount, ",", "1\u202f500,50", "150050"},
		{amount, ",", "1\u00a0500", "150000"},
		{amount, ",", "1’500,5", "150050"},
		{amount, ",", "1,500", "STEP"},
		{amount, ",", "1,50", "150"},
		{amount, ",", "1.50", "TYPE"},
		{amount, ",", "12.34.567", "TYPE"},
		{amount, ",", "1.234 567", "TYPE"},
		{amount, ",", "0.123", "TYPE"},
		{amount, ",", "1234.567", "TYPE"},
		{amount, ".", "1,500", "150000"},
		{amount, ".", "12,34,567.89", "123456789"},
		{amount, ".", "1,50", "TYPE"},
		{amount, ".", "1'234'567.5", "123456750"},
		{amount, ".", "1,,234", "TYPE"},
		{amount, ".", "1.500", "STEP"},
		{whole, "", "1.000", "TYPE"},
		{whole, "", "1,000", "TYPE"},
		{whole, "", "5.0", "5"},
		{whole, "", "5,00", "5"},
		{whole, "", "5.5", "STEP"},
		{whole, "", "1234.000", "STEP"},
		{whole, "", "-12", "-12"},
		{whole, ",", "1.000", "1000"},
		{whole, ",", "1,000", "STEP"},
		{whole, ".", "1.000", "STEP"},
		{whole, ".", "1,000", "1000"},
		{quantity, "", "0.125", "0.125"},
		{quantity, "", "1.125", "TYPE"},
		{quantity, ".", "1.125", "1.125"},
		{quantity, ",", "1.125", "1125"},
		{quantity, "", "2.50", "2.5"},
		{quantity, "", "", "TYPE"},
		{quantity, "", "1E5", "TYPE"},
		{quantity, "", "€ 5", "TYPE"},
		{quantity, "", "٣", "TYPE"},
		{quantity, "", "--1", "TYPE"},
		{quantity, ".", ".5", "TYPE"},
		{quantity, ".", "1.", "TYPE"},
	} {
		got, wrong := c.read(numbers{c.separator, "EUR"}, spreadsheet.Value{Kind: spreadsheet.Text, Text: c.text})
		if wrong != nil {
			got = []byte(wrong.Code)
		}
		require.Equal(t, c.want, string(got), "%q with %q", c.text, c.separator)
	}
	for _, c := range []struct {
		read       read
		text, want string
	}{{amount, "1.500", "150"}, {amount, "1.005", "STEP"}, {whole, "1.000", "1"}, {quantity, "1.125", "1.125"}, {amount, "1.1000000000000001", "110"}} {
		got, wrong := c.read(numbers{",", "EUR"}, spreadsheet.Value{Kind: spreadsheet.Number, Text: c.text})
		if wrong != nil {
			got = []byte(wrong.Code)
		}
		require.Equal(t, c.want, string(got), "a workbook has the number %s", c.text)
	}
}

// writers are locales, and what their people write before decimal places.
var writers = map[string]string{
	"en": ".", "de": ",", "fr": ",", "de-CH": ".", "hi": ".", "es": ",", "ru": ",", "pl": ",", "pt-BR": ",", "ja": ".", "it": ",", "sv": ",", "ar": ",", "fa": ".", "bg": ",", "en-IN": ".", "de-AT": ",", "tr": ",",
}

// What a person writes is read as that number or refused, and with the decimal separator it is read.
func TestNumbersAreReadAsWrittenOrRefused(t *testing.T) {
	t.Parallel()
	read := 0
	rapid.Check(t, func(t *rapid.T) {
		locale := rapid.SampledFrom([]string{"en", "de", "fr", "de-CH", "hi", "es", "ru", "pl", "pt-BR", "ja", "it", "sv", "ar", "fa", "bg", "en-IN", "de-AT", "tr"}).Draw(t, "locale")
		currency := rapid.SampledFrom([]string{"EUR", "JPY", "KWD"}).Draw(t, "currency")
		scale := rapid.IntRange(0, 4).Draw(t, "places")
		units := rapid.OneOf(rapid.Int64Range(-3000, 3000), rapid.Int64Range(-1e12, 1e12)).Draw(t, "units")
		want := new(big.Rat).SetFrac64(units, pow10(scale))
		options := []number.Option{number.Scale(scale)}
		if rapid.Bool().Draw(t, "without separators") {
			options = append(options, number.NoSeparator())
		}
		value, _ := want.Float64()
		text := message.NewPrinter(language.MustParse(locale)).Sprint(number.Decimal(value, options...))
		n := numbers{currency: currency}
		if rapid.Bool().Draw(t, "separator") {
			n.decimal = writers[locale]
		}
		cell := spreadsheet.Value{Kind: spreadsheet.Text, Text: text}
		if got, wrong := n.number(cell); wrong == nil {
			require.Zero(t, want.Cmp(rational(t, got)), "%s: %q is read as %s", locale, text, got)
			read++
		} else {
			_, ascii := new(big.Rat).SetString(strings.NewReplacer(",", "", ".", "", "\u00a0", "", "\u202f", "", "'", "", "’", "").Replace(text))
			require.False(t, n.decimal != "" && ascii, "%s: %q is refused: %s", locale, text, wrong.Message)
		}
		if got, wrong := n.integer(cell); wrong == nil {
			require.Zero(t, want.Cmp(rational(t, got)), "%s: %q is read as %s", locale, text, got)
		}
		if got, wrong := n.amount(cell); wrong == nil {
			digits := map[string]int{"EUR": 2, "JPY": 0, "KWD": 3}[currency]
			require.Zero(t, want.Cmp(new(big.Rat).Quo(rational(t, got), new(big.Rat).SetInt64(pow10(digits)))), "%s: %q is read as %s minor units", locale, text, got)
		}
	})
	require.NotZero(t, read)
}

func pow10(n int) int64 {
	unit := int64(1)
	for range n {
		unit *= 10
	}
	return unit
}

func rational(t require.TestingT, text []byte) *big.Rat {
	got, ok := new(big.Rat).SetString(string(text))
	require.True(t, ok, "%s", text)
	return got
}

// What an export writes is read back the same: as it is, unless nobody could tell, and always with its decimal separator.
func TestNumbersOfExportsAreReadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		currency := rapid.SampledFrom([]string{"EUR", "JPY", "KWD"}).Draw(t, "currency")
		digits := uint8(map[string]int{"EUR": 2, "JPY": 0, "KWD": 3}[currency])
		cents := rapid.OneOf(rapid.Int64Range(-20_000, 20_000), rapid.Int64Range(-1<<53+1, 1<<53-1)).Draw(t, "minor units")
		thousandths := rapid.OneOf(rapid.Int64Range(-20_000, 20_000), rapid.Int64Range(-1e17, 1e17)).Draw(t, "thousandths")
		columns := []spreadsheet.Column{{Name: "price", Kind: spreadsheet.Number, Places: digits}, {Name: "qty", Kind: spreadsheet.Number}, {Name: "note", Kind: spreadsheet.Text}}
		row := []spreadsheet.Cell{{Kind: spreadsheet.Number, Num: cents, Scale: digits, Places: digits}, {Kind: spreadsheet.Number, Num: thousandths, Scale: 3}, {Kind: spreadsheet.Text, Text: "x"}}
		separator := rapid.SampledFrom([]string{".", ",", "xlsx"}).Draw(t, "file")
		cells := written(t, columns, row, separator)
		told := numbers{decimal: map[string]string{".": ".", ",": ",", "xlsx": rapid.SampledFrom([]string{"", ".", ","}).Draw(t, "told")}[separator], currency: currency}
		if separator == "xlsx" && told.decimal == "," && cells[0].Kind == spreadsheet.Text {
			told.decimal = "." // more digits than a spreadsheet keeps are a text
		}
		untold := numbers{currency: currency}
		price, qty := fmt.Sprint(cents), new(big.Rat).SetFrac64(thousandths, 1000)
		for _, n := range []numbers{told, untold} {
			got, wrong := n.amount(cells[0])
			if wrong == nil {
				require.Equal(t, price, string(got))
			}
			require.False(t, wrong != nil && (n == told && n.decimal != "" || digits != 3), "%v: %v", cells[0], wrong)
			if got, wrong = n.number(cells[1]); wrong == nil {
				require.Zero(t, qty.Cmp(rational(t, got)))
			}
			require.False(t, wrong != nil && n == told && n.decimal == separator, "%v: %v", cells[1], wrong)
		}
	})
}

// written are the cells of a row in a file.
func written(t *rapid.T, columns []spreadsheet.Column, row []spreadsheet.Cell, form string) []spreadsheet.Value {
	limits := spreadsheet.Limits{Rows: 10, Columns: 10, Cell: 1000, Row: 10_000, Expand: 1 << 20}
	var rows spreadsheet.Rows
	if form == "xlsx" {
		w, err := spreadsheet.NewXLSX(spreadsheet.XLSXOptions{Sheet: "s", Columns: columns}, spreadsheet.XLSXState{})
		require.NoError(t, err)
		require.NoError(t, w.Row(row))
		_, err = w.End()
		require.NoError(t, err)
		rows, err = spreadsheet.ReadXLSX(t.Context(), bytes.NewReader(w.Bytes()), int64(len(w.Bytes())), limits)
		require.NoError(t, err)
	} else {
		w := spreadsheet.NewCSV(spreadsheet.CSVOptions{Delimiter: ';', Decimal: form[0]})
		w.Header(columns)
		w.Row(row)
		var err error
		rows, err = spreadsheet.ReadCSV(t.Context(), w.Bytes(), "", limits)
		require.NoError(t, err)
	}
	_, err := rows.Next()
	require.NoError(t, err)
	got, err := rows.Next()
	require.NoError(t, err)
	return got.Cells
}
