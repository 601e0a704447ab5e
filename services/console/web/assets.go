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
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
)

//go:embed assets/*.js assets/*.svg assets/style/*.css assets/script/*.js
var assetFiles embed.FS

// joined are the files that pages get as one, by the folder of their parts, which follow in the order of their names: for the style sheet,
// the digit in front says what goes before what.
var joined = map[string]string{"style": "style.css", "script": "console.js"}

// asset is a file. Its name holds its hash, so that browsers keep it for ever. Its compressed forms are made at the first request.
type asset struct {
	kind   string
	plain  []byte
	gz, br func() ([]byte, error)
}

func newAsset(kind string, text []byte) asset {
	return asset{
		kind: kind, plain: text,
		gz: compressedOnce(text, func(w io.Writer) io.WriteCloser {
			z, _ := gzip.NewWriterLevel(w, gzip.BestCompression) // the level is valid
			return z
		}),
		br: compressedOnce(text, func(w io.Writer) io.WriteCloser { return brotli.NewWriterLevel(w, brotli.BestCompression) }),
	}
}

func compressedOnce(text []byte, encoder func(io.Writer) io.WriteCloser) func() ([]byte, error) {
	return sync.OnceValues(func() ([]byte, error) { return compressed(text, encoder) })
}

// as returns the file in a form that the client accepts, and its encoding; "" = as it is.
func (a asset) as(accepted string) (body []byte, encoding string, err error) {
	switch {
	case strings.Contains(accepted, "br"):
		body, err = a.br()
		return body, "br", err
	case strings.Contains(accepted, "gzip"):
		body, err = a.gz()
		return body, "gzip", err
	}
	return a.plain, "", nil
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

// builtIn are the files of the binary, which all consoles of a process share.
var builtIn = sync.OnceValues(readAll)

func readAll() (*bundle, error) {
	all := &bundle{names: map[string]string{}, byName: map[string]asset{}}
	entries, err := assetFiles.ReadDir("assets")
	if err != nil {
		return nil, fmt.Errorf("read assets: %w", err)
	}
	for _, e := range entries {
		plain := e.Name()
		if e.IsDir() {
			plain = joined[e.Name()]
		}
		text, err := readAsset(assetFiles, plain)
		if err != nil {
			return nil, fmt.Errorf("read assets: %w", err)
		}
		sum := sha256.Sum256(text)
		ext := path.Ext(plain)
		name := strings.TrimSuffix(plain, ext) + "." + hex.EncodeToString(sum[:6]) + ext
		all.names[plain], all.byName[name] = name, newAsset(assetKinds[ext], text)
	}
	return all, nil
}

// readAsset reads a file, or the parts of one. Each script is a block of its own, so that none meets the names of another.
func readAsset(files fs.FS, name string) ([]byte, error) {
	for folder, whole := range joined {
		if whole != name {
			continue
		}
		parts, err := fs.Glob(files, "assets/"+folder+"/*")
		if err != nil {
			return nil, err
		}
		var all bytes.Buffer
		if folder == "script" {
			all.WriteString("\"use strict\";\n")
		}
		for _, part := range parts {
			text, err := fs.ReadFile(files, part)
			if err != nil {
				return nil, err
			}
			if folder == "script" {
				text = slices.Concat([]byte("{\n"), text, []byte("}\n"))
			}
			all.Write(text)
		}
		return all.Bytes(), nil
	}
	return fs.ReadFile(files, "assets/"+name)
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
	body, encoding, err := one.as(r.Header.Get("Accept-Encoding"))
	if err != nil {
		body, encoding = one.plain, ""
	}
	if encoding != "" {
		h.Set("Content-Encoding", encoding)
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) //nolint:gosec // a file of the binary, of which the request chooses the encoding; a client that is gone gets nothing
}

// serveSource reads a file of the source, for those who work on it.
func (a *assets) serveSource(w http.ResponseWriter, name string) {
	if _, ok := a.names[name]; !ok {
		http.Error(w, "no such file", http.StatusNotFound)
		return
	}
	text, err := readAsset(os.DirFS(path.Join(a.source, "web")), name)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", assetKinds[path.Ext(name)])
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(text) //nolint:gosec // G705: a file of the source, for those who work on it
}
