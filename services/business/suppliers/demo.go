package suppliers

import (
	"context"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

//nolint:gochecknoglobals // a constant
var demo = []Fields{
	{
		Name:        "Nordpedal Wholesale",
		ContactName: new("Hanna Corvane"), Phone: new("+49 40 66969 201"), Email: new("orders@nordpedal.example"), Address: new("Deichtor 4, 20095 Hamburg"), Note: new("Delivers on Tuesdays"),
	},
	{
		Name:        "Alpinox Bikes",
		ContactName: new("Jonas Hollmere"), Phone: new("+49 89 99998 310"), Email: new("dealer@alpinox.example"), Address: new("Bergweg 12, 80331 Munich"),
	},
	{
		Name:        "Rollgrip Parts",
		ContactName: new("Mia Dellmark"), Phone: new("+49 30 23125 440"), Email: new("sales@rollgrip.example"), Address: new("Gewerbehof 7, 12099 Berlin"), Note: new("Free delivery from 250 EUR"),
	},
	{
		Name:        "Kettwerk Components",
		ContactName: new("Paul Grauberg"), Phone: new("+49 221 4710 155"), Email: new("b2b@kettwerk.example"), Address: new("Rheinallee 31, 50668 Cologne"),
	},
	{
		Name:        "Wetterfest Outdoor",
		ContactName: new("Lea Eastergard"), Phone: new("+49 69 90009 620"), Email: new("trade@wetterfest.example"), Address: new("Messering 2, 60327 Frankfurt"),
	},
}

// Demo creates the suppliers of the demo company.
func (s *Service) Demo(ctx context.Context, tx *db.Tx, by access.Caller) error {
	for _, in := range demo {
		if _, err := s.Create(ctx, tx, by, in); err != nil {
			return err
		}
	}
	return nil
}
