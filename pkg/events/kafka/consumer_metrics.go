package kafka

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

var (
	consumerLag = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "tradegrid_kafka_consumer_lag", Help: "Records after the committed offsets of this member's partitions.",
	}, []string{"group", "topic"})
	windowRecords = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "tradegrid_consumer_window", Help: "Records polled after the finished prefix of a partition.",
	}, []string{"topic", "partition"})
	oldestUnacked = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "tradegrid_consumer_oldest_unacked_seconds", Help: "Age of the oldest polled record that is not finished.",
	}, []string{"group", "topic"})
	rebalances = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_rebalances_total", Help: "Rebalances that this member took part in.",
	}, []string{"group"})
	fetchErrors = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_kafka_fetch_errors_total", Help: "Failed fetches, by group and topic.",
	}, []string{"group", "topic"})
)

// ConsumerMetrics returns the collectors of all consumers of a process, to be registered once.
func ConsumerMetrics() []prometheus.Collector {
	return []prometheus.Collector{consumerLag, windowRecords, oldestUnacked, rebalances, fetchErrors}
}

// show initializes the metrics of the member to 0.
func (c *consumer) show() {
	rebalances.WithLabelValues(c.cfg.Group)
	showGroup(c.cfg.Group, c.cfg.Topics)
	for _, topic := range c.cfg.Topics {
		consumerLag.WithLabelValues(c.cfg.Group, topic)
		oldestUnacked.WithLabelValues(c.cfg.Group, topic)
		fetchErrors.WithLabelValues(c.cfg.Group, topic)
	}
}

func partitionLabel(id int32) string { return strconv.Itoa(int(id)) }

func forgetPartition(key topicPartition) {
	windowRecords.DeleteLabelValues(key.topic, partitionLabel(key.id))
}

// forgetMetrics deletes the gauges that another member reports from now on.
func (c *consumer) forgetMetrics() {
	for _, topic := range c.cfg.Topics {
		consumerLag.DeleteLabelValues(c.cfg.Group, topic)
		oldestUnacked.DeleteLabelValues(c.cfg.Group, topic)
	}
}
