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

// KafkaConfig says where a broker keeps its records.
type KafkaConfig struct {
	Dir        string // made when absent; empty keeps everything in memory
	Port       int    // loopback TCP port; 0 picks a free one
	SyncWrites bool   // acknowledge a batch only when it is on disk: slower, survives a crash of the machine
	Log        *slog.Logger
}

// Kafka is a broker inside this process.
type Kafka struct {
	cluster *kfake.Cluster
	brokers []string
	lock    *folderLock
	close   sync.Once
}

// StartKafka starts a single broker on the loopback address. With a Dir, topics, records and committed
// offsets survive a restart and the death of the process. Topics are never made by themselves.
// A Dir that another broker uses gives [ErrInUse].
func StartKafka(cfg KafkaConfig) (*Kafka, error) {
	k := &Kafka{}
	opts := []kfake.Opt{
		kfake.NumBrokers(1),
		kfake.Ports(cfg.Port),
		// Consumers of a fleet that was killed must not hold its partitions for long.
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
			return nil, fmt.Errorf("make broker folder: %w", err)
		}
		var err error
		if k.lock, err = lockFolder(cfg.Dir); err != nil {
			return nil, err
		}
		opts = append(opts, kfake.DataDir(cfg.Dir))
	}
	if cfg.SyncWrites {
		opts = append(opts, kfake.SyncWrites())
	}
	cluster, err := kfake.NewCluster(opts...)
	if err != nil {
		k.lock.release()
		return nil, fmt.Errorf("start Kafka broker: %w", err)
	}
	k.cluster, k.brokers = cluster, cluster.ListenAddrs()
	return k, nil
}

// Brokers are the host:port addresses of the broker.
func (k *Kafka) Brokers() []string { return k.brokers }

// Cluster gives tests the broker itself, to make it fail.
func (k *Kafka) Cluster() *kfake.Cluster { return k.cluster }

// Close writes what must survive and stops the broker. It may be called again.
func (k *Kafka) Close() {
	k.close.Do(func() {
		k.cluster.Close()
		k.lock.release()
	})
}

// kafkaLog passes warnings and errors of the broker on; the rest is about its insides and goes to debug.
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
