package catalog

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/list"
)

// maxAttributeFilters bounds the filters by attribute of one request.
const maxAttributeFilters = 20

// The products that have a value of an attribute. A filter does not look at the values of variants, whose owner is not the product.
const (
	sqlHasKey    = `id IN (SELECT u.owner_id FROM attribute_uses u WHERE u.company_id = ? AND u.attribute_id = ? AND u.value_key = ANY(?::TEXT[]))`
	sqlHasNumber = `id IN (SELECT u.owner_id FROM attribute_uses u WHERE u.company_id = ? AND u.attribute_id = ? AND u.number_value >= ? AND u.number_value <= ?)`
)

// AttributeFilters are values of attributes, by the ids of the attributes.
type AttributeFilters map[string]string

// TransformSchema implements [huma.SchemaTransformer].
func (AttributeFilters) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return jsontype.KeysOf(s, &huma.Schema{
		Type: huma.TypeString, Pattern: `^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`,
		PatternDescription: "the id of an attribute, as in attr[0192d3a5-6f0e-7c1a-9b1e-2f6d8a4c1e55]",
	})
}

// filterByAttributes adds the filters attr[<attributeId>]=<value>. All must match. It reports all faults.
func (s *Service) filterByAttributes(ctx context.Context, company tenant.ID, q *list.Query, filters AttributeFilters) error {
	if len(filters) == 0 {
		return nil
	}
	var faults apierr.Fields
	ids := map[string]uuid.UUID{}
	if len(filters) > maxAttributeFilters {
		faults.Add("attr", apierr.Max, "must have at most %d filters, has %d", maxAttributeFilters, len(filters))
	}
	for _, key := range slices.Sorted(maps.Keys(filters)) {
		id, err := uuid.Parse(key)
		if err != nil {
			return fmt.Errorf("filter by attribute: %w", err) // the schema has the form of ids
		}
		ids[key] = id
	}
	if err := faults.Err(); err != nil {
		return err
	}
	defs, err := readAttributes(ctx, s.cfg.DB, company, slices.Collect(maps.Values(ids)))
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(filters)) {
		field := "attr[" + key + "]"
		d, ok := defs[ids[key]]
		if !ok {
			faults.Add(field, apierr.Enum, "must name an attribute from GET /catalog/attributes")
			continue
		}
		d.filter(&faults, q, field, filters[key])
	}
	return faults.Err()
}

// filter adds the condition that a product has the value.
func (d AttributeDefinition) filter(faults *apierr.Fields, q *list.Query, field, text string) {
	var keys []string
	switch d.Type {
	case typeText:
		keys = []string{textKey(text)}
	case typeNumber:
		if low, high, ok := numberRange(faults, field, text); ok {
			q.Reading(attributeUses).Where(sqlHasNumber, d.CompanyID, d.ID, low, high)
		}
		return
	case typeBoolean:
		value, ok := map[string]string{"true": "true", "1": "true", "false": "false", "0": "false"}[text]
		if !ok {
			faults.Add(field, apierr.Type, "must be true or false, because the attribute %s has the type boolean", d.Name)
		}
		keys = []string{value}
	default:
		keys = d.optionKeys(faults, field, text)
	}
	q.Reading(attributeUses).Where(sqlHasKey, d.CompanyID, d.ID, keys)
}

// optionKeys are the options of a comma-separated list, any of which matches.
func (d AttributeDefinition) optionKeys(faults *apierr.Fields, field, text string) []string {
	var keys []string
	for part := range strings.SplitSeq(text, ",") {
		id, err := uuid.Parse(strings.TrimSpace(part))
		if err != nil {
			faults.Add(field, apierr.Format, "must be the id of an option, because the attribute %s has the type %s", d.Name, d.Type)
			continue
		}
		if _, ok := d.option(id); !ok {
			faults.Add(field, apierr.Enum, "%s is not an option of the attribute %s; see GET /catalog/attributes", id, d.Name)
		}
		keys = append(keys, id.String())
	}
	return keys
}

// numberRange reads a number, or min:max with one or both bounds, which are inclusive.
func numberRange(faults *apierr.Fields, field, text string) (low, high money.Qty, ok bool) {
	from, to, isRange := strings.Cut(text, ":")
	if !isRange {
		to = from
	}
	bound := func(part string, open money.Qty) (money.Qty, error) {
		if part = strings.TrimSpace(part); part == "" && isRange {
			return open, nil
		}
		return money.ParseQty(part)
	}
	low, errLow := bound(from, -money.MaxQty)
	high, errHigh := bound(to, money.MaxQty)
	switch {
	case errLow != nil || errHigh != nil || text == ":":
		faults.Add(field, apierr.Format, "must be a number such as 12.5 with at most 3 decimal places, or a range such as 10:20, 10: or :20")
	case low > high:
		faults.Add(field, apierr.Conflict, "the lower bound must not exceed the upper one, as in 10:20")
	default:
		return low, high, true
	}
	return 0, 0, false
}
