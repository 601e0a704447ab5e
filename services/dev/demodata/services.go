package demodata

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/business/servicecatalog"
)

// job is a service of the workshop.
type job struct {
	id      uuid.UUID
	name    string
	price   money.Amount
	minutes int32
	fitting bool // in the studio, not in the workshop
}

//nolint:gochecknoglobals // constants
var jobTable = []struct {
	name, german, model string
	price               money.Amount
	minutes             int32
	costs               []servicecatalog.OfferingCostItemInput
}{
	{"Safety check", "Sicherheitscheck", "fixed", 2900, 30, labour(30)},
	{"Small service", "Kleine Wartung", "fixed", 5900, 60, labour(50)},
	{"Full service", "Große Wartung", "fixed", 11900, 90, append(labour(85), servicecatalog.OfferingCostItemInput{Label: "Grease and cables", UnitCost: 900})},
	{"Puncture repair", "Reifenpanne", "fixed", 1900, 30, append(labour(20), servicecatalog.OfferingCostItemInput{Label: "Inner tube", UnitCost: 240})},
	{"Brake service", "Bremsenservice", "fixed", 4500, 60, labour(45)},
	{"Wheel truing", "Laufrad zentrieren", "per_item", 2400, 30, labour(25)},
	{"E-bike diagnosis", "E-Bike-Diagnose", "fixed", 3900, 30, labour(25)},
	{"Workshop hour", "Werkstattstunde", "per_hour", 7200, 60, labour(60)},
	{fittingName, "Ergonomieberatung", "fixed", 14900, 90, labour(90)},
	{"Assembly of a new bicycle", "Endmontage", "fixed", 6900, 60, labour(60)},
}

// fittingName is the service that needs the studio.
const fittingName = "Bike fitting"

// labour is what the minutes of a mechanic cost.
func labour(minutes int64) []servicecatalog.OfferingCostItemInput {
	const perHour = 2600
	return []servicecatalog.OfferingCostItemInput{{Label: "Labour", UnitCost: money.Amount(perHour * minutes / 60)}}
}

func (s *shop) makeServices(ctx context.Context) error {
	return s.setup.tx(ctx, "services", func(ctx context.Context, tx *db.Tx) error {
		s.jobs = nil
		for _, j := range jobTable {
			made, err := s.setup.Offerings.Create(ctx, tx, s.cfg.Office, servicecatalog.OfferingInput{
				Fields: servicecatalog.Fields{
					Name: j.name, NameI18n: map[string]string{"de": j.german}, CategoryID: new(s.categories["Workshop"]),
					PriceModel: j.model, Price: j.price, TaxRateID: &s.taxRate, DurationMinutes: &j.minutes,
				},
				CostItems: j.costs,
			})
			if err != nil {
				return err
			}
			s.jobs = append(s.jobs, job{made.ID, j.name, j.price, j.minutes, j.name == fittingName})
		}
		return nil
	})
}
