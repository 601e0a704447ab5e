package webhooks

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// EventEnvelope is the body of an event, as webhooks carry it.
type EventEnvelope struct {
	Event      string          `json:"event"`
	CompanyID  tenant.ID       `json:"companyId" format:"uuid"`
	OccurredAt jsontype.Time   `json:"occurredAt"`
	ActorID    string          `json:"actorId" doc:"who made the change; system for the platform itself"`
	Data       json.RawMessage `json:"data" doc:"the record as it stood after the change"`
	EventID    uuid.UUID       `json:"eventId" format:"uuid"`
	Timeline   *EventTimeline  `json:"way,omitempty" doc:"with include=way"`
}

// EventPage is a part of the event log, oldest first.
type EventPage struct {
	Items      []EventEnvelope `json:"items"`
	NextCursor string          `json:"nextCursor" doc:"where to go on, also at the end of the log: poll with it"`
	HasMore    bool            `json:"hasMore" doc:"false = the end of the log was reached"`
}

// LogQuery says what of the event log is wanted. Zero values do not narrow.
type LogQuery struct {
	Cursor   string
	Now      bool // begin with what follows, in place of the oldest event
	Limit    int
	Events   []string // names and wildcards
	From, To time.Time
	EntityID uuid.UUID

	ExcludeOwn bool // leave out what the caller has caused
	Newest     bool // the latest first; the cursor leads to earlier events
}

// Log reads the events that the caller may see, in the order of their commits, as JSON of an [EventPage]. The envelopes are
// the bytes that receivers get. A cursor behind which events may have been removed, or that was issued before the database
// was restored from a backup, is 410 EVENTS_CURSOR_EXPIRED.
func (s *Service) Log(ctx context.Context, by access.Caller, in LogQuery) ([]byte, error) {
	if in.Now && in.Cursor != "" {
		return nil, apierr.InvalidField("start", apierr.Conflict, "must not be given together with cursor, which says where to go on")
	}
	if !in.From.IsZero() && !in.To.IsZero() && in.From.After(in.To) {
		return nil, apierr.InvalidField("dateFrom", apierr.Conflict, "must not be after dateTo")
	}
	names, all, err := s.readable(by, in.Events)
	if err != nil {
		return nil, err
	}
	filter := outbox.LogFilter{Events: names, From: in.From, To: in.To, EntityID: in.EntityID}
	if in.Newest {
		return s.logBackwards(ctx, by, in, filter, all || len(names) > 0)
	}
	now := s.cfg.DB.Now()
	cursor, err := parseCursor(by.Company, in.Cursor)
	if err != nil {
		return nil, err
	}
	if cursor.Expired(now, s.cfg.Policy.EventRetention) {
		return nil, cursorExpired("age", fmt.Sprintf("events behind the cursor are no longer in the log, which keeps them for %s", span(s.cfg.Policy.EventRetention)))
	}
	var entries []outbox.LogEntry
	var more bool
	if !in.Now && (all || len(names) > 0) {
		if entries, more, err = outbox.ReadLog(ctx, s.cfg.DB, by.Company, cursor.After, in.Limit, filter); err != nil {
			return nil, err
		}
	}
	// Read after the events: what was removed meanwhile may be missing among them.
	state, err := outbox.ReadLogState(ctx, s.cfg.DB, by.Company)
	if err != nil {
		return nil, err
	}
	switch {
	case in.Now:
		cursor = state.Now(now)
	case in.Cursor == "":
		cursor.Epoch = state.Epoch
	default:
		if err := missed(state, cursor); err != nil {
			return nil, err
		}
	}
	next := cursorText(by.Company, cursor.Next(entries, more, now))
	return writePage(in.without(by, entries), next, more), nil
}

// logBackwards is [Service.Log] from the end of the log. A cursor is a position in front of which the page ends; what has been removed
// by then lies behind its end, so that no cursor expires.
func (s *Service) logBackwards(ctx context.Context, by access.Caller, in LogQuery, filter outbox.LogFilter, readable bool) ([]byte, error) {
	if in.Now {
		return nil, apierr.InvalidField("start", apierr.Conflict, "must not be given together with order=desc, which begins at the end of the log")
	}
	before, err := parsePosition(by.Company, in.Cursor)
	if err != nil {
		return nil, err
	}
	var entries []outbox.LogEntry
	var more bool
	if readable {
		if entries, more, err = outbox.ReadLogBackwards(ctx, s.cfg.DB, by.Company, before, in.Limit, filter); err != nil {
			return nil, err
		}
	}
	if len(entries) > 0 {
		before = entries[len(entries)-1].Seq
	}
	return writePage(in.without(by, entries), positionText(by.Company, before), more), nil
}

// without leaves out what the caller has caused, if the query says so. The page may become short; its cursor is behind all of it.
func (q LogQuery) without(by access.Caller, entries []outbox.LogEntry) []outbox.LogEntry {
	if !q.ExcludeOwn {
		return entries
	}
	own := by.Actor.String()
	return slices.DeleteFunc(entries, func(e outbox.LogEntry) bool { return actorOf(e.Body) == own })
}

