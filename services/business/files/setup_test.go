package files_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/store/blob"
	"github.com/tradegrid/tradegrid/pkg/store/blob/blobtest"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/quota"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/catalog"
	"github.com/tradegrid/tradegrid/services/business/files"
	"github.com/tradegrid/tradegrid/services/business/scheduling"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

type object = map[string]any

const limit = 300 << 10 // bytes per company

// kit is an API with files, and with what refers to them.
type kit struct {
	*apitest.Client
	server      *apitest.Server
	files       *files.Service
	db          *db.DB
	now         *time.Time        // is added to the clock
	web         map[string][]byte // what there is to download, by URL
	began, goOn chan struct{}     // of a slow download
}

func setup(t *testing.T) kit {
	t.Helper()
	return setupOn(t, dbtest.Open(t), nil)
}

// alone is setup on a database of its own, for tests that sweep: the sweeper goes over all companies.
func alone(t *testing.T) kit {
	t.Helper()
	return setupOn(t, dbtest.OpenNew(t), nil)
}

// setupOn is setup with another store than the database.
func setupOn(t *testing.T, d *db.DB, store blob.Store) kit {
	t.Helper()
	k := kit{now: new(time.Time), web: map[string][]byte{}, began: make(chan struct{}), goOn: make(chan struct{})}
	k.db = d.WithClock(func() time.Time { return time.Now().Add(k.now.Sub(time.Time{})) })
	if store == nil {
		store = blob.NewDatabase(k.db)
	}
	k.files = files.New(files.Config{
		DB: k.db, Store: store, Keys: apitest.Keys(t), Root: httpapi.BasePath, Download: k.download,
		Quota: quota.New(quota.Config{DB: k.db, Kind: files.QuotaKind, Limit: limit, Owners: apitest.Owners, Beyond: "Nothing more is stored."}),
	})
	goods := catalog.New(catalog.Config{DB: k.db})
	agenda := scheduling.New(scheduling.Config{DB: k.db})
	k.server = apitest.New(t, k.db, k.files.Register, goods.Register, agenda.Register)
	k.Client = k.server.Company()
	return k
}

// later sets the clock forward.
func (k kit) later(d time.Duration) { *k.now = k.now.Add(d) }

// stores are the stores that tests run on.
func stores(t *testing.T, test func(t *testing.T, k kit, objects func() int)) {
	t.Helper()
	t.Run("database", func(t *testing.T) {
		t.Parallel()
		k := alone(t)
		test(t, k, func() (n int) {
			require.NoError(t, k.db.QueryRow(t.Context(), `SELECT count(DISTINCT (file_id, part)) FROM file_chunks WHERE company_id = $1`, k.Principal.Company).Scan(&n))
			return n
		})
	})
	t.Run("s3", func(t *testing.T) {
		t.Parallel()
		cfg := blobtest.S3(t)
		s, err := blob.NewS3(cfg)
		require.NoError(t, err)
		test(t, setupOn(t, dbtest.OpenNew(t), s), func() int { return len(blobtest.Objects(t, cfg)) })
	})
}

// picture is a JPEG of a colour.
func picture(t testing.TB, w, h int, c color.Color) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		img.Set(i%w, i/w, c)
	}
	var b bytes.Buffer
	require.NoError(t, jpeg.Encode(&b, img, nil))
	return b.Bytes()
}

func red(t testing.TB) []byte { return picture(t, 64, 48, color.RGBA{255, 0, 0, 255}) }

func as(media string) apitest.Header { return apitest.Header{"Content-Type", media} }

func (k kit) upload(t testing.TB, raw []byte) object {
	t.Helper()
	return k.Do(t, "POST", "/files", raw, as("image/jpeg")).OK(201)
}

func hash(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// fetch opens a URL without a token.
func (k kit) fetch(t testing.TB, link string, headers ...string) (int, http.Header, []byte) {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, link, nil)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := k.server.API.App().Test(req, -1)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, res.Header, body
}

// changed returns a URL with another value of a parameter.
func changed(t testing.TB, link, name, value string) string {
	t.Helper()
	u, err := url.Parse(link)
	require.NoError(t, err)
	q := u.Query()
	q.Set(name, value)
	u.RawQuery = q.Encode()
	return u.String()
}

func id(v object) string { return v["id"].(string) }

func urls(v object) object { return v["urls"].(object) }

func path(link string) string { return strings.TrimPrefix(link, httpapi.BasePath) }
