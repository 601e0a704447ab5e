package catalog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
)

// maxSelected is the number of options that the value of a multiselect attribute can have.
const maxSelected = 50

// attributeValue is the value of an attribute as it is stored. Names and labels come from the definitions, so that a value shows
// them as they are now.
type attributeValue struct {
	AttributeID uuid.UUID   `json:"attributeId"`
	Text        *string     `json:"text,omitempty"`
	Number      *money.Qty  `json:"number,omitempty"`
	Bool        *bool       `json:"bool,omitempty"`
	Options     []uuid.UUID `json:"options,omitempty"`
}

// attributeIDs are the attributes of the values.
func attributeIDs(values []attributeValue) []uuid.UUID {
	ids := make([]uuid.UUID, len(values))
	for i, v := range values {
		ids[i] = v.AttributeID
	}
	return ids
}

// takeValues converts the values of a request, which replace all stored ones. It reports all faults; an unknown attribute or option
// is a 404.
func takeValues(in []ProductAttributeValueInput, defs map[uuid.UUID]AttributeDefinition) ([]attributeValue, error) {
	values := make([]attributeValue, len(in))
	var faults apierr.Fields
	seen := map[uuid.UUID]bool{}
	for i, v := range in {
		path := fmt.Sprintf("attributes[%d].", i)
		d, ok := defs[v.AttributeID]
		if !ok {
			return nil, apierr.ReferenceNotFound("ATTRIBUTE", path+"attributeId", v.AttributeID.String())
		}
		if seen[v.AttributeID] {
			faults.Add(path+"attributeId", apierr.Conflict, "%s is a duplicate; send one value per attribute", v.AttributeID)
		}
		seen[v.AttributeID] = true
		values[i] = v.take(&faults, path, d)
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	for i, v := range values {
		for j, id := range v.Options {
			if _, ok := defs[v.AttributeID].option(id); !ok {
				field := fmt.Sprintf("attributes[%d].optionIds[%d]", i, j)
				if in[i].OptionID != nil {
					field = fmt.Sprintf("attributes[%d].optionId", i)
				}
				return nil, apierr.ReferenceNotFound("ATTRIBUTE_OPTION", field, id.String())
			}
		}
	}
	for _, v := range values {
		slices.SortFunc(v.Options, compareIDs)
	}
	slices.SortFunc(values, func(a, b attributeValue) int { return compareIDs(a.AttributeID, b.AttributeID) })
	return values, nil
}

func compareIDs(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) }

// take checks that exactly the field of the attribute's type is set.
func (v ProductAttributeValueInput) take(faults *apierr.Fields, path string, d AttributeDefinition) attributeValue {
	if v.ValueText != nil && strings.TrimSpace(*v.ValueText) == "" {
		v.ValueText = nil // an empty text is none
	}
	fields := []struct {
		name string
		sent bool
		of   bool // the field is that of the type
	}{
		{"valueText", v.ValueText != nil, d.Type == typeText},
		{"valueNumber", v.ValueNumber != nil, d.Type == typeNumber},
		{"valueBool", v.ValueBool != nil, d.Type == typeBoolean},
		{"optionIds", v.OptionIDs != nil, d.hasOptions()},
		{"optionId", v.OptionID != nil, d.hasOptions()},
	}
	for _, f := range fields {
		missing := f.of && !f.sent && f.name != "optionId" && (f.name != "optionIds" || v.OptionID == nil)
		switch {
		case f.sent && !f.of:
			faults.Add(path+f.name, apierr.Conflict, "must be omitted, because the attribute %s has the type %s", d.Name, d.Type)
		case missing:
			faults.Add(path+f.name, apierr.Required, "is required, because the attribute %s has the type %s", d.Name, d.Type)
		}
	}
	out := attributeValue{AttributeID: d.ID}
	switch d.Type {
	case typeText:
		out.Text = v.ValueText
	case typeNumber:
		out.Number = v.ValueNumber
	case typeBoolean:
		out.Bool = v.ValueBool
	default:
		out.Options = v.options(faults, path, d)
	}
	return out
}

// options returns the chosen options: exactly one of a select attribute, and 1 to 50 of a multiselect one.
func (v ProductAttributeValueInput) options(faults *apierr.Fields, path string, d AttributeDefinition) []uuid.UUID {
	if v.OptionID != nil {
		if v.OptionIDs != nil {
			faults.Add(path+"optionId", apierr.Conflict, "cannot be combined with optionIds; send one of them")
		}
		return []uuid.UUID{*v.OptionID}
	}
	if v.OptionIDs == nil {
		return nil
	}
	field := path + "optionIds"
	switch n := len(v.OptionIDs); {
	case n == 0:
		faults.Add(field, apierr.Min, "must have at least 1 entry; omit the attribute to remove its value")
	case n > 1 && d.Type == typeSelect:
		faults.Add(field, apierr.Max, "must have exactly 1 entry, because the attribute %s has the type select", d.Name)
	case n > maxSelected:
		faults.Add(field, apierr.Max, "must have at most %d entries, has %d", maxSelected, n)
	}
	seen := map[uuid.UUID]bool{}
	for i, id := range v.OptionIDs {
		if seen[id] {
			faults.Add(fmt.Sprintf("%s[%d]", field, i), apierr.Conflict, "%s is a duplicate; send each option once", id)
		}
		seen[id] = true
	}
	return slices.Clone(v.OptionIDs)
}

