package imaging

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// makeRoom collects garbage if these bytes would take the process beyond its memory limit (GOMEMLIMIT): an image is allocated in a few
// pieces, for which the collector, that runs beside them, comes too late.
func makeRoom(bytes int64) {
	now := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(now)
	used := int64(now[0].Value.Uint64()) - int64(now[1].Value.Uint64())
	if used > debug.SetMemoryLimit(-1)-bytes {
		runtime.GC()
	}
}
