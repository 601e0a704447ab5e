// Package files keeps the images of a company with thumbnails of them, and its documents, and hands them out, also by signed URLs; see
// docs/reference/files.md. Which records refer to a file is kept by package fileuse, contents by package blob.
package files

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/semaphore"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/imaging"
	"github.com/tradegrid/tradegrid/pkg/kit/secret"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/blob"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/fileuse"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/quota"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// QuotaKind is the kind of bytes that files count towards the quota of a company.
const QuotaKind = "files"

// Config holds the dependencies of the service.
type Config struct {
	DB       *db.DB
	Store    blob.Store
	Keys     *secret.Keys // sign URLs
	Quota    *quota.Meter // nil = no quota
	Download Download     // images by URL; required to serve the API
	Root     string       // URL of the API, such as https://api.example.com/api/external/v1; URLs of contents begin with it
	Log      *slog.Logger
}

// Service keeps the files of all companies.
type Service struct {
	cfg     Config
	decoder *imaging.Decoder
	fetches queue
}

// New returns a service.
func New(cfg Config) *Service {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Service{cfg: cfg, decoder: imaging.NewDecoder(), fetches: queue{all: semaphore.NewWeighted(downloads)}}
}

// List returns a page of files, with their URLs.
func (s *Service) List(ctx context.Context, by access.Caller, f Filter) (*list.Page[File], error) {
	page, err := items.Page(ctx, s.cfg.DB, by.Company, f)
	if err != nil {
		return nil, err
	}
	for i := range page.Items {
		if err := s.sign(&page.Items[i]); err != nil {
			return nil, err
		}
	}
	return page, nil
}

// Get reads one file.
func (s *Service) Get(ctx context.Context, by access.Caller, id uuid.UUID) (File, error) {
	f, err := table.Get(ctx, s.cfg.DB, by.Company, id)
	if err != nil {
		return f, err
	}
	return f, s.sign(&f)
}

// Image is an image to be stored.
type Image struct {
	Name  string
	Media string // as declared; "" = not at all
	Size  int64
	Body  io.ReadSeeker
	Hash  [sha256.Size]byte // of Body

	OrDocument bool // it may be a document instead
}

// NewImage returns an image in memory.
func NewImage(name string, body []byte) Image {
	return Image{Name: name, Size: int64(len(body)), Body: bytes.NewReader(body), Hash: sha256.Sum256(body)}
}

const fileBlobs = db.Table("file_blobs")

const (
	// unfinished is how long contents are kept whose file is not stored. A request takes 30 s at most.
	unfinished = 15 * time.Minute
)

var (
	sqlInsertBlob = fileBlobs.Insert(`(company_id, file_id, bytes, due_at) VALUES ($1, $2, $3, $4)`)
	sqlKeepBlob   = fileBlobs.Update(`SET due_at = $3 WHERE company_id = $1 AND file_id = $2 AND due_at > $4`)
)

// Prepare checks an image, makes its thumbnails and stores their contents, for [Service.Add]. Without it, the contents are removed
// after [unfinished]. A document is stored as it is.
//
// Errors: 400 for what is no image or too large a one, 409 FILE_QUOTA_EXCEEDED, 503 if too many images are being read.
func (s *Service) Prepare(ctx context.Context, company tenant.ID, in Image) (File, error) {
	info, err := imaging.Inspect(in.Body)
	if errors.Is(err, imaging.ErrFormat) && in.OrDocument && !isImage(in.Media) {
		return s.prepareDocument(ctx, company, in)
	}
	if err != nil {
		return File{}, err
	}
	if !agrees(in.Media, info.Media) {
		return File{}, errDeclared(in.Media, info.Media)
	}
	longest := make([]int, len(sizes))
	for i, size := range sizes {
		longest[i] = size.longest
	}
	thumbs, err := s.decoder.Thumbnails(ctx, company, in.Body, info, longest)
	if err != nil {
		return File{}, err
	}
	f := newFile(company, in, info.Media)
	f.Width, f.Height = int32(info.Width), int32(info.Height)
	for i, t := range thumbs {
		hash := sha256.Sum256(t.Body)
		f.Thumbnails = append(f.Thumbnails, Thumbnail{
			Name: sizes[i].name, MediaType: t.Media, Size: int64(len(t.Body)), Width: int32(t.Width), Height: int32(t.Height), SHA256: hex.EncodeToString(hash[:]),
		})
	}
	return f, s.store(ctx, f, in.Body, thumbs)
}

