package scheduling

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/telemetry"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/lease"
)

const (
	remindEvery = 5 * time.Second
	remindBatch = 100
)

// remindedOf holds the field that booking.reminder adds to the booking.
type remindedOf struct {
	MinutesBefore int32 `json:"minutesBefore" doc:"that the company has set: how long before the start the reminder was due"`
}

// planReminder sets when the next reminder of a booking that is new or was moved is due.
func (b *Booking) planReminder(by access.Caller, now time.Time) {
	b.ReminderAt = nil
	if at, ok := nextReminder(by.Settings.Bookings.Reminders, b.StartAt.Std(), now); ok && b.isOpen() {
		b.ReminderAt = new(jsontype.At(at))
	}
}

// nextReminder is when the next reminder of a booking is due, after a moment. Reminders are in minutes, the longest first.
func nextReminder(reminders []int32, start, after time.Time) (at time.Time, ok bool) {
	for _, minutes := range reminders {
		if at = start.Add(-time.Duration(minutes) * time.Minute); at.After(after) {
			return at, true
		}
	}
	return at, false
}

// dueReminder is the reminder of those that became due from a moment until now that is told: the last one, since it says what those
// before it would have said. None is told of a booking that has begun.
func dueReminder(reminders []int32, start, from, now time.Time) (minutes int32, ok bool) {
	if !start.After(now) {
		return 0, false
	}
	for _, m := range slices.Backward(reminders) {
		if at := start.Add(-time.Duration(m) * time.Minute); !at.After(now) {
			return m, !at.Before(from)
		}
	}
	return 0, false
}

// Run raises the reminders that are due until ctx ends. Of several processes, one does it.
func (s *Service) Run(ctx context.Context, node string) error {
	held := lease.New(lease.Config{DB: s.cfg.DB, Name: "scheduling.remind", Node: node})
	defer func() { _ = held.Release(context.WithoutCancel(ctx)) }() // it expires otherwise
	t := time.NewTicker(remindEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
		if err := s.remindWhile(telemetry.Untraced(ctx), held.Hold); err != nil && ctx.Err() == nil {
			s.cfg.Log.WarnContext(ctx, "reminders of bookings not raised; they are raised later", "error", err)
		}
	}
}

func (s *Service) remindWhile(ctx context.Context, hold func(context.Context) (bool, error)) error {
	for {
		if held, err := hold(ctx); err != nil || !held {
			remindersLate.Set(0) // the owner measures
			return err
		}
		more, err := s.Remind(ctx)
		if err != nil || !more {
			return err
		}
	}
}

// due is a booking whose reminder is due.
type due struct {
	Company tenant.ID
	Booking uuid.UUID
	At      time.Time
}

const sqlSelectDueReminders = `SELECT company_id, id, reminder_at FROM bookings WHERE reminder_at <= $1 ORDER BY reminder_at NULLS LAST LIMIT $2`

// Remind raises the reminders that are due, up to a batch, and reports whether there may be more. It may run in several processes.
func (s *Service) Remind(ctx context.Context) (more bool, err error) {
	if err := s.replan(ctx); err != nil {
		return false, err
	}
	now := s.cfg.DB.Now()
	all, err := db.Collect(ctx, s.cfg.DB, "select reminders that are due", pgx.RowToStructByPos[due], sqlSelectDueReminders, now, remindBatch)
	if err != nil {
		return false, err
	}
	late := 0.0
	if len(all) > 0 {
		late = now.Sub(all[0].At).Seconds()
	}
	remindersLate.Set(late)
	for _, d := range all {
		outcome := ""
		err := s.cfg.DB.RunTx(ctx, "scheduling.remind", func(ctx context.Context, tx *db.Tx) (err error) {
			outcome, err = s.remind(ctx, tx, d)
			return err
		}, db.ReadCommitted(), db.Repeatable()) // what it has told, it does not tell again
		if err != nil {
			return false, fmt.Errorf("remind of booking %s of company %s: %w", d.Booking, d.Company, err)
		}
		if outcome != "" {
			reminders.WithLabelValues(outcome).Inc()
		}
	}
	return len(all) == remindBatch, nil
}

