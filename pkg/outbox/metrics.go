package outbox

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tradegrid/tradegrid/topics"
)

var (
	outboxRows = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "tradegrid_outbox_rows", Help: "Rows that wait for Kafka, in the buckets that this relay owns.",
	}, []string{"bucket_group"})
	outboxOldest = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "tradegrid_outbox_oldest_age_seconds", Help: "Age of the oldest row that waits for Kafka in the buckets that this relay owns.",
	})
	publishLatency = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "tradegrid_outbox_publish_latency_seconds", Help: "From the time of the fact to its acknowledgement by Kafka.",
		Buckets: []float64{.002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 30, 60, 300, 1800, 7200},
	})
	published = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_outbox_published_total", Help: "Rows that Kafka acknowledged, repetitions included, by topic.",
	}, []string{"topic"})
	publishFailures = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_outbox_publish_failures_total", Help: "Rows that stay in the outbox after a failed try, by topic.",
	}, []string{"topic"})
	repeated = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "tradegrid_outbox_repeated_total", Help: "Rows that were published here but deleted by another relay.",
	})
	stragglers = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "tradegrid_outbox_stragglers_total", Help: "Rows behind the lookback, found by full sweeps only: their order is not sure.",
	})
	deadRows = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_outbox_dead_total", Help: "Rows moved to outbox_dead because Kafka will never take them, by topic.",
	}, []string{"topic"})
	batchSize = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "tradegrid_outbox_batch_size", Help: "Rows published together.", Buckets: []float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000},
	})
	relayLeases = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "tradegrid_relay_leases", Help: "Buckets that the relay owns.",
	}, []string{"owner"})
	leasesOwned = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "tradegrid_relay_leases_owned", Help: "Buckets that any relay owns, as this relay saw it in the database at its last renewal; all are 256.",
	})
	relayTakeovers = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "tradegrid_relay_takeovers_total", Help: "Buckets taken over from a relay that did not give them back.",
	})
)

// Metrics are the collectors of this package, to be registered once per process. They show all that can be counted
// from the start: rates do not see the first increment of a counter that was not there before.
func Metrics() []prometheus.Collector {
	for group := range Buckets / bucketGroup {
		outboxRows.WithLabelValues(strconv.Itoa(group))
	}
	for _, topic := range []string{topics.Events, topics.Subscriptions, topics.AuthInvalidations} {
		published.WithLabelValues(topic)
		publishFailures.WithLabelValues(topic)
		deadRows.WithLabelValues(topic)
	}
	return []prometheus.Collector{
		outboxRows, outboxOldest, publishLatency, published, publishFailures, repeated, stragglers, deadRows, batchSize,
		relayLeases, leasesOwned, relayTakeovers,
	}
}
