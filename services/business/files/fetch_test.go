package files_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"image/color"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/services/business/files"
)

// download has what is at a URL of the web.
func (k *kit) download(_ context.Context, address string, limit int64) ([]byte, error) {
	if address == "https://slow.example" {
		k.began <- struct{}{}
		<-k.goOn
	}
	body, ok := k.web[address]
	if !ok {
		return nil, &files.FetchError{Reason: "dns", Text: "the name of the host could not be resolved"}
	}
	if limit != files.MaxSize {
		return nil, &files.FetchError{Reason: "too_large"}
	}
	return body, nil
}

func TestFetch(t *testing.T) {
	t.Parallel()
	k := setup(t)
	k.web["https://a.example/shop/harbour?size=2"], k.web["https://a.example/copy.jpg"] = red(t), red(t)
	k.web["https://a.example/blue"] = picture(t, 30, 20, color.RGBA{0, 0, 255, 255})
	k.web["https://a.example/page"], k.web["https://a.example/half"] = []byte("<!DOCTYPE html>"), red(t)[:300]
	fetch := func(url string, more ...string) *apitest.Response {
		body := object{"url": url}
		if len(more) > 0 {
			body["name"] = more[0]
		}
		return k.Do(t, "POST", "/files/fetch", body)
	}
	f := fetch("https://a.example/shop/harbour?size=2").OK(201)
	hash := sha256.Sum256(red(t))
	require.Equal(t, []any{"harbour.jpg", "image/jpeg", hex.EncodeToString(hash[:])}, []any{f["name"], f["mediaType"], f["sha256"]})
	require.Equal(t, "blue.jpg", fetch("https://a.example/blue").OK(201)["name"])
	require.Equal(t, f["id"], fetch("https://a.example/copy.jpg", "another.jpg").OK(201)["id"], "the same bytes are the same file, so that a repeated synchronization changes nothing")
	other := k.server.Company()
	require.NotEqual(t, f["id"], other.Do(t, "POST", "/files/fetch", object{"url": "https://a.example/copy.jpg"}).OK(201)["id"])

	for url, want := range map[string][2]string{
		"https://b.example":      {"dns", "url: the name of the host could not be resolved; nothing was stored"},
		"https://a.example/page": {"not_an_image", "url: what was downloaded cannot be stored: "},
		"https://a.example/half": {"not_an_image", "url: what was downloaded cannot be stored: "},
	} {
		fault := fetch(url).Fault(409, "IMAGE_FETCH_FAILED")
		require.Equal(t, map[string]any{"field": "url", "reason": want[0]}, fault["meta"])
		require.Contains(t, fault["message"], want[1])
	}
	require.Equal(t, map[string]string{"url": "REQUIRED"}, k.Do(t, "POST", "/files/fetch", `{}`).Fields())
	require.Equal(t, map[string]string{"name": "FORMAT"}, fetch("https://a.example/blue", "a/b").Fields())
	require.EqualValues(t, 2, k.Do(t, "GET", "/files?withTotal=true", nil).OK(200)["total"])
}

// A file that is fetched again is kept for another day.
func TestFetchKeepsTheFile(t *testing.T) {
	t.Parallel()
	k := alone(t)
	k.web["https://a.example/x"] = red(t)
	id := k.Do(t, "POST", "/files/fetch", `{"url":"https://a.example/x"}`).OK(201)["id"].(string)
	k.later(20 * time.Hour)
	require.Equal(t, id, k.Do(t, "POST", "/files/fetch", `{"url":"https://a.example/x"}`).OK(201)["id"])
	k.later(20 * time.Hour)
	_, err := k.files.Sweep(t.Context())
	require.NoError(t, err)
	k.Do(t, "GET", "/files/"+id, nil).OK(200)
	k.later(5 * time.Hour)
	_, err = k.files.Sweep(t.Context())
	require.NoError(t, err)
	k.Do(t, "GET", "/files/"+id, nil).Fault(404, "FILE_NOT_FOUND")
	require.NotEqual(t, id, k.Do(t, "POST", "/files/fetch", `{"url":"https://a.example/x"}`).OK(201)["id"])
}

// A company downloads one image at a time, and holds up nobody else.
func TestFetchTakesTurns(t *testing.T) {
	t.Parallel()
	k := setup(t)
	k.web["https://a.example/x"] = red(t)
	slow := make(chan int)
	go func() { slow <- k.Do(t, "POST", "/files/fetch", `{"url":"https://slow.example"}`).Status }()
	<-k.began
	k.server.Company().Do(t, "POST", "/files/fetch", `{"url":"https://a.example/x"}`).OK(201)
	k.Do(t, "POST", "/files/fetch", `{"url":"https://a.example/x"}`).Fault(503, "SERVICE_UNAVAILABLE")
	close(k.goOn)
	require.Equal(t, 409, <-slow)
	k.Do(t, "POST", "/files/fetch", `{"url":"https://a.example/x"}`).OK(201)
}
