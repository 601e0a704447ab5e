package demodata

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/business/catalog"
)

// series are the products of the large catalog: each comes in all models and sizes.
//
//nolint:gochecknoglobals // constants
var series = []struct {
	category, prefix, name, emoji string
	price                         money.Amount
	supplier                      int
}{
	{"Tyres and tubes", "TY", "Tyre", "🛞", 1990, 2},
	{"Brakes", "BR", "Brake pads", "🛑", 1290, 3},
	{"Drivetrain", "DT", "Chainring", "⚙️", 2790, 3},
	{"Lights", "LT", "Light", "💡", 2490, 2},
	{"Clothing", "CL", "Jersey", "👕", 3990, 4},
	{"Accessories", "AC", "Saddlebag", "👜", 1890, 4},
}

//nolint:gochecknoglobals // constants
var (
	seriesBrands = []string{"Rollgrip", "Haltfest", "Kettwerk", "Leuchtpfad", "Wetterfest", "Sattelweit", "Luftikus", "Alpinox"}
	seriesModels = []string{"Alba", "Brisa", "Cima", "Dorn", "Elba", "Fjord", "Gleam", "Havel", "Iller", "Jura", "Kiel", "Lahn"}
)

// perTx is how many records one transaction makes.
const perTx = 20

// makeRange makes the products of the large catalog, several series at a time.
func (s *shop) makeRange(ctx context.Context) error {
	each := s.scale.products / len(series)
	made := make([][]*good, len(series))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(lanes)
	for i := range series {
		g.Go(func() error {
			l := newLane(s.cfg)
			l.set(s.dayBefore())
			for from := 0; from < each; from += perTx {
				var batch []*good
				if err := l.tx(ctx, "products", func(ctx context.Context, tx *db.Tx) (err error) {
					batch, err = s.makeSeries(ctx, l, tx, i, from, min(from+perTx, each))
					return err
				}); err != nil {
					return err
				}
				made[i] = append(made[i], batch...)
				l.tick()
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for _, goods := range made {
		s.goods = append(s.goods, goods...)
	}
	return nil
}

func (s *shop) makeSeries(ctx context.Context, l *lane, tx *db.Tx, i, from, to int) ([]*good, error) {
	line := series[i]
	var made []*good
	for n := from; n < to; n++ {
		brand, model := seriesBrands[n%len(seriesBrands)], seriesModels[n/len(seriesBrands)%len(seriesModels)]
		price := line.price + money.Amount(n*n*31+n*170)%9000/10*10
		p, err := l.Catalog.CreateProduct(ctx, tx, s.cfg.Office, catalog.ProductInput{ProductFields: catalog.ProductFields{
			SKU:  fmt.Sprintf("%s-%05d", line.prefix, 10_001+n), // not a generated one, which would make the transactions wait for each other
			Name: fmt.Sprintf("%s %s %d", line.name, model, 100+n/(len(seriesBrands)*len(seriesModels))*10), Brand: &brand, Model: &model,
			CategoryID: new(s.categories[line.category]), Price: price, Cost: price * 55 / 100, HasStock: true,
			TaxRateID: &s.taxRate, DefaultSupplierID: &s.suppliers[line.supplier], Emoji: &line.emoji, External: elsewhere("webshop", fmt.Sprintf("%s-%d", line.prefix, n), "shelf", fmt.Sprint("R", n%12+1)),
		}})
		if err != nil {
			return nil, err
		}
		g := &good{product: p.ID, price: price, cost: price * 55 / 100, from: line.supplier}
		if n%5 < 2 { // the others can be ordered from the supplier
			g.stock = int64(10 + n%40)
			g.left = g.stock
		}
		made = append(made, g)
	}
	return made, nil
}
