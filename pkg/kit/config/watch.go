package config

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// reloads counts reloads by result.
var reloads = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "tradegrid_config_reloads_total", Help: "Reloads of the settings, by result. Invalid settings are rejected as a whole.",
}, []string{"result"})

// Metrics returns the collectors of this package.
func Metrics() []prometheus.Collector {
	for _, result := range []string{"ok", "refused"} {
		reloads.WithLabelValues(result)
	}
	return []prometheus.Collector{reloads}
}

// poll is the interval between reads of the file. Kubernetes updates a ConfigMap by moving a symbolic link, which a watch
// on the file would miss.
const poll = time.Second

// Watcher reloads the settings of a running process. T is the struct of all flags.
type Watcher[T any] struct {
	load func(*T) (*Loaded, error)
	log  *slog.Logger

	loaded [sha256.Size]byte // hash of the file at the last reload

	mu     sync.Mutex
	now    *Loaded // effective settings; those that need a restart have their initial values
	told   []string
	follow []func(*T)
}

// NewWatcher watches for changes of the loaded settings from now on. load reads the settings again, as at the start.
func NewWatcher[T any](now *Loaded, load func(*T) (*Loaded, error), log *slog.Logger) *Watcher[T] {
	w := &Watcher[T]{load: load, now: now, log: log}
	w.loaded = w.content()
	return w
}

// OnChange registers do, which is called with the new settings after each change that takes effect without a restart.
// On a nil watcher it has no effect.
func (w *Watcher[T]) OnChange(do func(*T)) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.follow = append(w.follow, do)
}

// Shared returns what [Loaded.Shared] does of the settings in force.
func (w *Watcher[T]) Shared() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now.Shared()
}

// Run reloads on request and when the content of the file changes, until ctx is done. A change takes effect when two reads
// return the same content, because the first may have read a partially written file.
func (w *Watcher[T]) Run(ctx context.Context, ask <-chan os.Signal) error {
	if w == nil {
		return nil
	}
	tick := time.NewTicker(poll)
	defer tick.Stop()
	seen := w.loaded
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ask:
			w.loaded = w.content()
			w.Reload(ctx)
		case <-tick.C:
			now := w.content()
			if now == seen && now != w.loaded {
				w.loaded = now
				w.Reload(ctx)
			}
			seen = now
		}
	}
}

// Watched watches the settings of one command, which are a part of those of the process.
type Watched[C any] struct {
	onChange func(do func(*C))
	run      func(ctx context.Context, ask <-chan os.Signal) error
	shared   func() []string
}

// Part returns the watcher of a command, whose struct of says where it is.
func Part[T, C any](w *Watcher[T], of func(*T) *C) *Watched[C] {
	return &Watched[C]{onChange: func(do func(*C)) { w.OnChange(func(next *T) { do(of(next)) }) }, run: w.Run, shared: w.Shared}
}

// Within returns the watcher of a part of the settings of a command, which of finds in its struct; nil if p is nil.
func Within[C, P any](p *Watched[C], of func(*C) *P) *Watched[P] {
	if p == nil {
		return nil
	}
	return &Watched[P]{onChange: func(do func(*P)) { p.OnChange(func(next *C) { do(of(next)) }) }, run: p.run, shared: p.shared}
}

// OnChange is [Watcher.OnChange] for the command. On a nil watcher it has no effect.
func (p *Watched[C]) OnChange(do func(*C)) {
	if p != nil {
		p.onChange(do)
	}
}

// Shared is [Watcher.Shared].
func (p *Watched[C]) Shared() []string {
	if p == nil {
		return nil
	}
	return p.shared()
}

// Run is [Watcher.Run].
func (p *Watched[C]) Run(ctx context.Context, ask <-chan os.Signal) error {
	if p == nil {
		return nil
	}
	return p.run(ctx, ask)
}

// content returns a hash of the file's content, or of the error if it cannot be read.
func (w *Watcher[T]) content() [sha256.Size]byte {
	if w.now.File == "" {
		return [sha256.Size]byte{}
	}
	raw, err := os.ReadFile(w.now.File)
	if err != nil {
		raw = []byte(err.Error())
	}
	return sha256.Sum256(raw)
}

// Reload reads the settings again. Invalid settings are rejected as a whole; changes that need a restart are logged and
// not applied.
func (w *Watcher[T]) Reload(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var target T
	next, err := w.load(&target)
	if err != nil {
		reloads.WithLabelValues("refused").Inc()
		w.log.ErrorContext(ctx, "new settings rejected, keeping the old ones", "error", oneLine(err))
		return
	}
	reloads.WithLabelValues("ok").Inc()
	changed, restart := w.compare(next)
	switch {
	case len(restart) > 0 && !slices.Equal(restart, w.told):
		w.log.WarnContext(ctx, "changed settings need a restart", "settings", restart)
	case len(changed) == 0:
		w.log.InfoContext(ctx, "settings unchanged", "need_restart", restart)
	}
	w.told = restart
	if len(changed) == 0 {
		return
	}
	// The change of the log level itself may enable or disable this message.
	told := w.log.Enabled(ctx, slog.LevelInfo)
	if told {
		w.log.InfoContext(ctx, "settings changed", "settings", changed)
	}
	for _, do := range w.follow {
		do(&target)
	}
	if !told {
		w.log.InfoContext(ctx, "settings changed", "settings", changed)
	}
}

// compare applies the changes that need no restart, and lists all changes by flag, without the values of secrets.
func (w *Watcher[T]) compare(next *Loaded) (changed, restart []string) {
	for i := range w.now.Values {
		old, v := &w.now.Values[i], next.Values[i]
		if slices.Equal(old.texts, v.texts) {
			continue
		}
		if !old.Reload {
			restart = append(restart, old.Name)
			continue
		}
		changed = append(changed, v.Name+"="+masked(v.secret, strings.Join(v.texts, ",")))
		*old = v
	}
	return changed, restart
}

// oneLine joins all faults in one line.
func oneLine(err error) string {
	var f *Fault
	if errors.As(err, &f) {
		return strings.Join(f.Faults, "; ")
	}
	return err.Error()
}
