package paper

import (
	"bytes"
	"image"
	"image/png"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/services/business/catalog"
	"github.com/tradegrid/tradegrid/services/business/clients"
	"github.com/tradegrid/tradegrid/services/business/invoices"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
	"github.com/tradegrid/tradegrid/services/business/orders"
	"github.com/tradegrid/tradegrid/services/business/sales"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/platform/company"
)

var now = time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC)

func newWriter(t *testing.T, locale string) Writer {
	t.Helper()
	texts, err := web.NewCustomerTexts()
	require.NoError(t, err)
	return NewWriter(texts, company.Settings{
		Name: "Northwind", Currency: "EUR", TimeZone: "Europe/Berlin", Locale: locale,
		Letterhead: company.Letterhead{
			DocumentName: new("Northwind Bikes GmbH"), DocumentAddress: new("Hafenstraße 1\n\n20457 Hamburg"), DocumentTaxID: new("DE123456789"), DocumentBank: new("DE02 1203 0000 0000 2020 51\nBYLADEM1001"),
			DocumentFooter: new("Zahlbar in 14 Tagen"), DocumentPaper: company.PaperA4,
		},
	}, nil)
}

// order has n lines, and amounts that no line adds up to: documents show those of the record.
func order(n int) orders.Order {
	o := orders.Order{Header: orders.Header{Number: 1048, Details: orders.Details{CustomerName: new("Жанна Öztürk 🚲"), CustomerPhone: new("+49 40 123")}}}
	o.CreatedAt = jsontype.At(now)
	o.Totals = lineitem.Totals{
		Subtotal: 1234500, DiscountAmount: 100, TaxAmount: 197087, Total: 1234400, Taxation: lineitem.Taxation{TaxMode: "included"},
		Taxes: []lineitem.Tax{{Rate: 1900, Base: 1000000, Amount: 190000}, {Rate: 700, Base: 101243, Amount: 7087}},
	}
	o.Payable, o.PrepaidAmount, o.AmountDue = 1234400, 34400, 1200000
	for i := range n {
		l := orders.Line{Line: lineitem.Line{Kind: "product", Name: "Helm Größe M " + strings.Repeat("x", i%90), SKU: new("SKU-1"), Unit: new("pcs"), Qty: 2500, UnitPrice: 123450, Total: 308625, TaxRate: new(money.Percent(1900))}}
		o.Lines = append(o.Lines, l)
	}
	return o
}

func labels(facts []Fact) (all []string) {
	for _, f := range facts {
		all = append(all, f.Label+": "+strings.ReplaceAll(f.Text, "\u00a0", " "))
	}
	return all
}

func TestDocumentsSayWhatTheRecordHas(t *testing.T) {
	t.Parallel()
	client := &clients.Client{}
	client.DisplayName, client.CompanyName, client.LegalAddress = "Radladen", new("Radladen OHG"), new("Markt 2\n20095 Hamburg")
	s := newWriter(t, "de-DE").Confirmation(order(1), client)
	require.Equal(t, "Auftragsbestätigung 1048", s.Title)
	require.Equal(t, "de", s.Lang)
	require.Equal(t, []string{"Northwind Bikes GmbH", "Hafenstraße 1", "20457 Hamburg"}, s.From)
	require.Equal(t, []string{"Radladen OHG", "Radladen", "Markt 2", "20095 Hamburg", "Жанна Öztürk 🚲", "+49 40 123"}, s.To)
	require.Equal(t, []string{"1", "Helm Größe M ", "2,5\u00a0pcs", "1.234,50", "19\u00a0%", "3.086,25"}, s.Rows[0].Cells)
	require.Equal(t, []string{"SKU-1"}, s.Rows[0].Detail)
	require.Equal(t, []string{
		"Zwischensumme: 12.345,00 €", "Rabatt: −1,00 €", "Gesamt: 12.344,00 €", "enthaltene Steuer 19\u00a0% auf 10.000,00: 1.900,00 €", "enthaltene Steuer 7\u00a0% auf 1.012,43: 70,87 €",
		"Bezahlt: 344,00 €", "Offener Betrag: 12.000,00 €",
	}, labels(s.Sums))
	require.Equal(t, []string{"Steuernummer DE123456789", "DE02 1203 0000 0000 2020 51 · BYLADEM1001", "Zahlbar in 14 Tagen"}, s.Foot)
	require.Contains(t, labels(s.Facts), "Auftragsdatum: 29. März 2026")

	added := order(1)
	added.TaxMode = "added"
	require.Equal(t, "Tax 19% on 10,000.00: €1,900.00", labels(newWriter(t, "en").Confirmation(added, nil).Sums)[2], "taxes that are added stand above the total")
	note := newWriter(t, "en").DeliveryNote(order(1), nil)
	require.Empty(t, note.Sums, "whoever brings the goods does not know what they cost")
	for _, row := range note.Rows {
		require.NotContains(t, strings.Join(row.Cells, " "), "1,234.50")
	}
}

