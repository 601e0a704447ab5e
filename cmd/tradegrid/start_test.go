package main

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

// A wait is told of at once, once a minute after that, and again when its reason changes.
func TestWaitingIsToldRarely(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var text bytes.Buffer
		w := &waiting{log: slog.New(slog.NewTextHandler(&text, nil)), ops: "http://ops"}
		require.ErrorIs(t, w.check(t.Context()), errConnecting)
		lines := func() int { return strings.Count(text.String(), "waiting for the database") }
		refused, unknown := errors.New("connection refused"), error(&pgconn.PgError{Code: "3D000", Message: "no database"})
		for range 50 {
			w.failed(t.Context(), refused)
			time.Sleep(time.Second)
		}
		require.Equal(t, 1, lines())
		require.ErrorIs(t, w.check(t.Context()), refused)
		time.Sleep(time.Minute)
		w.failed(t.Context(), refused)
		require.Equal(t, 2, lines())
		require.NotContains(t, text.String(), "level=ERROR")
		w.failed(t.Context(), unknown)
		w.failed(t.Context(), unknown)
		require.Equal(t, 3, lines())
		require.Contains(t, text.String(), "level=ERROR")
		require.Contains(t, text.String(), "create it")
		require.ErrorIs(t, w.check(t.Context()), unknown)
		w.over(t.Context())
		require.Contains(t, text.String(), "the database is up")
	})
}
