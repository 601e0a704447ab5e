package catalog

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/kit/translation"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
)

// Types of attributes.
const (
	typeText        = "text"
	typeNumber      = "number"
	typeBoolean     = "boolean"
	typeSelect      = "select"
	typeMultiselect = "multiselect"
)

// AttributeDefinition is an attribute that a company defines for its products; see docs/reference/rules.md#attributes.
type AttributeDefinition struct {
	record.Key
	AttributeFields
	Options []AttributeOption `json:"options" db:"-"`
	record.Meta
}

// AttributeFields are the fields that the console sets.
type AttributeFields struct {
	Code         *string           `json:"code" maxLength:"64" doc:"unique in the company"`
	Name         string            `json:"name" required:"true" minLength:"1" maxLength:"255"`
	NameI18n     translation.Names `json:"nameI18n" maxProperties:"30" doc:"translations by locale"`
	Type         string            `json:"type" required:"true" enum:"text,number,boolean,select,multiselect" doc:"cannot be changed"`
	Unit         *string           `json:"unit" maxLength:"16"`
	CategoryIDs  []uuid.UUID       `json:"categoryIds" format:"uuid" maxItems:"100" doc:"the attribute is for these categories and those below them; empty = for all products"`
	IsPrimary    bool              `json:"isPrimary"`
	IsRequired   bool              `json:"isRequired"`
	IsFilterable bool              `json:"isFilterable" doc:"to be offered as a filter"`
	IsVariant    bool              `json:"isVariant" doc:"distinguishes the variants of a product"`
	SortOrder    int32             `json:"sortOrder" minimum:"-1000000" maximum:"1000000"`
}

// AttributeOption is an option of a select or multiselect attribute.
type AttributeOption struct {
	record.Key
	AttributeID uuid.UUID `json:"attributeId" db:",insert" format:"uuid"`
	AttributeOptionFields
	record.Meta
}

// AttributeOptionFields are the fields that the console sets.
type AttributeOptionFields struct {
	Label     string            `json:"label" required:"true" minLength:"1" maxLength:"255"`
	LabelI18n translation.Names `json:"labelI18n" maxProperties:"30" doc:"translations by locale"`
	Color     *string           `json:"color" pattern:"^#[0-9A-Fa-f]{6}$" patternDescription:"a HEX colour such as #1F6FEB" doc:"HEX"`
	SortOrder int32             `json:"sortOrder" minimum:"-1000000" maximum:"1000000"`
}

var (
	errAttributeCode  = apierr.StateConflict("ATTRIBUTE_CODE_TAKEN", "code: another attribute has this code; choose another code")
	errAttributeInUse = apierr.StateConflict("ATTRIBUTE_IN_USE", "products or variants have values of the attribute; remove the values first")
	errOptionInUse    = apierr.StateConflict("ATTRIBUTE_OPTION_IN_USE", "products or variants have the option as a value; choose another option for them first")
	attributes        = resource.Of[AttributeDefinition]("attributes", "ATTRIBUTE").OnConstraint("attributes_code_key", errAttributeCode)
	attributeOptions  = resource.Of[AttributeOption](attributeOptionsTable, "ATTRIBUTE_OPTION")
)

func (d AttributeDefinition) hasOptions() bool {
	return d.Type == typeSelect || d.Type == typeMultiselect
}

// option returns the option with the id.
func (d AttributeDefinition) option(id uuid.UUID) (AttributeOption, bool) {
	i := slices.IndexFunc(d.Options, func(o AttributeOption) bool { return o.ID == id })
	if i < 0 {
		return AttributeOption{}, false
	}
	return d.Options[i], true
}

// appliesTo reports whether the attribute is for products of a category; path are its ids from the root, or nil for products
// without a category.
func (d AttributeDefinition) appliesTo(path []uuid.UUID) bool {
	return len(d.CategoryIDs) == 0 || slices.ContainsFunc(path, func(id uuid.UUID) bool { return slices.Contains(d.CategoryIDs, id) })
}

