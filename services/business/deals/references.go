package deals

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/document"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
)

// resolve reads all records that the deal refers to and did not before, and the items of new lines.
func (s *Service) resolve(ctx context.Context, q db.Querier, before, d *Deal, items []LineInput) (document.Found, error) {
	refs := document.References{Items: lineitem.Refs(items), Taxes: lineitem.TaxRates(items)}
	refs.Client("clientId", before.ClientID, d.ClientID)
	refs.Address(before.AddressID, d.AddressID)
	refs.Add("ASSET", "assetId", before.AssetID, d.AssetID, s.cfg.Assets)
	refs.Add("LEAD_SOURCE", "sourceId", before.SourceID, d.SourceID, activeSources)
	refs.Add("USER", "assignedToId", before.AssignedToID, d.AssignedToID, s.cfg.Users.KnownUsers)
	others := append(s.cfg.Channels(d.CompanyID, "channel", before.Channel, d.Channel), table.NotTaken(before, d))
	return s.sources.Load(ctx, q, d.CompanyID, refs, others...)
}

const sqlSelectActiveSources = `SELECT id FROM lead_sources WHERE company_id = $1 AND id = ANY($2::UUID[]) AND is_active`

// activeSources is a [reference.Known] of the sources that can be chosen.
func activeSources(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) ([]uuid.UUID, error) {
	return db.Collect(ctx, q, "look up sources", pgx.RowTo[uuid.UUID], sqlSelectActiveSources, company, ids)
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

// build makes the lines of new items. before are the lines so far, which keep their prices and costs unless they are to be priced anew.
func build(found *document.Found, before []Line, items []LineInput, reprice bool) ([]Line, error) {
	b := lineitem.Builder{Items: found.Items, Prices: found.Prices, Taxes: found.Taxes, Had: lineitem.Of(before), Reprice: reprice}
	tiers, err := lineitem.Build(b, items, func(in LineInput, l lineitem.Line, had int) Line {
		out := Line{Line: l, LineFields: in.LineFields}
		if ref, ok := in.Ref(); ok {
			out.UnitCost = found.Items[ref].Cost
		}
		if had >= 0 {
			out.UnitCost = before[had].UnitCost
		}
		if in.UnitCost != nil {
			out.UnitCost = *in.UnitCost
		}
		return out
	})
	return lineitem.KeepIDs(before, tiers), err
}

// OfClient gives the deals of a client to the one that it is merged into.
func OfClient() document.Follow { return document.FollowIn("deals", "client_id") }
