package httpapi

import (
	"math"
	"runtime"
	"time"
)

// processorUnit is the processor time that a unit of the rate limit pays for; see docs/reference/limits.md#rate-limits.
const processorUnit = 10 * time.Millisecond

// processing measures the processor time of one part of a request until stop is called: parsing, validation or encoding. It
// is that of the thread, so that neither waiting for the database nor other requests on a busy machine are charged. Parts
// must not overlap.
func (r *request) processing() (stop func()) {
	runtime.LockOSThread()
	start := r.api.cfg.ThreadTime()
	return func() {
		r.used.Add(int64(r.api.cfg.ThreadTime() - start))
		runtime.UnlockOSThread()
	}
}

// units is the processor time of the request in units of the rate limit.
func (r *request) units() float64 { return float64(r.used.Load()) / float64(processorUnit) }

// cost is what the request costs, in whole units.
func (r *request) cost() int { return max(r.paid, int(math.Ceil(r.units()))) }

// chargeProcessing charges the processor time that the request has used beyond what it has paid for. The bucket may become negative:
// the next requests wait.
func (r *request) chargeProcessing() {
	if more := r.units() - float64(r.paid); r.call.Principal != nil && more > 0 {
		r.rateHeaders(r.api.cfg.Limiter.Charge(r.call.Principal, more))
	}
}