// Outcomes of a reminder.
const (
	reminded = "raised"
	dropped  = "dropped"
)

var sqlSetReminder = bookingRows.Update(`SET reminder_at = $3, ev_pos = $4 WHERE company_id = $1 AND id = $2`)

// remind raises the reminder of a booking, and plans the next. The lock of the booking decides between processes, and between the
// reminder and a change of the booking.
func (s *Service) remind(ctx context.Context, tx *db.Tx, d due) (outcome string, err error) {
	system := access.System(d.Company)
	b, err := bookings.Lock(ctx, tx, system, d.Booking)
	if apierr.Is(err, "BOOKING_NOT_FOUND") || err == nil && (b.ReminderAt == nil || !b.ReminderAt.Std().Equal(d.At)) {
		return "", nil // another process was faster, or the booking was moved
	}
	if err != nil {
		return "", err
	}
	customer, err := s.cfg.Customer(ctx, tx, d.Company)
	if apierr.Is(err, "COMPANY_NOT_FOUND") { // it is archived
		tx.Queue(sqlSetReminder, d.Company, d.Booking, nil, b.EvPos)
		return dropped, nil
	}
	if err != nil {
		return "", err
	}
	now, set := tx.Now(), customer.Settings.Bookings.Reminders
	minutes, ok := dueReminder(set, b.StartAt.Std(), d.At, now)
	var next *time.Time
	if at, ok := nextReminder(set, b.StartAt.Std(), now); ok {
		next = &at
	}
	if !ok || !b.isOpen() || !customer.Has(group.Component) {
		tx.Queue(sqlSetReminder, d.Company, d.Booking, next, b.EvPos)
		return dropped, nil
	}
	meta := b.Meta
	meta.Touch(now)
	meta.Version = b.Version // the booking has not changed
	tx.Queue(sqlSetReminder, d.Company, d.Booking, next, meta.EvPos)
	at := b.StartAt.Std().Add(-time.Duration(minutes) * time.Minute)
	err = outbox.Raise(ctx, tx, d.Company, outbox.Event{
		Name: reminder.Name, Type: "booking", ID: b.ID, Meta: meta, Data: b, Extra: reminder.Carrying(remindedOf{minutes}).Extra(nil, &b, nil), EventID: reminderID(b, at),
	})
	if err != nil {
		return "", err
	}
	return reminded, s.write(ctx, tx, customer, b, letterReminder, at)
}

// reminderID is the id of the event of a reminder. It follows from booking and time, so that a reminder that is raised again after
// a restore of the database is known to its receivers.
func reminderID(b Booking, at time.Time) (id uuid.UUID) {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%s/%d", b.CompanyID, b.ID, at.UnixMicro()))
	copy(id[:], sum[:])
	binary.BigEndian.PutUint16(id[:], uint16(at.UnixMilli()>>32))
	binary.BigEndian.PutUint32(id[2:], uint32(at.UnixMilli()))
	id[6], id[8] = id[6]&0x0f|0x70, id[8]&0x3f|0x80
	return id
}

const bookingReplans = db.Table("booking_replans")

const (
	replanBatch = 200
	// replanAfter is how long callers may still have the settings before: longer than tokens are cached, and than a request takes.
	replanAfter = 2 * time.Minute
)

var sqlInsertReplan = bookingReplans.Insert(`(company_id, due_at, after_start, after_id) VALUES ($1, $2, $3, $4)
ON CONFLICT (company_id) DO UPDATE SET due_at = excluded.due_at, after_start = excluded.after_start, after_id = excluded.after_id`)

// Replan queues that the reminders of the bookings of a company are planned anew, because it has set other ones.
func Replan(tx *db.Tx, company tenant.ID) {
	tx.Queue(sqlInsertReplan, company, tx.Now().Add(replanAfter), tx.Now(), uuid.Nil)
}

// replanned is how far the reminders of a company are planned anew.
type replanned struct {
	Company tenant.ID
	Start   time.Time
	ID      uuid.UUID
}

