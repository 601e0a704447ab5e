package kafka

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/tradegrid/tradegrid/topics"
)

const (
	// stalledAfter is how long a partition with records that are due stands still before it is stalled: longer than any
	// rebalance, or the session of a member that died.
	stalledAfter = 2 * time.Minute
	// shownStalls bounds the partitions that one log line and /readyz name.
	shownStalls = 10
)

var (
	groupLag = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "tradegrid_kafka_group_lag", Help: "Records after the committed offsets of a group in all partitions, owned or not. Measured by the owner of the sweeper's lease; 0 in other processes.",
	}, []string{"group", "topic"})
	groupStalled = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "tradegrid_kafka_partitions_stalled", Help: "Partitions in which a group has committed nothing for two minutes although records are due or nobody owns them. Measured by the owner of the sweeper's lease; 0 in other processes.",
	}, []string{"group", "topic"})
)

// GroupMetrics returns the collectors of [GroupWatch], to be registered once.
func GroupMetrics() []prometheus.Collector {
	showGroups(topics.Consumers(topics.DelayTiers()))
	return []prometheus.Collector{groupLag, groupStalled}
}

// showGroups sets the metrics of groups to 0.
func showGroups(groups []topics.Consumer) {
	for _, g := range groups {
		for _, tier := range g.Tiers {
			groupLag.WithLabelValues(g.Group, tier.Topic).Set(0)
			groupStalled.WithLabelValues(g.Group, tier.Topic).Set(0)
		}
	}
}

// GroupWatch measures from outside how far consumer groups have come. Members see only the partitions that they own, so
// a partition of nobody, or of a member that is dead or stuck, is in none of their metrics.
type GroupWatch struct {
	admin  *kadm.Client
	log    *slog.Logger
	groups []topics.Consumer

	stands map[groupPartition]stand // partitions with unread records
	logged time.Time

	mu    sync.Mutex
	notes []string // for [GroupWatch.Notes]
}

type groupPartition struct {
	group string
	topicPartition
}

// stand is where a group stands in a partition, and since when.
type stand struct {
	Lag
	owner   string
	since   time.Time // it has committed nothing since
	unowned time.Time // nobody has owned the partition since; zero if somebody does
}

// stalled reports whether somebody has to look after the partition. That nothing is committed means little by itself: records
// wait in delay topics for hours. Nor does it mean much that nobody owns it: in a rebalance, that is so for a moment.
func (s stand) stalled(now time.Time) bool {
	return (s.Overdue() > 0 && now.Sub(s.since) >= stalledAfter) || (s.owner == "" && now.Sub(s.unowned) >= stalledAfter)
}

// NewGroupWatch makes a watch of the groups.
func NewGroupWatch(adm *kadm.Client, log *slog.Logger, groups []topics.Consumer) *GroupWatch {
	return &GroupWatch{admin: adm, log: log, groups: groups, stands: map[groupPartition]stand{}}
}

// Measure sets the metrics, and logs partitions that are stalled: at once, then once a minute. One process calls it, again and again.
func (w *GroupWatch) Measure(ctx context.Context, now time.Time) error {
	stands := map[groupPartition]stand{}
	for _, g := range w.groups {
		if err := w.measure(ctx, g, now, stands); err != nil {
			return err
		}
	}
	w.stands = stands
	w.report(ctx, now)
	return nil
}

func (w *GroupWatch) measure(ctx context.Context, g topics.Consumer, now time.Time, stands map[groupPartition]stand) error {
	lags, err := ReadLag(ctx, w.admin, g, now.Add(-stalledAfter))
	if err != nil {
		return err
	}
	owners, err := ownersOf(ctx, w.admin, g.Group)
	if err != nil {
		return err
	}
	unread, stalled := map[string]int64{}, map[string]int{}
	for _, l := range lags {
		unread[l.Topic] += l.Unread()
		key := groupPartition{g.Group, topicPartition{l.Topic, l.Partition}}
		if l.Unread() == 0 {
			continue
		}
		stands[key] = w.standOf(key, l, owners[key.topicPartition], now)
		if stands[key].stalled(now) {
			stalled[l.Topic]++
		}
	}
	for _, tier := range g.Tiers {
		groupLag.WithLabelValues(g.Group, tier.Topic).Set(float64(unread[tier.Topic]))
		groupStalled.WithLabelValues(g.Group, tier.Topic).Set(float64(stalled[tier.Topic]))
	}
	return nil
}

// standOf compares with the measurement before.
func (w *GroupWatch) standOf(key groupPartition, l Lag, owner string, now time.Time) stand {
	s, before := stand{Lag: l, owner: owner, since: now}, w.stands[key]
	if !before.since.IsZero() && before.Next == l.Next {
		s.since = before.since
	}
	switch {
	case owner != "":
	case before.unowned.IsZero():
		s.unowned = now
	default:
		s.unowned = before.unowned
	}
	return s
}

func (w *GroupWatch) report(ctx context.Context, now time.Time) {
	var notes []string
	for key, s := range w.stands {
		if s.stalled(now) {
			notes = append(notes, s.note(key.group))
		}
	}
	slices.Sort(notes)
	if more := len(notes) - shownStalls; more > 0 {
		notes = append(notes[:shownStalls], fmt.Sprintf("and %d more", more))
	}
	w.mu.Lock()
	changed := len(notes) > 0 != (len(w.notes) > 0)
	w.notes = notes
	w.mu.Unlock()
	switch {
	case len(notes) > 0 && (changed || now.Sub(w.logged) >= watchLogEvery):
		w.logged = now
		w.log.ErrorContext(ctx, "partitions are stalled: restart the member that owns them", "partitions", notes)
	case len(notes) == 0 && changed:
		w.log.InfoContext(ctx, "no partition is stalled any more")
	}
}

// note tells people what stands still.
func (s stand) note(group string) string {
	owner := "assigned to " + s.owner
	if s.owner == "" {
		owner = "assigned to no member"
	}
	return fmt.Sprintf("%s commits nothing in partition %d of %s since %s: offset %d of %d, %s",
		group, s.Partition, s.Topic, s.since.UTC().Format(time.RFC3339), s.Next, s.End, owner)
}

// Notes name the stalled partitions, for /readyz of the process that measures. They do not make it unready: it is seldom the one
// that does not read.
func (w *GroupWatch) Notes() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.notes
}

// Reset forgets everything, because another process measures now.
func (w *GroupWatch) Reset() {
	showGroups(w.groups)
	clear(w.stands)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notes = nil
}
