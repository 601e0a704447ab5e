package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/topics"
)

// What Kafka has was in the outbox, and what leaves the outbox enters the log in the same transaction.
const (
	sqlSelectNotLogged = `SELECT u.id FROM unnest($1::UUID[], $2::UUID[]) AS u(company_id, id)
WHERE NOT EXISTS (SELECT 1 FROM events AS e WHERE e.company_id = u.company_id AND e.id = u.id)`
	// One statement, so that a row on its way from the outbox to the log is seen in one of them.
	sqlSelectUnknown = `SELECT u.id FROM unnest($1::UUID[], $2::UUID[], $3::INT4[]) AS u(company_id, id, bucket)
WHERE NOT EXISTS (SELECT 1 FROM events AS e WHERE e.company_id = u.company_id AND e.id = u.id)
AND NOT EXISTS (SELECT 1 FROM outbox AS o WHERE o.bucket = u.bucket AND o.id = u.id)`
)

const (
	tailTime  = 10 * time.Second // for reading the ends of all partitions
	tailRetry = 2 * time.Second  // between looks while the brokers do not answer
)

// FindRestore begins a new epoch of the event log if Kafka has events that the database has never had: then it was restored
// from a backup. A relay calls it before it publishes, because only the last event of each partition is looked at. It waits
// for the brokers; whatever else is in the way is logged, and nothing is found.
func FindRestore(ctx context.Context, d *db.DB, broker kafka.Config, log *slog.Logger) {
	for ctx.Err() == nil {
		err := findRestore(ctx, d, broker, log)
		if err == nil || ctx.Err() != nil {
			return
		}
		log.WarnContext(ctx, "database not compared with the events in Kafka", "error", kafka.Explain(err))
		if errors.Is(err, kerr.TopicAuthorizationFailed) || errors.Is(err, kerr.UnknownTopicOrPartition) || db.IsUndefinedTable(err) {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(tailRetry):
		}
	}
}

func findRestore(ctx context.Context, d *db.DB, broker kafka.Config, log *slog.Logger) error {
	records, err := lastRecords(ctx, broker, log)
	if err != nil {
		return err
	}
	epoch, err := CurrentEpoch(ctx, d)
	if err != nil {
		return err
	}
	// Older events may have left the log; those from before the epoch were found when it began.
	oldest := time.Now().Add(-keepAlways / 2)
	if epoch.BeganAt.After(oldest) {
		oldest = epoch.BeganAt
	}
	unknown, newest, err := unknownEvents(ctx, d, records, oldest)
	if err != nil || len(unknown) == 0 {
		return err
	}
	cause := fmt.Sprintf("found by a relay: Kafka has events up to %s that the database does not have", newest.Format(time.RFC3339))
	if epoch, err = begin(ctx, d, epoch, cause); err != nil {
		return err
	}
	showEpoch(epoch)
	log.ErrorContext(ctx, "database was restored: new epoch of the event log", "found", cause, "event_id", unknown[0], "epoch", epoch.Number, "see", "docs/restore.md")
	return nil
}

// newestEvent is what a record tells of its event.
type newestEvent struct {
	company   tenant.ID
	id        uuid.UUID
	committed time.Time
}

func newestOf(rec *kgo.Record) (e newestEvent, ok bool) {
	for _, h := range rec.Headers {
		var err error
		switch h.Key {
		case "ce_id":
			e.id, err = uuid.ParseBytes(h.Value)
		case "companyid":
			e.company, err = tenant.Parse(string(h.Value))
		case "committed_at":
			var us int64
			us, err = strconv.ParseInt(string(h.Value), 10, 64)
			e.committed = time.UnixMicro(us).UTC()
		}
		if err != nil {
			return newestEvent{}, false
		}
	}
	return e, e.id != uuid.Nil && !e.company.IsZero()
}

