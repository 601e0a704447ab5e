package kafka

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
)

func TestHeadersKeepTheirValues(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 10, 1000} { // too small, too small for the second, enough
		h := NewHeaders(2, size)
		id, long := uuid.New(), strings.Repeat("x", 100)
		first := h.UUID("id", id)
		h.Text("empty", "")
		h.Text("long", long)
		h.Int("n", -17)
		h.Again("id again", first)
		require.Equal(t, id.String(), string(first))
		require.Equal(t, []kgo.RecordHeader{
			{Key: "id", Value: []byte(id.String())},
			{Key: "empty", Value: []byte{}},
			{Key: "long", Value: []byte(long)},
			{Key: "n", Value: []byte("-17")},
			{Key: "id again", Value: []byte(id.String())},
		}, h.List())
		for _, header := range h.List() {
			require.Len(t, header.Value, cap(header.Value), "appending to one leaves the next alone")
		}
	}
}