// show returns the values as clients see them, in the order of the definitions.
func show(values []attributeValue, defs map[uuid.UUID]AttributeDefinition) []ProductAttributeValue {
	sorted := slices.Clone(values)
	slices.SortFunc(sorted, func(a, b attributeValue) int { return compareAttributes(defs[a.AttributeID], defs[b.AttributeID]) })
	out := make([]ProductAttributeValue, 0, len(sorted))
	for _, v := range sorted {
		if d, ok := defs[v.AttributeID]; ok {
			out = append(out, v.show(d))
		}
	}
	return out
}

func (v attributeValue) show(d AttributeDefinition) ProductAttributeValue {
	out := ProductAttributeValue{
		AttributeID: d.ID, AttributeName: d.Name, AttributeCode: d.Code, Type: d.Type, Unit: d.Unit,
		ValueText: v.Text, ValueNumber: v.Number, ValueBool: v.Bool, Options: []ProductAttributeOpt{},
	}
	switch {
	case v.Text != nil:
		out.DisplayValue = *v.Text
	case v.Number != nil:
		out.DisplayValue = v.Number.String()
		if d.Unit != nil {
			out.DisplayValue += " " + *d.Unit
		}
	case v.Bool != nil:
		out.DisplayValue = map[bool]string{true: "yes", false: "no"}[*v.Bool]
	}
	var labels []string
	for _, o := range d.Options {
		if slices.Contains(v.Options, o.ID) {
			out.Options = append(out.Options, ProductAttributeOpt{OptionID: o.ID, Label: o.Label})
			labels = append(labels, o.Label)
		}
	}
	if d.hasOptions() {
		out.DisplayValue = strings.Join(labels, ", ")
	}
	return out
}

// maxKey is the length in bytes from which on a text is compared by its hash, because an index entry is bounded.
const maxKey = 200

// textKey is the form in which texts are compared: without regard to case and surrounding space.
func textKey(text string) string {
	key := list.Lower(strings.TrimSpace(text))
	if len(key) > maxKey {
		sum := sha256.Sum256([]byte(key))
		return "sha256:" + hex.EncodeToString(sum[:])
	}
	return key
}

// keys are the forms in which a value is compared: one, or one per option.
func (v attributeValue) keys() []string {
	switch {
	case v.Text != nil:
		return []string{textKey(*v.Text)}
	case v.Number != nil:
		return []string{v.Number.String()}
	case v.Bool != nil:
		return []string{fmt.Sprint(*v.Bool)}
	}
	keys := make([]string, len(v.Options))
	for i, id := range v.Options {
		keys[i] = id.String()
	}
	return keys
}

const attributeUses = db.Table("attribute_uses")

var (
	sqlDeleteUses = attributeUses.Delete(`WHERE company_id = $1 AND owner_id = $2`)
	sqlInsertUses = attributeUses.Insert(`(company_id, owner_id, product_id, attribute_id, value_key, number_value)
SELECT $1, $2, $3, u.a, u.k, u.n::DECIMAL(18,3) FROM unnest($4::UUID[], $5::TEXT[], $6::TEXT[]) AS u(a, k, n)`)
)

// indexValues makes the values of a product, or of one of its variants, what filters find.
func indexValues(tx *db.Tx, company tenant.ID, product, owner uuid.UUID, before, now []attributeValue) {
	if sameValues(before, now) {
		return
	}
	if len(before) > 0 {
		tx.Queue(sqlDeleteUses, company, owner)
	}
	var ids []uuid.UUID
	var keys []string
	var numbers []*string
	for _, v := range now {
		for _, key := range v.keys() {
			ids, keys = append(ids, v.AttributeID), append(keys, key)
			var number *string
			if v.Number != nil {
				text := v.Number.String()
				number = &text
			}
			numbers = append(numbers, number)
		}
	}
	if len(ids) > 0 {
		tx.Queue(sqlInsertUses, company, owner, product, ids, keys, numbers)
	}
}

func sameValues(a, b []attributeValue) bool {
	if len(a) == 0 && len(b) == 0 {
		return true
	}
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

const sqlSelectRequired = `SELECT id, name, category_ids FROM attributes WHERE company_id = $1 AND is_required AND NOT is_variant ORDER BY sort_order, name, id`

// checkRequired checks that a new product has a value of each attribute that its category requires.
func checkRequired(ctx context.Context, q db.Querier, company tenant.ID, p Product, sent []ProductAttributeValueInput) error {
	rows, err := q.Query(ctx, sqlSelectRequired, company)
	if err != nil {
		return fmt.Errorf("select required attributes: %w", err)
	}
	var required []AttributeDefinition
	for rows.Next() {
		var d AttributeDefinition
		if err := rows.Scan(&d.ID, &d.Name, &d.CategoryIDs); err != nil {
			rows.Close()
			return fmt.Errorf("read a required attribute: %w", err)
		}
		if !slices.ContainsFunc(sent, func(v ProductAttributeValueInput) bool { return v.AttributeID == d.ID }) {
			required = append(required, d)
		}
	}
	rows.Close()
	if err := rows.Err(); err != nil || len(required) == 0 {
		return err
	}
	var path []uuid.UUID
	if p.CategoryID != nil {
		t, err := readTree(ctx, q, company)
		if err != nil {
			return err
		}
		path, _ = t.path(*p.CategoryID)
	}
	var faults apierr.Fields
	for _, d := range required {
		if d.appliesTo(path) {
			faults.Add("attributes", apierr.Required, "must have a value of the attribute %s (%s), which the category requires", d.Name, d.ID)
		}
	}
	return faults.Err()
}
