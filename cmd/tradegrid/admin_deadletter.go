package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/kafka"
	"github.com/tradegrid/tradegrid/pkg/outbox"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/services/dispatch/deadletter"
	"github.com/tradegrid/tradegrid/topics"
)

type deadletterCmd struct {
	List      deadletterListCmd      `cmd:"" default:"withargs" help:"List what was given up, newest first."`
	Redeliver deadletterRedeliverCmd `cmd:"" help:"Count what can be sent again; with --yes, send it. Repeats are recognised."`
	Purge     deadletterPurgeCmd     `cmd:"" help:"Count what would be deleted; with --yes, delete it."`
}

// Where the platform puts what it gives up.
const (
	deadInOutbox   = "outbox"     // events that Kafka does not take; they are in the table outbox_dead
	deadEvents     = "events"     // records that no dispatcher can process: events.dlq
	deadDeliveries = "deliveries" // deliveries that failed for good: webhook.dlq
)

var deadTopics = map[string]string{deadEvents: topics.EventsDead, deadDeliveries: topics.DeliveriesDead}

// deadLetter is one of them.
type deadLetter struct {
	Source         string     `json:"source"`
	At             time.Time  `json:"at"`
	CompanyID      *tenant.ID `json:"companyId"`
	SubscriptionID *uuid.UUID `json:"subscriptionId"`
	DeliveryID     *uuid.UUID `json:"deliveryId"`
	EventID        *uuid.UUID `json:"eventId"`
	Event          string     `json:"event"`
	Reason         string     `json:"reason"`
	Error          string     `json:"error"`
	Bytes          int        `json:"bytes"`
	Place          string     `json:"place"`
	From           string     `json:"from,omitempty"`
}

// known is nil for an id that is not known.
func known[T ~[16]byte](id T) *T {
	if id == (T{}) {
		return nil
	}
	return &id
}

func ofLetter(source string, l deadletter.Letter) deadLetter {
	return deadLetter{
		source, l.At.UTC(), known(l.Company), known(l.Subscription), known(l.Delivery), known(l.EventID), l.Event, l.Reason, l.Error, l.Bytes, l.Place, l.From,
	}
}

func ofDeadRow(r outbox.DeadRow) deadLetter {
	return deadLetter{
		Source: deadInOutbox, At: r.FailedAt.UTC(), CompanyID: known(r.Company), EventID: known(r.ID), Event: r.Event, Reason: deadletter.Refused, Error: r.Error,
		Bytes: int(r.Bytes), Place: fmt.Sprintf("outbox_dead/%d/%d", r.Bucket, r.Pos), From: r.Topic,
	}
}

// deadRowsPage is how many rows of the outbox are changed in one transaction.
const deadRowsPage = 100

// eachDeadRow calls do for the rows that Kafka does not take, page by page.
func (a admin) eachDeadRow(ctx context.Context, in outbox.DeadFilter, do func([]outbox.DeadRow) error) error {
	for after := (outbox.DeadRow{Bucket: -1}); ; {
		rows, err := outbox.DeadRows(ctx, a.all.db, in, after, deadRowsPage)
		if err != nil || len(rows) == 0 {
			return err
		}
		if err := do(rows); err != nil {
			return err
		}
		after = rows[len(rows)-1]
	}
}

// deadletterFlags are those of all subcommands.
type deadletterFlags struct {
	KafkaFlags
	Company *tenant.ID `help:"Only of this company; all by default." placeholder:"UUID"`
}

// with runs a subcommand with a client of the brokers.
func (c *deadletterFlags) with(ctx context.Context, out io.Writer, log *slog.Logger, all *AdminCmd, run func(admin, *kgo.Client) error) error {
	broker, err := c.kafkaConfig("admin", log)
	if err != nil {
		return err
	}
	return all.do(ctx, out, log, func(a admin) error {
		if c.Company != nil {
			if _, err := a.Get(ctx, *c.Company); err != nil {
				return err
			}
		}
		client, err := kafka.NewClient(broker)
		if err != nil {
			return err
		}
		defer client.Close()
		return run(a, client)
	})
}

