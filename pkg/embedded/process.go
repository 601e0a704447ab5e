package embedded

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// process is a child that ends when this process ends.
type process struct {
	pid  int
	done chan struct{} // closed when it has ended and was waited for
	err  error         // how it ended; read after done

	mu     sync.Mutex // a signal must not reach a stranger that got the pid after the end
	ended  bool
	handle func(syscall.Signal) error
}

// startProcess runs cmd in a process group of its own, so that Ctrl-C in a terminal reaches only this
// process, which stops the child in its turn.
func startProcess(cmd *exec.Cmd) (*process, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	p := &process{done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// Linux tells a child that its parent died when the thread that forked it ends:
		// this thread has to live as long as the child.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		release, err := startBound(cmd)
		if err != nil {
			started <- err
			return
		}
		p.pid = cmd.Process.Pid
		p.handle = func(s syscall.Signal) error { return cmd.Process.Signal(s) }
		started <- nil
		err = cmd.Wait()
		release()
		p.mu.Lock()
		p.ended, p.err = true, err
		p.mu.Unlock()
		close(p.done)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

func (p *process) signal(s syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		_ = p.handle(s) // it fails only when the process has just ended
	}
}

// kill ends the child hard and waits for it: first PostgreSQL's own immediate shutdown, which takes its
// children along, then SIGKILL.
func (p *process) kill() {
	p.signal(syscall.SIGQUIT)
	select {
	case <-p.done:
		return
	case <-time.After(5 * time.Second):
	}
	p.signal(syscall.SIGKILL)
	<-p.done
}
