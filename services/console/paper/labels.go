package paper

import (
	"maps"
	"slices"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/catalog"
)

// Sizes of labels.
const (
	labelsA4   = "a4"   // 24 on a sheet: 3 columns of 8, each 70 × 37 mm
	labelsRoll = "roll" // one a page of a label printer, 58 × 40 mm
)

// onSheet is how many labels a sheet has.
const onSheet = 24

// maxLabels is how many labels are made at once.
const maxLabels = 480

// Label is what stands on a label of goods.
type Label struct {
	Name, Detail, Price string
	Code                *Code // nil = the label was used before, and is left out
}

// LabelSheet are labels that are printed on one page.
type LabelSheet struct {
	Size   string
	Labels []Label
}

// labelled are a product and those of its variants that get a label; without variants it gets one itself.
type labelled struct {
	product  catalog.Product
	variants []catalog.ProductVariant
}

// Labels are the labels of products, a number of each, after some of the first sheet that were used before.
func (w Writer) Labels(all []labelled, size, code string, copies, skip int) (sheets []LabelSheet, err error) {
	var labels []Label
	if size == labelsA4 {
		labels = make([]Label, skip)
	}
	for _, p := range all {
		of, err := w.labelsOf(p, code)
		if err != nil {
			return nil, err
		}
		for _, l := range of {
			for range copies {
				labels = append(labels, l)
			}
		}
	}
	per := 1
	if size == labelsA4 {
		per = onSheet
	}
	for part := range slices.Chunk(labels, per) {
		sheets = append(sheets, LabelSheet{Size: size, Labels: part})
	}
	return sheets, nil
}

func (w Writer) labelsOf(p labelled, code string) (labels []Label, err error) {
	if !p.product.HasVariants {
		l, err := w.label(p.product.Name, record.OrZero(p.product.Brand), p.product.Price, p.product.Barcode, p.product.SKU, code)
		return []Label{l}, err
	}
	for _, v := range p.variants {
		if v.Status != catalog.StatusActive {
			continue
		}
		var values []string
		for _, name := range slices.Sorted(maps.Keys(v.Attributes)) {
			values = append(values, v.Attributes[name])
		}
		l, err := w.label(p.product.Name, strings.Join(values, " · "), v.EffectivePrice, v.Barcode, v.SKU, code)
		if err != nil {
			return nil, err
		}
		labels = append(labels, l)
	}
	return labels, nil
}

func (w Writer) label(name, detail string, price money.Amount, barcode *string, sku, kind string) (Label, error) {
	text := record.OrZero(barcode)
	if text == "" {
		text = sku
	}
	c, err := newCode(kind, text)
	return Label{Name: name, Detail: detail, Price: w.money(price), Code: &c}, err
}
