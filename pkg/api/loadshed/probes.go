package loadshed

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// Names of the probes; the first is the table that holds the results.
const (
	probeShared   = "limit_probes"
	probeOutbox   = "outbox"
	probeDatabase = "database"
	probeKafka    = "kafka"
)

// OutboxProbe measures the outbox. It does not depend on a relay, because a missing relay is the most likely cause of a
// full outbox.
func OutboxProbe(d *db.DB) Probe {
	return Probe{Name: probeOutbox, Limits: []string{OutboxRows, OutboxAge}, Measure: func(ctx context.Context) (Readings, error) {
		rows, age, err := outbox.MeasureBacklog(ctx, d)
		return Readings{OutboxRows: float64(rows), OutboxAge: age}, err
	}}
}

const (
	sqlPostgresSize = `SELECT CAST(pg_database_size(current_database()) AS FLOAT8)`

	// The fullest store counts: CockroachDB rejects writes to a range whose store is full.
	sqlCockroachDisk = `SELECT CAST(COALESCE(max(1 - available / capacity), 0) AS FLOAT8), CAST(COALESCE(sum(used), 0) AS FLOAT8)
FROM crdb_internal.kv_store_status WHERE capacity > 0`
)

// DatabaseProbe measures the size of the database and, on CockroachDB, the used share of the fullest disk, which needs the
// privilege VIEWCLUSTERMETADATA. PostgreSQL does not report the size of its disk; disk measures it if this process can
// access it, and may be nil.
func DatabaseProbe(d *db.DB, disk func() (float64, error)) Probe {
	return Probe{Name: probeDatabase, Limits: []string{DatabaseDisk, DatabaseSize}, Measure: func(ctx context.Context) (Readings, error) {
		if d.Dialect() == db.CockroachDB {
			var share, used float64
			if err := d.QueryRow(ctx, sqlCockroachDisk).Scan(&share, &used); err != nil {
				return nil, fmt.Errorf("read the disk usage of the database (needs VIEWCLUSTERMETADATA): %w", err)
			}
			return Readings{DatabaseDisk: share, DatabaseSize: used}, nil
		}
		var size float64
		if err := d.QueryRow(ctx, sqlPostgresSize).Scan(&size); err != nil {
			return nil, fmt.Errorf("read the size of the database: %w", err)
		}
		readings := Readings{DatabaseSize: size}
		if disk != nil {
			share, err := disk()
			if err != nil {
				return nil, fmt.Errorf("measure the disk of the database: %w", err)
			}
			readings[DatabaseDisk] = share
		}
		return readings, nil
	}}
}

// KafkaProbe measures the brokers: the used share of the fullest disk, which Kafka 3.3 and newer report to users with
// DESCRIBE on the cluster, and the bytes of all topics on the fullest broker.
func KafkaProbe(client *kadm.Client) Probe {
	return Probe{Name: probeKafka, Limits: []string{KafkaDisk, KafkaSize}, Every: 10 * time.Second, Measure: func(ctx context.Context) (Readings, error) {
		brokers, err := client.DescribeAllLogDirs(ctx, nil)
		if err != nil {
			return nil, fmt.Errorf("read the disk usage of the brokers: %w", err)
		}
		readings := Readings{}
		for _, dirs := range brokers {
			var size float64
			for _, dir := range dirs {
				if dir.Err != nil {
					return nil, fmt.Errorf("broker %d, %s: %w", dir.Broker, dir.Dir, dir.Err)
				}
				size += float64(dir.Size())
				if dir.TotalBytes > 0 && dir.UsableBytes >= 0 {
					readings[KafkaDisk] = max(readings[KafkaDisk], 1-float64(dir.UsableBytes)/float64(dir.TotalBytes))
				}
			}
			readings[KafkaSize] = max(readings[KafkaSize], size)
		}
		return readings, nil
	}}
}
