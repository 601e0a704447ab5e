package kafka

import "time"

// tracker tracks the unfinished records of one partition. Offsets are registered in ascending order and
// finished in any order; the end of the finished prefix may be committed. It is not safe for concurrent
// use; the partition that owns it holds a lock.
type tracker struct {
	entries []*entry // registered and not in the finished prefix, from head on
	head    int
	bytes   int64 // size of entries from head on
	next    int64 // offset to commit; -1 before the first record
	epoch   int32 // leader epoch of the last record of the finished prefix
}

// entry is one registered record.
type entry struct {
	offset int64
	epoch  int32
	size   int64
	since  time.Time // when it was polled
	done   bool
}

func newTracker() tracker { return tracker{next: -1, epoch: -1} }

// register adds a record. Offsets ascend but may have gaps: compacted records and markers have no entry.
func (t *tracker) register(e *entry) {
	if t.next < 0 {
		t.next = e.offset
	}
	t.entries = append(t.entries, e)
	t.bytes += e.size
}

// finish marks a record as done and advances the prefix. A second call has no effect.
func (t *tracker) finish(e *entry) {
	e.done = true
	for t.head < len(t.entries) && t.entries[t.head].done {
		first := t.entries[t.head]
		t.next, t.epoch = first.offset+1, first.epoch
		t.bytes -= first.size
		t.entries[t.head] = nil
		t.head++
	}
	t.compact()
}

// compact frees the finished part of the slice, at amortized constant cost per record.
func (t *tracker) compact() {
	switch {
	case t.head == len(t.entries):
		t.entries, t.head = t.entries[:0], 0
	case t.head > 1024 && t.head > len(t.entries)/2:
		n := copy(t.entries, t.entries[t.head:])
		clear(t.entries[n:])
		t.entries, t.head = t.entries[:n], 0
	}
}

// len returns the number of records after the finished prefix.
func (t *tracker) len() int { return len(t.entries) - t.head }
