package embedded

import (
	"os/exec"
	"syscall"
)

// startBound starts cmd so that the kernel sends it SIGINT when the calling thread ends.
func startBound(cmd *exec.Cmd) (release func(), err error) {
	cmd.SysProcAttr.Pdeathsig = syscall.SIGINT
	return func() {}, cmd.Start()
}
