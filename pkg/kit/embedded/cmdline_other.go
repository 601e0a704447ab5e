//go:build unix && !linux

package embedded

import (
	"os/exec"
	"strconv"
)

func commandLine(pid int) string {
	out, err := exec.Command("ps", "-ww", "-o", "command=", "-p", strconv.Itoa(pid)).Output() //nolint:noctx // ends at once
	if err != nil {
		return ""
	}
	return string(out)
}
