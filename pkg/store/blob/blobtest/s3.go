// Package blobtest runs an S3-compatible server for tests. It checks signatures, as the services do that users have.
package blobtest

import (
	"bytes"
	"context"
	"crypto/rand"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/blob"
)

// gateway is the server. Go builds it once; it is no dependency of the product.
const gateway = "github.com/versity/versitygw/cmd/versitygw@v1.8.0"

const region = "eu-test-1"

// build returns the path of the server's program.
func build(t testing.TB) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	_, version, _ := strings.Cut(gateway, "@")
	dir := filepath.Join(cache, "tradegrid", "versitygw-"+version)
	program := filepath.Join(dir, "versitygw")
	if _, err := os.Stat(program); err == nil {
		return program
	}
	require.NoError(t, os.MkdirAll(dir, 0o755)) //nolint:gosec // a cache of programs
	cmd := exec.CommandContext(t.Context(), "go", "install", gateway)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOBIN="+dir, "GOFLAGS=", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "build %s: %s", gateway, out)
	return program
}

// S3 starts a server with an empty bucket and returns how to reach it. It stops at the end of the test.
func S3(t testing.TB) blob.S3Config {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"objects", "meta"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o755)) //nolint:gosec // for this process only
	}
	access, key := "test"+rand.Text()[:8], rand.Text()
	address := "127.0.0.1:" + strconv.Itoa(freePort(t))
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, build(t), "--port", address, "--access", access, "--secret", key, "--region", region, "--quiet", //nolint:gosec // G204: the program is built here
		"posix", "--sidecar", filepath.Join(dir, "meta"), filepath.Join(dir, "objects"))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		stop()
		_ = cmd.Wait() // it was killed
		if t.Failed() {
			t.Logf("S3 server: %s", out.String())
		}
	})
	c := blob.S3Config{Endpoint: "http://" + address, Bucket: "files", Region: region, PathStyle: true, AccessKeyFile: filepath.Join(dir, "access"), SecretKeyFile: filepath.Join(dir, "secret")}
	require.NoError(t, os.WriteFile(c.AccessKeyFile, []byte(access+"\n"), 0o600))
	require.NoError(t, os.WriteFile(c.SecretKeyFile, []byte(key+"\n"), 0o600))
	client, err := minio.New(address, &minio.Options{Creds: credentials.NewStaticV4(access, key, ""), Region: region, BucketLookup: minio.BucketLookupPath})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		return client.MakeBucket(t.Context(), c.Bucket, minio.MakeBucketOptions{Region: region}) == nil
	}, time.Minute, 20*time.Millisecond, "the S3 server does not answer")
	return c
}

func freePort(t testing.TB) int {
	t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = ln.Close() }()
	return ln.Addr().(*net.TCPAddr).Port //nolint:errcheck,forcetypeassert // of a TCP listener
}

// Objects returns the keys of all objects in the bucket.
func Objects(t testing.TB, c blob.S3Config) (keys []string) {
	t.Helper()
	access, err := os.ReadFile(c.AccessKeyFile)
	require.NoError(t, err)
	key, err := os.ReadFile(c.SecretKeyFile)
	require.NoError(t, err)
	client, err := minio.New(strings.TrimPrefix(c.Endpoint, "http://"), &minio.Options{
		Creds: credentials.NewStaticV4(strings.TrimSpace(string(access)), strings.TrimSpace(string(key)), ""), Region: c.Region, BucketLookup: minio.BucketLookupPath,
		Transport: &http.Transport{},
	})
	require.NoError(t, err)
	for o := range client.ListObjects(t.Context(), c.Bucket, minio.ListObjectsOptions{Recursive: true}) {
		require.NoError(t, o.Err)
		keys = append(keys, o.Key)
	}
	return keys
}
