package brokers

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
)

// node is one broker, which is a controller too.
type node struct {
	dir   string
	ports ports
	jars  string
	cmd   *exec.Cmd
	ended chan struct{} // closed when the process has ended; nil before the first start
}

// java is a command in the virtual machine that the brokers run in.
func java(jars, class string, args ...string) *exec.Cmd {
	flags := []string{
		"-Xmx256m", "-Xms64m",
		// Starts matter more than the last tenth of throughput.
		"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto",
		"-Dorg.apache.logging.log4j.level=WARN",
		"-cp", filepath.Join(jars, "*"), class,
	}
	return exec.Command("java", append(flags, args...)...) //nolint:gosec,noctx // a fixed program, which ends with the cluster
}

// start runs the broker. It ends when this process ends, however that happens.
func (n *node) start() error {
	log, err := os.OpenFile(filepath.Join(n.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the broker's log: %w", err)
	}
	n.cmd = java(n.jars, "kafka.Kafka", n.file())
	n.cmd.Stdout, n.cmd.Stderr = log, log
	// Ctrl-C in a terminal reaches this process only, which ends the broker.
	n.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	n.ended = make(chan struct{})
	started := make(chan error)
	cmd, ended := n.cmd, n.ended
	go func() {
		// The kernel tells the child of the end of the thread that has started it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(ended)
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // it is killed in the end
		}
		_ = log.Close()
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("start broker: %w", err)
	}
	return nil
}

// signal reaches the whole process group of the broker.
func (n *node) signal(s syscall.Signal) error {
	if n.ended == nil {
		return errors.New("the broker was not started")
	}
	select {
	case <-n.ended:
		return nil
	default:
		return syscall.Kill(-n.cmd.Process.Pid, s)
	}
}

// kill ends the broker without a warning and waits for it.
func (n *node) kill() error {
	if n.ended == nil {
		return nil
	}
	err := n.signal(syscall.SIGKILL)
	<-n.ended
	return err
}

// tail is the end of what the broker said.
func (n *node) tail() string {
	text, err := os.ReadFile(filepath.Join(n.dir, "log"))
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-3000):])
}
