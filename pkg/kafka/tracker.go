package kafka

import "time"

// tracker knows which records of one partition are under way. Offsets are registered in their order and
// finished in any; what may be committed is the end of the finished prefix. It is not safe for concurrent
// use: the partition that owns it holds a lock.
type tracker struct {
	entries []*entry // registered and not yet passed by the prefix, from head on
	head    int
	bytes   int64 // of entries from head on
	next    int64 // offset to commit; -1 before the first record
	epoch   int32 // leader epoch of the last record of the prefix
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

// finish marks a record as done and moves the prefix. A second call changes nothing.
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

// compact gives the passed part of the slice back, at a cost that is constant per record on average.
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

// len is the number of records between the prefix and the newest one.
func (t *tracker) len() int { return len(t.entries) - t.head }
