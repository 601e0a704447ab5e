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

// reloads counts what became of new settings.
var reloads = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "tradegrid_config_reloads_total", Help: "New settings that a running process has taken, or refused as a whole.",
}, []string{"result"})

// Metrics are those of this package.
func Metrics() []prometheus.Collector {
	for _, result := range []string{"ok", "refused"} {
		reloads.WithLabelValues(result)
	}
	return []prometheus.Collector{reloads}
}

// poll is the time between two looks at the file. A ConfigMap is changed by a symbolic link that moves: reading the
// file anew sees that, where a watch on the file would not.
const poll = time.Second

// Watcher follows changes of the settings of a running process. T is the struct of all flags.
type Watcher[T any] struct {
	load func(*T) (*Loaded, error)
	log  *slog.Logger

	loaded [sha256.Size]byte // content of the file at the last reload

	mu     sync.Mutex
	now    *Loaded // what is in force; of values that need a restart, what was in force at the start
	told   []string
	follow []func(*T)
}

// NewWatcher follows changes of what was loaded, from this moment on. load reads the settings again, as at the start.
func NewWatcher[T any](now *Loaded, load func(*T) (*Loaded, error), log *slog.Logger) *Watcher[T] {
	w := &Watcher[T]{load: load, now: now, log: log}
	w.loaded = w.content()
	return w
}

// OnChange has do called with the new settings after each change of one that needs no restart. The nil watcher
// sees no changes.
func (w *Watcher[T]) OnChange(do func(*T)) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.follow = append(w.follow, do)
}

// Run reloads when asked and when the content of the file changes, until ctx ends. A new content counts when it is seen
// twice: the first look may find a file half written.
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

// content tells one state of the file from another; a file that cannot be read has a state too.
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

// Reload reads the settings again. Wrong ones are refused as a whole; what cannot change while the process runs is
// named in the log and left as it is.
func (w *Watcher[T]) Reload(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var target T
	next, err := w.load(&target)
	if err != nil {
		reloads.WithLabelValues("refused").Inc()
		w.log.ErrorContext(ctx, "new settings refused, the old ones stay", "error", oneLine(err))
		return
	}
	reloads.WithLabelValues("ok").Inc()
	changed, restart := w.compare(next)
	switch {
	case len(restart) > 0 && !slices.Equal(restart, w.told):
		w.log.WarnContext(ctx, "settings changed that need a restart", "settings", restart)
	case len(changed) == 0:
		w.log.InfoContext(ctx, "settings unchanged", "need_restart", restart)
	}
	w.told = restart
	if len(changed) == 0 {
		return
	}
	// The change itself may begin or end such lines.
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

// compare takes over what may change, and names what has changed by its flag. Secrets show that they changed only.
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

// oneLine puts all faults into one log line.
func oneLine(err error) string {
	var f *Fault
	if errors.As(err, &f) {
		return strings.Join(f.Faults, "; ")
	}
	return err.Error()
}
