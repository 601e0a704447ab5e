package demodata

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/business/files"
)

// pictured is how many products of the table have images.
const pictured = 10

// paint draws the images of a product and stores their contents; a bicycle is seen from two sides.
func (s *shop) paint(ctx context.Context, number int, p product) ([]files.File, error) {
	if number >= pictured {
		return nil, nil
	}
	drawings := []*image.RGBA{drawPart(p.name)}
	if p.wheel > 20 {
		drawings = []*image.RGBA{drawBike(p.name, false), drawBike(p.name, true)}
	}
	var all []files.File
	encoder := png.Encoder{CompressionLevel: png.BestSpeed} // `make demo` waits for it
	for i, d := range drawings {
		var b bytes.Buffer
		if err := encoder.Encode(&b, d); err != nil {
			return nil, fmt.Errorf("draw %s: %w", p.name, err)
		}
		f, err := s.setup.Files.Prepare(ctx, s.cfg.Office.Company, files.NewImage(fmt.Sprintf("%s %d.png", p.name, i+1), b.Bytes()))
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

// keep stores the files of a product and returns their ids.
func (s *shop) keep(ctx context.Context, tx *db.Tx, painted []files.File) (ids []uuid.UUID, err error) {
	for _, f := range painted {
		if _, err := s.setup.Files.Add(ctx, tx, s.cfg.Office, f); err != nil {
			return nil, err
		}
		ids = append(ids, f.ID)
	}
	return ids, nil
}

// Shapes have their places on a sheet of 640 × 480, of which an image has fewer pixels.
const (
	width, height = 640, 480
	density       = 0.75
)

// canvas is an image in a colour that follows from the name.
func canvas(name string) (img *image.RGBA, ink color.RGBA) {
	hue := 0
	for _, c := range name {
		hue = (hue*31 + int(c)) % 360
	}
	tone := func(shift, base, span float64) uint8 {
		return uint8(base + span*math.Cos((float64(hue)+shift)*math.Pi/180))
	}
	img = image.NewRGBA(image.Rect(0, 0, width*density, height*density))
	back := color.RGBA{tone(0, 225, 25), tone(120, 225, 25), tone(240, 225, 25), 255}
	draw.Draw(img, img.Rect, image.NewUniform(back), image.Point{}, draw.Src)
	return img, color.RGBA{tone(0, 110, 80), tone(120, 110, 80), tone(240, 110, 80), 255}
}

// drawBike draws a bicycle, which faces left or right.
func drawBike(name string, left bool) *image.RGBA {
	img, ink := canvas(name)
	dark := color.RGBA{40, 40, 48, 255}
	x := func(v float64) float64 {
		if left {
			return width - v
		}
		return v
	}
	for _, hub := range []float64{180, 460} {
		ring(img, x(hub), 320, 95, 9, dark)
		ring(img, x(hub), 320, 8, 8, dark)
	}
	for _, l := range [][4]float64{{180, 320, 290, 320}, {290, 320, 265, 190}, {180, 320, 270, 210}, {290, 320, 425, 210}, {270, 210, 420, 200}, {415, 170, 460, 320}} {
		line(img, x(l[0]), l[1], x(l[2]), l[3], 6, ink)
	}
	line(img, x(240), 185, x(295), 185, 9, dark)
	line(img, x(400), 165, x(450), 160, 6, dark)
	ring(img, x(290), 320, 24, 6, dark)
	return img
}

// drawPart draws a thing on its shelf.
func drawPart(name string) *image.RGBA {
	img, ink := canvas(name)
	dark := color.RGBA{40, 40, 48, 255}
	ring(img, width/2, 190, 90, 22, ink)
	line(img, 230, 240, 410, 240, 40, dark)
	line(img, 230, 310, 410, 310, 40, dark)
	line(img, 120, 370, 520, 370, 6, dark)
	return img
}

// ring draws a circle whose line is 2 × half wide.
func ring(img *image.RGBA, cx, cy, radius, half float64, c color.RGBA) {
	spot(img, cx, cy, radius+half, c, func(x, y float64) bool { return math.Abs(math.Hypot(x-cx, y-cy)-radius) <= half })
}

// line draws a line that is 2 × half wide.
func line(img *image.RGBA, x0, y0, x1, y1, half float64, c color.RGBA) {
	length := math.Hypot(x1-x0, y1-y0)
	spot(img, (x0+x1)/2, (y0+y1)/2, length/2+half, c, func(x, y float64) bool {
		at := min(max(((x-x0)*(x1-x0)+(y-y0)*(y1-y0))/(length*length), 0), 1)
		return math.Hypot(x-x0-at*(x1-x0), y-y0-at*(y1-y0)) <= half
	})
}

// spot colours the pixels near a point that are inside a shape.
func spot(img *image.RGBA, cx, cy, reach float64, c color.RGBA, inside func(x, y float64) bool) {
	for y := max(0, int((cy-reach)*density)); y <= min(height*density-1, int((cy+reach)*density)); y++ {
		for x := max(0, int((cx-reach)*density)); x <= min(width*density-1, int((cx+reach)*density)); x++ {
			if inside(float64(x)/density, float64(y)/density) {
				img.SetRGBA(x, y, c)
			}
		}
	}
}