const (
	sqlSelectReplan  = `SELECT company_id, after_start, after_id FROM booking_replans WHERE due_at <= $1 ORDER BY due_at LIMIT 1`
	sqlSelectPlanned = `SELECT id, start_at FROM bookings WHERE company_id = $1 AND (start_at, id) > ($2, $3) ORDER BY start_at, id LIMIT $4`
)

var (
	sqlReplan = bookingRows.Update(`SET reminder_at = u.at FROM unnest($2::UUID[], $3::TIMESTAMPTZ[], $4::TIMESTAMPTZ[]) AS u(id, start, at)
WHERE bookings.company_id = $1 AND bookings.id = u.id AND bookings.start_at = u.start AND bookings.status IN ('pending', 'confirmed')
  AND (bookings.reminder_at IS NULL OR bookings.reminder_at > $5)`)
	sqlMoveReplan   = bookingReplans.Update(`SET after_start = $3, after_id = $4 WHERE company_id = $1 AND due_at <= $2`)
	sqlDeleteReplan = bookingReplans.Delete(`WHERE company_id = $1 AND due_at <= $2`)
)

// replan plans the reminders of the company that has waited for longest anew, a batch at a time.
func (s *Service) replan(ctx context.Context) error {
	for ctx.Err() == nil {
		now := s.cfg.DB.Now()
		var r replanned
		err := s.cfg.DB.QueryRow(ctx, sqlSelectReplan, now).Scan(&r.Company, &r.Start, &r.ID)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("select company to plan reminders of: %w", err)
		}
		err = s.cfg.DB.RunTx(ctx, "scheduling.replan", func(ctx context.Context, tx *db.Tx) error { return s.replanSome(ctx, tx, r, now) }, db.ReadCommitted(), db.Repeatable())
		if err != nil {
			return fmt.Errorf("plan reminders of company %s: %w", r.Company, err)
		}
	}
	return ctx.Err()
}

func (s *Service) replanSome(ctx context.Context, tx *db.Tx, r replanned, now time.Time) error {
	customer, err := s.cfg.Customer(ctx, tx, r.Company)
	if apierr.Is(err, "COMPANY_NOT_FOUND") {
		tx.Queue(sqlDeleteReplan, r.Company, now)
		return nil
	}
	if err != nil {
		return err
	}
	type planned struct {
		ID    uuid.UUID
		Start time.Time
	}
	page, err := db.Collect(ctx, tx, "select bookings to plan reminders of", pgx.RowToStructByPos[planned], sqlSelectPlanned, r.Company, r.Start, r.ID, replanBatch)
	if err != nil {
		return err
	}
	ids, starts, times := make([]uuid.UUID, len(page)), make([]time.Time, len(page)), make([]*time.Time, len(page))
	for i, b := range page {
		ids[i], starts[i] = b.ID, b.Start
		if at, ok := nextReminder(customer.Settings.Bookings.Reminders, b.Start, now); ok {
			times[i] = &at
		}
	}
	tx.Queue(sqlReplan, r.Company, ids, starts, times, now)
	if len(page) < replanBatch {
		tx.Queue(sqlDeleteReplan, r.Company, now)
		return nil
	}
	tx.Queue(sqlMoveReplan, r.Company, now, starts[len(page)-1], ids[len(page)-1])
	return nil
}

var (
	reminders = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_booking_reminders_total", Help: "Reminders of bookings that were due, by outcome: raised, or dropped (the booking had begun, or the company has set other times since).",
	}, []string{"outcome"})
	remindersLate = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "tradegrid_booking_reminders_late_seconds", Help: "How long the reminder of a booking that waits for longest has been due, as the process in charge sees it.",
	})
)

// Metrics returns the collectors of this package, to be registered once per process.
func Metrics() []prometheus.Collector {
	for _, outcome := range []string{reminded, dropped} {
		reminders.WithLabelValues(outcome)
	}
	return []prometheus.Collector{reminders, remindersLate}
}
