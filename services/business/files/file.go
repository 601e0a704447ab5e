package files

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/imaging"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/blob"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

const files = db.Table("files")

// MaxSize is how many bytes a file may have; see docs/reference/limits.md#uploads.
const MaxSize = 10 << 20

// File is an image or a document that a company has uploaded; see docs/reference/files.md. Its content never changes.
type File struct {
	record.Key
	Name       string      `json:"name" search:"text"`
	MediaType  string      `json:"mediaType" enum:"image/jpeg,image/png,image/gif,image/webp,application/pdf,text/plain,text/csv,application/vnd.openxmlformats-officedocument.wordprocessingml.document,application/vnd.openxmlformats-officedocument.spreadsheetml.sheet,application/vnd.oasis.opendocument.text,application/vnd.oasis.opendocument.spreadsheet" doc:"what the content is, whatever was declared"`
	Size       int64       `json:"size" doc:"bytes of the original"`
	Width      int32       `json:"width" doc:"pixels, as the image is shown; 0 = a document"`
	Height     int32       `json:"height" doc:"pixels, as the image is shown; 0 = a document"`
	SHA256     string      `json:"sha256" doc:"of the original, in hexadecimal; the ETag of its content"`
	Thumbnails []Thumbnail `json:"thumbnails" doc:"without metadata, the largest first; a document has none"`
	URLs       URLs        `json:"urls" db:"-"`

	CreatedByID *uuid.UUID `json:"createdById" format:"uuid" db:",insert" doc:"user of the token that uploaded it; null of old files"`
	record.Meta
}

// Thumbnail is a smaller form of the image.
type Thumbnail struct {
	Name      string `json:"name" enum:"large,medium,small"`
	MediaType string `json:"mediaType" doc:"image/jpeg, or image/png if the image is transparent"`
	Size      int64  `json:"size" doc:"bytes"`
	Width     int32  `json:"width" doc:"pixels"`
	Height    int32  `json:"height" doc:"pixels"`
	SHA256    string `json:"sha256" doc:"in hexadecimal; the ETag of its content"`
}

// URLs show the contents of a file to everybody who has them, until they expire.
type URLs struct {
	Original  string        `json:"original"`
	Large     string        `json:"large" doc:"empty of a document, as the other thumbnails"`
	Medium    string        `json:"medium"`
	Small     string        `json:"small"`
	ExpiresAt jsontype.Time `json:"expiresAt" doc:"read the file again for URLs that last longer"`
}

// original is the name of the content as it was sent.
const original = "original"

// sizes are the thumbnails, by the longest side in pixels.
var sizes = []struct { //nolint:gochecknoglobals // a constant
	name    string
	longest int
}{{"large", 1200}, {"medium", 480}, {"small", 160}}

// parts are the names of all contents of a file.
func parts() []string {
	all := []string{original}
	for _, s := range sizes {
		all = append(all, s.name)
	}
	return all
}

// Filter filters and sorts files.
type Filter struct {
	list.Params
	MediaType []string `query:"mediaType" enum:"image/jpeg,image/png,image/gif,image/webp,application/pdf,text/plain,text/csv,application/vnd.openxmlformats-officedocument.wordprocessingml.document,application/vnd.openxmlformats-officedocument.spreadsheetml.sheet,application/vnd.oasis.opendocument.text,application/vnd.oasis.opendocument.spreadsheet" where:"media_type = ANY(?::TEXT[])" doc:"comma-separated"`
	Sort      string   `query:"sort" enum:"name,createdAt"`
}

var (
	table = resource.Of[File](files, "FILE").OnConstraint("file_uses_file_fkey",
		apierr.StateConflict("FILE_IN_USE", "a record has begun to refer to the file; repeat the request to learn which"))
	items = list.Of[File, Filter](files)
)

// ResponseHeaders makes the ETag follow the URLs, which change while the record does not.
func (f File) ResponseHeaders() map[string]string {
	return map[string]string{"ETag": fmt.Sprintf(`"%d-%d"`, f.Version, f.URLs.ExpiresAt.Std().Unix())}
}

// content returns one content of the file.
func (f File) content(name string) Thumbnail {
	i := slices.IndexFunc(f.Thumbnails, func(t Thumbnail) bool { return t.Name == name })
	if i >= 0 {
		return f.Thumbnails[i]
	}
	return Thumbnail{Name: original, MediaType: f.MediaType, Size: f.Size, Width: f.Width, Height: f.Height, SHA256: f.SHA256}
}

// bytes is what all contents of the file take.
func (f File) bytes() int64 {
	n := f.Size
	for _, t := range f.Thumbnails {
		n += t.Size
	}
	return n
}

func key(company tenant.ID, id uuid.UUID, part string) blob.Key {
	return blob.Key{Company: company, File: id, Part: part}
}

// extensions are those of the names of files, the usual one first.
var extensions = map[string][]string{ //nolint:gochecknoglobals // a constant
	imaging.JPEG: {".jpg", ".jpeg", ".jfif"}, imaging.PNG: {".png"}, imaging.GIF: {".gif"}, imaging.WebP: {".webp"},
	pdf: {".pdf"}, plain: {".txt", ".csv", ".tsv", ".md", ".log"}, csv: {".csv", ".tsv", ".txt"},
	docx: {".docx"}, xlsx: {".xlsx"}, odt: {".odt"}, ods: {".ods"},
}

// savedAs is the name under which browsers save a content.
func (f File) savedAs(t Thumbnail) string {
	if t.Name == original {
		return f.Name
	}
	return strings.TrimSuffix(f.Name, path.Ext(f.Name)) + "-" + strconv.Itoa(int(max(t.Width, t.Height))) + extensions[t.MediaType][0]
}
