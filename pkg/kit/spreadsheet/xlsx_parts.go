package spreadsheet

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// part is a file of the workbook beside its sheets.
type part struct{ name, body string }

const (
	xmlHead  = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"
	mainNS   = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
	relNS    = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	packNS   = "http://schemas.openxmlformats.org/package/2006"
	officeNS = "application/vnd.openxmlformats-officedocument.spreadsheetml"
)

// styles in the order of the constants: general, header, text, time, date, and numbers with 1 to maxPlaces decimal places.
const styles = xmlHead + `<styleSheet xmlns="` + mainNS + `"><numFmts count="6"><numFmt numFmtId="164" formatCode="yyyy\-mm\-dd\ hh:mm:ss"/>` +
	`<numFmt numFmtId="165" formatCode="yyyy\-mm\-dd"/><numFmt numFmtId="166" formatCode="#,##0.0"/><numFmt numFmtId="167" formatCode="#,##0.00"/>` +
	`<numFmt numFmtId="168" formatCode="#,##0.000"/><numFmt numFmtId="169" formatCode="#,##0.0000"/></numFmts>` +
	`<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts>` +
	`<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>` +
	`<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>` +
	`<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="9">` +
	`<xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="49" fontId="1" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1"/>` +
	`<xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>` +
	`<xf numFmtId="165" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="166" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>` +
	`<xf numFmtId="167" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="168" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>` +
	`<xf numFmtId="169" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/></cellXfs>` +
	`<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`

// parts are the files that follow the sheets.
func (w *XLSX) parts() []part {
	var types, sheets, rels strings.Builder
	for n := 1; n <= w.at.Sheet; n++ {
		fmt.Fprintf(&types, `<Override PartName="/%s" ContentType="%s.worksheet+xml"/>`, sheetPath(n), officeNS)
		fmt.Fprintf(&sheets, `<sheet name="%s" sheetId="%d" r:id="rId%d"/>`, appendXML(nil, w.sheetName(n)), n, n)
		fmt.Fprintf(&rels, `<Relationship Id="rId%d" Type="%s/worksheet" Target="worksheets/sheet%d.xml"/>`, n, relNS, n)
	}
	fmt.Fprintf(&rels, `<Relationship Id="rId%d" Type="%s/styles" Target="styles.xml"/>`, w.at.Sheet+1, relNS)
	return []part{
		{"xl/styles.xml", styles},
		{"xl/workbook.xml", xmlHead + `<workbook xmlns="` + mainNS + `" xmlns:r="` + relNS + `"><sheets>` + sheets.String() + `</sheets></workbook>`},
		{"xl/_rels/workbook.xml.rels", xmlHead + `<Relationships xmlns="` + packNS + `/relationships">` + rels.String() + `</Relationships>`},
		{"_rels/.rels", xmlHead + `<Relationships xmlns="` + packNS + `/relationships"><Relationship Id="rId1" Type="` + relNS + `/officeDocument" Target="xl/workbook.xml"/></Relationships>`},
		{"[Content_Types].xml", xmlHead + `<Types xmlns="` + packNS + `/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
			`<Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="` + officeNS + `.sheet.main+xml"/>` +
			`<Override PartName="/xl/styles.xml" ContentType="` + officeNS + `.styles+xml"/>` + types.String() + `</Types>`},
	}
}

// sheetName is at most 31 characters long, as the format demands.
func (w *XLSX) sheetName(n int) string {
	name, suffix := w.opts.Sheet, ""
	if n > 1 {
		suffix = fmt.Sprintf(" %d", n)
	}
	for utf8.RuneCountInString(name)+len(suffix) > 31 {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	return name + suffix
}
