package kafka

import (
	"encoding/hex"
	"strconv"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Headers collects the headers of a record, all values in one allocation.
type Headers struct {
	list   []kgo.RecordHeader
	values []byte
}

// NewHeaders makes room for n headers and about size bytes of values.
func NewHeaders(n, size int) *Headers {
	return &Headers{list: make([]kgo.RecordHeader, 0, n), values: make([]byte, 0, size)}
}

// Text adds a header and returns its value.
func (h *Headers) Text(key, value string) []byte { return h.add(key, append(h.values, value...)) }

// Int adds a header with a decimal number and returns its value.
func (h *Headers) Int(key string, value int64) []byte {
	return h.add(key, strconv.AppendInt(h.values, value, 10))
}

// UUID adds a header with an id in its usual form and returns its value.
func (h *Headers) UUID(key string, id uuid.UUID) []byte {
	b := hex.AppendEncode(h.values, id[:4])
	for _, group := range [...][]byte{id[4:6], id[6:8], id[8:10], id[10:]} {
		b = hex.AppendEncode(append(b, '-'), group)
	}
	return h.add(key, b)
}

// Again adds a header with a value that another one has.
func (h *Headers) Again(key string, value []byte) {
	h.list = append(h.list, kgo.RecordHeader{Key: key, Value: value})
}

// List returns the headers.
func (h *Headers) List() []kgo.RecordHeader { return h.list }

// add takes the values so far with the new one behind them.
func (h *Headers) add(key string, all []byte) []byte {
	value := all[len(h.values):len(all):len(all)]
	h.values = all
	h.list = append(h.list, kgo.RecordHeader{Key: key, Value: value})
	return value
}
