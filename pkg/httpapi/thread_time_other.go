//go:build !linux

package httpapi

import "time"

var processStart = time.Now() //nolint:gochecknoglobals // a constant

// threadTime is the time of the clock: an upper bound, where the processor time of a thread is not known.
func threadTime() time.Duration { return time.Since(processStart) }
