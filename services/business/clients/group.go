package clients

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
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

const sqlSelectGroups = `SELECT id, name, price_list_id FROM client_groups WHERE company_id = $1 ORDER BY name COLLATE und, id`

// Groups returns the client groups of the company, sorted by name.
func (s *Service) Groups(ctx context.Context, by access.Caller) ([]Group, error) {
	return db.Collect(ctx, s.cfg.DB, "select client groups", pgx.RowToStructByPos[Group], sqlSelectGroups, by.Company)
}

const sqlSelectPriceLists = `SELECT id, name FROM price_lists WHERE company_id = $1 ORDER BY name COLLATE und, id`

// PriceLists returns the price lists of the company, sorted by name.
func (s *Service) PriceLists(ctx context.Context, by access.Caller) ([]PriceList, error) {
	return db.Collect(ctx, s.cfg.DB, "select price lists", pgx.RowToStructByPos[PriceList], sqlSelectPriceLists, by.Company)
}

// CreateGroup creates a group. An unknown price list is 404.
func (s *Service) CreateGroup(ctx context.Context, tx *db.Tx, by access.Caller, in GroupFields) (GroupRecord, error) {
	if err := checkPriceList(ctx, tx, by, nil, in.PriceListID); err != nil {
		return GroupRecord{}, err
	}
	return groups.Create(ctx, tx, by, GroupRecord{GroupFields: in})
}

// UpdateGroup changes a group. An unknown price list is 404.
func (s *Service) UpdateGroup(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in record.Patch[GroupFields]) (GroupRecord, error) {
	if in.Value.PriceListID != nil {
		tx.ReadsMore()
	}
	return groups.Change(ctx, tx, by, id, func(before GroupRecord, g *GroupRecord) error {
		in.Apply(&g.GroupFields)
		return checkPriceList(ctx, tx, by, before.PriceListID, g.PriceListID)
	})
}

// DeleteGroup deletes a group that no client belongs to.
func (s *Service) DeleteGroup(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) error {
	tx.ReadsMore()
	return groups.Delete(ctx, tx, by, id, func(GroupRecord) error {
		n, err := count(ctx, tx, sqlCountGroupClients, by, id)
		if err == nil && n > 0 {
			err = apierr.StateConflict("CLIENT_GROUP_IN_USE", "%d clients belong to the group; assign them to another group first", n).With("clients", n)
		}
		return err
	})
}

// CreatePriceList creates a price list.
func (s *Service) CreatePriceList(ctx context.Context, tx *db.Tx, by access.Caller, in PriceListFields) (PriceListRecord, error) {
	return priceLists.Create(ctx, tx, by, PriceListRecord{PriceListFields: in})
}

// UpdatePriceList changes a price list.
func (s *Service) UpdatePriceList(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in record.Patch[PriceListFields]) (PriceListRecord, error) {
	return priceLists.Change(ctx, tx, by, id, func(_ PriceListRecord, l *PriceListRecord) error { in.Apply(&l.PriceListFields); return nil })
}

// DeletePriceList deletes a price list that no client and no group has, with its prices.
func (s *Service) DeletePriceList(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) error {
	tx.ReadsMore()
	return priceLists.Delete(ctx, tx, by, id, func(PriceListRecord) error {
		clients, err := count(ctx, tx, sqlCountListClients, by, id)
		if err != nil {
			return err
		}
		groups, err := count(ctx, tx, sqlCountListGroups, by, id)
		if err == nil && clients+groups > 0 {
			err = apierr.StateConflict("PRICE_LIST_IN_USE", "%d clients and %d groups have the price list; assign them another one first", clients, groups).
				With("clients", clients).With("groups", groups)
		}
		removePrices(tx, by.Company, id)
		return err
	})
}

const (
	sqlCountGroupClients = `SELECT count(*) FROM clients WHERE company_id = $1 AND group_id = $2`
	sqlCountListClients  = `SELECT count(*) FROM clients WHERE company_id = $1 AND price_list_id = $2`
	sqlCountListGroups   = `SELECT count(*) FROM client_groups WHERE company_id = $1 AND price_list_id = $2`
)

// count counts the records that refer to a group or price list.
func count(ctx context.Context, tx *db.Tx, sql string, by access.Caller, id uuid.UUID) (n int64, err error) {
	if err = tx.QueryRow(ctx, sql, by.Company, id).Scan(&n); err != nil {
		return 0, fmt.Errorf("count references: %w", err)
	}
	return n, nil
}

// checkPriceList returns a 404 if the new price list of a group does not exist.
func checkPriceList(ctx context.Context, tx *db.Tx, by access.Caller, before, now *uuid.UUID) error {
	var refs reference.Set
	refs.Add("PRICE_LIST", "priceListId", before, now, priceLists.Known)
	return refs.Check(ctx, tx, by.Company)
}
