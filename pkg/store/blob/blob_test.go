package blob_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/blob"
	"github.com/tradegrid/tradegrid/pkg/store/blob/blobtest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

func aKey() blob.Key { return blob.Key{Company: tenant.NewID(), File: uuid.New(), Part: "original"} }

func bytesOf(n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{byte(n), byte(n >> 8)})
	_, _ = r.Read(b)
	return b
}

func read(t *testing.T, s blob.Store, key blob.Key) ([]byte, error) {
	t.Helper()
	r, err := s.Open(t.Context(), key)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(r)
	require.NoError(t, err)
	return body, r.Close()
}

// Both stores keep the same promises.
func TestStores(t *testing.T) {
	t.Parallel()
	stores := map[string]func(t *testing.T) blob.Store{
		"database": func(t *testing.T) blob.Store { t.Helper(); return blob.NewDatabase(dbtest.Open(t)) },
		"s3": func(t *testing.T) blob.Store {
			t.Helper()
			s, err := blob.NewS3(blobtest.S3(t))
			require.NoError(t, err)
			require.NoError(t, s.Check(t.Context()))
			return s
		},
	}
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testStore(t, open(t))
		})
	}
}

func testStore(t *testing.T, s blob.Store) {
	t.Helper()
	put := func(key blob.Key, body []byte) {
		t.Helper()
		require.NoError(t, s.Put(t.Context(), key, "image/png", int64(len(body)), bytes.NewReader(body)))
	}
	for _, n := range []int{0, 1, 512<<10 - 1, 512 << 10, 512<<10 + 1, 1 << 20, 10 << 20} {
		key, body := aKey(), bytesOf(n)
		put(key, body)
		got, err := read(t, s, key)
		require.NoError(t, err)
		require.True(t, bytes.Equal(body, got), "%d bytes", n)
	}

	key := aKey()
	_, err := read(t, s, key)
	require.ErrorIs(t, err, blob.ErrNotFound)
	require.NoError(t, s.Delete(t.Context(), key), "nothing is there")
	put(key, bytesOf(1<<20+5))
	put(key, bytesOf(3))
	got, err := read(t, s, key)
	require.NoError(t, err)
	require.Equal(t, bytesOf(3), got, "a shorter content replaces a longer one")

	other := key
	other.Part = "small"
	put(other, bytesOf(7))
	stranger := key
	stranger.Company = tenant.NewID()
	_, err = read(t, s, stranger)
	require.ErrorIs(t, err, blob.ErrNotFound)
	require.NoError(t, s.Delete(t.Context(), stranger))
	require.NoError(t, s.Delete(t.Context(), key))
	_, err = read(t, s, key)
	require.ErrorIs(t, err, blob.ErrNotFound)
	got, err = read(t, s, other)
	require.NoError(t, err)
	require.Equal(t, bytesOf(7), got, "the other part stays")

	require.Error(t, s.Put(t.Context(), aKey(), "image/png", 100, bytes.NewReader(bytesOf(99))), "the body ends early")
	broken := errors.New("broken")
	require.ErrorIs(t, s.Put(t.Context(), aKey(), "image/png", 100, &failing{err: broken}), broken)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.Error(t, s.Put(ended, aKey(), "image/png", 3, bytes.NewReader(bytesOf(3))))

	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if err := s.Put(t.Context(), key, "image/png", 1000, bytes.NewReader(bytesOf(1000))); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got, err = read(t, s, key)
	require.NoError(t, err)
	require.Equal(t, bytesOf(1000), got)
}

type failing struct {
	io.ReadSeeker
	err error
}

func (f *failing) Read([]byte) (int, error)       { return 0, f.err }
func (f *failing) Seek(int64, int) (int64, error) { return 0, nil }

