package embedded

import (
	"fmt"
	"os/exec"
	"strconv"
	"syscall"
)

// watchScript waits for a line on its standard input. The end of the input without a line means that the
// process that held the other end is gone: then the server is interrupted.
const watchScript = `read -r line && exit 0; kill -INT "$1"`

// startWatched starts cmd and a shell beside it that interrupts cmd when this process dies.
// It serves where the kernel has no signal for that. release ends the shell and leaves cmd alone.
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
		return nil, fmt.Errorf("watch over %s: %w", cmd.Path, err)
	}
	return func() {
		_, _ = line.Write([]byte("done\n")) // a shell that is gone needs no message
		_ = line.Close()
		_ = watch.Wait()
	}, nil
}
