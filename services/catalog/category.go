package catalog

import (
	"cmp"
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/event"
	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/outbox"
	"github.com/tradegrid/tradegrid/pkg/record"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/wire"
)

// maxCategoryDepth is how many levels of categories may lie in each other.
const maxCategoryDepth = 10

// Category is a node of the company's tree of categories (specification, section 2).
type Category struct {
	ID            uuid.UUID   `json:"id" format:"uuid"`
	CompanyID     tenant.ID   `json:"companyId" format:"uuid"`
	ParentID      *uuid.UUID  `json:"parentId" format:"uuid" nullable:"true" doc:"null = a root"`
	Name          string      `json:"name"`
	Icon          string      `json:"icon"`
	Color         *string     `json:"color" doc:"HEX"`
	Bg            *string     `json:"bg" doc:"HEX"`
	SortOrder     int32       `json:"sortOrder"`
	Prefix        *string     `json:"prefix" doc:"of generated articles: PREFIX-NNNN"`
	Path          []uuid.UUID `json:"path" doc:"ids from the root to the category itself"`
	Depth         int         `json:"depth" doc:"1 for a root"`
	ProductsCount int64       `json:"productsCount" doc:"active products in the category itself"`
	record.Meta
}

// RecordID is the last segment of the category's address.
func (c Category) RecordID() string { return c.ID.String() }

// CategoryInput is the body of a new category.
type CategoryInput struct {
	Name      string     `json:"name" minLength:"1" maxLength:"255"`
	ParentID  *uuid.UUID `json:"parentId,omitempty" format:"uuid" nullable:"true"`
	Icon      string     `json:"icon,omitempty" minLength:"1" maxLength:"64" default:"folder"`
	Color     *string    `json:"color,omitempty" nullable:"true" pattern:"^#[0-9A-Fa-f]{6}$" patternDescription:"a HEX colour such as #1F6FEB"`
	Bg        *string    `json:"bg,omitempty" nullable:"true" pattern:"^#[0-9A-Fa-f]{6}$" patternDescription:"a HEX colour such as #1F6FEB"`
	SortOrder int32      `json:"sortOrder,omitempty" minimum:"-1000000" maximum:"1000000"`
	Prefix    *string    `json:"prefix,omitempty" nullable:"true" pattern:"^[A-Z]{1,4}$" patternDescription:"1 to 4 letters A-Z"`
}

// CategoryPatch is the body of a change: what is absent stays.
type CategoryPatch struct {
	Name      wire.Optional[string]    `json:"name,omitzero" minLength:"1" maxLength:"255"`
	ParentID  wire.Optional[uuid.UUID] `json:"parentId,omitzero" format:"uuid" nullable:"true"`
	Icon      wire.Optional[string]    `json:"icon,omitzero" minLength:"1" maxLength:"64"`
	Color     wire.Optional[string]    `json:"color,omitzero" nullable:"true" pattern:"^#[0-9A-Fa-f]{6}$" patternDescription:"a HEX colour such as #1F6FEB"`
	Bg        wire.Optional[string]    `json:"bg,omitzero" nullable:"true" pattern:"^#[0-9A-Fa-f]{6}$" patternDescription:"a HEX colour such as #1F6FEB"`
	SortOrder wire.Optional[int32]     `json:"sortOrder,omitzero" minimum:"-1000000" maximum:"1000000"`
	Prefix    wire.Optional[string]    `json:"prefix,omitzero" nullable:"true" pattern:"^[A-Z]{1,4}$" patternDescription:"1 to 4 letters A-Z"`
}

func (p CategoryPatch) apply(c *Category) record.Changes {
	var ch record.Changes
	ch.If(wire.Apply(&c.Name, p.Name), "name")
	ch.If(wire.ApplyNullable(&c.ParentID, p.ParentID), "parentId")
	ch.If(wire.Apply(&c.Icon, p.Icon), "icon")
	ch.If(wire.ApplyNullable(&c.Color, p.Color), "color")
	ch.If(wire.ApplyNullable(&c.Bg, p.Bg), "bg")
	ch.If(wire.Apply(&c.SortOrder, p.SortOrder), "sortOrder")
	ch.If(wire.ApplyNullable(&c.Prefix, p.Prefix), "prefix")
	return ch
}

// Categories lists all categories of the company, parents before children, by sortOrder and name.
func (s *Service) Categories(ctx context.Context, company tenant.ID) ([]Category, error) {
	return selectCategories(ctx, s.db, company)
}

// Category reads one category.
func (s *Service) Category(ctx context.Context, company tenant.ID, id uuid.UUID) (Category, error) {
	return selectCategory(ctx, s.db, company, id)
}

// CreateCategory adds a category. An unknown parent is 404; a tree that would be too deep is 409.
func (s *Service) CreateCategory(ctx context.Context, tx *db.Tx, by access.Caller, in CategoryInput) (Category, error) {
	c := Category{
		ID: record.NewID(), CompanyID: by.Company, ParentID: in.ParentID, Name: in.Name, Icon: cmp.Or(in.Icon, "folder"),
		Color: in.Color, Bg: in.Bg, SortOrder: in.SortOrder, Prefix: in.Prefix, Meta: record.New(s.now()),
	}
	if err := lockTree(ctx, tx, by.Company); err != nil {
		return Category{}, err
	}
	if err := place(ctx, tx, &c); err != nil {
		return Category{}, err
	}
	insertCategory(tx, c)
	return c, raiseCategory(ctx, tx, by, eventCategoryCreated, c, nil)
}