// backwards marks the cursors of a log that is read from its end: no other begins with it.
const backwards = "<"

// positionText is a cursor of [Service.logBackwards].
func positionText(company tenant.ID, before int64) string {
	return base64.RawURLEncoding.EncodeToString([]byte(company.String() + "/" + backwards + strconv.FormatInt(before, 36)))
}

// parsePosition reads what [positionText] wrote; "" is the end of the log.
func parsePosition(company tenant.ID, text string) (before int64, err error) {
	if text == "" {
		return math.MaxInt64, nil
	}
	plain, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		if position, ok := strings.CutPrefix(string(plain), company.String()+"/"+backwards); ok {
			if before, err = strconv.ParseInt(position, 36, 64); err == nil {
				return before, nil
			}
		}
	}
	return 0, apierr.InvalidField("cursor", apierr.Format, "is not one that this log gave out to this company with order=desc; start again without it")
}

// span is a duration in a sentence: 30 days, 36h0m0s.
func span(d time.Duration) string {
	if day := 24 * time.Hour; d%day == 0 {
		return fmt.Sprintf("%d days", d/day)
	}
	return d.String()
}

// missed refuses a cursor whose reader may have missed events, or would miss some.
func missed(state outbox.LogState, c outbox.Cursor) error {
	switch {
	case state.Restored(c):
		return cursorExpired("restored", "the log was restored from a backup after the cursor was issued, and positions count anew since then")
	case state.Floor.Missed(c):
		return cursorExpired("quota", "events behind the cursor are no longer in the log, because it is above the quota of the company")
	}
	return nil
}

func cursorExpired(reason, why string) error {
	cursorsRefused.WithLabelValues(reason).Inc()
	return apierr.New(http.StatusGone, "EVENTS_CURSOR_EXPIRED",
		why+": get a new cursor with start=now, read the records themselves again, then go on from that cursor")
}

var cursorsRefused = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "tradegrid_event_cursors_refused_total", Help: "Cursors of the event log answered 410, by reason: age, quota, or restored, which means issued before the database was restored.",
}, []string{"reason"})

// Metrics are the collectors of this package, with all known labels.
func Metrics() []prometheus.Collector {
	for _, reason := range []string{"age", "quota", "restored"} {
		cursorsRefused.WithLabelValues(reason)
	}
	return []prometheus.Collector{cursorsRefused}
}

// readable lists the names of the events that are wanted and that the caller may see. all means that no list is
// needed, which also shows events that only a newer binary knows.
func (s *Service) readable(by access.Caller, wanted []string) (names []string, all bool, err error) {
	var faults apierr.Fields
	patterns := s.checkPatterns(&faults, wanted)
	if err := faults.Err(); err != nil {
		return nil, false, err
	}
	if len(wanted) == 0 {
		if by.Allows("*", false) {
			return nil, true, nil
		}
		patterns = []webhook.EventPattern{webhook.Any}
	}
	for _, t := range s.matching(patterns...) {
		if by.Allows(t.Scope, false) {
			names = append(names, t.Name)
		}
	}
	return names, false, nil
}

// LoggedEvent gives the bytes of one event. One that the caller may not read is not confirmed to exist.
func (s *Service) LoggedEvent(ctx context.Context, by access.Caller, id uuid.UUID) ([]byte, error) {
	entry, err := s.readableEvent(ctx, by, id)
	return entry.Body, err
}

// writePage puts the envelopes into the page byte for byte.
func writePage(entries []outbox.LogEntry, next string, more bool) []byte {
	bodies := make([][]byte, len(entries))
	for i := range entries {
		bodies[i] = entries[i].Body
	}
	page := append([]byte(`{"items":[`), bytes.Join(bodies, []byte(","))...)
	return fmt.Appendf(page, `],"nextCursor":%q,"hasMore":%t}`, next, more)
}

// cursorText is a cursor that belongs to one company: positions of others mean nothing.
func cursorText(company tenant.ID, c outbox.Cursor) string {
	return base64.RawURLEncoding.EncodeToString([]byte(company.String() + "/" + c.String()))
}

// parseCursor reads what [cursorText] wrote; "" is the beginning.
func parseCursor(company tenant.ID, text string) (outbox.Cursor, error) {
	if text == "" {
		return outbox.Cursor{}, nil
	}
	plain, err := base64.RawURLEncoding.DecodeString(text)
	owner, position, _ := strings.Cut(string(plain), "/")
	if err == nil && owner == company.String() {
		var c outbox.Cursor
		if c, err = outbox.ParseCursor(position); err == nil {
			return c, nil
		}
	}
	return outbox.Cursor{}, apierr.InvalidField("cursor", apierr.Format, "is not one that this log gave out to this company; start again without it")
}
