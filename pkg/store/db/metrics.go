package db

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

var (
	txRetries = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_tx_retries_total", Help: "Retried transactions, by name and SQLSTATE.",
	}, []string{"name", "sqlstate"})
	txAttempts = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "tradegrid_tx_attempts", Help: "Attempts per committed transaction.", Buckets: []float64{1, 2, 3, 5, 8, 12},
	})
	txAmbiguous = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "tradegrid_tx_ambiguous_total", Help: "Commits with an unknown outcome that was looked up.",
	})
	clockOffset = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "tradegrid_clock_offset_seconds", Help: "Clock of this process minus that of the database, in seconds; positive = ahead. Beyond half a second, the process is not ready.",
	})
	clockFailures = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "tradegrid_clock_failures_total", Help: "Failed reads of the database clock; the offset keeps its last value.",
	})
)

// Metrics are the collectors of this package, to be registered once per process.
func Metrics() []prometheus.Collector {
	return []prometheus.Collector{txRetries, txAttempts, txAmbiguous, operationSeconds, clockOffset, clockFailures}
}

var shown sync.Map // names of transactions that ran

// showTx creates the retry counter of a transaction at its first run: rate() misses the first increment of a series
// that did not exist before.
func showTx(name string) {
	if _, known := shown.Load(name); !known {
		txRetries.WithLabelValues(name, "40001")
		shown.Store(name, true)
	}
}
