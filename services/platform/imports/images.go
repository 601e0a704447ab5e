package imports

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

const (
	products     = "products"
	imagesColumn = "imageUrls" // addresses of images of products, which the import downloads
	imagesScope  = "files"

	maxImages   = 20 // of a row, as products have
	maxImageURL = 2048
	fetchTime   = 4 * time.Second // after which a step downloads no further image; the last one may take 10 s
)

// photo is an image that was downloaded, or why it was not.
type photo struct {
	ID    *uuid.UUID    `json:"id,omitempty"`
	Fault *apierr.Field `json:"fault,omitempty"`
}

// checkImages refuses columns that would decide about the same images, and tokens that may not store any.
func (t *table) checkImages(by access.Caller) error {
	if !t.has(imagesColumn) || !t.consumes(imagesColumn) {
		return nil
	}
	for _, other := range []string{"photoFileId", "photoFileIds"} {
		if t.has(other) {
			return apierr.InvalidField("body", apierr.Conflict, "has the columns %s and %s; leave one of them out", imagesColumn, other)
		}
	}
	return admitImages(by)
}

// admitImages returns the 403 for a token that may not store images.
func admitImages(by access.Caller) error {
	if !by.Allows(imagesScope, true) {
		return access.ScopeMissing(imagesScope + ":write")
	}
	return nil
}

// imagesOf are the addresses in a row, separated by spaces, line breaks or commas before one.
func imagesOf(text string, faults *apierr.Fields) (all []string) {
	for _, address := range strings.Fields(text) {
		address = strings.TrimRight(address, ",")
		if address == "" {
			continue
		}
		u, err := url.Parse(address)
		switch {
		case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
			faults.Add(imagesColumn, apierr.Format, "must be addresses that begin with https:// or http://, separated by spaces")
			return nil
		case len(address) > maxImageURL:
			faults.Add(imagesColumn, apierr.Length, "must be addresses of at most %d characters", maxImageURL)
			return nil
		}
		all = append(all, address)
	}
	if len(all) > maxImages {
		faults.Add(imagesColumn, apierr.Max, "must be at most %d addresses", maxImages)
	}
	return all
}

// fetch downloads the images of rows, of which the first may have some already. It returns those of as many rows as the time of a step allows,
// and what the next row has of its own.
func (s *Service) fetch(ctx context.Context, by access.Caller, rows []planned, known []photo) (ready [][]photo, next []photo, err error) {
	began := time.Now()
	for _, r := range rows {
		for len(r.Faults) == 0 && len(known) < len(r.Images) {
			if time.Since(began) > fetchTime {
				return ready, known, nil
			}
			got, err := s.photo(ctx, by, r.Images[len(known)])
			if err != nil {
				return nil, nil, err
			}
			known = append(known, got)
		}
		ready, known = append(ready, known), nil
	}
	return ready, nil, nil
}

// photo downloads an image. An error is one of the platform, which cannot tell now.
func (s *Service) photo(ctx context.Context, by access.Caller, address string) (photo, error) {
	id, err := s.cfg.Image(ctx, by.Unconditional(), address)
	if known, ok := apierr.As(err); ok && known.Status < http.StatusInternalServerError {
		text := address + ": " + strings.TrimSuffix(strings.TrimPrefix(known.Message, "url: "), "; nothing was stored")
		return photo{Fault: &apierr.Field{Field: imagesColumn, Code: known.Code, Message: imagesColumn + ": " + text}}, nil
	}
	return photo{ID: &id}, err
}

// withPhotos are the rows with the images that were downloaded. A row without any leaves those of its product as they are.
func withPhotos(rows []planned, photos [][]photo) ([]planned, error) {
	out := make([]planned, len(rows))
	for i, r := range rows {
		var ids []uuid.UUID
		for _, p := range photos[i] {
			if p.ID != nil && !slices.Contains(ids, *p.ID) {
				ids = append(ids, *p.ID)
			}
		}
		if len(ids) > 0 {
			raw, err := json.Marshal(ids)
			if err != nil {
				return nil, fmt.Errorf("encode images of row %d: %w", r.Row, err)
			}
			fields := bytes.TrimSuffix(r.Item.Body, []byte("}"))
			if !bytes.HasSuffix(fields, []byte("{")) {
				fields = append(bytes.Clone(fields), ',')
			}
			r.Item.Body = fmt.Appendf(nil, `%s"photoFileIds":%s}`, fields, raw)
		}
		out[i] = r
	}
	return out, nil
}

// withFaults adds to a line why images of its row were not downloaded. The record is made without them.
func (l Line) withFaults(photos []photo) Line {
	if l.Outcome == outcomeError {
		return l
	}
	for _, p := range photos {
		if p.Fault == nil {
			continue
		}
		if l.Code == "" {
			l.Code, l.Message = p.Fault.Code, p.Fault.Message
		}
		l.Errors = append(l.Errors, *p.Fault)
	}
	return l
}

// keep has the next step go on with the images that were downloaded, and tells in the lines of this one why others were not.
func (at *state) keep(lines []Line, photos [][]photo, pending []photo) {
	if photos == nil {
		return // a dry run
	}
	for i := range lines {
		before := len(lines[i].Errors)
		lines[i] = lines[i].withFaults(photos[i])
		if lines[i].Outcome != outcomeError {
			at.Summary.ImagesFailed += len(lines[i].Errors) - before
		}
	}
	if at.Photos = pending; len(lines) < len(photos) {
		at.Photos = photos[len(lines)]
	}
}
