package paper

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"golang.org/x/image/font/sfnt"
)

// The font of PDFs: Noto Sans, whose licence lets it be embedded, with Latin, Greek and Cyrillic letters and the signs of currencies.
var (
	//go:embed fonts/NotoSans-Regular.ttf
	regular []byte
	//go:embed fonts/NotoSans-Bold.ttf
	bold []byte

	glyphs = sync.OnceValues(func() (*sfnt.Font, error) { return sfnt.Parse(regular) })
)

const family = "noto"

// printable returns what a text looks like without the characters that the font does not have, such as emoji.
func printable() (func(text string) string, error) {
	font, err := glyphs()
	if err != nil {
		return nil, fmt.Errorf("parse font: %w", err)
	}
	var buffer sfnt.Buffer
	return func(text string) string {
		return strings.Map(func(r rune) rune {
			switch r {
			case '\u202f', '\u2007', '\u2009':
				return '\u00a0'
			case '\t', '\n', '\r':
				return ' '
			}
			if i, err := font.GlyphIndex(&buffer, r); err != nil || i == 0 || r > 0xffff {
				return -1
			}
			return r
		}, text)
	}, nil
}
