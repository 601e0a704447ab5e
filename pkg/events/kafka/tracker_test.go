package kafka

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The model keeps every offset in a map and looks for the first unfinished one each time.
type trackerModel struct {
	offsets []int64
	done    map[int64]bool
}

func (m *trackerModel) next() int64 {
	if len(m.offsets) == 0 {
		return -1
	}
	last := m.offsets[0]
	for _, o := range m.offsets {
		if !m.done[o] {
			break
		}
		last = o + 1
	}
	return last
}

func (m *trackerModel) open() (n int) {
	for i, o := range m.offsets {
		if !m.done[o] {
			return len(m.offsets) - i
		}
	}
	return 0
}

func TestTrackerMatchesModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tr, model := newTracker(), &trackerModel{done: map[int64]bool{}}
		var entries []*entry
		next := rapid.Int64Range(0, 1000).Draw(t, "start")
		t.Repeat(map[string]func(*rapid.T){
			"register": func(t *rapid.T) {
				for range rapid.IntRange(1, 400).Draw(t, "count") {
					e := &entry{offset: next, epoch: int32(next / 100), size: next % 7}
					next += rapid.SampledFrom([]int64{1, 1, 1, 5}).Draw(t, "gap")
					tr.register(e)
					entries, model.offsets = append(entries, e), append(model.offsets, e.offset)
				}
			},
			"finish": func(t *rapid.T) {
				if len(entries) == 0 {
					t.Skip("nothing registered")
				}
				from := rapid.IntRange(0, len(entries)-1).Draw(t, "from")
				for _, e := range entries[from:min(len(entries), from+rapid.IntRange(1, 300).Draw(t, "run"))] {
					tr.finish(e)
					model.done[e.offset] = true
				}
			},
			"": func(t *rapid.T) {
				require.Equal(t, model.next(), tr.next)
				require.Equal(t, model.open(), tr.len())
				var bytes int64
				for _, e := range entries[len(entries)-model.open():] {
					bytes += e.size
				}
				require.Equal(t, bytes, tr.bytes)
			},
		})
	})
}
