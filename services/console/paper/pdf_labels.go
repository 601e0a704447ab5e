package paper

import (
	"time"

	"codeberg.org/go-pdf/fpdf"
)

// box is the place of a label on its page, in millimetres.
type box struct{ x, y, width, height float64 }

// LabelsPDF is labels as a file, made at a time.
func LabelsPDF(title string, sheets []LabelSheet, at time.Time) ([]byte, error) {
	f, clean, err := newPDF(title, at)
	if err != nil {
		return nil, err
	}
	p := &press{f: f, printable: clean}
	for _, s := range sheets {
		size, across := box{width: 70, height: 297.0 / 8}, 3
		page := fpdf.SizeType{Wd: 210, Ht: 297}
		if s.Size == labelsRoll {
			size, across = box{width: 58, height: 40}, 1
			page = fpdf.SizeType{Wd: 58, Ht: 40}
		}
		f.AddPageFormat("P", page)
		for i, l := range s.Labels {
			size.x, size.y = float64(i%across)*size.width, float64(i/across)*size.height
			if l.Code != nil {
				p.label(l, size)
			}
		}
	}
	return finished(f)
}

// label draws a label: name and what tells it from others at the top, the code, and the price at the bottom.
func (p *press) label(l Label, b box) {
	const edge = 4.0
	x, width, y := b.x+edge, b.width-2*edge, b.y+edge
	for i, line := range p.split(l.Name, width, typeSmall+0.5, "B") {
		if i < 2 { // no more has room
			y += p.at(x, y, width, typeSmall+0.5, "B", "L", line)
		}
	}
	for i, line := range p.split(l.Detail, width, typeSmall-1, "") {
		if i == 0 {
			y += p.at(x, y, width, typeSmall-1, "", "L", line)
		}
	}
	foot := b.y + b.height - edge - lineHeight(typeText+1.5)
	p.at(x, foot+1, width*0.55, typeSmall-1, "", "L", l.Code.Text)
	p.at(x+width*0.5, foot, width*0.5, typeText+1.5, "B", "R", l.Price)
	code(p.f, *l.Code, x, y+0.5, width, foot-y-1)
}
