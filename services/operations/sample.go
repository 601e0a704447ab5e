package operations

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/telemetry"
	"github.com/tradegrid/tradegrid/pkg/store/cleanup"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/delivery/store"
)

const (
	// SampleEvery is how often the pipeline is sampled.
	SampleEvery = time.Minute
	// SamplesKept is how long samples are kept.
	SamplesKept = 48 * time.Hour

	sampleWithin = 20 * time.Second
	maxSamples   = int(SamplesKept/SampleEvery) + 1
)

// Sample is how the pipeline stood at a minute.
type Sample struct {
	At             time.Time
	Published      int64 // events that were ever published; less than before after a restore of the database
	OutboxRows     int64
	OutboxAge      time.Duration // of the oldest row; 0 = there was none
	OpenDeliveries int64
	OpenAge        time.Duration // of the oldest of them; 0 = there was none
}

const pipelineSamples = db.Table("pipeline_samples")

const (
	sqlSelectSamples = `SELECT at, published, outbox_rows, outbox_age_ms * 1000000, open_deliveries, open_age_ms * 1000000 FROM pipeline_samples
WHERE at >= $1 ORDER BY at LIMIT $2`
	sqlSelectLastSample = `SELECT max(at) FROM pipeline_samples`
)

// A minute is sampled once, also by two processes that both believe to be in charge.
var sqlInsertSample = pipelineSamples.Insert(`(at, published, outbox_rows, outbox_age_ms, open_deliveries, open_age_ms, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (at) DO NOTHING`)

// SamplesExpire deletes old samples.
var SamplesExpire = cleanup.Job{
	Every: time.Hour, Delete: pipelineSamples.Delete(`WHERE at IN (SELECT at FROM pipeline_samples WHERE expires_at < $1 LIMIT 1000)`),
}

// Sampler keeps how the pipeline stands, once a minute.
type Sampler struct {
	db  *db.DB
	log *slog.Logger
}

// NewSampler returns a sampler.
func NewSampler(d *db.DB, log *slog.Logger) *Sampler { return &Sampler{d, log} }

// Run samples while owner says that this process is in charge, until ctx is done.
func (s *Sampler) Run(ctx context.Context, owner func() bool) {
	ctx = telemetry.Untraced(ctx)
	for {
		now := time.Now()
		t := time.NewTimer(now.Truncate(SampleEvery).Add(SampleEvery).Sub(now))
		select {
		case <-ctx.Done():
			t.Stop()
			return
		case <-t.C:
		}
		if !owner() {
			continue
		}
		if err := s.Sample(ctx, time.Now()); err != nil && ctx.Err() == nil && !db.IsUndefinedTable(err) { // before `tradegrid migrate` there is none
			s.log.WarnContext(ctx, "pipeline not sampled", "error", err)
		}
	}
}

// Sample keeps how the pipeline stands now.
func (s *Sampler) Sample(ctx context.Context, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, sampleWithin)
	defer cancel()
	rows, age, err := outbox.MeasureBacklog(ctx, s.db)
	if err != nil {
		return err
	}
	published, err := outbox.CountPublished(ctx, s.db)
	if err != nil {
		return err
	}
	waiting, err := store.SelectWaiting(ctx, s.db)
	if err != nil {
		return err
	}
	var open int64
	var openAge time.Duration
	for _, w := range waiting {
		open, openAge = open+w.Count, max(openAge, now.Sub(w.Oldest))
	}
	at := now.UTC().Truncate(SampleEvery)
	if _, err = s.db.Write(ctx, sqlInsertSample, at, published, rows, int64(age*1000), open, openAge.Milliseconds(), at.Add(SamplesKept)); err != nil {
		return fmt.Errorf("keep a sample of the pipeline: %w", err)
	}
	return nil
}

// lastSample is the minute of the last sample; nil = there is none.
func lastSample(ctx context.Context, q db.Querier) (at *time.Time, err error) {
	if err = q.QueryRow(ctx, sqlSelectLastSample).Scan(&at); err != nil {
		return nil, fmt.Errorf("read the last sample of the pipeline: %w", err)
	}
	return at, nil
}

// Attempts returns how many attempts all senders made in the minutes that ended at or after a time, the oldest first. Minutes in which
// no sender ran are missing.
func (p *Platform) Attempts(ctx context.Context, since time.Time) ([]store.AttemptCount, error) {
	return store.SumAttemptCounts(ctx, p.cfg.DB, since)
}

// Samples returns those that were taken at or after a time, the oldest first. Minutes that no process sampled are missing.
func (p *Platform) Samples(ctx context.Context, since time.Time) ([]Sample, error) {
	return db.Collect(ctx, p.cfg.DB, "read samples of the pipeline", pgx.RowToStructByPos[Sample], sqlSelectSamples, since, maxSamples)
}
