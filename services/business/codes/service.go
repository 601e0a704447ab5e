// Package codes manages the directories whose entries documents name by a code: the channels that orders, deals and sales come by, and the
// methods that orders are delivered by. The codes of the specification are built in; a company adds its own. No entry is ever
// deleted: documents that have its code keep it.
package codes

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// Service manages the directories of all companies.
type Service struct{ db *db.DB }

// New returns a service.
func New(d *db.DB) *Service { return &Service{d} }

// Of is one of the directories.
type Of struct {
	*Directory
	db *db.DB
}

// Channels is the directory of channels.
func (s *Service) Channels() Of { return Of{channels, s.db} }

// DeliveryMethods is the directory of methods of delivery.
func (s *Service) DeliveryMethods() Of { return Of{methods, s.db} }

// List returns the built-in entries, followed by those of the company sorted by code.
func (o Of) List(ctx context.Context, by access.Caller) ([]Entry, error) {
	own, err := db.Collect(ctx, o.db, "select directory", pgx.RowToStructByPos[Entry], o.sqlSelect, by.Company)
	if err != nil {
		return nil, err
	}
	return slices.Concat(o.builtIn, own), nil
}

// Create adds an entry to the company's. A code in use, built-in ones included, is a 409.
func (o Of) Create(ctx context.Context, tx *db.Tx, by access.Caller, in Fields) (Record, error) {
	if slices.ContainsFunc(o.builtIn, func(e Entry) bool { return e.Code == in.Code }) {
		return Record{}, o.errTaken()
	}
	var n int
	if err := tx.QueryRow(ctx, o.sqlCount, by.Company).Scan(&n); err != nil {
		return Record{}, fmt.Errorf("count entries: %w", err)
	}
	if n >= maxEntries {
		return Record{}, apierr.StateConflict(o.entity+"_LIMIT_REACHED", "a company has at most %d of its own; change one that is no longer used", maxEntries).With("limit", maxEntries)
	}
	return o.table.Create(ctx, tx, by, Record{Fields: in})
}

// Update changes an entry, but not its code, which documents are stored with.
func (o Of) Update(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in record.Patch[Fields]) (Record, error) {
	return o.table.Change(ctx, tx, by, id, func(before Record, v *Record) error {
		in.Apply(&v.Fields)
		if v.Code != before.Code {
			return apierr.StateConflict(o.entity+"_CODE_FIXED", "code: an entry keeps its code, because documents are stored with it; create another one")
		}
		return nil
	})
}
