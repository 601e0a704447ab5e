package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/tradegrid/tradegrid/pkg/kafka"
	"github.com/tradegrid/tradegrid/services/dispatch/store"
)

// maxResting is how many resting receivers are shown.
const maxResting = 20

type pathCmd struct{ KafkaFlags }

// pathState is how the path of events stands.
type pathState struct {
	OutboxRows   int64                `json:"outboxRows"`
	OutboxOldest *time.Time           `json:"outboxOldest"`
	OutboxDead   int64                `json:"outboxDead"`
	Groups       []groupLag           `json:"groups"`
	Waiting      []store.WaitingCount `json:"waiting"`
	Resting      []store.Resting      `json:"resting"`
}

// groupLag is how far a consumer group is behind.
type groupLag struct {
	Group   string `json:"group"`
	State   string `json:"state"`
	Members int    `json:"members"`
	Lag     int64  `json:"lag"`
}

const sqlSelectOutboxState = `SELECT count(*), min(created_at), (SELECT count(*) FROM outbox_dead) FROM outbox`

// Run shows hop by hop what is under way, from the outbox to the receivers.
func (c *pathCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *AdminCmd) error {
	broker, err := c.kafkaConfig("admin", log)
	if err != nil {
		return err
	}
	return all.do(ctx, out, log, func(a admin) error {
		s, err := a.path(ctx, broker)
		if err != nil {
			return err
		}
		if a.asJSON {
			return a.write(s, "")
		}
		now := time.Now()
		return errors.Join(
			a.write(nil, "OUTBOX OLDEST DEAD", []any{s.OutboxRows, ageOf(s.OutboxOldest, now), s.OutboxDead}), a.gap(),
			a.write(nil, "GROUP STATE MEMBERS LAG", cellsOf(s.Groups, func(g groupLag) []any { return []any{g.Group, g.State, g.Members, g.Lag} })...), a.gap(),
			a.write(nil, "DELIVERIES-WAITING-FOR COUNT OLDEST", cellsOf(s.Waiting, func(w store.WaitingCount) []any { return []any{w.For, w.Count, ageOf(&w.Oldest, now)} })...), a.gap(),
			a.write(nil, "RESTING-RECEIVER COMPANY URL FAILING-FOR NEXT-ATTEMPT-IN", cellsOf(s.Resting, func(r store.Resting) []any {
				return []any{r.SubscriptionID, r.CompanyID, r.URL, ageOf(r.FailingSince, now), untilOf(r.OpenUntil, now)}
			})...),
		)
	})
}

// gap separates two tables.
func (a admin) gap() error {
	_, err := fmt.Fprintln(a.out)
	return err
}

func cellsOf[T any](all []T, row func(T) []any) [][]any {
	rows := make([][]any, len(all))
	for i, v := range all {
		rows[i] = row(v)
	}
	return rows
}

func ageOf(at *time.Time, now time.Time) string {
	if at == nil {
		return "-"
	}
	return now.Sub(*at).Round(time.Second).String()
}

func untilOf(at *time.Time, now time.Time) string {
	if at == nil || !at.After(now) {
		return "-"
	}
	return at.Sub(now).Round(time.Second).String()
}

func (a admin) path(ctx context.Context, broker kafka.Config) (s pathState, err error) {
	if err := a.all.db.QueryRow(ctx, sqlSelectOutboxState).Scan(&s.OutboxRows, &s.OutboxOldest, &s.OutboxDead); err != nil {
		return s, fmt.Errorf("read outbox: %w", err)
	}
	if s.Waiting, err = store.SelectWaiting(ctx, a.all.db); err != nil {
		return s, err
	}
	if s.Resting, err = store.SelectResting(ctx, a.all.db, maxResting); err != nil {
		return s, err
	}
	client, err := kafka.NewClient(broker)
	if err != nil {
		return s, err
	}
	defer client.Close()
	s.Groups, err = groupLags(ctx, kadm.NewClient(client))
	return s, err
}

// groupLags measures the consumer groups of the dispatchers.
func groupLags(ctx context.Context, brokers *kadm.Client) ([]groupLag, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	listed, err := brokers.ListGroups(ctx)
	if err != nil {
		return nil, fmt.Errorf("list consumer groups: %w", err)
	}
	var names []string
	for _, g := range listed.Sorted() {
		if strings.HasPrefix(g.Group, "tradegrid-") {
			names = append(names, g.Group)
		}
	}
	lags := []groupLag{}
	if len(names) == 0 {
		return lags, nil
	}
	found, err := brokers.Lag(ctx, names...)
	if err != nil {
		return nil, fmt.Errorf("measure lag of consumer groups: %w", err)
	}
	for _, l := range found.Sorted() {
		lags = append(lags, groupLag{l.Group, l.State, len(l.Members), l.Lag.Total()})
	}
	return lags, nil
}
