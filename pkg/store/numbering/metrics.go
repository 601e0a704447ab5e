package numbering

import "github.com/prometheus/client_golang/prometheus"

var groupCommitSize = prometheus.NewHistogram(prometheus.HistogramOpts{
	Name: "tradegrid_group_commit_size", Help: "Documents that one transaction stored, or tried to store.",
	Buckets: []float64{1, 2, 4, 8, 16, 32, 64},
})

// Metrics are the collectors of this package, to be registered once per process.
func Metrics() []prometheus.Collector { return []prometheus.Collector{groupCommitSize} }
