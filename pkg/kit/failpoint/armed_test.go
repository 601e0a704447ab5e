//go:build failpoint && linux

package failpoint

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestChildPasses is not a test itself, but the process that TestKilledAtTheArmedHit kills.
func TestChildPasses(t *testing.T) { //nolint:paralleltest // the only one in its process
	if armed.name == "" {
		t.Skip("runs as the child of TestKilledAtTheArmedHit only")
	}
	var none Injector
	for range 2 {
		Pass("relay.after_ack")
		require.NoError(t, none.At(t.Context(), "tx.begin"))
		require.NoError(t, none.AtTry(t.Context(), "tx.before_commit", "numbering.order", 1))
	}
}

func TestKilledAtTheArmedHit(t *testing.T) {
	t.Parallel()
	const survives = syscall.Signal(0)
	for arm, want := range map[string]syscall.Signal{
		"relay.after_ack":                       syscall.SIGKILL,
		"relay.after_ack:stop":                  syscall.SIGSTOP,
		"relay.after_ack@2":                     syscall.SIGKILL,
		"relay.after_ack@2:stop":                syscall.SIGSTOP,
		"relay.after_ack@3":                     survives,
		"tx.before_commit.numbering.order":      syscall.SIGKILL,
		"tx.before_commit.numbering.order:stop": syscall.SIGSTOP,
		"tx.before_commit.numbering":            survives,
		"tx.before_commit":                      survives,
		"tx.begin":                              syscall.SIGKILL,
		"relay":                                 survives,
	} {
		t.Run(arm, func(t *testing.T) {
			t.Parallel()
			child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChildPasses$")
			child.Env = append(os.Environ(), "TRADEGRID_FAILPOINT="+arm)
			require.NoError(t, child.Start())
			var status syscall.WaitStatus
			_, err := syscall.Wait4(child.Process.Pid, &status, syscall.WUNTRACED, nil)
			require.NoError(t, err)
			switch want {
			case survives:
				require.True(t, status.Exited(), "%v", status)
				require.Zero(t, status.ExitStatus())
			case syscall.SIGSTOP:
				require.True(t, status.Stopped(), "%v", status)
				require.NoError(t, child.Process.Kill())
			default:
				require.Equal(t, want, status.Signal())
			}
		})
	}
}
