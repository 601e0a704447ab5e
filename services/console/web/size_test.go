package web

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// box is a area with a form that anybody may send.
type box struct{ got *int }

func (b box) Folder() Folder {
	p := Post(Account, "", "/box", func(_ context.Context, q *Request) (Answer, error) {
		*b.got = len(q.Form.Get("text"))
		return Go("/"), nil
	})
	return Folder{Name: "box", Templates: fstest.MapFS{}, Routes: []Page{p.For(Anyone)}}
}

// A form has a largest size, whoever sends it: one byte more is refused in words, and nothing is done with it.
func TestFormsHaveALargestSize(t *testing.T) {
	t.Parallel()
	got := -1
	a, err := New(Config{DB: (&db.DB{}).WithClock(time.Now), Log: slog.New(slog.DiscardHandler)}, box{&got})
	require.NoError(t, err)
	send := func(bytes int, declared bool) *httptest.ResponseRecorder {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/box", strings.NewReader("text="+strings.Repeat("a", bytes-len("text="))))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		if !declared {
			r.ContentLength = -1
		}
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		return w
	}
	for _, declared := range []bool{true, false} {
		got = -1
		require.Equal(t, http.StatusSeeOther, send(maxBody, declared).Code)
		require.Equal(t, maxBody-len("text="), got)
		got = -1
		refused := send(maxBody+1, declared)
		require.Equal(t, http.StatusRequestEntityTooLarge, refused.Code)
		require.Contains(t, refused.Body.String(), "A form takes at most 64 KiB")
		require.Equal(t, -1, got)
	}
}
