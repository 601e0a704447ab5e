package paper

import (
	"bytes"
	"strings"

	"codeberg.org/go-pdf/fpdf"
)

// document draws a sheet on pages of a size.
func (p *press) document() {
	p.pageWidth, p.height = 210, 297
	if p.s.Kind == kindLetter {
		p.pageWidth, p.height = 215.9, 279.4
	}
	p.left, p.width = marginPage, p.pageWidth-2*marginPage
	p.begin()
	p.head()
	p.facts()
	p.table()
	p.sums()
	p.notes()
	p.sign()
}

// picture draws the logo at the left, into a box, and returns how high it is.
func (p *press) picture(x, y, width, height float64) float64 {
	if p.s.Logo == nil || p.dry {
		return 0
	}
	kind := strings.TrimPrefix(p.s.Logo.Media, "image/")
	info := p.f.RegisterImageOptionsReader("logo", fpdf.ImageOptions{ImageType: kind}, bytes.NewReader(p.s.Logo.Bytes))
	if info == nil || p.f.Err() {
		return 0
	}
	if scale := height / info.Height(); info.Width()*scale < width {
		width = info.Width() * scale
	} else {
		height = info.Height() * width / info.Width()
	}
	p.f.ImageOptions("logo", x, y, width, height, false, fpdf.ImageOptions{ImageType: kind}, 0, "")
	return height
}

// head draws logo and company, and whom the document is for.
func (p *press) head() {
	top := p.y
	logo := p.picture(p.left, top, 60, 22)
	half := p.width / 2
	y := top
	for i, line := range p.s.From {
		style, size := "", typeSmall
		if i == 0 {
			style, size = "B", typeText+1
		}
		y += p.at(p.left+half, y, half, size, style, "R", line)
	}
	p.y = max(y, top+logo) + 8
	if len(p.s.To) > 0 {
		p.down(half, typeText+0.5, "", "L", p.s.To...)
		p.y += 6
	}
	p.down(p.width, typeTitle, "B", "L", p.s.Title)
	p.y += 2
}

// facts draws facts with their names.
func (p *press) facts() {
	const label = 42.0
	for _, fact := range p.s.Facts {
		p.room(lineHeight(typeText))
		p.grey()
		a := p.at(p.left, p.y, label-gap, typeText, "", "L", fact.Label)
		p.black()
		p.y += max(a, p.at(p.left+label, p.y, p.width-label, typeText, "", "L", fact.Text))
	}
	p.y += 5
}

// widths are those of the columns.
func (p *press) widths() []float64 {
	rest, out := p.width, make([]float64, len(p.s.Columns))
	for i, c := range p.s.Columns {
		out[i] = c.Width
		rest -= c.Width
	}
	if len(out) > 0 {
		out[p.s.Wide()] += rest
	}
	return out
}

// table draws the lines. Its head is repeated on each page, and no line is cut.
func (p *press) table() {
	if len(p.s.Columns) == 0 {
		return
	}
	p.tableHead()
	for _, r := range p.s.Rows {
		if p.room(p.rowHeight(r)) {
			p.tableHead()
		}
		p.y += p.row(r, typeText) + 1.5
		p.f.SetDrawColor(200, 200, 200)
		p.rule(0.1)
		p.f.SetDrawColor(0, 0, 0)
		p.y += 1.5
	}
	p.y += 3
}

func (p *press) tableHead() {
	cells := make([]string, len(p.s.Columns))
	for i, c := range p.s.Columns {
		cells[i] = c.Text
	}
	p.grey()
	p.y += p.row(Row{Cells: cells}, typeSmall) + 1
	p.black()
	p.rule(0.3)
	p.y += 1.5
}

// rowHeight measures a row.
func (p *press) rowHeight(r Row) float64 {
	measure := *p
	measure.dry = true
	return measure.row(r, typeText) + 3
}

// row draws a row, and returns how high it is.
func (p *press) row(r Row, size float64) (height float64) {
	if r.Head() {
		return p.at(p.left, p.y, p.width, size, "B", "L", r.Cells[0])
	}
	x := p.left
	for i, width := range p.widths() {
		align := "L"
		if p.s.Columns[i].Num {
			align = "R"
		}
		inner := width - gap
		if i == len(p.s.Columns)-1 {
			inner = width
		}
		h := p.at(x, p.y, inner, size, "", align, r.Cells[i])
		if i == p.s.Wide() {
			for _, line := range r.Detail {
				p.grey()
				h += p.at(x, p.y+h, inner, typeSmall, "", "L", line)
				p.black()
			}
		}
		height = max(height, h)
		x += width
	}
	return height
}

// sums draws the sums below the amounts. They are not parted.
func (p *press) sums() {
	p.room(float64(len(p.s.Sums)) * (lineHeight(typeText+1) + 1))
	const amount = 42.0
	for _, sum := range p.s.Sums {
		p.room(lineHeight(typeText + 1))
		style, size := "", typeText
		if sum.Strong {
			style, size = "B", typeText+1
		}
		a := p.at(p.left, p.y, p.width-amount, size, style, "R", sum.Label)
		p.y += max(a, p.at(p.left+p.width-amount, p.y, amount, size, style, "R", sum.Text)) + 0.8
	}
	p.y += 4
}

func (p *press) notes() {
	for _, note := range p.s.Notes {
		p.down(p.width, typeText, "B", "L", note.Label)
		p.down(p.width, typeText, "", "L", lines(&note.Text)...)
		p.y += 3
	}
}

// sign draws lines to sign on beside each other.
func (p *press) sign() {
	if len(p.s.Sign) == 0 {
		return
	}
	p.room(26)
	p.y += 16
	n := float64(len(p.s.Sign))
	width := (p.width - (n-1)*10) / n
	for i, text := range p.s.Sign {
		x := p.left + float64(i)*(width+10)
		if !p.dry {
			p.f.SetLineWidth(0.2)
			p.f.Line(x, p.y, x+width, p.y)
		}
		p.at(x, p.y+1, width, typeSmall, "", "L", text)
	}
	p.y += 6
}
