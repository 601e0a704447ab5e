package catalog

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// maxMatrix is how many combinations one request may name; see docs/reference/rules.md#variants.
const maxMatrix = 100

// MatrixInput names options of attributes, such as sizes and colours. Each combination becomes a variant.
type MatrixInput struct {
	Axes   []MatrixAxis  `json:"axes" required:"true" minItems:"1" maxItems:"4" doc:"at most 100 combinations"`
	Price  *money.Amount `json:"price" minimum:"0" doc:"of each new variant; null = the price of the product"`
	Cost   *money.Amount `json:"cost" minimum:"0" doc:"of each new variant"`
	Status string        `json:"status" enum:"active,hidden" default:"active"`
}

// MatrixAxis is an attribute with isVariant, and some of its options.
type MatrixAxis struct {
	AttributeID uuid.UUID   `json:"attributeId" format:"uuid"`
	OptionIDs   []uuid.UUID `json:"optionIds" format:"uuid" minItems:"1" maxItems:"100"`
}

// VariantMatrix is what a request for a matrix has made.
type VariantMatrix struct {
	Created  int              `json:"created" doc:"new variants"`
	Existing int              `json:"existing" doc:"combinations that an active variant has already"`
	Variants []ProductVariant `json:"variants" doc:"the new ones, in the order of the combinations"`
}

// CreateVariantMatrix adds a variant to a product for each combination of options that no active variant has. They are all stored, or
// none, and the product changes once.
//
// Errors: those of [Service.CreateProductVariant] except PRODUCT_VARIANT_EXISTS.
func (s *Service) CreateVariantMatrix(ctx context.Context, tx *db.Tx, by access.Caller, product uuid.UUID, in MatrixInput) (VariantMatrix, error) {
	all, err := combinations(in.Axes)
	if err != nil {
		return VariantMatrix{}, err
	}
	p, err := lockOwner(ctx, tx, by, product)
	if err != nil {
		return VariantMatrix{}, err
	}
	snapshot := products.Snapshot(p)
	made := VariantMatrix{Variants: []ProductVariant{}}
	for i, attributes := range all {
		v, err := s.addVariant(ctx, tx, by, p, VariantInput{
			VariantFields: VariantFields{Price: in.Price, Cost: in.Cost, Status: in.Status, SortOrder: int32(i)}, Attributes: attributes,
		})
		switch {
		case apierr.Is(err, "PRODUCT_VARIANT_EXISTS"):
			made.Existing++
		case err != nil:
			return VariantMatrix{}, err
		default:
			made.Variants = append(made.Variants, v)
		}
	}
	if made.Created = len(made.Variants); made.Created == 0 {
		return made, nil
	}
	return made, s.storeOwner(ctx, tx, by, snapshot, p)
}

// combinations returns the values of each variant; the last axis varies fastest.
func combinations(axes []MatrixAxis) ([][]ProductAttributeValueInput, error) {
	var faults apierr.Fields
	count, attributes := 1, map[uuid.UUID]bool{}
	for i, axis := range axes {
		if attributes[axis.AttributeID] {
			faults.Add(fmt.Sprintf("axes[%d].attributeId", i), apierr.Conflict, "is a duplicate; name each attribute once")
		}
		attributes[axis.AttributeID] = true
		options := map[uuid.UUID]bool{}
		for j, option := range axis.OptionIDs {
			if options[option] {
				faults.Add(fmt.Sprintf("axes[%d].optionIds[%d]", i, j), apierr.Conflict, "is a duplicate; name each option once")
			}
			options[option] = true
		}
		count *= len(axis.OptionIDs)
	}
	if count > maxMatrix && len(faults) == 0 {
		faults.Add("axes", apierr.Max, "the options have %d combinations, which exceeds %d; send several requests with fewer options", count, maxMatrix)
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	all := [][]ProductAttributeValueInput{nil}
	for _, axis := range axes {
		next := make([][]ProductAttributeValueInput, 0, len(all)*len(axis.OptionIDs))
		for _, before := range all {
			for _, option := range axis.OptionIDs {
				value := ProductAttributeValueInput{AttributeID: axis.AttributeID, OptionIDs: []uuid.UUID{option}}
				next = append(next, append(before[:len(before):len(before)], value))
			}
		}
		all = next
	}
	return all, nil
}
