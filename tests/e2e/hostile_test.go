package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/tradegrid/tradegrid/pkg/kit/hostile"
	"github.com/tradegrid/tradegrid/tests/role"
)

// memoryOfAPI is the memory that the chart gives to a pod of the API.
func memoryOfAPI(t *testing.T) int64 {
	t.Helper()
	raw, err := os.ReadFile("../../charts/tradegrid/values.yaml")
	require.NoError(t, err)
	var values struct {
		API struct {
			Resources struct{ Limits struct{ Memory string } }
		}
	}
	require.NoError(t, yaml.Unmarshal(raw, &values))
	mebi, is := strings.CutSuffix(values.API.Resources.Limits.Memory, "Mi")
	require.True(t, is)
	memory, err := strconv.ParseInt(mebi, 10, 64)
	require.NoError(t, err)
	return memory << 20
}

// An API process with the memory of the chart survives files and requests of all kinds that were made to bring it down, the files sent
// by several companies at a time, and serves the others meanwhile.
func TestHostileFilesWithinTheMemoryOfThePod(t *testing.T) {
	t.Parallel()
	r := newKit(t)
	memory := role.LimitMemory(t, memoryOfAPI(t))
	program, env := memory.Run(binary)
	p := r.launchFrom(program, append(env, "GOMAXPROCS=8"), "api")
	p.AwaitStart()
	api := r.client(p)
	product := api.product()

	files := make(chan hostile.File)
	var wg sync.WaitGroup
	for range 4 {
		_, token := role.Tenant(t, r.db)
		wg.Go(func() {
			for f := range files {
				if err := upload(t.Context(), p.URL, token, f); err != nil {
					t.Errorf("%s: %v", f.Name, err)
				}
			}
		})
	}
	for _, f := range allHostile(t) {
		files <- f
		api.order(product)
	}
	close(files)
	wg.Wait()
	for _, in := range hostileRequests(t) {
		header := http.Header{"Authorization": {"Bearer " + r.token}}
		for name, value := range in.Header {
			header.Set(name, value)
		}
		status, body, err := send(t.Context(), in.Method, p.URL+in.Path, header, in.Body)
		require.NoError(t, err, in.Name)
		require.Equal(t, in.Want, status, "%s: %s", in.Name, body[:min(len(body), 500)])
		require.Less(t, len(body), 1<<20, in.Name)
	}
	status, body := p.Ask("/livez")
	require.Equal(t, http.StatusOK, status, body)
	api.order(product)
	t.Logf("used %d MiB of %d", memory.Check(p)>>20, memoryOfAPI(t)>>20)
}

func allHostile(t *testing.T) []hostile.File {
	t.Helper()
	return append(append(hostile.Images(t), hostile.Workbooks(t)...), hostile.Tables()...)
}

// wantedOf is the status of an upload. A table has no rows, even if it can be read.
func wantedOf(f hostile.File) int {
	if f.Fine && isImage(f) {
		return http.StatusCreated
	}
	return http.StatusBadRequest
}

func isImage(f hostile.File) bool { return strings.HasPrefix(f.Media, "image/") }

// upload sends a file until it is not told to come again.
func upload(ctx context.Context, base, token string, f hostile.File) error {
	path := "/imports?resource=products&dryRun=true"
	if isImage(f) {
		path = "/files"
	}
	for {
		status, body, err := send(ctx, http.MethodPost, base+path, http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {f.Media}}, f.Body)
		switch {
		case err != nil:
			return err
		case status == http.StatusServiceUnavailable:
			<-time.After(time.Second) // Retry-After
		case status != wantedOf(f):
			return fmt.Errorf("%d, not %d: %s", status, wantedOf(f), body)
		default:
			return nil
		}
	}
}

func send(ctx context.Context, method, url string, header http.Header, content []byte) (status int, body []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(content))
	if err != nil {
		return 0, nil, err
	}
	req.Header = header
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = res.Body.Close() }()
	body, err = io.ReadAll(res.Body)
	return res.StatusCode, body, err
}