// AttributeFilter filters attributes.
type AttributeFilter struct {
	CategoryID  jsontype.IDOrNull `query:"categoryId" doc:"id of a category: attributes for it, for those above it, and for all products; or null: only those for all products"`
	PrimaryOnly bool              `query:"primaryOnly" doc:"only attributes with isPrimary"`
}

// Attributes returns the attributes of the company with their options, sorted by sortOrder and name.
func (s *Service) Attributes(ctx context.Context, by access.Caller, f AttributeFilter) ([]AttributeDefinition, error) {
	var defs map[uuid.UUID]AttributeDefinition
	var t tree
	err := batchloader.Load(ctx, s.cfg.DB, func(ctx context.Context, q db.Querier) (err error) {
		defs, err = readAttributes(ctx, q, by.Company, nil)
		return err
	}, func(ctx context.Context, q db.Querier) (err error) {
		t, err = readTree(ctx, q, by.Company)
		return err
	})
	if err != nil {
		return nil, err
	}
	var path []uuid.UUID
	if category := f.CategoryID.ID(); category != nil {
		path, _ = t.path(*category)
	}
	all := []AttributeDefinition{}
	for _, d := range defs {
		if (!f.CategoryID.Sent() || d.appliesTo(path)) && (!f.PrimaryOnly || d.IsPrimary) {
			all = append(all, d)
		}
	}
	slices.SortFunc(all, compareAttributes)
	return all, nil
}

func compareAttributes(a, b AttributeDefinition) int {
	return cmp.Or(cmp.Compare(a.SortOrder, b.SortOrder), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID.String(), b.ID.String()))
}

// Attribute reads one attribute.
func (s *Service) Attribute(ctx context.Context, by access.Caller, id uuid.UUID) (AttributeDefinition, error) {
	return readAttribute(ctx, s.cfg.DB, by.Company, id)
}

// Attributes are read and answered together with their options, also with each product that has a value of them.
const (
	maxAttributes = 1000
	maxOptions    = 2000   // of an attribute
	maxAllOptions = 20_000 // of all attributes of a company
)

// CreateAttribute creates an attribute without options. A code in use is 409 ATTRIBUTE_CODE_TAKEN, the company's 1 001st attribute
// 409 ATTRIBUTE_LIMIT_REACHED.
func (s *Service) CreateAttribute(ctx context.Context, tx *db.Tx, by access.Caller, in AttributeFields) (AttributeDefinition, error) {
	if err := in.check(ctx, tx, by.Company, nil); err != nil {
		return AttributeDefinition{}, err
	}
	var n int
	if err := tx.QueryRow(ctx, sqlCountAttributes, by.Company).Scan(&n); err != nil {
		return AttributeDefinition{}, fmt.Errorf("count attributes: %w", err)
	}
	if n >= maxAttributes {
		return AttributeDefinition{}, apierr.StateConflict("ATTRIBUTE_LIMIT_REACHED", "a company has at most %d attributes: change or delete one that is no longer used", maxAttributes)
	}
	return attributes.Create(ctx, tx, by, AttributeDefinition{AttributeFields: in, Options: []AttributeOption{}})
}

// UpdateAttribute changes an attribute. Its type cannot be changed, because values depend on it.
func (s *Service) UpdateAttribute(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in record.Patch[AttributeFields]) (AttributeDefinition, error) {
	tx.ReadsMore()
	return attributes.Change(ctx, tx, by, id, func(before AttributeDefinition, d *AttributeDefinition) error {
		in.Apply(&d.AttributeFields)
		if d.Type != before.Type {
			return apierr.InvalidField("type", apierr.Conflict, "cannot be changed; create another attribute")
		}
		if err := d.check(ctx, tx, by.Company, before.CategoryIDs); err != nil {
			return err
		}
		defs, err := readAttributes(ctx, tx, by.Company, []uuid.UUID{id})
		d.Options = defs[id].Options
		return err
	})
}

