package company

import (
	"context"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

// Enter returns an operator as a caller of a company, which may be archived. An unknown company is 404 COMPANY_NOT_FOUND.
func (s *Service) Enter(ctx context.Context, operator *access.Principal, id tenant.ID) (*access.Principal, error) {
	c, err := s.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	p := *operator
	p.Company, p.CompanyName, p.IsTest, p.Currency, p.CountryPrefix = c.ID, c.Name, c.IsTest, c.Currency, c.CountryPrefix
	p.Plan, p.Archived = c.Plan, c.Status == Archived
	p.Settings = access.Settings{StockPolicy: c.StockPolicy, AccrualPercentBP: int32(c.AccrualPercent), TimeZone: c.TimeZone}
	return &p, nil
}