// A reader of the database holds a piece at a time.
func TestMemoryOfAReader(t *testing.T) { //nolint:paralleltest // measures the memory of the process
	s, key := blob.NewDatabase(dbtest.Open(t)), aKey()
	const size = 10 << 20
	require.NoError(t, s.Put(t.Context(), key, "image/png", size, bytes.NewReader(make([]byte, size))))
	r, err := s.Open(t.Context(), key)
	require.NoError(t, err)
	live := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before, most, n := live(), int64(0), 0
	buf := make([]byte, 32<<10)
	for {
		read, err := r.Read(buf)
		if n += read; errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if n%(1<<20) == 0 {
			most = max(most, live()-before)
		}
	}
	require.Equal(t, size, n)
	require.Less(t, most, int64(4<<20))
}

// The bucket that does not exist, a wrong key, and a service that is away are errors, not missing contents. A key in the files that
// changes needs no restart.
func TestS3Errors(t *testing.T) {
	t.Parallel()
	c := blobtest.S3(t)
	for name, edit := range map[string]func(*blob.S3Config){
		"bucket": func(c *blob.S3Config) { c.Bucket = "nowhere" },
		"key": func(c *blob.S3Config) {
			c.SecretKeyFile = t.TempDir() + "/key"
			require.NoError(t, os.WriteFile(c.SecretKeyFile, []byte("wrong"), 0o600))
		},
		"service": func(c *blob.S3Config) { c.Endpoint = "http://127.0.0.1:1" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wrong := c
			edit(&wrong)
			s, err := blob.NewS3(wrong)
			require.NoError(t, err)
			require.Error(t, s.Check(t.Context()))
			_, err = s.Open(t.Context(), aKey())
			require.Error(t, err)
			require.NotErrorIs(t, err, blob.ErrNotFound)
			require.Error(t, s.Put(t.Context(), aKey(), "image/png", 3, bytes.NewReader(bytesOf(3))))
			require.Error(t, s.Delete(t.Context(), aKey()))
		})
	}
}

func TestS3Settings(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/key"
	require.NoError(t, os.WriteFile(file, []byte("k\n"), 0o600))
	good := blob.S3Config{Endpoint: "https://s3.example.com", Bucket: "b", AccessKeyFile: file, SecretKeyFile: file}
	require.NoError(t, good.Validate())
	require.ErrorContains(t, blob.S3Config{}.Validate(), "--s3-endpoint is required")
	for want, edit := range map[string]func(*blob.S3Config){
		"--s3-endpoint":        func(c *blob.S3Config) { c.Endpoint = "s3.example.com" },
		"must be a scheme":     func(c *blob.S3Config) { c.Endpoint = "https://s3.example.com/bucket" },
		"--s3-bucket":          func(c *blob.S3Config) { c.Bucket = "" },
		"--s3-access-key-file": func(c *blob.S3Config) { c.AccessKeyFile += ".missing" },
		"--s3-secret-key-file": func(c *blob.S3Config) { c.SecretKeyFile = "" },
		"--s3-role and":        func(c *blob.S3Config) { c.Role = true },
	} {
		c := good
		edit(&c)
		require.ErrorContains(t, c.Validate(), want)
	}
	require.True(t, strings.HasSuffix(aKey().String(), "/original"))
}

// With a role, the bucket is asked with what AWS hands to the pod, here as EKS Pod Identity does.
func TestS3WithARole(t *testing.T) {
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "pod" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		_, _ = fmt.Fprintf(w, `{"Code":"Success","AccessKeyId":"OFTHEROLE","SecretAccessKey":"s","Token":"session","Expiration":%q}`, time.Now().Add(time.Hour).Format(time.RFC3339))
	}))
	t.Cleanup(agent.Close)
	asked := make(chan http.Header, 1)
	bucket := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.Header.Clone() }))
	t.Cleanup(bucket.Close)
	token := t.TempDir() + "/token"
	require.NoError(t, os.WriteFile(token, []byte("pod"), 0o600))
	t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", agent.URL)
	t.Setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", token)
	s, err := blob.NewS3(blob.S3Config{Endpoint: bucket.URL, Bucket: "files", Region: "eu-central-1", PathStyle: true, Role: true})
	require.NoError(t, err)
	require.NoError(t, s.Check(t.Context()))
	got := <-asked
	require.Contains(t, got.Get("Authorization"), "Credential=OFTHEROLE/")
	require.Equal(t, "session", got.Get("X-Amz-Security-Token"))
}
