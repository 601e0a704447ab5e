package imaging

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/cputime"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/kit/turn"
)

const (
	// totalMemory is what the images that a process decodes at a time take together.
	totalMemory = maxMemory
	patience    = 10 * time.Second // how long an image waits for its turn
	quality     = 82               // of thumbnails
)

// Decoder decodes few images at a time, so that images leave room for other requests: one of each company, on half of the processors,
// within [totalMemory].
type Decoder struct {
	memory *semaphore.Weighted
	slot   int64 // what an image takes at least, which bounds their number
	turns  turn.Turns
}

// NewDecoder returns a decoder; a process has one.
func NewDecoder() *Decoder {
	parallel := max(1, runtime.GOMAXPROCS(0)/2)
	return &Decoder{memory: semaphore.NewWeighted(totalMemory), slot: int64(totalMemory / parallel)}
}

// Thumbnail is an image without metadata, turned as the original says, in its own size or scaled down.
type Thumbnail struct {
	Media         string // JPEG, or PNG if some pixels are transparent
	Width, Height int
	Body          []byte
}

// Thumbnails decodes an image and makes one thumbnail for each size, the longest sides of which are given in descending order.
// An image that cannot be decoded is a 400; one that gets no turn in time, a 503.
func (d *Decoder) Thumbnails(ctx context.Context, company tenant.ID, raw io.ReadSeeker, info Info, sizes []int) ([]Thumbnail, error) {
	done, err := d.wait(ctx, company, info.Memory)
	if err != nil {
		return nil, err
	}
	defer done()
	makeRoom(info.Memory)
	img, err := info.decoded(ctx, raw)
	if err != nil {
		return nil, err
	}
	all := make([]Thumbnail, len(sizes))
	for i, longest := range sizes {
		small := shrink(img, longest)
		if i == 0 {
			small = info.turn.apply(small)
		}
		img = small
		if all[i], err = encode(small); err != nil {
			return nil, fmt.Errorf("encode thumbnail: %w", err)
		}
	}
	return all, nil
}

// decoded decodes the image. A fault of the decoder must not end the request of a stranger otherwise than with a 400.
func (i Info) decoded(ctx context.Context, raw io.ReadSeeker) (img image.Image, err error) {
	defer func() {
		if p := recover(); p != nil {
			img, err = nil, broken(i.Media, fmt.Errorf("%v", p))
		}
	}()
	err = rewound(raw, func() error {
		img, err = i.decode(&ending{ctx, raw})
		return err
	})
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, broken(i.Media, err)
	case img.Bounds().Empty(): // the first image of an animation may be smaller than its canvas
		return nil, errNoPixels
	}
	return img, nil
}

// ending is a reader that fails once ctx has ended: decoders cannot be canceled.
type ending struct {
	ctx context.Context //nolint:containedctx // an io.Reader gets none
	r   io.Reader
}

func (e *ending) Read(p []byte) (int, error) {
	if err := e.ctx.Err(); err != nil {
		return 0, err
	}
	return e.r.Read(p)
}

func encode(img *image.RGBA) (Thumbnail, error) {
	var buf bytes.Buffer
	t := Thumbnail{Media: JPEG, Width: img.Rect.Dx(), Height: img.Rect.Dy()}
	var err error
	if img.Opaque() {
		err = jpeg.Encode(&buf, img, &jpeg.Options{Quality: quality})
	} else {
		t.Media, err = PNG, png.Encode(&buf, img)
	}
	t.Body = buf.Bytes()
	return t, err
}

var errBusy = apierr.Unavailable(apierr.Overloaded, 2, "too many images are being read; send them one after the other, or repeat the request after the time in Retry-After; nothing was stored")

// wait waits for the turn of an image of the company that takes these bytes.
func (d *Decoder) wait(ctx context.Context, company tenant.ID, bytes int64) (done func(), err error) {
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	defer cputime.Wait()()
	leave, err := d.turns.Enter(waiting, company)
	bytes = min(max(bytes, d.slot), totalMemory)
	if err == nil {
		if err = d.memory.Acquire(waiting, bytes); err != nil {
			leave()
		}
	}
	switch {
	case ctx.Err() != nil:
		return nil, errors.Join(ctx.Err(), err)
	case err != nil:
		return nil, errBusy
	}
	return func() { d.memory.Release(bytes); leave() }, nil
}

// makeRoom collects garbage if these bytes would take the process beyond its memory limit (GOMEMLIMIT): an image is allocated in a few
// pieces, for which the collector, that runs beside them, comes too late.
func makeRoom(bytes int64) {
	now := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(now)
	used := int64(now[0].Value.Uint64()) - int64(now[1].Value.Uint64())
	if used > debug.SetMemoryLimit(-1)-bytes {
		runtime.GC()
	}
}
