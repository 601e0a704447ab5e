package spreadsheet

import (
	"archive/zip"
	"encoding/xml"
	"regexp"
	"strconv"
	"strings"
)

// maxStyles is how many styles of cells and formats of numbers a workbook may have; Excel has 65 490 of the first.
const maxStyles = 1 << 16

// readStyles finds out which styles show numbers as dates: nothing else tells the number 1990 from a day in 1905.
func (r *xlsxRows) readStyles(z *zip.Reader) error {
	const name = "xl/styles.xml"
	f, err := z.Open(name)
	if err != nil {
		return nil //nolint:nilerr // a file without styles has no dates
	}
	_ = f.Close()
	formats := map[int]bool{} // own formats of the file
	inCells := false
	return r.tokens(z, name, func(t xml.Token) error {
		switch t := t.(type) {
		case xml.EndElement:
			inCells = inCells && t.Name.Local != "cellXfs"
		case xml.StartElement:
			id, err := strconv.Atoi(attr(t, "numFmtId"))
			switch {
			case t.Name.Local == "cellXfs":
				inCells = true
			case t.Name.Local == "numFmt" && err == nil:
				formats[id] = showsDate(attr(t, "formatCode"))
			case t.Name.Local == "xf" && inCells:
				own, known := formats[id]
				r.dates = append(r.dates, err == nil && (own || !known && dateFormat(id)))
			}
			if len(r.dates) > maxStyles || len(formats) > maxStyles {
				return wrongFile("has more than %d styles; save it anew", maxStyles)
			}
		}
		return nil
	})
}

// dateFormat reports whether a format that all programs know shows a date or a time. Those from 27 on are of East Asia.
func dateFormat(id int) bool {
	return id >= 14 && id <= 22 || id >= 27 && id <= 36 || id >= 45 && id <= 47 || id >= 50 && id <= 58
}

var (
	// elapsed are hours, minutes or seconds of more than a day, an hour or a minute.
	elapsed = regexp.MustCompile(`\[(h+|m+|s+)\]`)
	// notShown are parts of the code of a format that are no letters of a date: quoted and escaped texts, widths, fillings, colours and locales.
	notShown = regexp.MustCompile(`"[^"]*"?|\\.|_.|\*.|\[[^\]]*\]`)
)

// showsDate reports whether the code of a format shows a date or a time.
func showsDate(code string) bool {
	code = strings.ToLower(code)
	if code == "general" {
		return false
	}
	shown := notShown.ReplaceAllString(elapsed.ReplaceAllString(code, "$1"), "")
	return strings.ContainsAny(shown, "ymdhs")
}
