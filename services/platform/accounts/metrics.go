package accounts

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

var signIns = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "tradegrid_sign_ins_total", Help: "Attempts to sign in to the console, by way and result: ok, refused, limited, busy, or error. A code follows a password, or a provider that asked for no second factor.",
}, []string{"way", "result"})

// Ways to sign in.
const (
	byPassword = "password"
	byTOTP     = "code"
	byPasskey  = "passkey"
	byProvider = "provider"
	byToken    = "operator"
)

// Metrics are the collectors of this package, with all known labels.
func Metrics() []prometheus.Collector {
	for _, way := range []string{byPassword, byTOTP, byPasskey, byProvider, byToken} {
		for _, result := range []string{"ok", "refused", "limited", "busy", "error"} {
			signIns.WithLabelValues(way, result)
		}
	}
	return []prometheus.Collector{signIns}
}

// count counts an attempt by its outcome.
func count(way string, err error) {
	var limited *LimitedError
	var stranger *IdentityError
	result := "error"
	switch {
	case err == nil:
		result = "ok"
	case errors.As(err, &limited):
		result = "limited"
	case errors.Is(err, ErrBusy):
		result = "busy"
	case errors.Is(err, ErrRefused), errors.Is(err, errCode), errors.Is(err, ErrCopied), errors.Is(err, ErrCeremony), errors.As(err, &stranger):
		result = "refused"
	}
	signIns.WithLabelValues(way, result).Inc()
}
