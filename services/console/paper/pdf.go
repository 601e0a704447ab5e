package paper

import (
	"bytes"
	"fmt"
	"time"

	"codeberg.org/go-pdf/fpdf"
)

// Sizes in millimetres.
const (
	marginPage    = 18.0
	marginReceipt = 4.0
	maxReceipt    = 5000.0 // what a page of a PDF can be long
	gap           = 2.0    // between columns
)

// Sizes of type in points.
const (
	typeTitle = 16.0
	typeText  = 9.5
	typeSmall = 8.0
)

// press draws a sheet from top to bottom.
type press struct {
	f         *fpdf.Fpdf
	s         Sheet
	printable func(string) string
	dry       bool // it only measures
	left, y   float64
	width     float64
	bottom    float64
	pageWidth float64
	height    float64 // of the page
	page      int
}

// newPDF begins a file with the fonts.
func newPDF(title string, at time.Time) (*fpdf.Fpdf, func(string) string, error) {
	clean, err := printable()
	if err != nil {
		return nil, nil, err
	}
	f := fpdf.New("P", "mm", "A4", "")
	f.AddUTF8FontFromBytes(family, "", regular)
	f.AddUTF8FontFromBytes(family, "B", bold)
	f.SetCreationDate(at)
	f.SetModificationDate(at)
	f.SetCatalogSort(true)
	f.SetProducer("Tradegrid", true)
	f.SetTitle(title, true)
	f.SetAutoPageBreak(false, 0)
	f.SetCellMargin(0)
	f.SetMargins(0, 0, 0)
	return f, clean, nil
}

// finished are the bytes of a file.
func finished(f *fpdf.Fpdf) ([]byte, error) {
	var b bytes.Buffer
	if err := f.Output(&b); err != nil {
		return nil, fmt.Errorf("write PDF: %w", err)
	}
	return b.Bytes(), nil
}

// PDF is sheets as a file, made at a time.
func PDF(title string, sheets []Sheet, at time.Time) ([]byte, error) {
	f, clean, err := newPDF(title, at)
	if err != nil {
		return nil, err
	}
	if len(sheets) > 0 {
		f.SetLang(sheets[0].Lang)
	}
	for _, s := range sheets {
		p := &press{f: f, s: s, printable: clean}
		if s.IsReceipt() {
			p.receipt()
		} else {
			p.document()
		}
	}
	return finished(f)
}

// lineHeight is that of a size of type.
func lineHeight(size float64) float64 { return size * 25.4 / 72 * 1.35 }

// split breaks a text into lines.
func (p *press) split(text string, width, size float64, style string) []string {
	p.f.SetFont(family, style, size)
	return p.f.SplitText(p.printable(text), width)
}

// at draws a text in lines, and returns how high they are.
func (p *press) at(x, y, width, size float64, style, align, text string) float64 {
	lines, h := p.split(text, width, size, style), lineHeight(size)
	for i, line := range lines {
		if p.dry {
			break
		}
		p.f.SetXY(x, y+float64(i)*h)
		p.f.CellFormat(width, h, line, "", 0, align, false, 0, "")
	}
	return float64(len(lines)) * h
}

// down draws texts below each other.
func (p *press) down(width, size float64, style, align string, texts ...string) {
	for _, text := range texts {
		p.room(lineHeight(size))
		p.y += p.at(p.left, p.y, width, size, style, align, text)
	}
}

// room begins another page if there is less than a height left.
func (p *press) room(height float64) bool {
	if p.dry || p.y+height <= p.bottom {
		return false
	}
	p.begin()
	return true
}

// grey and black set the colour of texts.
func (p *press) grey()  { p.f.SetTextColor(90, 90, 90) }
func (p *press) black() { p.f.SetTextColor(0, 0, 0) }

// rule draws a line over the whole width.
func (p *press) rule(thick float64) {
	if !p.dry {
		p.f.SetLineWidth(thick)
		p.f.Line(p.left, p.y, p.left+p.width, p.y)
	}
}

// begin begins a page: what stands below each of them is drawn first.
func (p *press) begin() {
	p.page++
	p.f.AddPageFormat("P", fpdf.SizeType{Wd: p.pageWidth, Ht: p.height})
	p.black()
	p.f.SetDrawColor(0, 0, 0)
	if p.s.IsReceipt() {
		p.y, p.bottom = marginReceipt, p.height
		return
	}
	h := lineHeight(typeSmall)
	at := p.height - 10 - float64(len(p.s.Foot))*h
	p.bottom = at - 4
	p.grey()
	for i, line := range p.s.Foot {
		p.at(p.left, at+float64(i)*h, p.width, typeSmall, "", "C", line)
	}
	if p.y = marginPage; p.page > 1 {
		p.y -= h
		p.y += p.at(p.left, p.y, p.width, typeSmall, "", "L", fmt.Sprintf("%s · %d", p.s.Title, p.page)) + 3
	}
	p.black()
}

// code draws a barcode into a box.
func code(f *fpdf.Fpdf, c Code, x, y, width, height float64) {
	w, h := width/float64(c.Width), height/float64(c.Height)
	if c.Square() {
		w = min(w, h)
		h = w
		x += (width - w*float64(c.Width)) / 2
	}
	f.SetFillColor(0, 0, 0)
	for _, r := range c.Runs {
		f.Rect(x+float64(r.X)*w, y+float64(r.Y)*h, float64(r.Width)*w, h, "F")
	}
}
