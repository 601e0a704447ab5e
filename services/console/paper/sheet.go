package paper

// Kinds of sheets: sizes of paper.
const (
	kindA4      = "a4"
	kindLetter  = "letter"
	kindReceipt = "receipt" // a roll of 80 mm
)

// Sheet is a document as it is printed: what stands on it, in words. The page and the PDF are both made of it.
type Sheet struct {
	Kind    string
	Lang    string
	Title   string
	Logo    *Picture
	From    []string // the company; its name first
	To      []string // whom it is for; nil = nobody
	Facts   []Fact
	Columns []Column
	Rows    []Row
	Sums    []Fact
	Notes   []Fact
	Sign    []string // lines to sign on
	Code    *Code
	Foot    []string
}

// Picture is an image of the company.
type Picture struct {
	Address string // of the console
	Media   string
	Bytes   []byte // of PDFs
}

// Fact is something with its name.
type Fact struct {
	Label, Text string
	Strong      bool
}

// Column is the head of a column.
type Column struct {
	Text  string
	Num   bool
	Width float64 // in millimetres; 0 = what the others leave
}

// Row is a line of a document. A row with one cell is the head of those below it.
type Row struct {
	Cells  []string
	Detail []string // small, below the widest cell
}

// Head reports whether the row is a head of others.
func (r Row) Head() bool { return len(r.Cells) == 1 }

// IsReceipt reports whether the sheet is printed on a roll.
func (s Sheet) IsReceipt() bool { return s.Kind == kindReceipt }

// Wide is the column that takes what the others leave, and the details of rows.
func (s Sheet) Wide() int {
	for i, c := range s.Columns {
		if c.Width == 0 {
			return i
		}
	}
	return 0
}
