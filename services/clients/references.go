package clients

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/reference"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// nameAssigned fills in the names of the assigned users.
func (s *Service) nameAssigned(ctx context.Context, company tenant.ID, items []ListItem) error {
	var ids []uuid.UUID
	for _, l := range items {
		if l.AssignedToID != nil && !slices.Contains(ids, *l.AssignedToID) {
			ids = append(ids, *l.AssignedToID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	names, err := s.users.UserNames(ctx, s.db, company, ids)
	if err != nil {
		return err
	}
	for i, l := range items {
		if l.AssignedToID == nil {
			continue
		}
		if name := names[*l.AssignedToID]; name != "" {
			items[i].AssignedToName = &name
		}
	}
	return nil
}

// checkReferences returns an error if a referenced record does not exist in the company.
func (s *Service) checkReferences(ctx context.Context, q db.Querier, company tenant.ID, before, c Card) error {
	var refs reference.Set
	refs.Add("USER", "assignedToId", before.AssignedToID, c.AssignedToID, s.users.KnownUsers)
	refs.Add("CLIENT_GROUP", "groupId", before.GroupID, c.GroupID, groups.Known)
	refs.Add("PRICE_LIST", "priceListId", before.PriceListID, c.PriceListID, priceLists.Known)
	return refs.Check(ctx, q, company)
}
