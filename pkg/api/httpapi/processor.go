package httpapi

import (
	"io"
	"math"
	"time"
)

// processorUnit is the processor time that a unit of the rate limit pays for; see docs/reference/limits.md#rate-limits.
const processorUnit = 10 * time.Millisecond

// units is a processor time in units of the rate limit.
func units(used time.Duration) float64 { return float64(used) / float64(processorUnit) }

// cost is what the request costs, in whole units.
func (r *request) cost() int { return max(r.paid, int(math.Ceil(units(r.meter.Used())))) }

// owes returns what the request has used beyond what it has paid for, once. A request that was not admitted costs nothing.
func (r *request) owes() (more float64) {
	if r.release == nil {
		return 0
	}
	more = max(units(r.meter.Read())-float64(r.paid)-r.charged, 0)
	r.charged += more
	return more
}

// chargeProcessor charges the processor time that the request has used beyond what it has paid for. The bucket may become negative:
// the next requests wait.
func (r *request) chargeProcessor() {
	if more := r.owes(); more > 0 {
		r.rateHeaders(r.api.cfg.Limiter.Charge(r.call.Principal, more))
	}
}

// paidFile is a file that is read after the request has been answered; that is charged when it is closed.
type paidFile struct {
	io.ReadCloser
	r *request
}

// Read implements [io.Reader].
func (f paidFile) Read(p []byte) (int, error) {
	defer f.r.meter.Measure()()
	return f.ReadCloser.Read(p) //nolint:wrapcheck // the server inspects it
}

// Close implements [io.Closer].
func (f paidFile) Close() error {
	if more := f.r.owes(); more > 0 {
		f.r.api.cfg.Limiter.Charge(f.r.call.Principal, more)
	}
	return f.ReadCloser.Close() //nolint:wrapcheck // the server inspects it
}