// of reports whether something of a company is asked for.
func (c *deadletterFlags) of(company tenant.ID) bool {
	return c.Company == nil || *c.Company == company
}

type deadletterListCmd struct {
	deadletterFlags
	Source string `help:"outbox (events that Kafka does not take), events (records that dispatchers cannot process) or deliveries (that failed for good); all by default." enum:"outbox,events,deliveries," default:""`
	Limit  int    `help:"Maximum number, 1 to 1000." default:"50"`
}

// Run lists the newest.
func (c *deadletterListCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *AdminCmd) error {
	if c.Limit < 1 || c.Limit > 1000 {
		return fmt.Errorf("--limit %d: must be between 1 and 1000", c.Limit)
	}
	return c.with(ctx, out, log, all, func(a admin, client *kgo.Client) error {
		newest := []deadLetter{}
		add := func(l deadLetter) {
			newest = append(newest, l)
			if len(newest) > 2*c.Limit {
				newest = c.newest(newest)
			}
		}
		if c.Source == "" || c.Source == deadInOutbox {
			if err := a.eachDeadRow(ctx, outbox.DeadFilter{Company: c.Company, Before: time.Now()}, func(rows []outbox.DeadRow) error {
				for _, r := range rows {
					add(ofDeadRow(r))
				}
				return nil
			}); err != nil {
				return err
			}
		}
		for _, source := range []string{deadEvents, deadDeliveries} {
			if c.Source != "" && c.Source != source {
				continue
			}
			perPartition := int64(c.Limit)
			if c.Company != nil {
				perPartition = 0
			}
			if err := deadletter.Read(ctx, client, deadTopics[source], perPartition, func(l deadletter.Letter) error {
				if c.of(l.Company) {
					add(ofLetter(source, l))
				}
				return nil
			}); err != nil {
				return err
			}
		}
		newest = c.newest(newest)
		return a.write(newest, "SOURCE AT COMPANY SUBSCRIPTION EVENT EVENT-ID REASON BYTES PLACE ERROR", cellsOf(newest, func(l deadLetter) []any {
			return []any{l.Source, l.At.Format(time.RFC3339), idOrDash(l.CompanyID), idOrDash(l.SubscriptionID), l.Event, idOrDash(l.EventID), l.Reason, l.Bytes, l.Place, l.Error}
		})...)
	})
}

func (c *deadletterListCmd) newest(all []deadLetter) []deadLetter {
	slices.SortFunc(all, func(x, y deadLetter) int { return y.At.Compare(x.At) })
	return all[:min(len(all), c.Limit)]
}

func idOrDash[T fmt.Stringer](id *T) string {
	if id == nil {
		return "-"
	}
	return (*id).String()
}

type deadletterRedeliverCmd struct {
	deadletterFlags
	Source string `help:"outbox (publish again what Kafka did not take), events (publish again, from the event log, what dispatchers could not process) or deliveries (send again what failed and was not sent again since)." enum:"outbox,events,deliveries" required:""`
	Yes    bool   `help:"Send; without it, only count."`
}

// redelivered is what a subcommand did.
type redelivered struct {
	Source  string `json:"source"`
	Found   int    `json:"found"`
	Sent    int    `json:"sent"`        // 0 without --yes
	Without int    `json:"notPossible"` // whose event is not in the event log, or that do not name it
}

// Run sends again.
func (c *deadletterRedeliverCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *AdminCmd) error {
	return c.with(ctx, out, log, all, func(a admin, client *kgo.Client) error {
		done := redelivered{Source: c.Source}
		var err error
		switch c.Source {
		case deadInOutbox:
			err = c.outbox(ctx, a, &done)
		case deadEvents:
			err = c.events(ctx, a, client, &done)
		default:
			err = c.deliveries(ctx, a, client, &done)
		}
		if err = errors.Join(err, a.write(done, "SOURCE FOUND SENT NOT-POSSIBLE", []any{done.Source, done.Found, done.Sent, done.Without})); err != nil || c.Yes || a.asJSON {
			return err
		}
		_, err = fmt.Fprintln(out, "Nothing was sent. Add --yes to send.")
		return err
	})
}

