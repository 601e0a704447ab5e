package outbox

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tradegrid/tradegrid/topics"
)

var (
	outboxRows = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "tradegrid_outbox_rows", Help: "Rows of the outbox in the buckets that this relay owns: those that wait to be published to Kafka and, for up to a quarter of a second, those that were.",
	}, []string{"bucket_group"})
	outboxOldest = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "tradegrid_outbox_oldest_age_seconds", Help: "Age of the oldest row of the outbox in the buckets that this relay owns. Rows that are published stay for up to a quarter of a second.",
	})
	publishLatency = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "tradegrid_outbox_publish_latency_seconds", Help: "Time from the change to the acknowledgement of its row by Kafka.",
		Buckets: []float64{.002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 30, 60, 300, 1800, 7200},
	})
	publishedRows = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_outbox_published_total", Help: "Rows acknowledged by Kafka, including duplicates, by topic.",
	}, []string{"topic"})
	publishFailures = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_outbox_publish_failures_total", Help: "Rows that stayed in the outbox after a failed attempt to publish them, by topic.",
	}, []string{"topic"})
	repeated = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "tradegrid_outbox_repeated_total", Help: "Rows of this relay that were or will be published again: another one settled them first, or this one could not settle them.",
	})
	stragglers = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "tradegrid_outbox_stragglers_total", Help: "Rows older than the lookback, found only by a full sweep; they may have been published out of order.",
	})
	deadRows = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_outbox_dead_total", Help: "Rows moved to outbox_dead because Kafka rejects them permanently, by topic.",
	}, []string{"topic"})
	trimmed = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "tradegrid_event_log_trimmed_total", Help: "Events removed from the event log before their time, because their company was above its quota.",
	})
	batchSize = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "tradegrid_outbox_batch_size", Help: "Number of rows per published batch.", Buckets: []float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000},
	})
	relayLeases = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "tradegrid_relay_leases", Help: "Buckets that this relay owns.",
	}, []string{"owner"})
	leasesOwned = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "tradegrid_relay_leases_owned", Help: "Buckets owned by any relay, as read from the database at this relay's last renewal; there are 256 in total.",
	})
	unmovedBuckets = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "tradegrid_relay_unmoved_buckets", Help: "Buckets that this relay owns and whose events do not use all partitions of the topic yet.",
	})
	relayTakeovers = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "tradegrid_relay_takeovers_total", Help: "Buckets taken over from a relay that did not release them.",
	})
)

// Metrics returns the collectors of this package, to be registered once per process. All label values that are known in
// advance start at 0, because rate() misses the first increment of a series that did not exist before.
func Metrics() []prometheus.Collector {
	for group := range Buckets / bucketGroup {
		outboxRows.WithLabelValues(strconv.Itoa(group))
	}
	for _, topic := range []string{topics.Events, topics.Subscriptions, topics.AuthInvalidations} {
		publishedRows.WithLabelValues(topic)
		publishFailures.WithLabelValues(topic)
		deadRows.WithLabelValues(topic)
	}
	return []prometheus.Collector{
		outboxRows, outboxOldest, publishLatency, publishedRows, publishFailures, repeated, stragglers, deadRows, trimmed, batchSize,
		relayLeases, leasesOwned, relayTakeovers, unmovedBuckets,
	}
}
