package web

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// sack is an area with a form that takes files.
type sack struct{ got *[]string }

func (s sack) Folder() Folder {
	p := Post(Account, "", "/sack", func(_ context.Context, q *Request) (Answer, error) {
		*s.got = []string{q.Form.Get("text")}
		for {
			f, err := q.NextFile()
			if errors.Is(err, io.EOF) {
				return Go("/"), nil
			}
			if err != nil {
				return Answer{}, err
			}
			if f.Name == "skipped.txt" {
				continue
			}
			body, err := io.ReadAll(f.Body)
			if err != nil {
				return Answer{}, formError(err)
			}
			*s.got = append(*s.got, f.Name+" "+f.Media+" "+string(body[:min(len(body), 3)]))
		}
	})
	return Folder{Name: "sack", Templates: fstest.MapFS{}, Routes: []Page{p.For(Anyone).Receives(1 << 20)}}
}

// A form with files hands out its fields, and each file as it arrives. It has a largest size of its own, also for its fields.
func TestFormsWithFiles(t *testing.T) {
	t.Parallel()
	var got []string
	a, err := New(Config{DB: (&db.DB{}).WithClock(time.Now), Log: slog.New(slog.DiscardHandler)}, sack{&got})
	require.NoError(t, err)
	send := func(text string, cut int, files ...string) *httptest.ResponseRecorder {
		t.Helper()
		got = nil
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		require.NoError(t, form.WriteField("text", text))
		for i := 0; i < len(files); i += 2 {
			part, err := form.CreateFormFile("file", files[i])
			require.NoError(t, err)
			_, err = io.WriteString(part, files[i+1])
			require.NoError(t, err)
		}
		require.NoError(t, form.Close())
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/sack", io.LimitReader(&body, int64(body.Len()-cut)))
		r.Header.Set("Content-Type", form.FormDataContentType())
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		return w
	}
	require.Equal(t, http.StatusSeeOther, send("a", 0, "one.csv", "1;2", "skipped.txt", "x", "../../two.csv", strings.Repeat("y", 900<<10)).Code)
	require.Equal(t, []string{"a", "one.csv application/octet-stream 1;2", "two.csv application/octet-stream yyy"}, got)
	require.Equal(t, http.StatusSeeOther, send("a", 0).Code)
	require.Equal(t, []string{"a"}, got, "no file was chosen")
	require.Equal(t, http.StatusRequestEntityTooLarge, send("a", 0, "one.csv", strings.Repeat("y", 1<<20)).Code)
	require.Equal(t, http.StatusRequestEntityTooLarge, send(strings.Repeat("t", maxBody+1), 0, "one.csv", "1").Code)
	require.Nil(t, got)
	require.Equal(t, http.StatusBadRequest, send("a", 60, "one.csv", "1;2").Code, "it was broken off")
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/sack", strings.NewReader("text=a"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	w := httptest.NewRecorder()
	a.ServeHTTP(w, r)
	require.Equal(t, http.StatusSeeOther, w.Code)
	require.Equal(t, []string{"a"}, got)
}
