package web

import (
	"context"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
)

const (
	chunk       = 64 << 10
	chunkWithin = 30 * time.Second // a browser that takes longer for a chunk is cut off
	fileWithin  = 15 * time.Minute
)

// Inline answers with a file that the page shows, unless the browser has it already.
func Inline(q *Request, f httpapi.File) (Answer, error) {
	if tag := f.Headers["ETag"]; tag != "" && q.HTTP.Header.Get("If-None-Match") == tag {
		return Answer{file: &f, status: http.StatusNotModified}, nil
	}
	var err error
	if f.Open != nil {
		f.Body, err = f.Open()
	}
	return Answer{file: &f, status: http.StatusOK}, err
}

// Send answers with a file, which is closed when it was sent.
func Send(f httpapi.File) Answer { return Answer{file: &f, status: http.StatusOK} }

// send streams a file. It holds one chunk of it, and as much as reading it does.
func (a *App) send(ctx context.Context, w http.ResponseWriter, q *Request, f *httpapi.File) {
	h := w.Header()
	for _, name := range []string{"ETag", "Cache-Control", "Content-Security-Policy"} {
		if value := f.Headers[name]; value != "" {
			h.Set(name, value)
		}
	}
	if f.Body == nil {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	defer func() { _ = f.Body.Close() }() // only read
	h.Set("Content-Type", f.Media)
	h.Set("Content-Length", strconv.FormatInt(f.Size, 10))
	disposition := "attachment"
	if f.Inline {
		disposition = "inline"
	}
	h.Set("Content-Disposition", mime.FormatMediaType(disposition, map[string]string{"filename": f.Name}))
	w.WriteHeader(http.StatusOK)
	if q.HTTP.Method == http.MethodHead {
		return
	}
	control, end, buffer := http.NewResponseController(w), time.Now().Add(fileWithin), make([]byte, chunk)
	for time.Now().Before(end) {
		_ = control.SetWriteDeadline(time.Now().Add(chunkWithin)) // writers of tests have none
		n, err := f.Body.Read(buffer)
		if n > 0 {
			if _, failed := w.Write(buffer[:n]); failed != nil {
				return // the browser is gone
			}
		}
		if err == io.EOF {
			return
		}
		if err != nil {
			a.cfg.Log.WarnContext(ctx, "console file broken off", "error", err, "path", q.HTTP.URL.Path, "request_id", q.ID)
			break
		}
	}
	panic(http.ErrAbortHandler) // so that the browser sees that the file is not whole
}
