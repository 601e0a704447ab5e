//go:build unix

package embedded

import (
	"fmt"
	"os/exec"
	"strconv"
	"syscall"
)

// watchScript waits for a line on its standard input. End of input without a line means that the process at the
// other end has died; the script then interrupts the server.
const watchScript = `read -r line && exit 0; kill -INT "$1"`

// startWatched starts cmd and a shell beside it that interrupts cmd when this process dies.
// It is used where the kernel has no signal for that. release ends the shell and leaves cmd running.
func startWatched(cmd *exec.Cmd) (release func(), err error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	watch := exec.Command("/bin/sh", "-c", watchScript, "sh", strconv.Itoa(cmd.Process.Pid)) //nolint:noctx,gosec // a fixed script that lives as long as cmd
	watch.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	line, err := watch.StdinPipe()
	if err == nil {
		err = watch.Start()
	}
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return nil, fmt.Errorf("watch %s: %w", cmd.Path, err)
	}
	return func() {
		_, _ = line.Write([]byte("done\n")) // the shell may have exited already
		_ = line.Close()
		_ = watch.Wait()
	}, nil
}
