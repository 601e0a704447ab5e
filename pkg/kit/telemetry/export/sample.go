package export

import (
	"sync/atomic"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// shareSampler samples a share of traces that can be changed at run time.
type shareSampler struct {
	now atomic.Pointer[sdktrace.Sampler]
}

func newShareSampler(share float64) *shareSampler {
	s := &shareSampler{}
	s.set(share)
	return s
}

func (s *shareSampler) set(share float64) {
	next := sdktrace.TraceIDRatioBased(share)
	s.now.Store(&next)
}

// ShouldSample implements sdktrace.Sampler.
func (s *shareSampler) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	return (*s.now.Load()).ShouldSample(p)
}

// Description implements sdktrace.Sampler.
func (s *shareSampler) Description() string { return (*s.now.Load()).Description() }

// SetSample changes the share of traces started in this process to sample, 0 to 1. It may be called at any time.
func (t *Telemetry) SetSample(share float64) { t.sample.set(share) }
