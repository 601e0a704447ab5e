package dev

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestReceiverStopsWithRequestsHanging(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	logs, out := io.Pipe()
	cmd := &ReceiverCmd{Listen: "127.0.0.1:0", Behaviour: "hang"}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Run(ctx, slog.New(slog.NewJSONHandler(out, nil))) }()
	var line struct{ URL string }
	require.NoError(t, json.NewDecoder(logs).Decode(&line))
	go func() { _, _ = io.Copy(io.Discard, logs) }()

	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, line.URL+"/a", bytes.NewReader([]byte("{}")))
	require.NoError(t, err)
	failed := make(chan error, 1)
	go func() {
		res, err := http.DefaultClient.Do(req)
		if err == nil {
			err = res.Body.Close()
		}
		failed <- err
	}()
	res, err := http.Get(line.URL[:len(line.URL)-len("/hook")] + "/wait/a?timeout=10s")
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, 200, res.StatusCode)

	began := time.Now()
	cancel()
	require.ErrorIs(t, <-failed, io.EOF)
	require.NoError(t, <-ended)
	require.Less(t, time.Since(began), receiverStop)
}

func TestReceiverFlagsAreNamedInErrors(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	for want, cmd := range map[string]ReceiverCmd{
		"--behaviour": {Listen: "127.0.0.1:0", Behaviour: "explode"},
		"--secret":    {Listen: "127.0.0.1:0", Secret: "x"},
		"--listen":    {Listen: "127.0.0.1:99999"},
	} {
		require.ErrorContains(t, cmd.Run(t.Context(), log), want)
	}
}
