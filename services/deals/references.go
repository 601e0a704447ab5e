package deals

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/apierr"
	"github.com/tradegrid/tradegrid/pkg/batchloader"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/httpapi"
	"github.com/tradegrid/tradegrid/pkg/lineitem"
	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/record"
	"github.com/tradegrid/tradegrid/pkg/reference"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/trade"
)

// resolved holds the data of the records that a deal newly refers to.
type resolved struct {
	items   map[trade.ItemRef]trade.Item
	prices  map[trade.ItemRef]money.Amount
	client  *trade.Client
	address *string // label
}

// resolve reads all records that the deal refers to and did not before, and the items of new lines with the client that
// determines their prices. The first missing one is returned as a 404.
func (s *Service) resolve(ctx context.Context, q db.Querier, before, d *Deal, items []LineInput) (resolved, error) {
	var out resolved
	var reads []batchloader.Read
	refs, company := lineitem.Refs(items), d.CompanyID
	if d.ClientID != nil && (!samePtr(before.ClientID, d.ClientID) || len(refs) > 0) {
		reads = append(reads, func(ctx context.Context, q db.Querier) error {
			return s.resolveClient(ctx, q, company, *d.ClientID, refs, &out)
		})
	}
	if d.AddressID != nil && !samePtr(before.AddressID, d.AddressID) {
		reads = append(reads, func(ctx context.Context, q db.Querier) error {
			return s.resolveAddress(ctx, q, company, *d.AddressID, &out)
		})
	}
	var set reference.Set
	set.Add("ASSET", "assetId", before.AssetID, d.AssetID, s.cfg.Assets)
	set.Add("LEAD_SOURCE", "sourceId", before.SourceID, d.SourceID, activeSources)
	set.Add("USER", "assignedToId", before.AssignedToID, d.AssignedToID, s.cfg.Users.KnownUsers)
	reads = append(reads, set.Reads(company)...)
	if len(refs) > 0 {
		reads = append(reads, func(ctx context.Context, q db.Querier) (err error) {
			out.items, err = s.cfg.Catalog.OrderItems(ctx, q, company, refs)
			return err
		})
	}
	return out, batchloader.Load(ctx, q, reads...)
}

// resolveClient reads the client and, if the client has a price list, its prices.
func (s *Service) resolveClient(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID, refs []trade.ItemRef, out *resolved) error {
	c, found, err := s.cfg.Clients.DocumentClient(ctx, q, company, id, false)
	if err := missing(err, found, "CLIENT", "clientId", id); err != nil {
		return err
	}
	out.client = &c
	if c.PriceListID != nil && s.cfg.PriceLists != nil && len(refs) > 0 {
		out.prices, err = s.cfg.PriceLists.Prices(ctx, q, company, *c.PriceListID, refs)
	}
	return err
}

func (s *Service) resolveAddress(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID, out *resolved) (err error) {
	found, label := false, ""
	if s.cfg.Addresses != nil {
		label, found, err = s.cfg.Addresses.AddressLabel(ctx, q, company, id)
		out.address = &label
	}
	return missing(err, found, "ADDRESS", "addressId", id)
}

func missing(err error, found bool, entity, field string, id uuid.UUID) error {
	if err != nil || found {
		return err
	}
	return apierr.ReferenceNotFound(entity, field, id.String())
}

const sqlSelectActiveSources = `SELECT id FROM lead_sources WHERE company_id = $1 AND id = ANY($2::UUID[]) AND is_active`

// activeSources is a [reference.Known] of the sources that can be chosen.
func activeSources(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) ([]uuid.UUID, error) {
	rows, err := q.Query(ctx, sqlSelectActiveSources, company, ids)
	if err != nil {
		return nil, fmt.Errorf("look up sources: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
}

const sqlSelectSourceByAlias = `SELECT id FROM lead_sources WHERE company_id = $1 AND alias = $2 AND is_active`

// sourceByAlias returns the source with the alias, or nil.
func sourceByAlias(ctx context.Context, q db.Querier, company tenant.ID, alias string) (*uuid.UUID, error) {
	var id uuid.UUID
	err := q.QueryRow(ctx, sqlSelectSourceByAlias, company, alias).Scan(&id)
	if db.IsNoRows(err) {
		return nil, nil //nolint:nilnil // no such source
	}
	if err != nil {
		return nil, fmt.Errorf("find source by alias: %w", err)
	}
	return &id, nil
}

var (
	sqlSelectType     = "SELECT " + record.PlanOf[Type]().SelectList("") + " FROM deal_types WHERE company_id = $1 AND id = $2"
	sqlSelectLeadType = "SELECT " + record.PlanOf[Type]().SelectList("") + " FROM deal_types WHERE company_id = $1 AND is_lead_type AND is_active"
)

var errNoLeadType = apierr.StateConflict("DEAL_LEAD_TYPE_MISSING", "the company has no active deal type for leads; set typeId, or mark a type as the one for leads")

// typeForNew reads the type of a new deal with its stages. nil means the type for leads.
func (s *Service) typeForNew(ctx context.Context, q db.Querier, by access.Caller, id *uuid.UUID) (Type, error) {
	sql, args := sqlSelectLeadType, []any{by.Company}
	if id != nil {
		sql, args = sqlSelectType, []any{by.Company, *id}
	}
	var t Type
	err := q.QueryRow(ctx, sql, args...).Scan(record.PlanOf[Type]().Targets(&t)...)
	switch {
	case db.IsNoRows(err) && id == nil:
		return t, errNoLeadType
	case db.IsNoRows(err):
		return t, apierr.ReferenceNotFound("DEAL_TYPE", "typeId", id.String())
	case err != nil:
		return t, fmt.Errorf("select deal type: %w", err)
	case !by.Has(t.Component):
		return t, httpapi.ComponentInactive(t.Component)
	case !t.IsActive:
		return t, apierr.StateConflict("DEAL_TYPE_INACTIVE", "typeId: the deal type is not active; choose another").With("field", "typeId").With("id", t.ID)
	}
	t.Stages, err = selectStages(ctx, q, by.Company, t.ID)
	return t, err
}

// build makes the lines of new items. before are the lines so far, whose items may be hidden by now.
func (r *resolved) build(before []Line, items []LineInput) ([]Line, error) {
	b := lineitem.Builder{Items: r.items, Prices: r.prices, Known: lineitem.RefsOf(before)}
	return lineitem.Build(b, items, func(in LineInput, l lineitem.Line) Line {
		out := Line{Line: l, PerGuest: in.PerGuest, Note: in.Note}
		if ref, ok := in.Ref(); ok {
			out.UnitCost = r.items[ref].Cost
		}
		if in.UnitCost != nil {
			out.UnitCost = *in.UnitCost
		}
		return out
	})
}

// checkClient returns a 409 if the client that the deal newly has is archived.
func (r *resolved) checkClient(before, d *Deal) error {
	if r.client != nil && r.client.Archived && !samePtr(before.ClientID, d.ClientID) {
		return apierr.StateConflict("CLIENT_ARCHIVED", "the client is archived; restore the client or choose another").
			With("field", "clientId").With("id", d.ClientID)
	}
	return nil
}

// copyClient copies the selected contact data from a new client.
func (d *Deal) copyClient(c *trade.Client, name, phone, email bool) {
	if c == nil {
		return
	}
	if name {
		d.CustomerName = &c.DisplayName
	}
	if phone {
		d.CustomerPhone = c.Phone
	}
	if email {
		d.CustomerEmail = c.Email
	}
}
