package processes

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tradegrid/tradegrid/pkg/kit/telemetry"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

const sqlSelectSettings = `SELECT node, role, settings FROM processes WHERE expires_at > now() AND settings IS NOT NULL ORDER BY role, node, id`

// settingsCheck is the interval at which a process compares its settings with those of the others.
const settingsCheck = 20 * time.Second

var settingsDiffer = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Name: "tradegrid_setting_differs", Help: "Running processes that have another value of the setting than this one, of the settings that must be the same everywhere.",
}, []string{"setting"})

// Metrics are the collectors of this package.
func Metrics() []prometheus.Collector { return []prometheus.Collector{settingsDiffer} }

// SettingsWatch finds out, while a process runs, that others announced another value of a setting that must be the same in all
// processes that have it.
type SettingsWatch struct {
	db  *db.DB
	log *slog.Logger
	own []setting

	mu     sync.Mutex
	differ []string
}

// setting is a setting of one or several processes.
type setting struct{ name, value string }

// NewSettingsWatch makes a watch that has seen nothing yet. own are the settings of this process, as announced.
func NewSettingsWatch(d *db.DB, own []string, log *slog.Logger) *SettingsWatch {
	w := &SettingsWatch{db: d, log: log}
	for _, text := range own {
		s := parseSetting(text)
		w.own = append(w.own, s)
		settingsDiffer.WithLabelValues(s.name).Set(0)
	}
	return w
}

func parseSetting(text string) setting {
	name, value, _ := strings.Cut(text, "=")
	return setting{name, value}
}

// Run compares until ctx is done.
func (w *SettingsWatch) Run(ctx context.Context) error {
	ctx = telemetry.Untraced(ctx)
	t := time.NewTicker(settingsCheck)
	defer t.Stop()
	for {
		if err := w.look(ctx); err != nil && ctx.Err() == nil {
			w.log.WarnContext(ctx, "settings of the other processes not read", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
	}
}

// Notes tell in /readyz which settings differ.
func (w *SettingsWatch) Notes() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.differ)
}

func (w *SettingsWatch) look(ctx context.Context) error {
	others, err := w.read(ctx)
	if err != nil {
		return err
	}
	differ := []string(nil)
	for _, own := range w.own {
		text, n := own.compare(others[own.name])
		settingsDiffer.WithLabelValues(own.name).Set(float64(n))
		if n > 0 {
			differ = append(differ, text)
		}
	}
	w.mu.Lock()
	before := w.differ
	w.differ = differ
	w.mu.Unlock()
	switch {
	case slices.Equal(before, differ):
	case len(differ) > 0:
		w.log.WarnContext(ctx, "settings differ between processes, give all of them the same", "settings", differ)
	default:
		w.log.InfoContext(ctx, "settings are the same in all processes again", "differed", before)
	}
	return nil
}

// read returns the processes that have each value of each setting.
func (w *SettingsWatch) read(ctx context.Context) (map[string]map[string][]string, error) {
	rows, err := w.db.Query(ctx, sqlSelectSettings)
	found := map[string]map[string][]string{}
	if err == nil {
		var node, role string
		var settings []string
		_, err = pgx.ForEachRow(rows, []any{&node, &role, &settings}, func() error {
			for _, text := range settings {
				s := parseSetting(text)
				if found[s.name] == nil {
					found[s.name] = map[string][]string{}
				}
				found[s.name][s.value] = append(found[s.name][s.value], role+" on "+node)
			}
			return nil
		})
	}
	if err != nil {
		return nil, fmt.Errorf("read settings of running processes: %w", err)
	}
	return found, nil
}

// compare names the processes that have another value, and counts them.
func (s setting) compare(processes map[string][]string) (text string, n int) {
	text = fmt.Sprintf("%s is %s here", s.name, cmp.Or(s.value, "empty"))
	for _, value := range slices.Sorted(maps.Keys(processes)) {
		who := processes[value]
		if value == s.value {
			continue
		}
		n += len(who)
		text += fmt.Sprintf(", %s in %s", cmp.Or(value, "empty"), who[0])
		if len(who) > 1 {
			text += fmt.Sprintf(" and %d more", len(who)-1)
		}
	}
	return text, n
}
