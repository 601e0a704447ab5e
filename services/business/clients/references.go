package clients

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
)

// nameAssigned fills in the names of the assigned users.
func nameAssigned[T any](ctx context.Context, s *Service, company tenant.ID, items []T, assigned func(*T) (*uuid.UUID, **string)) error {
	names := reference.Names(s.cfg.Users.UserNames)
	return names.Fill(company, len(items), func(i int) (*uuid.UUID, **string) { return assigned(&items[i]) })(ctx, s.cfg.DB)
}

// checkReferences returns an error if a referenced record does not exist in the company.
func (s *Service) checkReferences(ctx context.Context, q db.Querier, company tenant.ID, before, c Card) error {
	var refs reference.Set
	refs.Add("USER", "assignedToId", before.AssignedToID, c.AssignedToID, s.cfg.Users.KnownUsers)
	refs.Add("CLIENT_GROUP", "groupId", before.GroupID, c.GroupID, groups.Known)
	refs.Add("PRICE_LIST", "priceListId", before.PriceListID, c.PriceListID, priceLists.Known)
	return refs.Check(ctx, q, company)
}
