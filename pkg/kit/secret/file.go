package secret

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"time"
)

// fileReadAge is how long the contents of a file are used before the file is read again.
const fileReadAge = time.Second

// follow says how to follow a file.
type follow[T any] struct {
	flag, path string // for errors
	parse      func([]byte) (T, error)
	changed    func(T)     // reports a change
	failed     func(error) // reports that the value read before stays in use
}

// followed is what a file says, read again when the file changes. A file that cannot be used leaves the value as it was.
// It is safe for concurrent use.
type followed[T any] struct {
	follow[T]

	mu     sync.Mutex
	text   []byte // of the file, as it was read last
	readAt time.Time
	value  T
}

// fixed is a value that follows no file.
func fixed[T any](v T) *followed[T] { return &followed[T]{value: v} }

// start reads the file for the first time.
func (how follow[T]) start() (*followed[T], error) {
	f := &followed[T]{follow: how}
	if err := f.read(); err != nil {
		return nil, err
	}
	return f, nil
}

func (f *followed[T]) current() T {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.path != "" && time.Since(f.readAt) > fileReadAge {
		if err := f.read(); err != nil {
			f.failed(err)
		}
	}
	return f.value
}

func (f *followed[T]) read() error {
	f.readAt = time.Now()
	text, err := os.ReadFile(f.path)
	if err != nil {
		return fmt.Errorf("%s: %w; name a file that this process may read", f.flag, err)
	}
	if f.text != nil && bytes.Equal(text, f.text) {
		return nil
	}
	value, err := f.parse(text)
	if err != nil {
		return fmt.Errorf("%s: %s %w", f.flag, f.path, err)
	}
	if f.text != nil {
		f.changed(value)
	}
	f.text, f.value = text, value
	return nil
}
