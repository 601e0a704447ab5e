package db

import "github.com/prometheus/client_golang/prometheus"

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
)

// Metrics are the collectors of this package, to be registered once per process.
func Metrics() []prometheus.Collector {
	return []prometheus.Collector{txRetries, txAttempts, txAmbiguous}
}