func (f AttributeFields) check(ctx context.Context, q db.Querier, company tenant.ID, before []uuid.UUID) error {
	var faults apierr.Fields
	if err := faults.Err(); err != nil {
		return err
	}
	var refs reference.Set
	for i, id := range f.CategoryIDs {
		if !slices.Contains(before, id) {
			refs.Add("CATEGORY", fmt.Sprintf("categoryIds[%d]", i), nil, &id, categories.Known)
		}
	}
	return refs.Check(ctx, q, company)
}

const attributeOptionsTable = db.Table("attribute_options")

var sqlDeleteOptions = attributeOptionsTable.Delete(`WHERE company_id = $1 AND attribute_id = $2`)

// DeleteAttribute deletes an attribute with its options. If a product or variant has a value of it, it is 409 ATTRIBUTE_IN_USE.
func (s *Service) DeleteAttribute(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) error {
	tx.ReadsMore()
	err := attributes.Delete(ctx, tx, by, id, func(AttributeDefinition) error {
		return checkUnusedAttribute(ctx, tx, by.Company, id)
	})
	if err != nil {
		return err
	}
	tx.Queue(sqlDeleteOptions, by.Company, id)
	return nil
}

const (
	sqlAttributeInUse = `SELECT EXISTS (SELECT 1 FROM attribute_uses WHERE company_id = $1 AND attribute_id = $2)`
	sqlOptionInUse    = `SELECT EXISTS (SELECT 1 FROM attribute_uses WHERE company_id = $1 AND attribute_id = $2 AND value_key = $3)`
)

func checkUnusedAttribute(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID) error {
	var used bool
	if err := q.QueryRow(ctx, sqlAttributeInUse, company, id).Scan(&used); err != nil {
		return fmt.Errorf("look up uses of an attribute: %w", err)
	}
	if used {
		return errAttributeInUse
	}
	return nil
}

// AttributeOption reads one option.
func (s *Service) AttributeOption(ctx context.Context, by access.Caller, attribute, id uuid.UUID) (AttributeOption, error) {
	d, err := readAttribute(ctx, s.cfg.DB, by.Company, attribute)
	if err != nil {
		return AttributeOption{}, err
	}
	o, ok := d.option(id)
	if !ok {
		return o, apierr.NotFound("ATTRIBUTE_OPTION", id.String())
	}
	return o, nil
}

// CreateAttributeOption adds an option to an attribute; one of another type than select and multiselect is a 400, and one more than
// the attribute or the company may have is 409 ATTRIBUTE_OPTION_LIMIT_REACHED.
func (s *Service) CreateAttributeOption(ctx context.Context, tx *db.Tx, by access.Caller, attribute uuid.UUID, in AttributeOptionFields) (AttributeOption, error) {
	d, err := attributes.Get(ctx, tx, by.Company, attribute)
	if err != nil {
		return AttributeOption{}, err
	}
	if err := in.check(d); err != nil {
		return AttributeOption{}, err
	}
	var all, own int
	if err := tx.QueryRow(ctx, sqlCountOptions, by.Company, attribute).Scan(&all, &own); err != nil {
		return AttributeOption{}, fmt.Errorf("count options: %w", err)
	}
	if own >= maxOptions || all >= maxAllOptions {
		return AttributeOption{}, apierr.StateConflict("ATTRIBUTE_OPTION_LIMIT_REACHED", "an attribute has at most %d options, and all attributes of a company %d: "+
			"delete one that no product or variant has, or use an attribute of type text", maxOptions, maxAllOptions)
	}
	return attributeOptions.Create(ctx, tx, by, AttributeOption{AttributeID: attribute, AttributeOptionFields: in})
}

// UpdateAttributeOption changes an option.
func (s *Service) UpdateAttributeOption(
	ctx context.Context, tx *db.Tx, by access.Caller, attribute, id uuid.UUID, in record.Patch[AttributeOptionFields],
) (AttributeOption, error) {
	d, err := attributes.Get(ctx, tx, by.Company, attribute)
	if err != nil {
		return AttributeOption{}, err
	}
	return attributeOptions.Change(ctx, tx, by, id, func(_ AttributeOption, o *AttributeOption) error {
		if o.AttributeID != attribute {
			return apierr.NotFound("ATTRIBUTE_OPTION", id.String())
		}
		in.Apply(&o.AttributeOptionFields)
		return o.check(d)
	})
}

