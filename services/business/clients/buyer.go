package clients

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/business/document"
)

// Buyer reads a client as invoices name it; found is false if there is none with the id.
func (s *Service) Buyer(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID) (b document.Buyer, found bool, err error) {
	c, err := table.Get(ctx, q, company, id)
	if apierr.Is(err, "CLIENT_NOT_FOUND") {
		return document.Buyer{}, false, nil
	}
	if err != nil {
		return document.Buyer{}, false, err
	}
	b = document.Buyer{Name: c.DisplayName, Address: c.LegalAddress, INN: c.INN, KPP: c.KPP, Email: c.Email, PaymentTermsDays: c.PaymentTermsDays}
	if c.Kind == "legal" && c.CompanyName != nil {
		b.Name = *c.CompanyName
	}
	return b, true, nil
}
