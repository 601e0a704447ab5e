package catalog

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/db"
)

func (s *Service) moveItems(ctx context.Context, tx *db.Tx, by access.Caller, c Category, to *uuid.UUID) error {
	return nil
}
