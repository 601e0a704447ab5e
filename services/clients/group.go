package clients

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/record"
	"github.com/tradegrid/tradegrid/pkg/reference"
	"github.com/tradegrid/tradegrid/pkg/resource"
)

// GroupRecord is a group of clients with a price list.
type GroupRecord struct {
	record.Key
	GroupFields
	record.Meta
}

// GroupFields are the fields that the console sets.
type GroupFields struct {
	Name        string     `json:"name" required:"true" minLength:"1" maxLength:"255"`
	PriceListID *uuid.UUID `json:"priceListId" format:"uuid"`
}

// Group is a client group in API responses.
type Group struct {
	ID          uuid.UUID  `json:"id" format:"uuid"`
	Name        string     `json:"name"`
	PriceListID *uuid.UUID `json:"priceListId" format:"uuid"`
}

// PriceListRecord is a price list.
type PriceListRecord struct {
	record.Key
	PriceListFields
	record.Meta
}

// PriceListFields are the fields that the console sets.
type PriceListFields struct {
	Name string `json:"name" required:"true" minLength:"1" maxLength:"255"`
}

// PriceList is a price list in API responses.
type PriceList struct {
	ID   uuid.UUID `json:"id" format:"uuid"`
	Name string    `json:"name"`
}

var (
	groups     = resource.Of[GroupRecord]("client_groups", "CLIENT_GROUP")
	priceLists = resource.Of[PriceListRecord]("price_lists", "PRICE_LIST")
)

const sqlSelectGroups = `SELECT id, name, price_list_id FROM client_groups WHERE company_id = $1 ORDER BY name, id`

// Groups returns the client groups of the company, sorted by name.
func (s *Service) Groups(ctx context.Context, by access.Caller) ([]Group, error) {
	rows, err := s.db.Query(ctx, sqlSelectGroups, by.Company)
	if err != nil {
		return nil, fmt.Errorf("select client groups: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Group])
}

const sqlSelectPriceLists = `SELECT id, name FROM price_lists WHERE company_id = $1 ORDER BY name, id`

// PriceLists returns the price lists of the company, sorted by name.
func (s *Service) PriceLists(ctx context.Context, by access.Caller) ([]PriceList, error) {
	rows, err := s.db.Query(ctx, sqlSelectPriceLists, by.Company)
	if err != nil {
		return nil, fmt.Errorf("select price lists: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[PriceList])
}

// CreateGroup creates a group. An unknown price list is 404.
func (s *Service) CreateGroup(ctx context.Context, tx *db.Tx, by access.Caller, in GroupFields) (GroupRecord, error) {
	var refs reference.Set
	refs.Add("PRICE_LIST", "priceListId", nil, in.PriceListID, priceLists.Known)
	if err := refs.Check(ctx, tx, by.Company); err != nil {
		return GroupRecord{}, err
	}
	return groups.Create(ctx, tx, by, GroupRecord{GroupFields: in})
}

// CreatePriceList creates a price list.
func (s *Service) CreatePriceList(ctx context.Context, tx *db.Tx, by access.Caller, in PriceListFields) (PriceListRecord, error) {
	return priceLists.Create(ctx, tx, by, PriceListRecord{PriceListFields: in})
}
