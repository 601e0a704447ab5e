package ops

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// catalog gives all metrics that a query may name: those of the processes and those that rules record.
func catalog(t *testing.T) map[string]Metric {
	t.Helper()
	known, err := Catalog(t.Context(), binary)
	require.NoError(t, err)
	for _, m := range announced {
		if _, exists := known[m.Name]; !exists {
			known[m.Name] = m
		}
	}
	for _, r := range rules(t) {
		if r.Record != "" {
			known[r.Record] = Metric{Name: r.Record, Labels: []string{"slo"}}
		}
	}
	return known
}

func TestAnnouncedMetricsDoNotExistYet(t *testing.T) {
	t.Parallel()
	known, err := Catalog(t.Context(), binary)
	require.NoError(t, err)
	for _, m := range announced {
		_, exists := known[m.Name]
		require.False(t, exists, "%s exists now: take it out of announced.go", m.Name)
	}
}

func TestCheckRefusesWhatDoesNotExist(t *testing.T) {
	t.Parallel()
	known := catalog(t)
	for query, want := range map[string]string{
		`sum(rate(tradegrid_dlq_total[5m])`:                                                 "unclosed left parenthesis",
		`tradegrid_dlq_totals`:                                                              "there is no metric tradegrid_dlq_totals",
		`tradegrid_tx_attempts`:                                                             "there is no metric tradegrid_tx_attempts",
		`tradegrid_dlq_total_bucket`:                                                        "there is no metric tradegrid_dlq_total_bucket",
		`tradegrid_dlq_total{tier="healthy"}`:                                               "tradegrid_dlq_total has no label tier",
		`sum by (company_id) (tradegrid_dlq_total)`:                                         "by (company_id): none of the metrics has that label",
		`tradegrid_tx_ambiguous_total / on (topic) tradegrid_dlq_total`:                     "on (topic): none of the metrics has that label",
		`tradegrid_dlq_total{topic="$topic"}`:                                               "a variable that no dashboard has",
		`histogram_quantile(0.9, sum by (le) (rate(tradegrid_tx_attempts_count[1m])))`:      "by (le): none of the metrics has that label",
		`sum by (made) (label_replace(tradegrid_dlq_total, "made", "x", "", ""))`:           "",
		`histogram_quantile(0.9, sum by (le) (rate(tradegrid_tx_attempts_bucket[1m])))`:     "",
		`rate(tradegrid_dlq_total{topic="events.dlq",cell=~"$cell"}[$__rate_interval])`:     "",
		`sum by (state) (db_client_connection_count{role=~"$role",namespace="$namespace"})`: "",
	} {
		err := Check(query, known)
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, want)
	}
}
