package roles

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/api/ratelimit"
	"github.com/tradegrid/tradegrid/pkg/store/processes"
)

func TestPageOfMetricsIsWhatTheCodeSays(t *testing.T) {
	t.Parallel()
	cmd := MetricsCmd{Check: "../../docs/metrics.md"}
	require.NoError(t, cmd.Run(nil))
	changed := t.TempDir() + "/metrics.md"
	require.NoError(t, os.WriteFile(changed, []byte("# Metrics\n"), 0o600))
	require.ErrorContains(t, (&MetricsCmd{Check: changed}).Run(nil), "make metrics")
}

// promised are the metrics that dashboards, alerts and objectives are made of.
var promised = []string{
	"http_server_request_duration_seconds", "http_client_request_duration_seconds", "db_client_operation_duration_seconds",
	"messaging_client_operation_duration_seconds", "messaging_client_sent_messages_total", "messaging_client_consumed_messages_total", "messaging_process_duration_seconds",
	"db_client_connection_count", "db_client_connection_max", "db_client_connection_timeouts_total", "db_client_connection_wait_time_seconds_total",
	"tradegrid_tx_retries_total", "tradegrid_tx_attempts", "tradegrid_tx_ambiguous_total", "tradegrid_group_commit_size", "tradegrid_idempotency_total",
	"tradegrid_outbox_rows", "tradegrid_outbox_oldest_age_seconds", "tradegrid_outbox_publish_latency_seconds",
	"tradegrid_relay_leases", "tradegrid_relay_leases_owned", "tradegrid_relay_takeovers_total",
	"tradegrid_kafka_consumer_lag", "tradegrid_kafka_group_lag", "tradegrid_kafka_partitions_stalled", "tradegrid_consumer_window", "tradegrid_consumer_oldest_unacked_seconds", "tradegrid_rebalances_total",
	"tradegrid_delivery_total", "tradegrid_delivery_latency_seconds", "tradegrid_delivery_oldest_undelivered_seconds", "tradegrid_delivery_inflight",
	"tradegrid_lane_parked", "tradegrid_breaker_state", "tradegrid_breaker_transitions_total",
	"tradegrid_delay_depth", "tradegrid_delay_late_seconds", "tradegrid_dlq_total", "tradegrid_duplicates_dropped_total", "tradegrid_sweeper_reinjected_total",
	"tradegrid_rate_limited_total", "tradegrid_build_info", "tradegrid_config_reloads_total",
	"tradegrid_dlq_depth", "tradegrid_clock_offset_seconds", "tradegrid_reconciler_difference", "tradegrid_reconciler_checked_total",
}

func TestPromisedMetricsAreListed(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, (&MetricsCmd{}).Run(&out))
	var families []metricFamily
	require.NoError(t, json.Unmarshal(out.Bytes(), &families))
	names := make([]string, len(families))
	for i, f := range families {
		names[i] = f.Name
		require.NotEmpty(t, f.Help, f.Name)
		require.NotEmpty(t, f.Roles, f.Name)
		for _, label := range f.Labels {
			require.NotRegexp(t, `company|tenant|subscription|_id$|url|host|address`, label, "%s: nobody bounds the values of that label", f.Name)
		}
	}
	require.Subset(t, names, promised)
}

// late are metrics whose labels are known only when something runs: a pool, a member of a group, a relay, a transaction.
var late = []string{
	"db_client_connection_",
	"tradegrid_kafka_consumer_lag", "tradegrid_consumer_", "tradegrid_rebalances_total", "tradegrid_kafka_fetch_errors_total",
	"db_client_operation_", "messaging_client_consumed", "messaging_process",
	"tradegrid_relay_leases", "tradegrid_tx_retries_total",
}

// A rate does not see the first increment of a counter that was not there before.
func TestMetricsAreThereFromTheStart(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	registry.MustRegister(AllMetrics()...)
	NewDomains(nil, DomainConfig{}).NewAPI(httpapi.Config{Limiter: ratelimit.New(ratelimit.Config{})})
	_, err := NewDomains(nil, DomainConfig{}).NewWeb(WebConfig{}, nil, nil)
	require.NoError(t, err)
	processes.NewSettingsWatch(nil, []string{"max-attempts=7"}, nil)
	gathered, err := registry.Gather()
	require.NoError(t, err)
	shown := map[string]*dto.MetricFamily{}
	for _, f := range gathered {
		shown[f.GetName()] = f
	}
	listed, err := listMetrics()
	require.NoError(t, err)
	for _, f := range listed {
		got, ok := shown[f.Name]
		if !ok {
			require.True(t, slices.ContainsFunc(late, func(prefix string) bool { return strings.HasPrefix(f.Name, prefix) }), "%s is not there", f.Name)
			continue
		}
		require.Equal(t, f.Type, strings.ToLower(got.GetType().String()), f.Name)
		var labels []string
		for _, l := range got.GetMetric()[0].GetLabel() {
			labels = append(labels, l.GetName())
		}
		require.ElementsMatch(t, f.Labels, labels, f.Name)
	}
	requests := shown["http_server_request_duration_seconds"]
	require.True(t, slices.ContainsFunc(requests.GetMetric(), func(m *dto.Metric) bool {
		return valueOf(m, "http_route") == httpapi.BasePath+"/orders/:id" && valueOf(m, "http_response_status_code") == "500"
	}), "an operation is there before its first failure")
}

func valueOf(m *dto.Metric, label string) string {
	for _, l := range m.GetLabel() {
		if l.GetName() == label {
			return l.GetValue()
		}
	}
	return ""
}
