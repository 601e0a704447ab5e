package receiver

import "time"

// Waiting is the number of long polls that wait at a receiver.
func (s *Server) Waiting(name string) int {
	in, err := s.inbox(name)
	if err != nil {
		return 0
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	return len(in.waiters)
}

// Quantile runs durations through the histogram of the reports; the answer is in milliseconds.
func Quantile(q float64, durations []time.Duration) float64 {
	h := &histogram{}
	for _, d := range durations {
		h.add(d)
	}
	return h.quantile(q)
}

// Remembered tells for each id whether a set with the limit knows it after all were added in order.
func Remembered(limit int, ids []string) []bool {
	s := idSet{limit: limit}
	for _, id := range ids {
		s.add(id)
	}
	out := make([]bool, len(ids))
	for i, id := range ids {
		out[i] = s.has(id)
	}
	return out
}

// Arrive records an accepted delivery without a request.
func Arrive(s *Server, name, event, delivery, dataID string) {
	in, err := s.inbox(name)
	if err != nil {
		panic(err)
	}
	in.record(&Delivery{ID: delivery, Event: event, DataID: dataID}, false, 0)
}
