package role

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Memory is a limit of the memory of processes, as Kubernetes sets it.
type Memory struct {
	t     testing.TB
	limit int64
	group string // folder of the control group; "" = none could be made
	is    version
}

// version says how a version of control groups names its files.
type version struct{ root, limit, swap, peak, events string }

var versions = []version{ //nolint:gochecknoglobals // a constant
	{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.max_usage_in_bytes", "memory.oom_control"},
	{"/sys/fs/cgroup", "memory.max", "memory.swap.max", "memory.peak", "memory.events"},
}

// LimitMemory makes a control group with this limit, in which a process is killed when it needs more. Where none can be made, it says so,
// and only [Memory.Check] notices.
func LimitMemory(t testing.TB, limit int64) *Memory {
	t.Helper()
	m := &Memory{t: t, limit: limit}
	var faults []error
	for _, v := range versions {
		group, err := v.make(limit)
		if err == nil {
			m.group, m.is = group, v
			t.Cleanup(func() { _ = os.Remove(group) }) // the process has ended: its cleanup is registered later
			return m
		}
		faults = append(faults, err)
	}
	warning := fmt.Sprintf("NO CONTROL GROUP: the kernel does not enforce %d MiB, only the peak is compared: %v", limit>>20, faults)
	t.Log(warning)
	fmt.Fprintln(os.Stderr, t.Name()+": "+warning)
	return m
}

func (v version) make(limit int64) (string, error) {
	_ = os.WriteFile(filepath.Join(v.root, "cgroup.subtree_control"), []byte("+memory"), 0o600) // of version 2, where it is not on
	group := filepath.Join(v.root, fmt.Sprintf("tradegrid-test-%d", os.Getpid()))
	if err := os.Mkdir(group, 0o750); err != nil {
		return "", err
	}
	err := os.WriteFile(filepath.Join(group, v.limit), []byte(strconv.FormatInt(limit, 10)), 0o600)
	if err != nil {
		_ = os.Remove(group)
		return "", err
	}
	_ = os.WriteFile(filepath.Join(group, v.swap), []byte(strconv.FormatInt(limit, 10)), 0o600) // where swap is counted at all
	return group, nil
}

// Run returns a program that runs the binary within the limit, and the environment with which the chart does.
func (m *Memory) Run(binary string) (program string, env []string) {
	m.t.Helper()
	join := ""
	if m.group != "" {
		join = fmt.Sprintf("echo $$ > %q || exit 1\n", filepath.Join(m.group, "cgroup.procs"))
	}
	program = filepath.Join(m.t.TempDir(), "limited")
	script := fmt.Sprintf("#!/bin/sh\n%sexec %q \"$@\"\n", join, binary)
	require.NoError(m.t, os.WriteFile(program, []byte(script), 0o700))
	return program, []string{fmt.Sprintf("GOMEMLIMIT=%d", m.limit*9/10)}
}

// Check requires that the process has stayed within the limit, and returns how much it has used at most.
func (m *Memory) Check(p *Process) (peak int64) {
	m.t.Helper()
	select {
	case <-p.Exited:
		require.FailNow(m.t, "the process has ended", "%v\n%s", p.state, p.Tail())
	default:
	}
	status, err := os.ReadFile("/proc/" + strconv.Itoa(p.PID()) + "/status")
	require.NoError(m.t, err)
	for lines := bufio.NewScanner(bytes.NewReader(status)); lines.Scan(); {
		if text, is := strings.CutPrefix(lines.Text(), "VmHWM:"); is {
			kib, err := strconv.ParseInt(strings.Fields(text)[0], 10, 64)
			require.NoError(m.t, err)
			peak = kib << 10
		}
	}
	require.NotZero(m.t, peak, "the peak in %s", status)
	require.Less(m.t, peak, m.limit)
	if m.group != "" {
		events, err := os.ReadFile(filepath.Join(m.group, m.is.events))
		require.NoError(m.t, err)
		require.Regexp(m.t, `(?m)^oom_kill 0$`, string(events))
	}
	return peak
}
