//go:build failpoint && linux

// Package failpoint marks the places where a test may kill or freeze a process. This build obeys
// TRADEGRID_FAILPOINT: "name" kills the process at the first hit, "name:stop" freezes it, "name@3" waits for the third hit.
package failpoint

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

var (
	armed = parse(os.Getenv("TRADEGRID_FAILPOINT"))
	hits  atomic.Int64
)

type point struct {
	name   string
	signal unix.Signal
	at     int64
}

func parse(s string) point {
	p := point{signal: unix.SIGKILL, at: 1}
	if s, ok := strings.CutSuffix(s, ":stop"); ok {
		p.signal = unix.SIGSTOP
		p.name = s
	} else {
		p.name = s
	}
	if name, n, ok := strings.Cut(p.name, "@"); ok {
		p.name = name
		p.at, _ = strconv.ParseInt(n, 10, 64)
	}
	return p
}

// Hit ends or freezes the process when the name is armed. The parts of the name are joined by dots.
func Hit(parts ...string) {
	if armed.name == "" || strings.Join(parts, ".") != armed.name || hits.Add(1) != armed.at {
		return
	}
	// Sent to this very thread, so that it does not run on until another one has taken the signal.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = unix.Tgkill(os.Getpid(), unix.Gettid(), armed.signal)
	if armed.signal == unix.SIGKILL {
		select {} // nothing may happen after the point
	}
}
