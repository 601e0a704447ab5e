package scheduling

import (
	"time"

	"github.com/tradegrid/tradegrid/services/business/trade"
)

// maxBuffer is the longest time that is kept free before or after a booking.
const maxBuffer = 8 * time.Hour

// buffer is how many minutes a resource keeps free before and after a booking; see docs/reference/rules.md#buffers.
type buffer struct{ before, after int32 }

// around is the time that something takes of a resource.
func (b buffer) around(i interval) interval {
	return interval{i.start.Add(-time.Duration(b.before) * time.Minute), i.end.Add(time.Duration(b.after) * time.Minute)}
}

// buffer is that of bookings of a service, nil = of none.
func (r Resource) buffer(s *trade.BookedService) buffer {
	b := buffer{r.BufferBeforeMinutes, r.BufferAfterMinutes}
	if s != nil && s.BufferBeforeMinutes != nil {
		b.before = *s.BufferBeforeMinutes
	}
	if s != nil && s.BufferAfterMinutes != nil {
		b.after = *s.BufferAfterMinutes
	}
	return b
}