func (f AttributeOptionFields) check(d AttributeDefinition) error {
	var faults apierr.Fields
	if !d.hasOptions() {
		faults.Add("label", apierr.Conflict, "an attribute of type %s has no options", d.Type)
	}
	return faults.Err()
}

// DeleteAttributeOption deletes an option. If a product or variant has it as a value, it is 409 ATTRIBUTE_OPTION_IN_USE.
func (s *Service) DeleteAttributeOption(ctx context.Context, tx *db.Tx, by access.Caller, attribute, id uuid.UUID) error {
	if _, err := attributes.Get(ctx, tx, by.Company, attribute); err != nil {
		return err
	}
	return attributeOptions.Delete(ctx, tx, by, id, func(o AttributeOption) error {
		if o.AttributeID != attribute {
			return apierr.NotFound("ATTRIBUTE_OPTION", id.String())
		}
		var used bool
		if err := tx.QueryRow(ctx, sqlOptionInUse, by.Company, attribute, id.String()).Scan(&used); err != nil {
			return fmt.Errorf("look up uses of an option: %w", err)
		}
		if used {
			return errOptionInUse
		}
		return nil
	})
}

var (
	attributePlan       = record.PlanOf[AttributeDefinition]()
	optionPlan          = record.PlanOf[AttributeOption]()
	sqlCountAttributes  = `SELECT count(*) FROM attributes WHERE company_id = $1`
	sqlCountOptions     = `SELECT count(*), count(*) FILTER (WHERE attribute_id = $2) FROM attribute_options WHERE company_id = $1`
	sqlSelectAttributes = "SELECT " + attributePlan.SelectList("") + " FROM attributes WHERE company_id = $1 AND ($2::UUID[] IS NULL OR id = ANY($2::UUID[]))"
	sqlSelectOptions    = "SELECT " + optionPlan.SelectList("") + ` FROM attribute_options
WHERE company_id = $1 AND ($2::UUID[] IS NULL OR attribute_id = ANY($2::UUID[])) ORDER BY attribute_id, sort_order, id`
)

// readAttributes reads attributes with their options in one round trip; nil ids are all.
func readAttributes(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) (map[uuid.UUID]AttributeDefinition, error) {
	var defs []AttributeDefinition
	var options []AttributeOption
	b := &pgx.Batch{}
	b.Queue(sqlSelectAttributes, company, ids).Query(func(rows pgx.Rows) (err error) {
		defs, err = pgx.CollectRows(rows, db.RowTo(func(d *AttributeDefinition) []any { return attributePlan.Targets(d) }))
		return err
	})
	b.Queue(sqlSelectOptions, company, ids).Query(func(rows pgx.Rows) (err error) {
		options, err = pgx.CollectRows(rows, db.RowTo(func(o *AttributeOption) []any { return optionPlan.Targets(o) }))
		return err
	})
	if err := q.SendBatch(ctx, b).Close(); err != nil {
		return nil, fmt.Errorf("read attributes: %w", err)
	}
	byID := make(map[uuid.UUID]AttributeDefinition, len(defs))
	for _, d := range defs {
		d.Options = []AttributeOption{}
		byID[d.ID] = d
	}
	for _, o := range options {
		if d, ok := byID[o.AttributeID]; ok {
			d.Options = append(d.Options, o)
			byID[d.ID] = d
		}
	}
	return byID, nil
}

func readAttribute(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID) (AttributeDefinition, error) {
	defs, err := readAttributes(ctx, q, company, []uuid.UUID{id})
	if err != nil {
		return AttributeDefinition{}, err
	}
	d, ok := defs[id]
	if !ok {
		return d, apierr.NotFound("ATTRIBUTE", id.String())
	}
	return d, nil
}