// unknownEvents returns the ids of those events after oldest that are neither in the log nor in the outbox, and when the
// newest was committed.
func unknownEvents(ctx context.Context, q db.Querier, records []*kgo.Record, oldest time.Time) (ids []uuid.UUID, newest time.Time, err error) {
	byID := map[uuid.UUID]newestEvent{}
	for _, rec := range records {
		if p, ok := newestOf(rec); ok && p.committed.After(oldest) {
			byID[p.id] = p
			ids = append(ids, p.id)
		}
	}
	for _, sql := range []string{sqlSelectNotLogged, sqlSelectUnknown} {
		if len(ids) == 0 {
			return nil, newest, nil
		}
		var companies []tenant.ID
		var buckets []int32
		for _, id := range ids {
			companies, buckets = append(companies, byID[id].company), append(buckets, Bucket(byID[id].company))
		}
		args := []any{companies, ids}
		if sql == sqlSelectUnknown {
			args = append(args, buckets)
		}
		rows, err := q.Query(ctx, sql, args...)
		if err != nil {
			return nil, newest, fmt.Errorf("look for published events: %w", err)
		}
		if ids, err = pgx.CollectRows(rows, pgx.RowTo[uuid.UUID]); err != nil {
			return nil, newest, fmt.Errorf("look for published events: %w", err)
		}
	}
	for _, id := range ids {
		if at := byID[id].committed; at.After(newest) {
			newest = at
		}
	}
	return ids, newest, nil
}

// lastRecords reads the last event of each partition. Partitions that do not answer in time are left out.
func lastRecords(ctx context.Context, broker kafka.Config, log *slog.Logger) ([]*kgo.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, tailTime)
	defer cancel()
	last, err := lastOffsets(ctx, broker)
	if err != nil || len(last) == 0 {
		return nil, err
	}
	client, err := kafka.NewClient(broker, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topics.Events: last}))
	if err != nil {
		return nil, err
	}
	defer client.Close()
	var records []*kgo.Record
	for len(last) > 0 {
		fetches := client.PollFetches(ctx)
		if ctx.Err() != nil {
			log.WarnContext(ctx, "last events of some partitions not read", "topic", topics.Events, "partitions", len(last), "errors", errors.Join(fetchErrors(fetches)...))
			break
		}
		for _, e := range fetches.Errors() {
			if errors.Is(e.Err, kerr.TopicAuthorizationFailed) {
				return nil, fmt.Errorf("read topic %s: %w", e.Topic, e.Err)
			}
		}
		fetches.EachRecord(func(rec *kgo.Record) {
			records = append(records, rec)
			delete(last, rec.Partition)
		})
	}
	return records, nil
}

func fetchErrors(fetches kgo.Fetches) (errs []error) {
	for _, e := range fetches.Errors() {
		errs = append(errs, fmt.Errorf("partition %d: %w", e.Partition, e.Err))
	}
	return errs
}

// lastOffsets returns where the last record of each partition is; empty ones and those without a leader are left out.
func lastOffsets(ctx context.Context, broker kafka.Config) (map[int32]kgo.Offset, error) {
	client, err := kafka.NewClient(broker)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	admin := kadm.NewClient(client)
	starts, err := admin.ListStartOffsets(ctx, topics.Events)
	if err != nil {
		return nil, fmt.Errorf("read starts of topic %s: %w", topics.Events, err)
	}
	ends, err := admin.ListEndOffsets(ctx, topics.Events)
	if err != nil {
		return nil, fmt.Errorf("read ends of topic %s: %w", topics.Events, err)
	}
	last := map[int32]kgo.Offset{}
	ends.Each(func(end kadm.ListedOffset) {
		if errors.Is(end.Err, kerr.TopicAuthorizationFailed) || errors.Is(end.Err, kerr.UnknownTopicOrPartition) {
			err = fmt.Errorf("read ends of topic %s: %w", end.Topic, end.Err)
		}
		start, ok := starts.Lookup(end.Topic, end.Partition)
		if ok && end.Err == nil && start.Err == nil && end.Offset > start.Offset {
			last[end.Partition] = kgo.NewOffset().At(end.Offset - 1)
		}
	})
	return last, err
}