// An invoice says what it was issued with, not what the company is today.
func TestInvoicesSayWhatTheyWereIssuedWith(t *testing.T) {
	t.Parallel()
	i := invoices.Invoice{
		ListItem: invoices.ListItem{
			Number: 7, Kind: "invoice", OrderNumber: 1048, IssuedAt: jsontype.At(now), DueDate: new(jsontype.Date(time.Date(2026, 4, 12, 0, 0, 0, 0, time.UTC))), Currency: "JPY",
			Totals: order(0).Totals, DeliveryCost: 490, ReturnFees: 10, Payable: 1234900, Note: new("Danke"),
		},
		Seller: invoices.Seller{Name: "Old Name", TaxID: new("DE 0"), Footer: new("Bye")},
		Buyer:  invoices.Buyer{Name: new("Radladen OHG"), Address: new("Markt 2\n20095 Hamburg"), INN: new("DE 9")},
		Lines:  []invoices.Line{{Line: order(1).Lines[0].Line}},
	}
	s := newWriter(t, "de-DE").Invoice(i)
	require.Equal(t, "Rechnung 7", s.Title)
	require.Equal(t, []string{"Old Name"}, s.From)
	require.Equal(t, []string{"Radladen OHG", "Markt 2", "20095 Hamburg", "Steuernummer DE 9"}, s.To)
	require.Equal(t, []string{"Steuernummer DE 0", "Bye"}, s.Foot)
	require.Equal(t, []string{"Datum: 29. März 2026", "Auftrag: 1048", "Fällig am: 12. April 2026"}, labels(s.Facts))
	require.Equal(t, []string{"1", "Helm Größe M ", "2,5\u00a0pcs", "123.450", "19\u00a0%", "308.625"}, s.Rows[0].Cells)
	require.Equal(t, []string{"Lieferung: 490 ¥", "Gebühren für Rückgaben: 10 ¥", "Rechnungsbetrag: 1.234.900 ¥"}, labels(s.Sums)[5:])
	require.Equal(t, []string{"Anmerkung: Danke"}, labels(s.Notes))

	i.Kind, i.Number, i.InvoiceNumber, i.DueDate, i.Note, i.Reason = "credit_note", 8, new(int64(7)), nil, nil, new("Falsche Adresse")
	s = newWriter(t, "de-DE").Invoice(i)
	require.Equal(t, "Stornorechnung 8", s.Title)
	require.Contains(t, labels(s.Facts), "Storniert Rechnung: 7")
	require.Contains(t, labels(s.Sums), "Gutschriftbetrag: 1.234.900 ¥")
	require.Equal(t, []string{"Grund: Falsche Adresse"}, labels(s.Notes))
}

func TestPickListsGoByProduct(t *testing.T) {
	t.Parallel()
	of := func(number int64, names ...string) (o orders.Order) {
		o.Number = number
		for _, name := range names {
			o.Lines = append(o.Lines, orders.Line{Line: lineitem.Line{Kind: "product", Name: name, Qty: 1000}})
		}
		o.Lines = append(o.Lines, orders.Line{Line: lineitem.Line{Kind: "service", Name: "Repair", Qty: 1000}})
		return o
	}
	s := newWriter(t, "en").PickList([]orders.Order{of(12, "Lamp", "Bell"), of(13, "Bell")})
	var got []string
	for _, r := range s.Rows {
		got = append(got, r.Cells[1]+" "+r.Cells[4])
	}
	require.Equal(t, []string{"Bell 12", "Bell 13", "Lamp 12"}, got)
	require.Equal(t, "12, 13", s.Facts[0].Text)
}

// pagesOf counts the pages of a file.
func pagesOf(raw []byte) int { return bytes.Count(raw, []byte("/Type /Page\n")) }

