// Package record holds the fields that every mutable record has (key, version, event position, timestamps) and derives
// columns, snapshots and patches from the fields of a struct.
//
// A record embeds [Key], the struct of the fields that clients write, and [Meta]. [PlanOf] reads the tags of a struct once: json names a
// field, db its column if that differs ("-" = none), search says that a list finds it by its text or as a phone number. A [Patch] is the body of a
// change; [Plan.Snapshot] keeps a record before one and tells what differs after. Package resource builds on both; few others need this
// package for more than [NewID], [Meta] and Patch.
package record

import (
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
)

// Meta is embedded in records; its columns are version, ev_pos, created_at, updated_at.
type Meta struct {
	Version   int64         `json:"version" minimum:"1" doc:"incremented by every change; the value of ETag"`
	CreatedAt jsontype.Time `json:"createdAt"`
	UpdatedAt jsontype.Time `json:"updatedAt"`
	EvPos     int64         `json:"-"`
}

// New returns the Meta of a record created at now.
func New(now time.Time) Meta {
	return Meta{Version: 1, CreatedAt: jsontype.At(now), UpdatedAt: jsontype.At(now), EvPos: now.UnixMicro()}
}

// Touch records a change at now. The position increases even if the clocks of nodes disagree.
func (m *Meta) Touch(now time.Time) {
	m.Version++
	m.UpdatedAt = jsontype.At(now)
	m.EvPos = max(m.EvPos+1, now.UnixMicro())
}

// RecordMeta returns the meta of a record that embeds it.
func (m *Meta) RecordMeta() *Meta { return m }

// RecordVersion is the version used as the ETag.
func (m Meta) RecordVersion() int64 { return m.Version }

// Targets returns the scan destinations of the columns version, ev_pos, created_at, updated_at.
func (m *Meta) Targets() []any { return []any{&m.Version, &m.EvPos, &m.CreatedAt, &m.UpdatedAt} }

// NewID returns the id of a new record, a UUIDv7, so that records are stored in order of creation.
func NewID() uuid.UUID { return uuid.Must(uuid.NewV7()) }

// IDsBetween are the bounds of the ids that were made from one time to the other, to the millisecond. No id is
// of a time before 1970.
func IDsBetween(from, to time.Time) (low, high uuid.UUID) {
	high = uuid.Max
	first, last := max(0, from.UnixMilli()), max(0, to.UnixMilli())
	for i := range 6 {
		low[i], high[i] = byte(first>>(40-8*i)), byte(last>>(40-8*i))
	}
	return low, high
}

// TimeOf is the time at which an id was made, to the millisecond.
func TimeOf(id uuid.UUID) time.Time {
	seconds, nanos := id.Time().UnixTime()
	return time.Unix(seconds, nanos).UTC().Truncate(time.Millisecond)
}

// Same reports whether two optional values are equal.
func Same[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// OrZero returns an optional value; the zero value stands for none.
func OrZero[T any](p *T) (v T) {
	if p != nil {
		return *p
	}
	return v
}

// One scans a row into a record with the destinations of targets. If there is no row, it returns the 404 of the entity,
// such as ORDER.
func One[T any](row pgx.Row, targets func(*T) []any, entity string, id uuid.UUID) (v T, err error) {
	err = row.Scan(targets(&v)...)
	if errors.Is(err, pgx.ErrNoRows) {
		return v, apierr.NotFound(entity, id.String())
	}
	if err != nil {
		return v, fmt.Errorf("select %s: %w", entity, err)
	}
	return v, nil
}
