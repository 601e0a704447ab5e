package db

import "github.com/prometheus/client_golang/prometheus"

// poolCollector reads the pool statistics at scrape time.
type poolCollector struct {
	d *DB

	count, most, waits, waited, given, pending *prometheus.Desc
}

// PoolMetrics collects the statistics of the pool, named by OpenTelemetry's conventions.
func (d *DB) PoolMetrics() prometheus.Collector {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("db_client_connection_"+name, help, labels, nil)
	}
	return &poolCollector{
		d:       d,
		count:   desc("count", "Connections to the database, by state.", "state"),
		most:    desc("max", "Maximum number of connections in the pool."),
		waits:   desc("waits_total", "Acquisitions that had to wait for a connection."),
		waited:  desc("wait_time_seconds_total", "Total time spent acquiring connections, in seconds."),
		pending: desc("pending_requests", "Acquisitions that wait because their company uses its share of the pool."),
		given:   desc("timeouts_total", "Acquisitions that were cancelled before a connection was available."),
	}
}

// Describe implements [prometheus.Collector].
func (c *poolCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.count, c.most, c.waits, c.waited, c.given, c.pending} {
		ch <- d
	}
}

// Collect implements [prometheus.Collector].
func (c *poolCollector) Collect(ch chan<- prometheus.Metric) {
	s := c.d.pool.Stat()
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	counter := func(d *prometheus.Desc, v float64) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v)
	}
	gauge(c.count, float64(s.IdleConns()), "idle")
	gauge(c.count, float64(s.AcquiredConns()), "used")
	gauge(c.most, float64(s.MaxConns()))
	gauge(c.pending, float64(c.d.shares.pending()))
	counter(c.waits, float64(s.EmptyAcquireCount()))
	counter(c.waited, s.AcquireDuration().Seconds())
	counter(c.given, float64(s.CanceledAcquireCount()))
}
