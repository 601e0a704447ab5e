//go:build linux

package failpoint

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// obeysEnvironment is set by the linker, so that a binary that obeys shares its compiled packages with one that does not.
var obeysEnvironment string //nolint:gochecknoglobals // the linker sets variables only

var (
	armed = fromEnvironment()
	hits  atomic.Int64
)

func fromEnvironment() order {
	if obeysEnvironment == "" {
		return order{}
	}
	return parse(os.Getenv("TRADEGRID_FAILPOINT"))
}

// order is what the environment asks for.
type order struct {
	name   string
	signal unix.Signal
	at     int64
}

func parse(s string) order {
	o := order{signal: unix.SIGKILL, at: 1}
	if name, ok := strings.CutSuffix(s, ":stop"); ok {
		s, o.signal = name, unix.SIGSTOP
	}
	name, n, counted := strings.Cut(s, "@")
	o.name = name
	if counted {
		o.at, _ = strconv.ParseInt(n, 10, 64)
	}
	return o
}

// names reports whether the order is for the point and what passes it.
func (o order) names(p Point, of string) bool {
	if o.name == "" {
		return false
	}
	rest, ok := strings.CutPrefix(o.name, string(p))
	return ok && (rest == "" && of == "" || of != "" && rest == "."+of)
}

// strike ends or freezes the process at the hit that was ordered.
func strike(p Point, of string) {
	if !armed.names(p, of) || hits.Add(1) != armed.at {
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
