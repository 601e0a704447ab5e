package receiver

import (
	"math/bits"
	"time"
)

// Report summarizes what one receiver, or all of them together, got.
type Report struct {
	Received   uint64            `json:"received"`   // all requests
	Verified   uint64            `json:"verified"`   // with a valid signature
	Invalid    uint64            `json:"invalid"`    // with a missing or invalid signature; rejected with 401
	Unchecked  uint64            `json:"unchecked"`  // accepted while no secret was set
	Unique     uint64            `json:"unique"`     // distinct delivery ids accepted with 2xx
	Duplicates uint64            `json:"duplicates"` // requests whose id was accepted with 2xx before
	ByEvent    map[string]uint64 `json:"byEvent"`
	ByStatus   map[string]uint64 `json:"byStatus"` // by response status, or hang, drip, close
	ByAttempt  map[int]uint64    `json:"byAttempt"`
	LastAt     *time.Time        `json:"lastAt"`
	LatencyMs  Latency           `json:"latencyMs"` // from occurredAt to arrival, of unique deliveries

	Promises map[string]Promises `json:"promises,omitempty"` // by event
}

// Latency summarizes a distribution in milliseconds; the quantiles are accurate to about 3 percent.
type Latency struct {
	Count uint64  `json:"count"`
	P50   float64 `json:"p50"`
	P95   float64 `json:"p95"`
	P99   float64 `json:"p99"`
	Max   float64 `json:"max"`
}

// counts are the counters of a report.
type counts struct {
	received, verified, invalid, unchecked, unique, duplicates uint64

	byEvent   map[string]uint64
	byStatus  map[string]uint64
	byAttempt map[int]uint64
	lastAt    time.Time
	latency   histogram
	promises  map[string]Promises // only in copies
}

func (c *counts) add(d *Delivery, checked bool) {
	if c.byEvent == nil {
		c.byEvent, c.byStatus, c.byAttempt = map[string]uint64{}, map[string]uint64{}, map[int]uint64{}
	}
	c.received++
	switch {
	case !checked:
		c.unchecked++
	case d.Verified:
		c.verified++
	default:
		c.invalid++
	}
	if d.Duplicate {
		c.duplicates++
	}
	event := d.Event
	if _, known := c.byEvent[event]; !known && len(c.byEvent) >= keepKinds {
		event = "other"
	}
	c.byEvent[event]++
	c.byStatus[d.Outcome]++
	c.byAttempt[max(0, min(d.Attempt, 100))]++
	c.lastAt = d.ReceivedAt
}

// merge adds the counts of another receiver.
func (c *counts) merge(o *counts) {
	c.received += o.received
	c.verified += o.verified
	c.invalid += o.invalid
	c.unchecked += o.unchecked
	c.unique += o.unique
	c.duplicates += o.duplicates
	c.byEvent = mergeMap(c.byEvent, o.byEvent)
	c.byStatus = mergeMap(c.byStatus, o.byStatus)
	c.byAttempt = mergeMap(c.byAttempt, o.byAttempt)
	if o.lastAt.After(c.lastAt) {
		c.lastAt = o.lastAt
	}
	c.latency.merge(&o.latency)
	for event, p := range o.promises {
		if c.promises == nil {
			c.promises = map[string]Promises{}
		}
		c.promises[event] = c.promises[event].merge(p)
	}
}

// mergeMap adds from to into; it creates into if nil, so that it is {} in JSON.
func mergeMap[K comparable](into, from map[K]uint64) map[K]uint64 {
	if into == nil {
		into = make(map[K]uint64, len(from))
	}
	for k, n := range from {
		into[k] += n
	}
	return into
}

func (c *counts) report() Report {
	r := Report{
		Received: c.received, Verified: c.verified, Invalid: c.invalid, Unchecked: c.unchecked,
		Unique: c.unique, Duplicates: c.duplicates,
		ByEvent: c.byEvent, ByStatus: c.byStatus, ByAttempt: c.byAttempt, LatencyMs: c.latency.summary(), Promises: c.promises,
	}
	if !c.lastAt.IsZero() {
		r.LastAt = &c.lastAt
	}
	return r
}

const (
	latencyUnit = 100 * time.Microsecond
	subBits     = 5 // 32 buckets per doubling
	octaves     = 26
	buckets     = (octaves + 1) << subBits
)

// histogram counts durations in buckets whose width grows with the value, so its memory is fixed.
type histogram struct {
	count [buckets]uint32
	total uint64
	max   time.Duration
}

func (h *histogram) add(d time.Duration) {
	d = max(d, 0)
	h.max = max(h.max, d)
	h.total++
	h.count[bucketOf(uint64(d/latencyUnit))]++
}

func (h *histogram) merge(o *histogram) {
	for i, n := range o.count {
		h.count[i] += n
	}
	h.total += o.total
	h.max = max(h.max, o.max)
}

// bucketOf maps small values to themselves and larger ones to their leading bits.
func bucketOf(v uint64) int {
	shift := bits.Len64(v) - subBits - 1
	if shift <= 0 {
		return int(v)
	}
	return min(shift<<subBits+int(v>>shift), buckets-1)
}

// upper returns the largest duration in the bucket.
func upper(bucket int) time.Duration {
	if bucket < 2<<subBits {
		return time.Duration(bucket) * latencyUnit
	}
	shift := bucket>>subBits - 1
	return time.Duration((bucket-shift<<subBits+1)<<shift-1) * latencyUnit
}

func (h *histogram) summary() Latency {
	return Latency{Count: h.total, P50: h.quantile(0.50), P95: h.quantile(0.95), P99: h.quantile(0.99), Max: ms(h.max)}
}

func (h *histogram) quantile(q float64) float64 {
	if h.total == 0 {
		return 0
	}
	rank := max(1, uint64(q*float64(h.total)+0.5))
	var seen uint64
	for i, n := range h.count {
		if seen += uint64(n); seen >= rank {
			return ms(min(upper(i), h.max))
		}
	}
	return ms(h.max)
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
