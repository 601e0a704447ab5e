package httpapi

import (
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi/transport"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

// Upload is the body of a request that is a file. What all uploads of a process hold is bounded; see docs/reference/limits.md#uploads.
type Upload struct {
	Media  string // of Content-Type, without parameters
	Size   int64
	SHA256 [sha256.Size]byte

	pieces  [][]byte // all but the last have uploadPiece bytes
	company tenant.ID
	held    int64
	from    *uploads
	hash    hash.Hash
}

// uploadPiece is how many bytes an upload takes at a time.
const uploadPiece = 256 << 10

// Upload is the file in the body of the call; nil without one.
func (c *Call) Upload() *Upload { return c.req.upload }

// takes checks the media type of an upload.
func (o *operation) takes(media string) error {
	if slices.Contains(o.Uploads, media) {
		return nil
	}
	return apierr.New(http.StatusUnsupportedMediaType, "UNSUPPORTED_MEDIA_TYPE", "send the file as the body, with one of these as Content-Type: "+strings.Join(o.Uploads, ", "))
}

// receiveUpload reads the file.
func (r *request) receiveUpload(ctx context.Context) error {
	u := &Upload{company: r.call.Company, from: r.api.uploads, hash: sha256.New()}
	r.upload = u // holds memory from now on
	err := r.unread.CopyTo(ctx, u, r.op.MaxBody)
	switch {
	case errors.Is(err, transport.ErrBodyTooLarge):
		return r.op.tooLarge()
	case err != nil:
		return err
	case u.Size == 0:
		return apierr.InvalidField("body", apierr.Required, "is required: send the file")
	}
	u.Media, _, _ = mime.ParseMediaType(r.header(fiber.HeaderContentType)) // media checks it
	copy(u.SHA256[:], u.hash.Sum(nil))
	return r.media(int(u.Size))
}

// ReadFrom implements [io.ReaderFrom].
func (u *Upload) ReadFrom(src io.Reader) (n int64, err error) {
	for {
		if u.Size%uploadPiece == 0 {
			if err := u.from.take(u, uploadPiece); err != nil {
				return n, err
			}
			u.pieces = append(u.pieces, make([]byte, 0, uploadPiece))
		}
		last := &u.pieces[len(u.pieces)-1]
		free := (*last)[len(*last):uploadPiece]
		read, err := src.Read(free)
		u.hash.Write(free[:read])
		*last = (*last)[:len(*last)+read]
		u.Size, n = u.Size+int64(read), n+int64(read)
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

// Reader returns a reader of the file from its beginning, which is valid until the request ends.
func (u *Upload) Reader() io.ReadSeeker { return io.NewSectionReader(u, 0, u.Size) }

// ReadAt implements [io.ReaderAt].
func (u *Upload) ReadAt(p []byte, at int64) (n int, err error) {
	for n < len(p) {
		if at >= u.Size {
			return n, io.EOF
		}
		read := copy(p[n:], u.pieces[at/uploadPiece][at%uploadPiece:])
		n, at = n+read, at+int64(read)
	}
	return n, nil
}

func (u *Upload) release() {
	if u != nil {
		u.pieces = nil
		u.from.give(u)
	}
}

// uploads bounds the bytes that uploads hold together. One company may hold a quarter.
type uploads struct {
	limit int64

	mu   sync.Mutex
	used int64
	of   map[tenant.ID]int64
}

func newUploads(limit int64) *uploads { return &uploads{limit: limit, of: map[tenant.ID]int64{}} }

const uploadShare = 4

var (
	errUploads    = apierr.Unavailable(apierr.Overloaded, 1, "too many files are being sent; repeat the request after the time in Retry-After; nothing was stored")
	errOwnUploads = apierr.Unavailable(apierr.Overloaded, 1,
		"the company sends too many files at once; send them one after the other, or repeat the request after the time in Retry-After; nothing was stored")
)

func (all *uploads) take(u *Upload, n int64) error {
	all.mu.Lock()
	defer all.mu.Unlock()
	switch {
	case all.of[u.company]+n > all.limit/uploadShare:
		return errOwnUploads
	case all.used+n > all.limit:
		return errUploads
	}
	u.held += n
	all.used += n
	all.of[u.company] += n
	return nil
}

func (all *uploads) give(u *Upload) {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.used -= u.held
	if all.of[u.company] -= u.held; all.of[u.company] == 0 {
		delete(all.of, u.company)
	}
	u.held = 0
}
