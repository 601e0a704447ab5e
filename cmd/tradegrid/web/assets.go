package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
)

//go:embed assets/*.css assets/*.js assets/*.svg
var assetFiles embed.FS

// asset is a file with its compressed forms. Its name holds its hash, so that browsers keep it for ever.
type asset struct {
	kind          string
	plain, gz, br []byte
}

// bundle is the files of the binary.
type bundle struct {
	names  map[string]string // style.css → style.0a1b2c3d.css
	byName map[string]asset
}

// assets serves the style sheet and the scripts.
type assets struct {
	*bundle
	source string
}

var assetKinds = map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}

func newAssets(source string) (*assets, error) {
	b, err := builtIn()
	return &assets{b, source}, err
}

// builtIn compresses the files at the first call only, which takes a third of a second.
var builtIn = sync.OnceValues(compressAll)

func compressAll() (*bundle, error) {
	all := &bundle{names: map[string]string{}, byName: map[string]asset{}}
	entries, err := assetFiles.ReadDir("assets")
	if err != nil {
		return nil, fmt.Errorf("read assets: %w", err)
	}
	for _, e := range entries {
		text, err := fs.ReadFile(assetFiles, "assets/"+e.Name())
		if err != nil {
			return nil, fmt.Errorf("read assets: %w", err)
		}
		sum := sha256.Sum256(text)
		ext := path.Ext(e.Name())
		name := strings.TrimSuffix(e.Name(), ext) + "." + hex.EncodeToString(sum[:6]) + ext
		one := asset{kind: assetKinds[ext], plain: text}
		if one.gz, err = compressed(text, func(w io.Writer) io.WriteCloser {
			z, _ := gzip.NewWriterLevel(w, gzip.BestCompression) // the level is valid
			return z
		}); err != nil {
			return nil, err
		}
		if one.br, err = compressed(text, func(w io.Writer) io.WriteCloser { return brotli.NewWriterLevel(w, brotli.BestCompression) }); err != nil {
			return nil, err
		}
		all.names[e.Name()], all.byName[name] = name, one
	}
	return all, nil
}

func compressed(text []byte, encoder func(io.Writer) io.WriteCloser) ([]byte, error) {
	var b bytes.Buffer
	w := encoder(&b)
	if _, err := w.Write(text); err != nil {
		return nil, fmt.Errorf("compress asset: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("compress asset: %w", err)
	}
	return b.Bytes(), nil
}

// address is where a page finds a file.
func (a *assets) address(name string) (string, error) {
	if a.source != "" {
		return "/assets/" + name, nil
	}
	hashed, ok := a.names[name]
	if !ok {
		return "", fmt.Errorf("no asset %s", name)
	}
	return "/assets/" + hashed, nil
}

// ServeHTTP implements [http.Handler].
func (a *assets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/assets/")
	if a.source != "" {
		a.serveSource(w, name)
		return
	}
	one, ok := a.byName[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", one.kind)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Vary", "Accept-Encoding")
	body := one.plain
	switch accepted := r.Header.Get("Accept-Encoding"); {
	case strings.Contains(accepted, "br"):
		h.Set("Content-Encoding", "br")
		body = one.br
	case strings.Contains(accepted, "gzip"):
		h.Set("Content-Encoding", "gzip")
		body = one.gz
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // a client that is gone gets nothing
}

// serveSource reads a file of the source, for those who work on it.
func (a *assets) serveSource(w http.ResponseWriter, name string) {
	if _, ok := a.names[name]; !ok {
		http.Error(w, "no such file", http.StatusNotFound)
		return
	}
	text, err := os.ReadFile(path.Join(a.source, "assets", name))
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", assetKinds[path.Ext(name)])
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(text) //nolint:gosec // G705: a file of the source, for those who work on it
}
