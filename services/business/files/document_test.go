package files_test

import (
	"archive/zip"
	"bytes"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/business/files"
)

// archive is a ZIP file with these parts, each of which is named and has a text.
func archive(t testing.TB, parts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		w, err := z.CreateHeader(&zip.FileHeader{Name: parts[i], Method: zip.Store})
		require.NoError(t, err)
		_, err = w.Write([]byte(parts[i+1]))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return b.Bytes()
}

const (
	office = "application/vnd.openxmlformats-officedocument."
	open   = "application/vnd.oasis.opendocument."
)

// What a document is, its content decides; it is saved under a name that says so, and never shown.
func TestDocuments(t *testing.T) {
	t.Parallel()
	k := setup(t)
	xml := `<?xml version="1.0"?><x/>`
	for sent, c := range map[string]struct {
		raw         []byte
		media, name string
	}{
		"contract.PDF":           {[]byte("%PDF-1.7\n%\xe2\xe3\n1 0 obj"), "application/pdf", "contract.PDF"},
		"contract.html":          {[]byte("%PDF-1.7\n<script>alert(1)</script>"), "application/pdf", "contract.html.pdf"},
		"":                       {[]byte("Dear Ann,\nthe bell is ready."), "text/plain", "document.txt"},
		"note.exe":               {[]byte("Grüße\n"), "text/plain", "note.exe.txt"},
		"prices.csv":             {[]byte("name,price\nBell,1\nMill,2\n"), "text/csv", "prices.csv"},
		"preise.csv":             {[]byte("Name;Preis\r\nGlocke;1,50\r\n"), "text/csv", "preise.csv"},
		"letter.docx":            {archive(t, "[Content_Types].xml", xml, "_rels/.rels", xml, "word/document.xml", xml), office + "wordprocessingml.document", "letter.docx"},
		"sheet.zip":              {archive(t, "[Content_Types].xml", xml, "_rels/.rels", xml, "xl/workbook.xml", xml), office + "spreadsheetml.sheet", "sheet.zip.xlsx"},
		"letter.odt":             {archive(t, "mimetype", open+"text"), open + "text", "letter.odt"},
		"sheet.ods":              {archive(t, "mimetype", open+"spreadsheet"), open + "spreadsheet", "sheet.ods"},
		"a\u202efdp.txt":         {[]byte("turned"), "text/plain", "afdp.txt"},
		strings.Repeat("я", 255): {[]byte("long"), "text/plain", strings.Repeat("я", 251) + ".txt"},
	} {
		query := ""
		if sent != "" {
			query = "?name=" + url.QueryEscape(sent)
		}
		f := k.Do(t, "POST", "/files"+query, c.raw, as("application/octet-stream")).OK(201)
		require.Equal(t, []any{c.media, c.name, 0.0, 0.0, []any{}, float64(len(c.raw))}, []any{f["mediaType"], f["name"], f["width"], f["height"], f["thumbnails"], f["size"]}, sent)
		require.Equal(t, []any{"", "", ""}, []any{urls(f)["large"], urls(f)["medium"], urls(f)["small"]})
		status, header, body := k.fetch(t, urls(f)["original"].(string))
		require.Equal(t, []any{200, c.raw}, []any{status, body})
		require.True(t, strings.HasPrefix(header.Get("Content-Disposition"), "attachment; "), header.Get("Content-Disposition"))
		for name, want := range map[string]string{
			"Content-Type": c.media, "X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; sandbox", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			require.Equal(t, want, header.Get(name), name)
		}
	}
	require.Len(t, k.Do(t, "GET", "/files?mediaType=text/csv", nil).OK(200)["items"], 2)
	k.Do(t, "POST", "/files", []byte("a letter"), as("text/csv")).OK(201)
}

func TestBadDocuments(t *testing.T) {
	t.Parallel()
	k := setup(t)
	for name, raw := range map[string]string{
		"html": "<!DOCTYPE html><html><script>alert(1)</script>", "svg": `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`,
		"xhtml": `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"/>`, "program": "MZ\x90\x00\x03", "script": "#!/bin/sh\nrm -rf /\n",
		"archive": string(archive(t, "a.exe", "MZ")), "old office": "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + strings.Repeat("\x00", 600),
	} {
		require.Equal(t, map[string]string{"body": "FORMAT"}, k.Do(t, "POST", "/files?name=a.pdf", []byte(raw), as("application/octet-stream")).Fields(), name)
	}
	require.Equal(t, map[string]string{"Content-Type": "CONFLICT"}, k.Do(t, "POST", "/files", []byte("%PDF-1.7"), as("text/plain")).Fields())
	require.Equal(t, map[string]string{"Content-Type": "CONFLICT"}, k.Do(t, "POST", "/files", []byte("a letter"), as("application/pdf")).Fields())
	k.Do(t, "POST", "/files", bytes.Repeat([]byte("a\n"), files.MaxSize/2+1), as("text/plain")).Fault(413, "PAYLOAD_TOO_LARGE")
	k.Do(t, "POST", "/files", bytes.Repeat([]byte("a\n"), limit/2+1), as("text/plain")).Fault(409, "FILE_QUOTA_EXCEEDED")
}
