package paper

// receipt draws a sheet on a roll, which is cut where it ends.
func (p *press) receipt() {
	p.pageWidth, p.left, p.width = 80, marginReceipt, 80-2*marginReceipt
	measure := *p
	measure.dry, measure.y = true, marginReceipt
	measure.slip()
	p.height = min(measure.y+marginReceipt, maxReceipt)
	p.begin()
	p.slip()
}

// slip draws what stands on a receipt.
func (p *press) slip() {
	if h := p.picture(p.left+p.width/4, p.y, p.width/2, 16); h > 0 {
		p.y += h + 2
	} else if p.s.Logo != nil {
		p.y += 18 // when it is measured
	}
	for i, line := range p.s.From {
		style, size := "", typeSmall
		if i == 0 {
			style, size = "B", typeText+1.5
		}
		p.down(p.width, size, style, "C", line)
	}
	p.y += 3
	p.down(p.width, typeText+1.5, "B", "C", p.s.Title)
	for _, fact := range p.s.Facts {
		p.pair(fact.Label, fact.Text, typeSmall, "")
	}
	p.y++
	p.rule(0.2)
	p.y += 1.5
	for _, r := range p.s.Rows {
		p.room(p.rowHeight(r))
		if r.Head() {
			p.y += 1.5
		}
		p.y += p.row(r, typeText) + 0.8
	}
	p.y++
	p.rule(0.2)
	p.y += 1.5
	for _, sum := range p.s.Sums {
		style, size := "", typeText
		if sum.Strong {
			style, size = "B", typeText+1.5
		}
		p.pair(sum.Label, sum.Text, size, style)
	}
	p.y += 2
	p.sign()
	p.end()
}

// end draws the code and the text below.
func (p *press) end() {
	if p.s.Code != nil {
		p.room(18)
		if !p.dry {
			code(p.f, *p.s.Code, p.left+10, p.y+1, p.width-20, 11)
		}
		p.y += 14
	}
	p.down(p.width, typeSmall, "", "C", p.s.Foot...)
}

// pair draws a name and its text at the two ends of a line.
func (p *press) pair(label, text string, size float64, style string) {
	p.room(lineHeight(size))
	width := p.width * 0.56
	a := p.at(p.left, p.y, width-gap, size, style, "L", label)
	p.y += max(a, p.at(p.left+width, p.y, p.width-width, size, style, "R", text))
}