func (s *Service) prepareDocument(ctx context.Context, company tenant.ID, in Image) (File, error) {
	media, err := inspectDocument(in.Body)
	if err != nil {
		return File{}, err
	}
	if !agrees(in.Media, media) {
		return File{}, errDeclared(in.Media, media)
	}
	f := newFile(company, in, media)
	return f, s.store(ctx, f, in.Body, nil)
}

func errDeclared(declared, media string) error {
	return apierr.InvalidField("Content-Type", apierr.Conflict, "says %s, but the body is %s; send its own type, or %s", declared, media, anyMedia)
}

func newFile(company tenant.ID, in Image, media string) File {
	return File{
		Key: record.Key{ID: record.NewID(), CompanyID: company}, Name: named(in.Name, media), MediaType: media, Size: in.Size,
		SHA256: hex.EncodeToString(in.Hash[:]), Thumbnails: []Thumbnail{},
	}
}

// store stores the contents of a file.
func (s *Service) store(ctx context.Context, f File, body io.ReadSeeker, thumbs []imaging.Thumbnail) error {
	if err := s.announce(ctx, f); err != nil {
		return err
	}
	err := s.put(ctx, f, body, thumbs)
	if err != nil {
		s.giveUp(ctx, f)
	}
	return err
}

// announce stores that there will be contents, before there are, so that none is ever left behind.
func (s *Service) announce(ctx context.Context, f File) error {
	err := s.cfg.DB.RunTx(ctx, "files.announce", func(ctx context.Context, tx *db.Tx) error {
		tx.Queue(sqlInsertBlob, f.CompanyID, f.ID, f.bytes(), tx.Now().Add(unfinished))
		used, ok, err := s.cfg.Quota.Take(ctx, tx, f.CompanyID, f.bytes(), quota.Never)
		if err == nil && !ok {
			err = apierr.StateConflict("FILE_QUOTA_EXCEEDED", "the files of the company would take more than their quota of %d bytes; delete files, or ask for a larger quota", s.cfg.Quota.Limit()).
				With("limit", s.cfg.Quota.Limit()).With("used", used)
		}
		return err
	}, db.WithCommitCheck(announced(f)))
	if err == nil {
		s.cfg.Quota.Taken(f.bytes())
	}
	return err
}

const sqlAnnounced = `SELECT EXISTS (SELECT 1 FROM file_blobs WHERE company_id = $1 AND file_id = $2)`

func announced(f File) db.CommitCheck {
	return func(ctx context.Context, q db.Querier) (done bool, err error) {
		err = q.QueryRow(ctx, sqlAnnounced, f.CompanyID, f.ID).Scan(&done)
		return done, err
	}
}

func (s *Service) put(ctx context.Context, f File, body io.ReadSeeker, thumbs []imaging.Thumbnail) error {
	if _, err := body.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("read image: %w", err)
	}
	if err := s.cfg.Store.Put(ctx, key(f.CompanyID, f.ID, original), f.MediaType, f.Size, body); err != nil {
		return s.away(ctx, err)
	}
	for i, t := range thumbs {
		if err := s.cfg.Store.Put(ctx, key(f.CompanyID, f.ID, sizes[i].name), t.Media, int64(len(t.Body)), bytes.NewReader(t.Body)); err != nil {
			return s.away(ctx, err)
		}
	}
	return nil
}

// away is the error of a store that does not answer. An error of the database is one of the API already.
func (s *Service) away(ctx context.Context, err error) error {
	if _, known := apierr.As(err); known || ctx.Err() != nil || s.onDatabase() {
		return err
	}
	s.cfg.Log.ErrorContext(ctx, "store of files failed", "error", err)
	return apierr.Unavailable(apierr.FileStoreUnavailable, 5, "the store of files does not answer; repeat the request after the time in Retry-After; nothing was stored")
}

func (s *Service) onDatabase() bool {
	_, is := s.cfg.Store.(*blob.Database)
	return is
}

var sqlDue = fileBlobs.Update(`SET due_at = $3 WHERE company_id = $1 AND file_id = $2`)