// Names in the record of changes.
const (
	redeliverOperation = "redeliverDeadLetters"
	purgeOperation     = "purgeDeadLetters"
)

// outbox moves the rows back from where the relays publish.
func (c *deadletterRedeliverCmd) outbox(ctx context.Context, a admin, done *redelivered) error {
	return a.eachDeadRow(ctx, outbox.DeadFilter{Company: c.Company, Before: time.Now()}, func(rows []outbox.DeadRow) error {
		done.Found += len(rows)
		if !c.Yes {
			return nil
		}
		for company, some := range byCompany(rows, func(r outbox.DeadRow) tenant.ID { return r.Company }) {
			if _, err := audited(ctx, a, redeliverOperation, c, company, func(_ context.Context, tx *db.Tx, _ access.Caller) (int, error) {
				outbox.RestoreDead(tx, some)
				return len(some), nil
			}); err != nil {
				return err
			}
			done.Sent += len(some)
		}
		return nil
	})
}

func byCompany[T any](all []T, of func(T) tenant.ID) map[tenant.ID][]T {
	some := map[tenant.ID][]T{}
	for _, v := range all {
		some[of(v)] = append(some[of(v)], v)
	}
	return some
}

// events publishes again what the event log has of them.
func (c *deadletterRedeliverCmd) events(ctx context.Context, a admin, client *kgo.Client, done *redelivered) error {
	letters := map[tenant.ID]map[uuid.UUID]int{} // how many there are of an event
	if err := deadletter.Read(ctx, client, topics.EventsDead, 0, func(l deadletter.Letter) error {
		if !c.of(l.Company) {
			return nil
		}
		done.Found++
		if l.Company.IsZero() || l.EventID == uuid.Nil {
			done.Without++
			return nil
		}
		if letters[l.Company] == nil {
			letters[l.Company] = map[uuid.UUID]int{}
		}
		letters[l.Company][l.EventID]++
		return nil
	}); err != nil {
		return err
	}
	for company, of := range letters {
		for some := range slices.Chunk(slices.Collect(maps.Keys(of)), deadRowsPage) {
			if err := c.eventsOf(ctx, a, company, some, of, done); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *deadletterRedeliverCmd) eventsOf(ctx context.Context, a admin, company tenant.ID, ids []uuid.UUID, letters map[uuid.UUID]int, done *redelivered) error {
	logged, err := outbox.LogEvents(ctx, a.all.db, company, ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if _, ok := logged[id]; !ok {
			done.Without += letters[id]
		}
	}
	if !c.Yes || len(logged) == 0 {
		return nil
	}
	_, err = audited(ctx, a, redeliverOperation, c, company, func(ctx context.Context, tx *db.Tx, _ access.Caller) (int, error) {
		inOrder := slices.SortedFunc(maps.Values(logged), func(x, y outbox.LogEntry) int { return cmp.Compare(x.Seq, y.Seq) })
		for i, e := range inOrder {
			if err := outbox.AppendLogged(ctx, tx, company, e, tx.Now().UnixMicro()+int64(i), tx.Now()); err != nil {
				return i, err
			}
		}
		return len(inOrder), nil
	})
	if err == nil {
		done.Sent += len(logged)
	}
	return err
}

// deliveries makes new deliveries of those that failed.
func (c *deadletterRedeliverCmd) deliveries(ctx context.Context, a admin, client *kgo.Client, done *redelivered) error {
	type receiver struct {
		company      tenant.ID
		subscription uuid.UUID
	}
	since := map[receiver]time.Time{}
	if err := deadletter.Read(ctx, client, topics.DeliveriesDead, 0, func(l deadletter.Letter) error {
		if !c.of(l.Company) {
			return nil
		}
		done.Found++
		if l.Company.IsZero() || l.Subscription == uuid.Nil {
			done.Without++
			return nil
		}
		key := receiver{l.Company, l.Subscription}
		if at, ok := since[key]; !ok || l.At.Before(at) {
			since[key] = l.At
		}
		return nil
	}); err != nil || !c.Yes {
		return err
	}
	for r, at := range since {
		if _, err := audited(ctx, a, redeliverOperation, c, r.company, func(context.Context, *db.Tx, access.Caller) (uuid.UUID, error) {
			return r.subscription, nil
		}); err != nil {
			return err
		}
		// A dead letter is written before its delivery is stored as failed; clocks may differ.
		for after := uuid.Nil; after != uuid.Max; {
			last, made, err := a.all.webhooks.RedeliverFailed(ctx, r.company, r.subscription, at.Add(-time.Minute), after, deadRowsPage)
			if err != nil {
				return err
			}
			done.Sent, after = done.Sent+made, last
		}
	}
	return nil
}

type deadletterPurgeCmd struct {
	KafkaFlags
	Source string     `help:"outbox, events or deliveries." enum:"outbox,events,deliveries" required:""`
	Before *time.Time `help:"Only what was given up until then; everything by default." placeholder:"TIME"`
	Yes    bool       `help:"Delete; without it, only count."`
}

// purged is what a subcommand deleted.
type purged struct {
	Source  string `json:"source"`
	Found   int64  `json:"found"`
	Deleted int64  `json:"deleted"` // 0 without --yes
}

// Run deletes. Deliveries and the event log keep what they have.
func (c *deadletterPurgeCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *AdminCmd) error {
	before := time.Now()
	if c.Before != nil {
		before = *c.Before
	}
	flags := deadletterFlags{KafkaFlags: c.KafkaFlags}
	return flags.with(ctx, out, log, all, func(a admin, client *kgo.Client) error {
		done := purged{Source: c.Source}
		var err error
		if c.Source == deadInOutbox {
			err = c.outbox(ctx, a, before, &done)
		} else {
			err = c.topic(ctx, a, client, before, &done)
		}
		if err != nil {
			return err
		}
		if c.Yes {
			done.Deleted = done.Found
		}
		if err := a.write(done, "SOURCE FOUND DELETED", []any{done.Source, done.Found, done.Deleted}); err != nil || c.Yes || a.asJSON {
			return err
		}
		_, err = fmt.Fprintln(out, "Nothing was deleted. Add --yes to delete.")
		return err
	})
}

func (c *deadletterPurgeCmd) topic(ctx context.Context, a admin, client *kgo.Client, before time.Time, done *purged) (err error) {
	if c.Yes {
		// It is no change of one company.
		if _, err := audited(ctx, a, purgeOperation, c, tenant.ID{}, func(context.Context, *db.Tx, access.Caller) (string, error) { return c.Source, nil }); err != nil {
			return err
		}
	}
	done.Found, err = deadletter.Purge(ctx, kadm.NewClient(client), deadTopics[c.Source], before, !c.Yes)
	return err
}

func (c *deadletterPurgeCmd) outbox(ctx context.Context, a admin, before time.Time, done *purged) error {
	return a.eachDeadRow(ctx, outbox.DeadFilter{Before: before}, func(rows []outbox.DeadRow) error {
		done.Found += int64(len(rows))
		if !c.Yes {
			return nil
		}
		for company, some := range byCompany(rows, func(r outbox.DeadRow) tenant.ID { return r.Company }) {
			if _, err := audited(ctx, a, purgeOperation, c, company, func(_ context.Context, tx *db.Tx, _ access.Caller) (int, error) {
				outbox.DeleteDead(tx, some)
				return len(some), nil
			}); err != nil {
				return err
			}
		}
		return nil
	})
}
