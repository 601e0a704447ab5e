// Package record holds what every mutable record of the platform has: a version that clients see,
// a position that keeps the events of the record in commit order, and the times of its first and last change.
package record

import (
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/wire"
)

// Meta is embedded in records; its columns are version, ev_pos, created_at, updated_at.
type Meta struct {
	Version   int64     `json:"version" minimum:"1" doc:"grows by 1 with every change; the ETag"`
	CreatedAt wire.Time `json:"createdAt"`
	UpdatedAt wire.Time `json:"updatedAt"`
	EvPos     int64     `json:"-"`
}

// New is the Meta of a record that is made at now.
func New(now time.Time) Meta {
	return Meta{Version: 1, CreatedAt: wire.At(now), UpdatedAt: wire.At(now), EvPos: now.UnixMicro()}
}

// Touch counts one change, made at now. The position grows even when the clocks of nodes disagree.
func (m *Meta) Touch(now time.Time) {
	m.Version++
	m.UpdatedAt = wire.At(now)
	m.EvPos = max(m.EvPos+1, now.UnixMicro())
}

// RecordMeta is the meta itself, which a record has by embedding it.
func (m *Meta) RecordMeta() *Meta { return m }

// RecordVersion is what the ETag shows.
func (m Meta) RecordVersion() int64 { return m.Version }

// Targets are the destinations of the columns version, ev_pos, created_at, updated_at.
func (m *Meta) Targets() []any { return []any{&m.Version, &m.EvPos, &m.CreatedAt, &m.UpdatedAt} }

// NewID returns the id of a new record: a UUIDv7, so that records lie in the order of their making.
func NewID() uuid.UUID { return uuid.Must(uuid.NewV7()) }

// Changes collects the names of changed fields for the event of a change.
type Changes []string

// If records the field when it changed.
func (c *Changes) If(changed bool, field string) {
	if changed {
		*c = append(*c, field)
	}
}

// One reads a record from a row whose columns targets gives. No row is the 404 of the entity, such as ORDER.
func One[T any](row pgx.Row, targets func(*T) []any, entity string, id uuid.UUID) (v T, err error) {
	err = row.Scan(targets(&v)...)
	if errors.Is(err, pgx.ErrNoRows) {
		return v, fault.NotFound(entity, id.String())
	}
	if err != nil {
		return v, fmt.Errorf("select %s: %w", entity, err)
	}
	return v, nil
}
