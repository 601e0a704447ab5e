package clients

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

// Named reads a client for what other domains send it; nil = there is none with the id.
func (s *Service) Named(ctx context.Context, company tenant.ID, id uuid.UUID) (*Client, error) {
	c, err := table.Get(ctx, s.cfg.DB, company, id)
	if apierr.Is(err, "CLIENT_NOT_FOUND") {
		return nil, nil //nolint:nilnil // there is none
	}
	return &c, err
}
