package accounts

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

var signIns = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "tradegrid_sign_ins_total", Help: "Passwords and codes that people entered, by result: ok, refused, limited, or error.",
}, []string{"result"})

// Metrics are the collectors of this package, with all known labels.
func Metrics() []prometheus.Collector {
	for _, result := range []string{"ok", "refused", "limited", "error"} {
		signIns.WithLabelValues(result)
	}
	return []prometheus.Collector{signIns}
}

// count counts an attempt by its outcome.
func count(err error) {
	var limited *LimitedError
	result := "error"
	switch {
	case err == nil:
		result = "ok"
	case errors.As(err, &limited):
		result = "limited"
	case errors.Is(err, ErrRefused), errors.Is(err, errCode):
		result = "refused"
	}
	signIns.WithLabelValues(result).Inc()
}
