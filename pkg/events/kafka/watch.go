package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/topics"
)

const (
	watchEvery    = 10 * time.Second
	watchLogEvery = time.Minute // how often topics that stay missing are logged again
)

var topicMissing = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Name: "tradegrid_kafka_topic_missing", Help: "1 for a topic that this process needs and that the brokers do not have, 0 otherwise.",
}, []string{"topic"})

// TopicMetrics returns the collectors of [TopicWatch], to be registered once.
func TopicMetrics() []prometheus.Collector {
	for _, topic := range topics.All() {
		topicMissing.WithLabelValues(topic.Name)
	}
	return []prometheus.Collector{topicMissing}
}

// TopicWatch looks for topics that a process needs and that do not exist. Consumers and producers wait for a missing topic
// without an end, because it may be about to be created.
type TopicWatch struct {
	admin *kadm.Client
	log   *slog.Logger
	names []string
}

// NewTopicWatch makes a watch of the topics with these names.
func NewTopicWatch(client *kgo.Client, log *slog.Logger, names ...string) *TopicWatch {
	return &TopicWatch{admin: kadm.NewClient(client), log: log, names: names}
}

// Run sets the metric and logs missing topics until ctx is done.
func (w *TopicWatch) Run(ctx context.Context) error {
	var before []string
	var logged time.Time
	for ctx.Err() == nil {
		missing, err := w.missing(ctx)
		if err == nil { // otherwise the brokers are away, which the check of the connection reports
			for _, topic := range w.names {
				topicMissing.WithLabelValues(topic).Set(0)
			}
			for _, topic := range missing {
				topicMissing.WithLabelValues(topic).Set(1)
			}
			switch changed := !slices.Equal(missing, before); {
			case len(missing) > 0 && (changed || time.Since(logged) >= watchLogEvery):
				logged = time.Now()
				w.log.ErrorContext(ctx, "topics are missing, run `tradegrid topics apply`", "topics", missing)
			case len(missing) == 0 && changed:
				w.log.InfoContext(ctx, "all topics exist again", "were_missing", before)
			}
			before = missing
		}
		sleep(ctx, watchEvery)
	}
	return nil
}

// Check is a readiness check that names the missing topics. It does not fail if the brokers do not answer.
func (w *TopicWatch) Check(ctx context.Context) error {
	missing, err := w.missing(ctx)
	if err == nil && len(missing) > 0 {
		return fmt.Errorf("topics that do not exist: %s; run `tradegrid topics apply`", strings.Join(missing, ", "))
	}
	return nil
}

func (w *TopicWatch) missing(ctx context.Context) (missing []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, commitTimeout)
	defer cancel()
	// A request for authorized operations bypasses the client's metadata cache, in which a deleted topic still exists.
	found, err := w.admin.ListTopics(kadm.WithAuthorizedOps(ctx), w.names...)
	if err != nil {
		return nil, fmt.Errorf("list topics: %w", err)
	}
	for _, topic := range w.names {
		if errors.Is(found[topic].Err, kerr.UnknownTopicOrPartition) {
			missing = append(missing, topic)
		}
	}
	return missing, nil
}
