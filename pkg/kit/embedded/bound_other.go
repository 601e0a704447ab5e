//go:build unix && !linux

package embedded

import "os/exec"

// startBound starts cmd with a watcher, because this system has no signal for the death of a parent.
func startBound(cmd *exec.Cmd) (release func(), err error) { return startWatched(cmd) }
