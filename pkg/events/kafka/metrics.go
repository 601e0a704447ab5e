package kafka

import (
	"context"
	"errors"
	"io"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/tradegrid/tradegrid/topics"
)

const (
	system    = "kafka"
	opSend    = "send"
	opPoll    = "poll"
	opCommit  = "commit"
	opProcess = "process"
)

// Names and labels follow the OpenTelemetry conventions for messaging, without the partition, which would multiply the series.
var (
	operationSeconds = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "messaging_client_operation_duration_seconds", Help: "Duration of send, poll and commit requests to brokers; polls wait for records. Only connection errors count as errors.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
	}, []string{"messaging_system", "messaging_operation_name", "error_type"})
	sentMessages = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "messaging_client_sent_messages_total", Help: "Records sent to a topic, by result.",
	}, []string{"messaging_system", "messaging_operation_name", "messaging_destination_name", "error_type"})
	consumedMessages = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "messaging_client_consumed_messages_total", Help: "Records polled; the group is empty for readers of a topic without a consumer group.",
	}, []string{"messaging_system", "messaging_operation_name", "messaging_destination_name", "messaging_consumer_group_name"})
	processSeconds = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "messaging_process_duration_seconds", Help: "Time from the poll of a record until it is finished; in a delay topic, most of it is the delay.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 60, 600, 3600},
	}, []string{"messaging_system", "messaging_operation_name", "messaging_destination_name", "messaging_consumer_group_name"})
)

// Metrics returns the collectors of all clients of a process, to be registered once.
func Metrics() []prometheus.Collector {
	for _, op := range []string{opSend, opPoll, opCommit} {
		operationSeconds.WithLabelValues(system, op, "")
		operationSeconds.WithLabelValues(system, op, errorType(io.EOF))
	}
	for _, topic := range topics.All() {
		sentMessages.WithLabelValues(system, opSend, topic.Name, "")
		sentMessages.WithLabelValues(system, opSend, topic.Name, errorType(kgo.ErrRecordTimeout))
	}
	return []prometheus.Collector{operationSeconds, sentMessages, consumedMessages, processSeconds}
}

// meter is a client hook that records metrics.
type meter struct{}

var (
	_ kgo.HookBrokerE2E               = meter{}
	_ kgo.HookProduceRecordUnbuffered = meter{}
)

// OnBrokerE2E implements [kgo.HookBrokerE2E].
func (meter) OnBrokerE2E(_ kgo.BrokerMetadata, key int16, e2e kgo.BrokerE2E) {
	var op string
	switch kmsg.Key(key) {
	case kmsg.Produce:
		op = opSend
	case kmsg.Fetch:
		op = opPoll
	case kmsg.OffsetCommit:
		op = opCommit
	default:
		return
	}
	operationSeconds.WithLabelValues(system, op, errorType(e2e.Err())).Observe((e2e.WriteWait + e2e.DurationE2E()).Seconds())
}

// OnProduceRecordUnbuffered implements [kgo.HookProduceRecordUnbuffered].
func (meter) OnProduceRecordUnbuffered(r *kgo.Record, err error) {
	sentMessages.WithLabelValues(system, opSend, r.Topic, errorType(err)).Inc()
}

func polled(topic, group string, n int) {
	consumedMessages.WithLabelValues(system, opPoll, topic, group).Add(float64(n))
}

// showGroup initializes the metrics of a member to 0.
func showGroup(group string, topics []string) {
	for _, topic := range topics {
		polled(topic, group, 0)
		processed(topic, group)
	}
}

// processed is where a member records the processing times of a topic.
func processed(topic, group string) prometheus.Observer {
	return processSeconds.WithLabelValues(system, opProcess, topic, group)
}

// errorType classifies err with a small set of values, fit for a label.
func errorType(err error) string {
	var refused *kerr.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &refused):
		return refused.Message
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, kgo.ErrRecordTimeout):
		return "timeout"
	case errors.Is(err, context.Canceled), errors.Is(err, kgo.ErrClientClosed):
		return "canceled"
	}
	return "connection"
}

var (
	consumerLag = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "tradegrid_kafka_consumer_lag", Help: "Records after the committed offsets of this member's partitions.",
	}, []string{"group", "topic"})
	windowRecords = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "tradegrid_consumer_window", Help: "Records polled after the finished prefix of a partition.",
	}, []string{"topic", "partition"})
	oldestUnacked = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "tradegrid_consumer_oldest_unacked_seconds", Help: "Age of the oldest polled record that is not finished.",
	}, []string{"group", "topic"})
	rebalances = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_rebalances_total", Help: "Rebalances that this member took part in.",
	}, []string{"group"})
	fetchErrors = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_kafka_fetch_errors_total", Help: "Failed fetches, by group and topic.",
	}, []string{"group", "topic"})
)

// ConsumerMetrics returns the collectors of all consumers of a process, to be registered once.
func ConsumerMetrics() []prometheus.Collector {
	return []prometheus.Collector{consumerLag, windowRecords, oldestUnacked, rebalances, fetchErrors}
}

// show initializes the metrics of the member to 0.
func (c *consumer) show() {
	rebalances.WithLabelValues(c.cfg.Group)
	showGroup(c.cfg.Group, c.cfg.Topics)
	for _, topic := range c.cfg.Topics {
		consumerLag.WithLabelValues(c.cfg.Group, topic)
		oldestUnacked.WithLabelValues(c.cfg.Group, topic)
		fetchErrors.WithLabelValues(c.cfg.Group, topic)
	}
}

func partitionLabel(id int32) string { return strconv.Itoa(int(id)) }

func forgetPartition(key topicPartition) {
	windowRecords.DeleteLabelValues(key.topic, partitionLabel(key.id))
}

// forgetMetrics deletes the gauges that another member reports from now on.
func (c *consumer) forgetMetrics() {
	for _, topic := range c.cfg.Topics {
		consumerLag.DeleteLabelValues(c.cfg.Group, topic)
		oldestUnacked.DeleteLabelValues(c.cfg.Group, topic)
	}
}
