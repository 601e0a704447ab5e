package e2e

import (
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/tests/role"
)

// A process that is told to stop answers what it has begun.
func TestStopAnswersRequestsUnderWay(t *testing.T) {
	t.Parallel()
	r := newKit(t)
	node := r.role(failpoint("tx.before_commit.numbering.order:stop"), "api")
	api := r.client(node)
	product := api.product()
	type outcome struct {
		answer
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		a, err := api.do(http.MethodPost, "/orders", uuid.NewString(), orderOf(product))
		done <- outcome{a, err}
	}()
	node.AwaitFrozen()
	require.NoError(t, node.Signal(syscall.SIGTERM))
	require.NoError(t, node.Signal(syscall.SIGCONT))
	o := <-done
	require.NoError(t, o.err)
	o.order(t)
	require.Zero(t, node.AwaitEnd(25*time.Second), node.Tail())
}

// A database that does not answer holds no process for ever: it ends within its bound and says so by its exit code.
func TestStopIsBounded(t *testing.T) {
	t.Parallel()
	r := newKit(t)
	l := r.throughLink()
	node := r.role(nil, "api", "--stop-within=3s")
	api := r.client(node)
	product := api.product()
	l.hang()
	done := make(chan error, 1)
	go func() {
		_, err := api.do(http.MethodPost, "/orders", uuid.NewString(), orderOf(product))
		done <- err
	}()
	role.Eventually(t, func() bool { return l.swallowed() > 0 }, "the request waits for the database")
	require.NoError(t, node.Signal(syscall.SIGTERM))
	require.Equal(t, 1, node.AwaitEnd(8*time.Second), node.Tail())
	require.Contains(t, node.Said(), "shutdown did not finish within 3s")
	require.Error(t, <-done)
}

// Who cannot wait says it twice.
func TestSecondSignalEndsAtOnce(t *testing.T) {
	t.Parallel()
	r := newKit(t)
	l := r.throughLink()
	node := r.role(nil, "relay", "--stop-within=1h")
	l.hang()
	role.Eventually(t, func() bool { return l.swallowed() > 0 }, "the relay waits for the database")
	require.NoError(t, node.Signal(syscall.SIGTERM))
	role.Eventually(t, func() bool {
		_ = node.Signal(syscall.SIGTERM) // the first may not have been noticed yet; the process may have ended
		select {
		case <-node.Exited:
			return true
		default:
			return false
		}
	}, "the process ends")
	require.Negative(t, node.AwaitEnd(time.Second), "ended by the signal")
}