// giveUp has the contents of a file removed soon that will not be stored. If it fails, they are removed later.
func (s *Service) giveUp(ctx context.Context, f File) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	err := s.cfg.DB.RunTx(ctx, "files.give_up", func(_ context.Context, tx *db.Tx) error {
		tx.Queue(sqlDue, f.CompanyID, f.ID, tx.Now())
		return nil
	}, db.ReadCommitted(), db.Repeatable())
	if err != nil {
		s.cfg.Log.WarnContext(ctx, "contents of a refused file stay for some minutes", "error", err)
	}
}

// Add stores a file whose contents [Service.Prepare] has stored. Until a record refers to it, it is kept for a day.
func (s *Service) Add(ctx context.Context, tx *db.Tx, by access.Caller, f File) (File, error) {
	tx.Queue(sqlKeepBlob, f.CompanyID, f.ID, tx.Now().Add(fileuse.Kept), tx.Now()).Expect(1, errTooLate)
	if by.Actor != uuid.Nil {
		f.CreatedByID = &by.Actor
	}
	f, err := table.Create(ctx, tx, by, f)
	if err != nil {
		return f, err
	}
	return f, s.sign(&f)
}

var errTooLate = errors.New("the contents of the file have been removed meanwhile")

// usesShown is how many records an error names that refer to a file.
const usesShown = 10

var sqlFreeBlob = fileBlobs.Update(`SET due_at = $3, bytes = 0 WHERE company_id = $1 AND file_id = $2`)

// Delete deletes a file that no record refers to. Its contents are removed within minutes.
func (s *Service) Delete(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) error {
	tx.ReadsMore()
	return table.Delete(ctx, tx, by, id, func(f File) error {
		uses, err := fileuse.Of(ctx, tx, by.Company, id, usesShown)
		if err != nil {
			return err
		}
		if len(uses) > 0 {
			return apierr.StateConflict("FILE_IN_USE", "records refer to the file; remove it from those in meta.usedBy first").With("usedBy", uses)
		}
		tx.Queue(sqlFreeBlob, by.Company, id, tx.Now())
		s.uncount(tx, by.Company, f.bytes())
		return nil
	})
}

func (s *Service) uncount(tx *db.Tx, company tenant.ID, n int64) {
	if n > 0 {
		quota.Subtract(tx, company, QuotaKind, map[time.Time]int64{quota.Never: n})
	}
}

// maxAge is how long clients keep a content without asking, in seconds.
const maxAge = 3600

// Content is one content of a file, by its name; a document has only the original. Scripts in what is a valid image, too, must not run,
// and a document is saved, never shown by the browser.
func (s *Service) Content(ctx context.Context, company tenant.ID, id uuid.UUID, name string) (httpapi.File, error) {
	f, err := table.Get(ctx, s.cfg.DB, company, id)
	if err != nil {
		return httpapi.File{}, err
	}
	c := f.content(name)
	from := "cross-origin" // pages of any site show images
	if !isImage(f.MediaType) {
		from = "same-origin"
	}
	reading := context.WithoutCancel(ctx) // the file is sent after the request has returned
	return httpapi.File{
		Media: c.MediaType, Name: f.savedAs(c), Size: c.Size, Memory: blob.ReaderMemory, Inline: isImage(f.MediaType),
		Open: func() (io.ReadCloser, error) {
			body, err := s.cfg.Store.Open(reading, key(f.CompanyID, f.ID, c.Name))
			if errors.Is(err, blob.ErrNotFound) {
				s.cfg.Log.ErrorContext(ctx, "content of a file is missing", "company_id", f.CompanyID, "file_id", f.ID, "part", c.Name)
				return nil, errMissing
			}
			if err != nil {
				return nil, s.away(ctx, err)
			}
			return body, nil
		},
		Headers: map[string]string{
			"ETag": `"` + c.SHA256 + `"`, "Cache-Control": fmt.Sprintf("private, max-age=%d, immutable", maxAge),
			"Content-Security-Policy": "default-src 'none'; sandbox", "Cross-Origin-Resource-Policy": from,
		},
	}, nil
}

var errMissing = apierr.New(404, "FILE_CONTENT_MISSING", "the store has no content of the file any more; upload the image again")
