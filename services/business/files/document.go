package files

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/gabriel-vasile/mimetype"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/imaging"
)

// Media types of documents. Whatever a browser would run is none of them: no HTML, no SVG.
const (
	pdf   = "application/pdf"
	plain = "text/plain"
	csv   = "text/csv"
	docx  = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	xlsx  = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	odt   = "application/vnd.oasis.opendocument.text"
	ods   = "application/vnd.oasis.opendocument.spreadsheet"
)

// documents are the media types of documents.
var documents = []string{pdf, plain, csv, docx, xlsx, odt, ods} //nolint:gochecknoglobals // a constant

// isImage reports whether files of the type are images, which pages show.
func isImage(media string) bool { return strings.HasPrefix(media, "image/") }

// sniffed is how much of a document says what it is: the names of the first parts of an office document.
const sniffed = 3072

// inspectDocument returns the type of a document by its first bytes, whatever its name and its declared type say. What is none of
// [documents] is a 400.
func inspectDocument(raw io.ReadSeeker) (media string, err error) {
	if _, err := raw.Seek(0, io.SeekStart); err != nil {
		return "", fmt.Errorf("read document: %w", err)
	}
	head := make([]byte, sniffed)
	n, err := io.ReadFull(raw, head)
	switch {
	case n == 0:
		return "", apierr.InvalidField(imaging.Field, apierr.Format, "is empty; send the file as the body")
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return "", fmt.Errorf("read document: %w", err)
	}
	head = head[:n]
	is := mimetype.Detect(head)
	for _, media := range documents {
		switch {
		case !is.Is(media):
		case media == plain && separated(head):
			return csv, nil
		default:
			return media, nil
		}
	}
	if is.Is("text/tab-separated-values") {
		return csv, nil
	}
	return "", apierr.InvalidField(imaging.Field, apierr.Format,
		"must be a JPEG, PNG, GIF or WebP image, a PDF, plain text, CSV, DOCX, XLSX, ODT or ODS; the content is %s", strings.SplitN(is.String(), ";", 2)[0])
}

// separated reports whether a text is a table with semicolons, as spreadsheets of many countries write it: two lines or more, each with
// as many as the first one. What is between quotes is not looked into.
func separated(head []byte) bool {
	lines := bytes.Split(bytes.TrimRight(head, "\r\n"), []byte("\n"))
	if len(head) == sniffed {
		lines = lines[:len(lines)-1] // which may be cut off
	}
	if len(lines) < 2 {
		return false
	}
	first := bytes.Count(lines[0], []byte(";"))
	return first > 0 && !slices.ContainsFunc(lines, func(l []byte) bool { return bytes.Count(l, []byte(";")) != first })
}

// agrees reports whether a declared type is that of the content. A table is also a text.
func agrees(declared, media string) bool {
	return declared == "" || declared == anyMedia || declared == media || declared == plain && media == csv || declared == csv && media == plain
}

// maxNameLength is how many characters the name of a file may have.
const maxNameLength = 255

// named returns the name of a file, cleaned, with an extension of its type: who saves it must not open something else than what it is.
func named(name, media string) string {
	all := extensions[media]
	fallback := "document"
	if isImage(media) {
		fallback = "image"
	}
	name = cmp.Or(clean(name), fallback)
	ext := path.Ext(name)
	if !slices.Contains(all, strings.ToLower(ext)) {
		ext = all[0]
		name += ext
	}
	if r := []rune(name); len(r) > maxNameLength {
		stem := r[:maxNameLength-len(ext)]
		name = strings.TrimSpace(string(stem)) + ext
	}
	return name
}

// clean takes what is not visible out of a name, such as marks that turn the direction of what follows, and dots and spaces at its end,
// which some systems drop.
func clean(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, ""))
	return strings.TrimRight(strings.TrimSpace(name), ". ")
}
