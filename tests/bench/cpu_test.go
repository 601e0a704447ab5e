package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// tick is the unit in which Linux tells the time of processors.
const tick = 10 * time.Millisecond

// stat is a line of /proc/<pid>/stat.
type stat struct {
	parent   int
	own      time.Duration
	children time.Duration // those that have ended and were waited for
}

func readStat(path string) (s stat, ok bool) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return s, false // it has ended
	}
	_, rest, _ := strings.Cut(string(raw), ") ")
	fields := strings.Fields(rest) // from the third of proc(5) on
	if len(fields) < 15 {
		return s, false
	}
	number := func(field int) int {
		n, _ := strconv.Atoi(fields[field-3]) // the kernel writes digits
		return n
	}
	s.parent = number(4)
	s.own, s.children = time.Duration(number(14)+number(15))*tick, time.Duration(number(16)+number(17))*tick
	return s, true
}

// cpu is the time of processors that a process has used.
func (p *process) cpu() time.Duration {
	p.b.Helper()
	s, ok := readStat(fmt.Sprintf("/proc/%d/stat", p.PID()))
	require.True(p.b, ok, "the process runs")
	return s.own
}

// databaseCPU is the time of processors that the database server has used, if it is on this machine.
func (r *kit) databaseCPU() time.Duration {
	r.b.Helper()
	var backend int
	require.NoError(r.b, r.db.QueryRow(r.b.Context(), `SELECT pg_backend_pid()`).Scan(&backend))
	s, ok := readStat(fmt.Sprintf("/proc/%d/stat", backend))
	if !ok {
		return 0
	}
	server := s.parent
	s, _ = readStat(fmt.Sprintf("/proc/%d/stat", server))
	return s.own + s.children + descendantsCPU(server)
}

// descendantsCPU is the time of processors that the running descendants of a process have used.
func descendantsCPU(pid int) (used time.Duration) {
	all, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is well-formed
	for _, path := range all {
		if s, ok := readStat(path); ok && s.parent == pid {
			child, _ := strconv.Atoi(filepath.Base(filepath.Dir(path))) // the pattern has digits there
			used += s.own + s.children + descendantsCPU(child)
		}
	}
	return used
}

// reportCPU reports the time of processors per piece of work.
func reportCPU(b *testing.B, label string, used time.Duration, n float64) {
	b.Helper()
	if used > 0 && n > 0 {
		b.ReportMetric(float64(used.Microseconds())/n, label)
	}
}
