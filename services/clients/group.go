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

// Group is a set of clients that a price list applies to.
type Group struct {
	record.Key
	GroupFields
	record.Meta
}

// GroupFields are what the console sets.
type GroupFields struct {
	Name        string     `json:"name" required:"true" minLength:"1" maxLength:"255"`
	PriceListID *uuid.UUID `json:"priceListId" format:"uuid"`
}

// GroupItem is a group as the API shows it.
type GroupItem struct {
	ID          uuid.UUID  `json:"id" format:"uuid"`
	Name        string     `json:"name"`
	PriceListID *uuid.UUID `json:"priceListId" format:"uuid"`
}

// PriceList is a set of prices of its own.
type PriceList struct {
	record.Key
	PriceListFields
	record.Meta
}

// PriceListFields are what the console sets.
type PriceListFields struct {
	Name string `json:"name" required:"true" minLength:"1" maxLength:"255"`
}

// PriceListItem is a price list as the API shows it.
type PriceListItem struct {
	ID   uuid.UUID `json:"id" format:"uuid"`
	Name string    `json:"name"`
}

var (
	groups     = resource.Of[Group]("client_groups", "CLIENT_GROUP")
	priceLists = resource.Of[PriceList]("price_lists", "PRICE_LIST")
)

const sqlSelectGroups = `SELECT id, name, price_list_id FROM client_groups WHERE company_id = $1 ORDER BY name, id`

// Groups lists the groups of the company by name.
func (s *Service) Groups(ctx context.Context, by access.Caller) ([]GroupItem, error) {
	rows, err := s.db.Query(ctx, sqlSelectGroups, by.Company)
	if err != nil {
		return nil, fmt.Errorf("select client groups: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[GroupItem])
}

const sqlSelectPriceLists = `SELECT id, name FROM price_lists WHERE company_id = $1 ORDER BY name, id`

// PriceLists lists the price lists of the company by name.
func (s *Service) PriceLists(ctx context.Context, by access.Caller) ([]PriceListItem, error) {
	rows, err := s.db.Query(ctx, sqlSelectPriceLists, by.Company)
	if err != nil {
		return nil, fmt.Errorf("select price lists: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[PriceListItem])
}

// CreateGroup adds a group; an unknown price list is 404.
func (s *Service) CreateGroup(ctx context.Context, tx *db.Tx, by access.Caller, in GroupFields) (Group, error) {
	var refs reference.Set
	refs.Add("PRICE_LIST", "priceListId", nil, in.PriceListID, priceLists.Known)
	if err := refs.Check(ctx, tx, by.Company); err != nil {
		return Group{}, err
	}
	return groups.Create(ctx, tx, by, Group{GroupFields: in})
}

// CreatePriceList adds a price list.
func (s *Service) CreatePriceList(ctx context.Context, tx *db.Tx, by access.Caller, in PriceListFields) (PriceList, error) {
	return priceLists.Create(ctx, tx, by, PriceList{PriceListFields: in})
}
