package db

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

var (
	txRetries = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_tx_retries_total", Help: "Transactions that were run again, by name and SQLSTATE.",
	}, []string{"name", "sqlstate"})
	txAttempts = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "tradegrid_tx_attempts", Help: "Tries until a transaction was committed.", Buckets: []float64{1, 2, 3, 5, 8, 12},
	})
	txAmbiguous = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "tradegrid_tx_ambiguous_total", Help: "Commits whose outcome had to be looked up.",
	})
	clockOffset = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "tradegrid_clock_offset_seconds", Help: "Clock of this process less that of the database: above 0 it is ahead. Beyond half a second the process is not ready.",
	})
	clockFailures = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "tradegrid_clock_failures_total", Help: "Times that the database did not tell its time; the offset keeps its last value.",
	})
)

// Metrics are the collectors of this package, to be registered once per process.
func Metrics() []prometheus.Collector {
	return []prometheus.Collector{txRetries, txAttempts, txAmbiguous, operationSeconds, clockOffset, clockFailures}
}

var shown sync.Map // names of transactions that have run

// showTx makes the retries of a transaction be there from its first run on: rates do not see the first increment
// of a counter that was not there before.
func showTx(name string) {
	if _, known := shown.Load(name); !known {
		txRetries.WithLabelValues(name, "40001")
		shown.Store(name, true)
	}
}
