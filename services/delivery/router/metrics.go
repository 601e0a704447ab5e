package router

import "github.com/prometheus/client_golang/prometheus"

var (
	routedEvents = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_router_events_total", Help: "Events routed, by result (matched, unmatched, dead, or newer: of a later release, left to a dispatcher that reads it).",
	}, []string{"result"})
	routedDeliveries = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_router_deliveries_total", Help: "Deliveries made by the router, by result (sent, parked, repeated).",
	}, []string{"result"})
	routerRetries = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_router_retries_total", Help: "Failed steps of the router, by step.",
	}, []string{"step"})
)

// Metrics are the collectors of this package, with all known labels.
func Metrics() []prometheus.Collector {
	for vec, values := range map[*prometheus.CounterVec][]string{
		routedEvents:     {"matched", "unmatched", "dead", "newer"},
		routedDeliveries: {"sent", "parked", "repeated"},
		routerRetries:    {"match", "insert", "produce", "rows", "dead letter", "decode"},
	} {
		for _, v := range values {
			vec.WithLabelValues(v)
		}
	}
	return []prometheus.Collector{routedEvents, routedDeliveries, routerRetries}
}
