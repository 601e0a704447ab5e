//go:build failpoint

// Package failpoint marks the places where a test may kill or freeze a process. This build obeys
// TRADEGRID_FAILPOINT: "name" kills the process at the first hit, "name:stop" freezes it, "name@3" waits for the third hit.
package failpoint

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
)

var (
	armed = parse(os.Getenv("TRADEGRID_FAILPOINT"))
	hits  atomic.Int64
)

type point struct {
	name   string
	signal syscall.Signal
	at     int64
}

func parse(s string) point {
	p := point{signal: syscall.SIGKILL, at: 1}
	if s, ok := strings.CutSuffix(s, ":stop"); ok {
		p.signal = syscall.SIGSTOP
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

// Hit ends or freezes the process when the name is armed.
func Hit(name string) {
	if name == armed.name && hits.Add(1) == armed.at {
		_ = syscall.Kill(os.Getpid(), armed.signal)
		if armed.signal == syscall.SIGKILL {
			select {} // nothing may happen after the point
		}
	}
}