// UpdateCategory changes a category. Moving it below itself is 409 CATEGORY_CYCLE.
func (s *Service) UpdateCategory(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in CategoryPatch) (Category, error) {
	if err := lockTree(ctx, tx, by.Company); err != nil {
		return Category{}, err
	}
	c, err := selectCategory(ctx, tx, by.Company, id)
	if err != nil {
		return Category{}, err
	}
	if err := by.Expect(c.Version); err != nil {
		return Category{}, err
	}
	changes := in.apply(&c)
	if len(changes) == 0 {
		return c, nil
	}
	if in.ParentID.Set {
		if err := place(ctx, tx, &c); err != nil {
			return Category{}, err
		}
	}
	c.Touch(s.now())
	updateCategory(tx, c)
	return c, raiseCategory(ctx, tx, by, eventCategoryUpdated, c, event.Changed{ChangedFields: changes})
}

// DeleteCategory removes a category. One with children or active items is 409 CATEGORY_IN_USE,
// unless reassign says where they go first. Hidden items lose their category.
func (s *Service) DeleteCategory(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, reassign Reassign) error {
	if err := lockTree(ctx, tx, by.Company); err != nil {
		return err
	}
	c, err := selectCategory(ctx, tx, by.Company, id)
	if err != nil {
		return err
	}
	if err := by.Expect(c.Version); err != nil {
		return err
	}
	if err := s.emptyCategory(ctx, tx, by, c, reassign); err != nil {
		return err
	}
	deleteCategory(tx, c)
	c.Touch(s.now())
	return raiseCategory(ctx, tx, by, eventCategoryDeleted, c, nil)
}

// Reassign says where the contents of a deleted category go.
type Reassign struct {
	Set bool
	To  *uuid.UUID // nil = to the root, or to no category
}

// emptyCategory moves the contents away, or refuses when there are any.
func (s *Service) emptyCategory(ctx context.Context, tx *db.Tx, by access.Caller, c Category, to Reassign) error {
	use, err := selectCategoryUse(ctx, tx, c.CompanyID, c.ID)
	if err != nil {
		return err
	}
	if !to.Set {
		if use.Children+use.Products+use.Services > 0 {
			return &fault.Error{
				Status: 409, Code: "CATEGORY_IN_USE",
				Message: "the category has child categories or active products or services; move them first, or send reassignTo",
				Meta:    map[string]any{"children": use.Children, "products": use.Products, "services": use.Services},
			}
		}
		return s.moveItems(ctx, tx, by, c, nil)
	}
	if to.To != nil {
		if err := s.checkReassign(ctx, tx, c, *to.To); err != nil {
			return err
		}
	}
	if err := s.moveChildren(ctx, tx, by, c, to.To); err != nil {
		return err
	}
	return s.moveItems(ctx, tx, by, c, to.To)
}

func (s *Service) checkReassign(ctx context.Context, tx *db.Tx, c Category, to uuid.UUID) error {
	tree, err := selectTree(ctx, tx, c.CompanyID)
	if err != nil {
		return err
	}
	path, ok := tree.path(to)
	if !ok {
		return fault.ReferenceNotFound("CATEGORY", "reassignTo", to.String())
	}
	for _, id := range path {
		if id == c.ID {
			return errCycle
		}
	}
	return nil
}

// moveChildren gives the children of c another parent, each as a change of its own.
func (s *Service) moveChildren(ctx context.Context, tx *db.Tx, by access.Caller, c Category, to *uuid.UUID) error {
	children, err := selectChildren(ctx, tx, c.CompanyID, c.ID)
	if err != nil {
		return err
	}
	for _, child := range children {
		child.ParentID = to
		if err := place(ctx, tx, &child); err != nil {
			return err
		}
		child.Touch(s.now())
		updateCategory(tx, child)
		if err := raiseCategory(ctx, tx, by, eventCategoryUpdated, child, event.Changed{ChangedFields: []string{"parentId"}}); err != nil {
			return err
		}
	}
	return nil
}

var (
	errCycle = fault.StateConflict("CATEGORY_CYCLE", "a category cannot lie below itself; choose another parent")
	errDepth = fault.StateConflict("CATEGORY_DEPTH_EXCEEDED", "categories may be nested %d levels deep; choose a parent nearer to the root", maxCategoryDepth)
)

// place computes the path of c below its parent and refuses cycles and too deep trees.
func place(ctx context.Context, tx *db.Tx, c *Category) error {
	tree, err := selectTree(ctx, tx, c.CompanyID)
	if err != nil {
		return err
	}
	c.Path = nil
	if c.ParentID != nil {
		above, ok := tree.path(*c.ParentID)
		if !ok {
			return fault.ReferenceNotFound("CATEGORY", "parentId", c.ParentID.String())
		}
		for _, id := range above {
			if id == c.ID {
				return errCycle
			}
		}
		c.Path = above
	}
	c.Path = append(c.Path, c.ID)
	c.Depth = len(c.Path)
	if c.Depth+tree.height(c.ID)-1 > maxCategoryDepth {
		return errDepth
	}
	return nil
}

func raiseCategory(ctx context.Context, tx *db.Tx, by access.Caller, name string, c Category, extra any) error {
	return outbox.Raise(ctx, tx, by.Company, outbox.Event{
		Name: name, Actor: by.Actor, Type: "category", ID: c.ID, Meta: c.Meta, Data: c, Extra: extra,
	})
}
