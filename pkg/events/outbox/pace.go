package outbox

import "time"

const (
	pauseBusy = 5 * time.Millisecond  // between the starts of two batches while one is in flight
	pauseMost = 25 * time.Millisecond // between the starts of two batches
	pauseRows = 8                     // a pause in which fewer come is not made
)

// pace spaces batches: the longer a scan takes beyond what it takes at rest, the busier are processors or database, and the more
// a batch saves that carries what several would.
type pace struct {
	rest time.Duration // of a scan while nothing else waits: the least seen, which fades
	mean time.Duration // of the last scans
	rate float64       // rows a second that were found lately
	last time.Time     // when they were counted
}

const (
	paceMean = 8    // scans that count
	paceRest = 4096 // scans until what was the least is about forgotten
	paceRows = 100  // a scan that finds more takes its time for them
	paceRate = 250 * time.Millisecond
)

// observe takes the time of a scan and how many rows it found.
func (p *pace) observe(began time.Time, took time.Duration, rows int) {
	if since := began.Sub(p.last); since > 0 {
		p.rate += (float64(rows)/since.Seconds() - p.rate) * min(since.Seconds()/paceRate.Seconds(), 1)
		p.last = began
	}
	if rows > paceRows {
		return
	}
	if p.rest == 0 {
		p.rest, p.mean = took, took
	}
	p.mean += (took - p.mean) / paceMean
	p.rest = min(took, p.rest+(took-p.rest)/paceRest)
}

// pause is how long the start of a batch waits after that of the one before.
func (p *pace) pause(inFlight bool) time.Duration {
	pause := min(3*max(p.mean-p.rest, 0), pauseMost)
	if p.rate*pause.Seconds() < pauseRows {
		pause = 0
	}
	if inFlight {
		return max(pause, pauseBusy)
	}
	return pause
}
