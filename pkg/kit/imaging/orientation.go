package imaging

import (
	"bytes"
	"encoding/binary"
	"image"
)

// orientation is how EXIF says that an image is to be turned before it is shown: 2 to 8; anything else is not at all.
type orientation uint16

// size is the size of an image once it is turned.
func (o orientation) size(width, height int) (w, h int) {
	if o >= 5 && o <= 8 {
		return height, width
	}
	return width, height
}

// apply returns the turned image.
func (o orientation) apply(src *image.RGBA) *image.RGBA {
	if o < 2 || o > 8 {
		return src
	}
	w, h := src.Bounds().Dx(), src.Bounds().Dy()
	tw, th := o.size(w, h)
	out := image.NewRGBA(image.Rect(0, 0, tw, th))
	for y := range h {
		for x := range w {
			tx, ty := o.at(x, y, w, h)
			copy(out.Pix[out.PixOffset(tx, ty):][:4], src.Pix[src.PixOffset(x, y):][:4])
		}
	}
	return out
}

// at is where a pixel of an image of w × h goes.
func (o orientation) at(x, y, w, h int) (tx, ty int) {
	switch o {
	case 2:
		return w - 1 - x, y
	case 3:
		return w - 1 - x, h - 1 - y
	case 4:
		return x, h - 1 - y
	case 5:
		return y, x
	case 6:
		return h - 1 - y, x
	case 7:
		return h - 1 - y, w - 1 - x
	case 8:
		return y, w - 1 - x
	}
	return x, y
}

// exifOrientation finds the orientation in EXIF data, which is a TIFF file. What cannot be understood says nothing.
func exifOrientation(tiff []byte) orientation {
	tiff = bytes.TrimPrefix(tiff, []byte("Exif\x00\x00")) // in WebP, some programs write it
	if len(tiff) < 8 {
		return 0
	}
	var order binary.ByteOrder = binary.LittleEndian
	switch string(tiff[:4]) {
	case "II*\x00":
	case "MM\x00*":
		order = binary.BigEndian
	default:
		return 0
	}
	at := int64(order.Uint32(tiff[4:]))
	if at+2 > int64(len(tiff)) {
		return 0
	}
	entries := tiff[at+2:]
	for range order.Uint16(tiff[at:]) {
		if len(entries) < 12 {
			return 0
		}
		const tag, short = 0x0112, 3
		if order.Uint16(entries) == tag && order.Uint16(entries[2:]) == short {
			if o := order.Uint16(entries[8:]); o >= 1 && o <= 8 {
				return orientation(o)
			}
			return 0
		}
		entries = entries[12:]
	}
	return 0
}
