// Package blob stores the contents of files by key: in the database, or in a bucket of an S3-compatible service. It knows
// nothing of files: which keys exist, and when they are to be deleted, is up to the caller.
package blob

import (
	"context"
	"errors"
	"io"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

// Key names one content of a file, such as the original or a thumbnail.
type Key struct {
	Company tenant.ID
	File    uuid.UUID
	Part    string // lower-case letters
}

// String is the name of the object in a bucket.
func (k Key) String() string { return k.Company.String() + "/" + k.File.String() + "/" + k.Part }

// ErrNotFound is the error of a key that has no content.
var ErrNotFound = errors.New("the store has no content under this key")

// ReaderMemory is about how many bytes a reader of a content holds.
const ReaderMemory = chunkSize

// Store holds contents. All methods may be repeated.
type Store interface {
	// Put stores size bytes under a key, in place of what it had. If it fails, the key may have a part of them.
	Put(ctx context.Context, key Key, media string, size int64, body io.ReadSeeker) error
	// Open returns a reader of a content, which reads until ctx ends. The error is [ErrNotFound] if there is none.
	Open(ctx context.Context, key Key) (io.ReadCloser, error)
	// Delete deletes the content of a key, if there is one.
	Delete(ctx context.Context, key Key) error
}
