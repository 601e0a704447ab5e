package receiver

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"
)

const (
	maxLedgers = 100 // event names with promises, per receiver
	showIDs    = 20  // maximum number of missing ids in a report
)

// Promises compares the events that a sender promised with those accepted, for one event name.
type Promises struct {
	Promised   uint64   `json:"promised"`   // distinct promised record ids
	Kept       uint64   `json:"kept"`       // of these, accepted with 2xx
	Missing    uint64   `json:"missing"`    // promised, not accepted yet
	Unpromised uint64   `json:"unpromised"` // accepted without a promise
	Repeated   uint64   `json:"repeated"`   // accepted again for the same record with another delivery id
	MissingIDs []string `json:"missingIds"` // the first 20, by id
}

// mark is the state of a record id.
type mark uint8

const (
	promised mark = 1 << iota
	arrived
)

// ledger tracks the promises of one event name. It counts arrivals from the first promise on.
type ledger struct {
	marks    map[uuid.UUID]mark
	repeated uint64
}

func (l *ledger) arrive(dataID string) {
	id, err := uuid.Parse(dataID)
	if err != nil {
		return // promises refer to records, whose ids are uuids
	}
	if l.marks[id]&arrived != 0 {
		l.repeated++
	}
	l.marks[id] |= arrived
}

func (l *ledger) report() Promises {
	out := Promises{Repeated: l.repeated, MissingIDs: []string{}}
	var missing []uuid.UUID
	for id, m := range l.marks {
		switch m {
		case promised | arrived:
			out.Kept++
		case promised:
			missing = append(missing, id)
		case arrived:
			out.Unpromised++
		}
	}
	out.Missing = uint64(len(missing))
	out.Promised = out.Kept + out.Missing
	slices.SortFunc(missing, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
	for _, id := range missing[:min(len(missing), showIDs)] {
		out.MissingIDs = append(out.MissingIDs, id.String())
	}
	return out
}

// merge adds the counts of another receiver.
func (p Promises) merge(o Promises) Promises {
	p.Promised += o.Promised
	p.Kept += o.Kept
	p.Missing += o.Missing
	p.Unpromised += o.Unpromised
	p.Repeated += o.Repeated
	p.MissingIDs = append(p.MissingIDs, o.MissingIDs[:min(len(o.MissingIDs), showIDs-min(len(p.MissingIDs), showIDs))]...)
	return p
}

// Promise records that the receiver must get an event for each of the records. The first call for an
// event, which may be without ids, starts counting its arrivals. The error names the malformed id or the limit.
func (s *Server) Promise(name, event string, ids []string) error {
	if event == "" {
		return errors.New("event must name the event, such as order.created")
	}
	parsed := make([]uuid.UUID, len(ids))
	for i, text := range ids {
		id, err := uuid.Parse(text)
		if err != nil {
			return fmt.Errorf("ids[%d] %q must be a uuid: the data.id of the event", i, text)
		}
		parsed[i] = id
	}
	in, err := s.inbox(name)
	if err != nil {
		return err
	}
	return in.promise(event, parsed, s.cfg.MaxIDs)
}

func (in *inbox) promise(event string, ids []uuid.UUID, limit int) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	l := in.ledgers[event]
	if l == nil {
		l = &ledger{marks: map[uuid.UUID]mark{}}
	}
	switch {
	case len(l.marks)+len(ids) > limit:
		return fmt.Errorf("at most %d records are tracked per event; reset the receiver or use another name", limit)
	case in.ledgers[event] == nil && len(in.ledgers) >= maxLedgers:
		return fmt.Errorf("promises for %d events are tracked already; reset the receiver or use another name", maxLedgers)
	case in.ledgers == nil:
		in.ledgers = map[string]*ledger{}
	}
	in.ledgers[event] = l
	for _, id := range ids {
		l.marks[id] |= promised
	}
	return nil
}

// promises returns the reports of all ledgers.
func (in *inbox) promises() map[string]Promises {
	in.mu.Lock()
	defer in.mu.Unlock()
	out := make(map[string]Promises, len(in.ledgers))
	for event, l := range in.ledgers {
		out[event] = l.report()
	}
	return out
}

// forgetLatency resets the latency histogram.
func (in *inbox) forgetLatency() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.counts.latency = histogram{}
}
