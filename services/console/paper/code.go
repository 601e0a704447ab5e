package paper

import (
	"fmt"
	"strings"

	"github.com/boombuler/barcode"
	"github.com/boombuler/barcode/code128"
	"github.com/boombuler/barcode/ean"
	"github.com/boombuler/barcode/qr"
)

// Kinds of codes.
const (
	codeAuto = "auto" // EAN for the numbers that have one, else Code 128
	codeBars = "code128"
	codeQR   = "qr"
)

// Code is a barcode, or a QR code, in modules: the smallest bar is one wide. Around it is room for scanners to find it.
type Code struct {
	Text          string
	Width, Height int // Height is 1 for bars, which are as high as there is room
	Runs          []Run
}

// Run is a bar, or dark modules beside each other.
type Run struct{ X, Y, Width int }

// Square reports whether it is a QR code.
func (c Code) Square() bool { return c.Height > 1 }

// Path draws the code in SVG.
func (c Code) Path() string {
	var b strings.Builder
	for _, r := range c.Runs {
		fmt.Fprintf(&b, "M%d %dh%dv1h-%dz", r.X, r.Y, r.Width, r.Width)
	}
	return b.String()
}

// Quiet zones in modules, see ISO/IEC 15417, 15420 and 18004.
const (
	quietBars = 10
	quietEAN  = 11
	quietQR   = 4
)

// newCode makes the code of a text. What bars cannot say becomes a QR code.
func newCode(kind, text string) (Code, error) {
	if kind != codeQR {
		if kind == codeAuto && (len(text) == 8 || len(text) == 13) {
			if c, err := ean.Encode(text); err == nil {
				return modules(c, text, quietEAN, 0), nil
			}
		}
		if c, err := code128.Encode(text); err == nil {
			return modules(c, text, quietBars, 0), nil
		}
	}
	c, err := qr.Encode(text, qr.M, qr.Auto)
	if err != nil {
		return Code{}, fmt.Errorf("encode %q: %w", text, err)
	}
	return modules(c, text, quietQR, quietQR), nil
}

// modules reads the dark modules of a code.
func modules(c barcode.Barcode, text string, quietX, quietY int) Code {
	size := c.Bounds().Size()
	height := 1
	if c.Metadata().Dimensions == 2 {
		height = size.Y
	}
	out := Code{Text: text, Width: size.X + 2*quietX, Height: height + 2*quietY}
	for y := range height {
		for x := 0; x < size.X; x++ {
			from := x
			for x < size.X && dark(c, x, y) {
				x++
			}
			if x > from {
				out.Runs = append(out.Runs, Run{from + quietX, y + quietY, x - from})
			}
		}
	}
	return out
}

func dark(c barcode.Barcode, x, y int) bool {
	r, _, _, _ := c.At(x, y).RGBA()
	return r < 0x8000
}
