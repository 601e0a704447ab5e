package clients

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/record"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

const maxName = 255

// Group is a set of clients that a price list applies to.
type Group struct {
	ID          uuid.UUID  `json:"id" format:"uuid"`
	Name        string     `json:"name"`
	PriceListID *uuid.UUID `json:"priceListId" format:"uuid" nullable:"true"`
}

// PriceList is a set of prices of its own.
type PriceList struct {
	ID   uuid.UUID `json:"id" format:"uuid"`
	Name string    `json:"name"`
}

// Groups lists the groups of the company by name.
func (s *Service) Groups(ctx context.Context, company tenant.ID) ([]Group, error) {
	rows, err := s.db.Query(ctx, sqlSelectGroups, company)
	if err != nil {
		return nil, fmt.Errorf("select client groups: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Group])
}

// PriceLists lists the price lists of the company by name.
func (s *Service) PriceLists(ctx context.Context, company tenant.ID) ([]PriceList, error) {
	rows, err := s.db.Query(ctx, sqlSelectPriceLists, company)
	if err != nil {
		return nil, fmt.Errorf("select price lists: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[PriceList])
}

// CreateGroup adds a group; an unknown price list is 404. The console and the demo data call it.
func (s *Service) CreateGroup(ctx context.Context, tx *db.Tx, company tenant.ID, name string, priceListID *uuid.UUID) (Group, error) {
	g := Group{ID: record.NewID(), Name: strings.TrimSpace(name), PriceListID: priceListID}
	if err := checkName(g.Name); err != nil {
		return Group{}, err
	}
	if err := s.checkReferences(ctx, tx, company, references{priceList: priceListID}); err != nil {
		return Group{}, err
	}
	m := record.New(s.now())
	tx.Queue(sqlInsertGroup, company, g.ID, g.Name, g.PriceListID, m.Version, m.EvPos, m.CreatedAt, m.UpdatedAt)
	return g, nil
}

// CreatePriceList adds a price list. The console and the demo data call it.
func (s *Service) CreatePriceList(_ context.Context, tx *db.Tx, company tenant.ID, name string) (PriceList, error) {
	p := PriceList{ID: record.NewID(), Name: strings.TrimSpace(name)}
	if err := checkName(p.Name); err != nil {
		return PriceList{}, err
	}
	m := record.New(s.now())
	tx.Queue(sqlInsertPriceList, company, p.ID, p.Name, m.Version, m.EvPos, m.CreatedAt, m.UpdatedAt)
	return p, nil
}

func checkName(name string) error {
	var faults fault.Fields
	if n := utf8.RuneCountInString(name); n == 0 || n > maxName {
		faults.Add("name", fault.Length, "must have 1 to %d characters, has %d", maxName, n)
	}
	return faults.Err()
}
