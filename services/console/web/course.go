package web

import "strings"

// Course is how something goes over the steps of a day, beside how it went before: piece "course". Make one with [Request.Course].
type Course struct {
	Label  string // what it shows, for those who do not see it
	Now    string // name of what is drawn in full
	Was    string // name of what it is compared with
	Scale  []string
	Steps  []string
	Path   string // of now, as SVG has it
	Area   string // below it
	Before string
	Dot    string // where now is; "" = nowhere yet
	Table  Table  // the figures
}

// side is the width and the height of what a [Course] is drawn in; the page stretches it.
const side = 100

// Course draws now, which may have fewer values than there are steps, against was, which has one for each step. of says what the steps
// are.
func (q *Request) Course(label, of string, names []string, now, was Series) *Course {
	top := roundUp(max(highest([]Series{now, was}), 1))
	c := &Course{Label: label, Now: now.Name, Was: was.Name, Steps: names, Table: Table{Label: label, Columns: []Column{{Text: of}, {Text: now.Name, Num: true}, {Text: was.Name, Num: true}}}}
	for _, v := range []float64{top, top / 2, 0} {
		c.Scale = append(c.Scale, rough(q, v))
	}
	points := func(s Series) (all []string) {
		for i, v := range s.Values {
			all = append(all, length(float64(i)*side/float64(max(len(names)-1, 1)))+" "+length(side-side*max(v, 0)/top))
		}
		return all
	}
	c.Before = line(points(was))
	if all := points(now); len(all) > 0 {
		last := all[len(all)-1]
		x, _, _ := strings.Cut(last, " ")
		c.Path, c.Dot = line(all), "M"+last+"h0"
		c.Area = c.Path + "L" + x + " 100L0 100Z"
	}
	for i, name := range names {
		row := []Cell{Text(name), Number("–"), Number(was.text(q, i))}
		if i < len(now.Values) {
			row[1] = Number(now.text(q, i))
		}
		c.Table.Rows = append(c.Table.Rows, row)
	}
	return c
}

// line is a line through points, as SVG has it.
func line(points []string) string {
	if len(points) == 0 {
		return ""
	}
	return "M" + strings.Join(points, "L")
}
