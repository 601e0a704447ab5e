// Package notes manages the notes of a company.
package notes

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// Config holds the dependencies of the service.
type Config struct{ DB *db.DB }

// Service manages the notes of all companies.
type Service struct{ db *db.DB }

// New returns a service.
func New(cfg Config) *Service { return &Service{db: cfg.DB} }

// List returns a page of notes.
func (s *Service) List(ctx context.Context, by access.Caller, f Filter) (*list.Page[Note], error) {
	return items.Page(ctx, s.db, by.Company, f)
}

// Create creates a note.
func (s *Service) Create(ctx context.Context, tx *db.Tx, by access.Caller, in Fields) (Note, error) {
	return table.Create(ctx, tx, by, Note{Fields: in}, created)
}

// Update changes a note. If nothing differs, there is no new version.
func (s *Service) Update(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in record.Patch[Fields]) (Note, error) {
	return table.Change(ctx, tx, by, id, func(_ Note, v *Note) error { in.Apply(&v.Fields); return nil })
}

// Delete deletes a note.
func (s *Service) Delete(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) error {
	return table.Delete(ctx, tx, by, id, nil)
}

// Demo creates the note of the demo company.
func (s *Service) Demo(ctx context.Context, tx *db.Tx, by access.Caller) error {
	_, err := s.Create(ctx, tx, by, Fields{Title: "Order new brake pads"})
	return err
}
