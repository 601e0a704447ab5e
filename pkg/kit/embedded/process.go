//go:build unix

package embedded

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// process is a child process that ends when this process ends.
type process struct {
	pid  int
	done chan struct{} // closed when it has exited and was waited for
	err  error         // exit error; read it after done is closed

	mu     sync.Mutex // a signal must not reach a process that reuses the pid
	ended  bool
	handle func(syscall.Signal) error
}

// startProcess runs cmd in its own process group, so that Ctrl-C in a terminal reaches only this
// process, which then stops the child.
func startProcess(cmd *exec.Cmd) (*process, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	p := &process{done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// Linux sends the parent-death signal when the thread that forked the child ends:
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
		_ = p.handle(s) // it fails only if the process has just exited
	}
}

// kill kills the child and waits for it: first by PostgreSQL's immediate shutdown, which also ends its
// children, then by SIGKILL.
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
