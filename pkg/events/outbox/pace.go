package outbox

import "time"

const (
	pauseBusy = 5 * time.Millisecond  // between the starts of two batches while one is in flight
	pauseMost = 25 * time.Millisecond // between the starts of two batches
)

// pace spaces batches: the longer a scan takes beyond what it takes at rest, the busier are processors or database, and the more
// a batch saves that carries what two would. It knows no rate of events and no size of the machine.
type pace struct {
	rest time.Duration // of a scan while nothing else waits: the least seen, which fades
	mean time.Duration // of the last scans
}

const (
	paceMean = 8    // scans that count
	paceRest = 4096 // scans until what was the least is about forgotten
)

// observe takes the time of a scan that found few rows.
func (p *pace) observe(took time.Duration) {
	if p.rest == 0 {
		p.rest, p.mean = took, took
	}
	p.mean += (took - p.mean) / paceMean
	p.rest = min(took, p.rest+(took-p.rest)/paceRest)
}

// pause is how long the start of a batch waits after that of the one before.
func (p *pace) pause(inFlight bool) time.Duration {
	pause := min(3*max(p.mean-p.rest, 0), pauseMost)
	if inFlight {
		return max(pause, pauseBusy)
	}
	return pause
}
