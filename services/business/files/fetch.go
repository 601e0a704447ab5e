package files

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/semaphore"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/cputime"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/kit/turn"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/fileuse"
)

// Download returns what a URL has, which may be at most limit bytes. It connects to public addresses only, and takes a bounded time. The
// error is a [*FetchError], or that of ctx if ctx is done.
type Download func(ctx context.Context, address string, limit int64) ([]byte, error)

// FetchError says why nothing was downloaded.
type FetchError struct {
	Reason string // for programs, such as timeout
	Text   string // for people
}

// Error implements error.
func (e *FetchError) Error() string { return e.Text }

// notImage is the reason for contents that an upload would be refused for.
const notImage = "not_an_image"

func fetchFailed(reason, text string) error {
	return apierr.StateConflict("IMAGE_FETCH_FAILED", "url: %s; nothing was stored", text).With("field", "url").With("reason", reason)
}

// fetchInput are the parameters of a download.
type fetchInput struct {
	httpapi.Call
	Body Source `body:"input"`
}

// Source is where an image is on the web.
type Source struct {
	URL  string  `json:"url" required:"true" minLength:"1" maxLength:"2048" doc:"https:// or http://, of a public host; redirects are followed"`
	Name *string `json:"name" maxLength:"200" pattern:"^[^/\\\\\\x00-\\x1f\\x7f]*[^/\\\\\\x00-\\x1f\\x7f\\s][^/\\\\\\x00-\\x1f\\x7f]*$" patternDescription:"a file name without a path" doc:"file name; default: the last part of the path of the URL"`
}

// name is what the file is called.
func (s Source) name() string {
	if s.Name != nil {
		return *s.Name
	}
	u, err := url.Parse(s.URL)
	if err != nil {
		return ""
	}
	name := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '/' || r == '\\' {
			return -1
		}
		return r
	}, path.Base("/"+u.Path))
	return string([]rune(name)[:min(maxName, len([]rune(name)))])
}

const maxName = 200 // characters of a file name

// Bounds of downloads. Each holds up to [MaxSize] in memory.
const (
	downloads     = 4 // at a time in a process, one of each company
	fetchPatience = 5 * time.Second
)

// queue makes downloads wait for each other.
type queue struct {
	turns turn.Turns
	all   *semaphore.Weighted
}

var errManyFetches = apierr.Unavailable(apierr.Overloaded, 2, "too many images are being downloaded; send one URL after the other, or repeat the request after the time in Retry-After; nothing was stored")

func (q *queue) enter(ctx context.Context, company tenant.ID) (leave func(), err error) {
	waiting, cancel := context.WithTimeout(ctx, fetchPatience)
	defer cancel()
	defer cputime.Wait()()
	next, err := q.turns.Enter(waiting, company)
	if err == nil {
		if err = q.all.Acquire(waiting, 1); err != nil {
			next()
		}
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, errManyFetches
	}
	return func() { q.all.Release(1); next() }, nil
}

const sqlSelectByHash = `SELECT id FROM files WHERE company_id = $1 AND sha256 = $2 ORDER BY created_at, id LIMIT 1`

// fetch downloads an image. One that the company has already is not stored again.
func (s *Service) fetch(ctx context.Context, in *fetchInput) (File, error) {
	body, err := s.download(ctx, in.Company, in.Body.URL)
	if err != nil {
		return File{}, err
	}
	image := NewImage(in.Body.name(), body)
	var f File
	err = s.cfg.DB.QueryRow(ctx, sqlSelectByHash, in.Company, fmt.Sprintf("%x", image.Hash)).Scan(&f.ID)
	if err == nil || !db.IsNoRows(err) {
		return f, err
	}
	f, err = s.Prepare(ctx, in.Company, image)
	if known, ok := apierr.As(err); ok && known.Status == http.StatusBadRequest {
		return File{}, fetchFailed(notImage, "what was downloaded cannot be stored: "+strings.TrimPrefix(known.Error(), "body: "))
	}
	return f, err
}

// Fetch downloads an image and stores it, for what refers to it at once.
func (s *Service) Fetch(ctx context.Context, by access.Caller, address string) (id uuid.UUID, err error) {
	in := &fetchInput{Call: httpapi.Call{Caller: by}, Body: Source{URL: address}}
	f, err := s.fetch(ctx, in)
	if err != nil {
		return uuid.Nil, err
	}
	err = s.cfg.DB.RunTx(ctx, "files.fetch", func(ctx context.Context, tx *db.Tx) error {
		made, err := s.addFetched(ctx, tx, in, f)
		id = made.ID
		return err
	})
	return id, err
}

func (s *Service) download(ctx context.Context, company tenant.ID, address string) ([]byte, error) {
	leave, err := s.fetches.enter(ctx, company)
	if err != nil {
		return nil, err
	}
	defer leave()
	body, err := s.cfg.Download(ctx, address, MaxSize)
	var failed *FetchError
	if errors.As(err, &failed) {
		return nil, fetchFailed(failed.Reason, failed.Text)
	}
	return body, err
}

var errFileGone = apierr.StateConflict("IMAGE_FETCH_FAILED", "url: the file with this image was deleted just now; repeat the request").With("field", "url").With("reason", "file_deleted")

// addFetched stores a downloaded image, or has the file that the company has with it kept for another day.
func (s *Service) addFetched(ctx context.Context, tx *db.Tx, in *fetchInput, f File) (File, error) {
	if f.SHA256 != "" {
		return s.Add(ctx, tx, in.Caller, f)
	}
	kept, err := s.keep(ctx, tx, in, f.ID)
	if apierr.Is(err, "FILE_NOT_FOUND") {
		return File{}, errFileGone
	}
	return kept, err
}

func (s *Service) keep(ctx context.Context, tx *db.Tx, in *fetchInput, id uuid.UUID) (File, error) {
	f, err := table.Lock(ctx, tx, in.Unconditional(), id)
	if err != nil {
		return f, err
	}
	tx.Queue(sqlDue, in.Company, id, tx.Now().Add(fileuse.Kept))
	return f, s.sign(&f)
}