func TestPDFsTakeAsManyPagesAsTheyNeed(t *testing.T) {
	t.Parallel()
	w := newWriter(t, "de")
	var logo bytes.Buffer
	require.NoError(t, png.Encode(&logo, image.NewGray(image.Rect(0, 0, 60, 20))))
	w.logo = &Picture{Media: "image/png", Bytes: logo.Bytes()}
	for lines, pages := range map[int]int{1: 1, 60: 5, 500: 39} {
		raw, err := PDF("Auftrag", []Sheet{w.Confirmation(order(lines), nil)}, now)
		require.NoError(t, err)
		require.True(t, bytes.HasPrefix(raw, []byte("%PDF-")))
		require.Equal(t, pages, pagesOf(raw), "%d lines", lines)
		require.Less(t, len(raw), 200<<10+lines*1000)
	}
	sale := sales.Sale{Header: sales.Header{Number: 7, Kind: "sale"}}
	for range 500 {
		sale.Lines = append(sale.Lines, sales.Line{Line: lineitem.Line{Name: "Bell", Qty: 1000, UnitPrice: 100, Total: 100}})
	}
	receipt := w.Receipt(sale)
	receipt.Foot = []string{"Danke"}
	raw, err := PDF("Beleg", []Sheet{receipt, w.Receipt(sales.Sale{Header: sales.Header{Number: 8, Kind: "refund"}})}, now)
	require.NoError(t, err)
	require.GreaterOrEqual(t, pagesOf(raw), 2, "each is a page of its own")
	again, err := PDF("Beleg", []Sheet{receipt, w.Receipt(sales.Sale{Header: sales.Header{Number: 8, Kind: "refund"}})}, now)
	require.NoError(t, err)
	require.Equal(t, raw, again, "the same document is the same file")
}

func TestShiftReports(t *testing.T) {
	t.Parallel()
	shift := sales.Shift{Number: 3, OpenedAt: jsontype.At(now), ExpectedCash: 12000, Totals: sales.Totals{SalesCount: 2, SalesTotal: 5000, RefundsCount: 1, RefundsTotal: 500}}
	require.Equal(t, "Interim report of shift 3 (X)", newWriter(t, "en").ShiftReport(shift).Title)
	shift.ClosedAt, shift.ClosingCash, shift.CashDifference = new(jsontype.At(now)), new(money.Amount(11900)), new(money.Amount(-100))
	s := newWriter(t, "en").ShiftReport(shift)
	require.Equal(t, "Final report of shift 3 (Z)", s.Title)
	require.Equal(t, []string{"Must be in the drawer: €120.00", "Counted: €119.00", "Difference: −€1.00"}, labels(s.Sums))
	require.Equal(t, []string{"Refunds: 1", "−5.00"}, s.Rows[1].Cells)
}

func TestCodes(t *testing.T) {
	t.Parallel()
	ean, err := newCode(codeAuto, "4006381333931")
	require.NoError(t, err)
	require.Equal(t, 95+2*quietEAN, ean.Width)
	require.Equal(t, Run{quietEAN, 0, 1}, ean.Runs[0])
	require.Equal(t, Run{quietEAN + 2, 0, 1}, ean.Runs[1], "an EAN begins with two bars")
	bars, err := newCode(codeAuto, "4006381333932")
	require.NoError(t, err)
	require.NotEqual(t, ean.Width, bars.Width, "a wrong check digit is no EAN")
	require.False(t, bars.Square())
	for kind, text := range map[string]string{codeQR: "HELM-M", codeBars: "Größe"} {
		square, err := newCode(kind, text)
		require.NoError(t, err)
		require.True(t, square.Square(), "bars cannot say %s", text)
		require.Contains(t, square.Path(), "M4 4h7v1h-7z")
	}
	_, err = newCode(codeAuto, strings.Repeat("ä", 3000))
	require.Error(t, err)
}

func TestLabels(t *testing.T) {
	t.Parallel()
	w := newWriter(t, "de")
	plain := catalog.Product{ProductFields: catalog.ProductFields{Name: "Klingel", SKU: "K-1", Price: 990}}
	helmet := catalog.Product{ProductFields: catalog.ProductFields{Name: "Helm", SKU: "H", Price: 4900}, HasVariants: true}
	variants := []catalog.ProductVariant{
		{VariantFields: catalog.VariantFields{SKU: "H-M", Status: "active", Barcode: new("4006381333931")}, Attributes: map[string]string{"Size": "M", "Colour": "red"}, EffectivePrice: 5100},
		{VariantFields: catalog.VariantFields{SKU: "H-L", Status: "hidden"}},
	}
	all := []labelled{{plain, nil}, {helmet, variants}}
	sheets, err := w.Labels(all, labelsA4, codeAuto, 20, 10)
	require.NoError(t, err)
	require.Len(t, sheets, 3, "10 are gone, 20 of each")
	require.Nil(t, sheets[0].Labels[9].Code)
	require.Equal(t, "K-1", sheets[0].Labels[10].Code.Text)
	last := sheets[2].Labels[1]
	require.Equal(t, []string{"Helm", "red · M", "51,00\u00a0€", "4006381333931"}, []string{last.Name, last.Detail, last.Price, last.Code.Text})
	raw, err := LabelsPDF("Etiketten", sheets, now)
	require.NoError(t, err)
	require.Equal(t, 3, pagesOf(raw))
	sheets, err = w.Labels(all, labelsRoll, codeQR, 2, 10)
	require.NoError(t, err)
	raw, err = LabelsPDF("Etiketten", sheets, now)
	require.NoError(t, err)
	require.Equal(t, 4, pagesOf(raw), "of rolls nothing is gone")
}
