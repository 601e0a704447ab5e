package codes

import (
	"context"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// Codes of the demo company's own.
const (
	DemoChannel = "instagram"
	DemoMethod  = "locker"
)

// Demo creates the channels and methods of delivery of the demo company.
func (s *Service) Demo(ctx context.Context, tx *db.Tx, by access.Caller) error {
	for _, in := range []Fields{{DemoChannel, "Instagram", true}, {"marketplace", "Marketplace", true}} {
		if _, err := s.Channels().Create(ctx, tx, by, in); err != nil {
			return err
		}
	}
	_, err := s.DeliveryMethods().Create(ctx, tx, by, Fields{DemoMethod, "Parcel locker", true})
	return err
}
