package demodata

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/business/catalog"
	"github.com/tradegrid/tradegrid/services/business/files"
)

// good is a product or a variant as it is sold.
type good struct {
	product uuid.UUID
	variant *uuid.UUID
	price   money.Amount
	cost    money.Amount
	stock   int64 // pieces delivered to the shop
	left    int64 // of them, not yet sold
	reorder int64
	from    int // supplier
}

// axes are the attributes that distinguish variants, with their options.
type axes map[string]axis

type axis struct {
	attribute uuid.UUID
	options   map[string]uuid.UUID
}

func (s *shop) makeCatalog(ctx context.Context) error {
	var all axes
	err := s.setup.tx(ctx, "categories", func(ctx context.Context, tx *db.Tx) error {
		for i, c := range categoryTable {
			in := catalog.CategoryFields{CategoryCard: catalog.CategoryCard{Name: c.name, Icon: c.icon, Color: &c.color, SortOrder: int32(i * 10)}}
			if c.prefix != "" {
				in.Prefix = &c.prefix
			}
			if c.parent != "" {
				in.ParentID = new(s.categories[c.parent])
			}
			made, err := s.setup.Catalog.CreateCategory(ctx, tx, s.cfg.Office, in)
			if err != nil {
				return err
			}
			s.categories[c.name] = made.ID
		}
		var err error
		all, err = s.makeAttributes(ctx, tx)
		return err
	})
	if err != nil {
		return err
	}
	for from := 0; from < len(productTable); from += perTx {
		var goods []*good
		painted := map[string][]files.File{}
		for i, p := range productTable[from:min(from+perTx, len(productTable))] {
			var err error
			if painted[p.name], err = s.paint(ctx, from+i, p); err != nil {
				return err
			}
		}
		if err := s.setup.tx(ctx, "products", func(ctx context.Context, tx *db.Tx) error {
			goods = nil
			for _, p := range productTable[from:min(from+perTx, len(productTable))] {
				photos, err := s.keep(ctx, tx, painted[p.name])
				if err != nil {
					return err
				}
				made, err := s.makeProduct(ctx, tx, all, p, photos)
				if err != nil {
					return err
				}
				goods = append(goods, made...)
			}
			return nil
		}); err != nil {
			return err
		}
		s.goods = append(s.goods, goods...)
		s.setup.tick()
	}
	s.described = len(s.goods)
	return s.makeRange(ctx)
}

func (s *shop) makeAttributes(ctx context.Context, tx *db.Tx) (axes, error) {
	all := axes{}
	for i, a := range attributeTable {
		in := catalog.AttributeFields{
			Code: &a.code, Name: a.name, NameI18n: map[string]string{"de": a.german}, Type: a.kind, IsVariant: a.options != nil,
			IsPrimary: i == 0, IsFilterable: true, SortOrder: int32(i),
		}
		if a.unit != "" {
			in.Unit = &a.unit
		}
		made, err := s.setup.Catalog.CreateAttribute(ctx, tx, s.cfg.Office, in)
		if err != nil {
			return nil, err
		}
		one := axis{made.ID, map[string]uuid.UUID{}}
		for j, o := range a.options {
			in := catalog.AttributeOptionFields{Label: o.label, LabelI18n: map[string]string{"de": o.german}, SortOrder: int32(j)}
			if o.color != "" {
				in.Color = &o.color
			}
			option, err := s.setup.Catalog.CreateAttributeOption(ctx, tx, s.cfg.Office, made.ID, in)
			if err != nil {
				return nil, err
			}
			one.options[o.label] = option.ID
		}
		all[a.code] = one
	}
	return all, nil
}

func (s *shop) makeProduct(ctx context.Context, tx *db.Tx, all axes, p product, photos []uuid.UUID) ([]*good, error) {
	made, err := s.setup.Catalog.CreateProduct(ctx, tx, s.cfg.Office, catalog.ProductInput{
		ProductFields: catalog.ProductFields{
			Name: p.name, NameI18n: map[string]string{"de": p.german}, Description: &p.about, Brand: &p.brand, CategoryID: new(s.categories[p.category]),
			Price: p.price, Cost: p.cost, TaxRateID: &s.taxRate, HasStock: true, DefaultSupplierID: &s.suppliers[p.supplier], Emoji: &p.emoji,
			PhotoFileIDs: photos,
		},
		Attributes: p.values(all),
	})
	if err != nil {
		return nil, err
	}
	sold := good{product: made.ID, price: p.price, cost: p.cost, stock: p.stock, left: p.stock, reorder: p.reorder, from: p.supplier}
	if p.axis == "" {
		return []*good{&sold}, nil
	}
	var goods []*good
	for i, label := range p.labels {
		in := catalog.VariantInput{VariantFields: catalog.VariantFields{Name: new(p.name + ", " + label), SortOrder: int32(i)}}
		in.Attributes = []catalog.ProductAttributeValueInput{{AttributeID: all[p.axis].attribute, OptionID: new(all[p.axis].options[label])}}
		v, err := s.setup.Catalog.CreateProductVariant(ctx, tx, s.cfg.Office, made.ID, in)
		if err != nil {
			return nil, err
		}
		one := sold
		one.variant = &v.ID
		goods = append(goods, &one)
	}
	return goods, nil
}

// values are the attributes that all variants of the product have in common.
func (p product) values(all axes) []catalog.ProductAttributeValueInput {
	var values []catalog.ProductAttributeValueInput
	if p.wheel > 0 {
		values = append(values, catalog.ProductAttributeValueInput{AttributeID: all["wheel_size"].attribute, ValueNumber: new(money.Units(p.wheel))})
	}
	if p.weight > 0 {
		values = append(values, catalog.ProductAttributeValueInput{AttributeID: all["weight"].attribute, ValueNumber: new(money.Qty(p.weight))})
	}
	return values
}
