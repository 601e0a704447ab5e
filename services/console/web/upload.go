package web

import (
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"time"
)

// uploadWithin is how long a form with files may take to arrive, and to be worked on.
const uploadWithin = 2 * time.Minute

// Receives returns the page of a form with files, multipart/form-data of at most so many bytes. Fields stand before the files; those
// behind them are not read.
func (p Page) Receives(bytes int64) Page {
	p.receives = bytes
	return p
}

// File is a file of a form, which has to be read before the next one is asked for.
type File struct {
	Name  string // of the file, without a path
	Media string // as the browser declares it
	Body  io.Reader
}

// limits bounds the body of the request, and returns how long the page may take; a form with files may take more of both.
func (p Page) limits(w http.ResponseWriter, r *http.Request) time.Duration {
	if p.receives == 0 {
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		return pageWithin
	}
	r.Body = http.MaxBytesReader(w, r.Body, p.receives)
	control, end := http.NewResponseController(w), time.Now().Add(uploadWithin)
	_ = control.SetReadDeadline(end) // writers of tests have none
	_ = control.SetWriteDeadline(end.Add(pageWithin))
	return uploadWithin
}

// readFields reads the fields of a form with files, up to the first of these.
func (q *Request) readFields() error {
	parts, err := q.HTTP.MultipartReader()
	if errors.Is(err, http.ErrNotMultipart) { // without a file, a form may be sent as any other
		if err := q.HTTP.ParseForm(); err != nil {
			return formError(err)
		}
		q.Form = q.HTTP.PostForm
		return nil
	}
	if err != nil {
		return errForm
	}
	q.Form, q.parts = url.Values{}, parts
	for left := int64(maxBody); ; {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			q.parts = nil
			return nil
		}
		if err != nil {
			return formError(err)
		}
		if part.FileName() != "" || part.Header.Get("Content-Type") != "" {
			q.part = part
			return nil
		}
		value, err := io.ReadAll(io.LimitReader(part, left+1))
		if err != nil {
			return formError(err)
		}
		if left -= int64(len(value)); left < 0 {
			return errLarge
		}
		q.Form.Add(part.FormName(), string(value))
	}
}

// NextFile is the next file of the form; [io.EOF] after the last. A field in which no file was chosen has none.
func (q *Request) NextFile() (*File, error) {
	for q.parts != nil {
		part := q.part
		q.part = nil
		if part == nil {
			var err error
			if part, err = q.parts.NextPart(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, formError(err)
			}
		}
		if part.FileName() != "" {
			return &File{Name: part.FileName(), Media: part.Header.Get("Content-Type"), Body: part}, nil
		}
	}
	return nil, io.EOF
}

// skipFiles takes what is left of the form, so that the browser has sent all of it when it gets the answer.
func (q *Request) skipFiles() {
	if q.parts != nil {
		_, _ = io.Copy(io.Discard, q.HTTP.Body) // what is too long, or broken off, ends here as well
	}
}

func formError(err error) error {
	if errors.As(err, new(*http.MaxBytesError)) {
		return errLarge
	}
	return fmt.Errorf("%w: %w", errForm, err)
}

// sentFiles is what is left of a form with files.
type sentFiles struct {
	parts *multipart.Reader
	part  *multipart.Part // the file that comes next, if its head was read
}
