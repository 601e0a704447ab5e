package dbtest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"time"
)

// RunCommand runs a command with additional environment variables and returns its exit code; an error means that it could
// not be started. When ctx is done, the command is interrupted and gets time to clean up.
func RunCommand(ctx context.Context, args []string, env ...string) (code int, err error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 30 * time.Second
	err = cmd.Run()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		return max(exit.ExitCode(), 1), nil // the command has printed its error
	} else if err != nil {
		return 1, err
	}
	return 0, nil
}
