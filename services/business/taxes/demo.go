package taxes

import (
	"context"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

//nolint:gochecknoglobals // a constant
var demo = []Fields{
	{Name: "VAT 19 %", Percent: 1900, Kind: "standard", IsActive: true},
	{Name: "VAT 7 %", Percent: 700, Kind: "reduced", IsActive: true},
}

// Demo creates the tax rates of the demo company.
func (s *Service) Demo(ctx context.Context, tx *db.Tx, by access.Caller) error {
	for _, in := range demo {
		if _, err := s.Create(ctx, tx, by, in); err != nil {
			return err
		}
	}
	return nil
}
