package embedded

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
)

// KafkaConfig configures an embedded broker.
type KafkaConfig struct {
	Dir  string // created if missing; empty = in memory
	Port int    // loopback TCP port; 0 picks a free one
	Log  *slog.Logger
}

// Kafka is a broker in this process.
type Kafka struct {
	cluster *kfake.Cluster
	brokers []string
	lock    *folderLock
	close   sync.Once
}

// StartKafka starts a single broker on the loopback address. With a Dir, topics, records and committed
// offsets survive a restart and a crash of the process. Topics are not created automatically.
// If another broker uses Dir, the error wraps [ErrInUse].
func StartKafka(cfg KafkaConfig) (*Kafka, error) {
	k := &Kafka{}
	opts := []kfake.Opt{
		kfake.NumBrokers(1),
		kfake.Ports(cfg.Port),
		kfake.ListenFn(listen),
		// Consumers of killed processes must not keep their partitions for long.
		kfake.GroupMinSessionTimeout(time.Second),
		kfake.BrokerConfigs(map[string]string{
			"group.consumer.heartbeat.interval.ms": "500",
			"group.consumer.session.timeout.ms":    "10000",
		}),
	}
	if cfg.Log != nil {
		opts = append(opts, kfake.WithLogger(kafkaLog{cfg.Log}))
	}
	if cfg.Dir != "" {
		if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
			return nil, fmt.Errorf("create broker folder: %w", err)
		}
		var err error
		if k.lock, err = lockFolder(cfg.Dir); err != nil {
			return nil, err
		}
		opts = append(opts, kfake.DataDir(cfg.Dir))
	}
	cluster, err := kfake.NewCluster(opts...)
	if err != nil {
		k.lock.release()
		return nil, fmt.Errorf("start Kafka broker: %w", err)
	}
	k.cluster, k.brokers = cluster, cluster.ListenAddrs()
	return k, nil
}

// Brokers returns the host:port addresses of the broker.
func (k *Kafka) Brokers() []string { return k.brokers }

// Cluster returns the broker itself, so that tests can inject faults.
func (k *Kafka) Cluster() *kfake.Cluster { return k.cluster }

// Close flushes data to disk and stops the broker. It may be called more than once.
func (k *Kafka) Close() {
	k.close.Do(func() {
		k.cluster.Close()
		k.lock.release()
	})
}

// kafkaLog passes on the broker's warnings and errors; everything else is logged at debug level.
type kafkaLog struct{ log *slog.Logger }

// Logf implements [kfake.Logger].
func (l kafkaLog) Logf(level kfake.LogLevel, msg string, args ...any) {
	to := slog.LevelDebug
	switch level {
	case kfake.LogLevelError:
		to = slog.LevelError
	case kfake.LogLevelWarn:
		to = slog.LevelWarn
	case kfake.LogLevelNone, kfake.LogLevelInfo, kfake.LogLevelDebug:
	}
	if l.log.Enabled(context.Background(), to) {
		l.log.Log(context.Background(), to, "kafka broker", "message", strings.TrimSpace(fmt.Sprintf(msg, args...)))
	}
}
