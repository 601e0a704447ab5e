package catalog

import (
	"cmp"
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// Category is a node of the company's tree of categories; see docs/reference/rules.md#categories.
type Category struct {
	record.Key
	CategoryFields
	Path          []uuid.UUID `json:"path" db:"-" doc:"ids from the root to this category"`
	Depth         int         `json:"depth" db:"-" doc:"1 for a root"`
	ProductsCount int64       `json:"productsCount" db:"-" doc:"active products in this category, not in those below it"`
	record.Meta
}

// CategoryFields are the fields that API clients set.
type CategoryFields struct {
	ParentID *uuid.UUID `json:"parentId" format:"uuid" doc:"null = root category"`
	CategoryCard
}

// CategoryCard are the fields of a category apart from its place in the tree.
type CategoryCard struct {
	Name      string  `json:"name" required:"true" minLength:"1" maxLength:"255"`
	Icon      string  `json:"icon" minLength:"1" maxLength:"64" default:"folder"`
	Color     *string `json:"color" pattern:"^#[0-9A-Fa-f]{6}$" patternDescription:"a HEX colour such as #1F6FEB" doc:"HEX"`
	Bg        *string `json:"bg" pattern:"^#[0-9A-Fa-f]{6}$" patternDescription:"a HEX colour such as #1F6FEB" doc:"HEX"`
	SortOrder int32   `json:"sortOrder" minimum:"-1000000" maximum:"1000000"`
	record.External
	Prefix *string `json:"prefix" pattern:"^[A-Z]{1,4}$" patternDescription:"1 to 4 letters A-Z" doc:"prefix of generated SKUs: PREFIX-NNNN"`
}

// defaultIcon is that of a category without one.
const defaultIcon = "folder"

var categories = resource.Of[Category]("categories", "CATEGORY")

// CategoryFilter selects categories.
type CategoryFilter struct {
	Source     string `query:"source" maxLength:"255" doc:"system of externalId, or where the category comes from"`
	ExternalID string `query:"externalId" maxLength:"255" doc:"id in another system, see source"`
}

func (f CategoryFilter) selects(c Category) bool {
	is := func(want string, has *string) bool { return want == "" || has != nil && *has == want }
	return is(f.Source, c.Source) && is(f.ExternalID, c.ExternalID)
}

// Categories returns the categories of the company, parents before children, sorted by sortOrder and name.
func (s *Service) Categories(ctx context.Context, by access.Caller, f CategoryFilter) ([]Category, error) {
	all, err := db.Collect(ctx, s.cfg.DB, "select categories", db.RowTo(categoryTargets), sqlSelectCategories, by.Company)
	if err != nil {
		return nil, err
	}
	t := tree{}
	for _, c := range all {
		t[c.ID] = c.ParentID
	}
	for i := range all {
		all[i].locate(t)
	}
	all = slices.DeleteFunc(all, func(c Category) bool { return !f.selects(c) })
	slices.SortFunc(all, func(a, b Category) int {
		return cmp.Or(cmp.Compare(a.Depth, b.Depth), cmp.Compare(a.SortOrder, b.SortOrder), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID.String(), b.ID.String()))
	})
	return all, nil
}

// Category reads one category.
func (s *Service) Category(ctx context.Context, by access.Caller, id uuid.UUID) (Category, error) {
	c, _, err := readCategory(ctx, s.cfg.DB, by.Company, id)
	return c, err
}

// CreateCategory creates a category. An unknown parent is 404; exceeding the maximum depth or number is 409.
func (s *Service) CreateCategory(ctx context.Context, tx *db.Tx, by access.Caller, in CategoryFields) (Category, error) {
	if err := lockTree(ctx, tx, by.Company); err != nil {
		return Category{}, err
	}
	t, err := readTree(ctx, tx, by.Company)
	if err != nil {
		return Category{}, err
	}
	c := Category{Key: record.Key{ID: tx.NewID()}, CategoryFields: in}
	if err := c.place(t); err != nil {
		return Category{}, err
	}
	return categories.Create(ctx, tx, by, c, categoryCreated)
}

// UpdateCategory changes a category. Moving it below itself is 409 CATEGORY_CYCLE.
func (s *Service) UpdateCategory(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in record.Patch[CategoryFields]) (Category, error) {
	c, t, err := lockCategory(ctx, tx, by, id)
	if err != nil {
		return Category{}, err
	}
	snapshot := categories.Snapshot(c)
	in.Apply(&c.CategoryFields)
	if err := c.place(t); err != nil {
		return Category{}, err
	}
	return c, categories.Store(ctx, tx, by, snapshot, &c, categoryUpdated)
}

// Reassign is where the contents of a deleted category are moved.
type Reassign struct {
	To jsontype.IDOrNull `query:"reassignTo" doc:"id of the category that the contents are moved to before the deletion, or null for none"`
}

// DeleteCategory deletes a category. If it has children or active items, it returns 409 CATEGORY_IN_USE unless reassign
// says where to move them. Hidden items lose their category.
func (s *Service) DeleteCategory(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, reassign Reassign) error {
	to := reassign.To.ID() // nil for the root or no category
	c, t, err := lockCategory(ctx, tx, by, id)
	if err != nil {
		return err
	}
	if reassign.To.Sent() {
		err = s.moveChildren(ctx, tx, by, t, c, to)
	} else {
		err = s.checkUnused(ctx, tx, c, t)
	}
	if err != nil {
		return err
	}
	if err := s.emptyCategory(ctx, tx, by, c.ID, to); err != nil {
		return err
	}
	return categories.Remove(ctx, tx, by, c, categoryDeleted)
}

func (s *Service) checkUnused(ctx context.Context, q db.Querier, c Category, t tree) error {
	services, err := s.cfg.Services.CountActive(ctx, q, c.CompanyID, c.ID)
	if err != nil {
		return err
	}
	children := t.children(c.ID)
	if children == 0 && c.ProductsCount == 0 && services == 0 {
		return nil
	}
	return apierr.StateConflict("CATEGORY_IN_USE", "the category has child categories or active products or services; move them first, or set reassignTo").
		With("children", children).With("products", c.ProductsCount).With("services", services)
}

// moveChildren moves the children of c to another parent, each as a separate change.
func (s *Service) moveChildren(ctx context.Context, tx *db.Tx, by access.Caller, t tree, c Category, to *uuid.UUID) error {
	if to != nil {
		path, ok := t.path(*to)
		if !ok {
			return apierr.ReferenceNotFound("CATEGORY", "reassignTo", to.String())
		}
		if slices.Contains(path, c.ID) {
			return errCycle
		}
	}
	children, err := readChildren(ctx, tx, by.Company, c.ID)
	if err != nil {
		return err
	}
	for _, child := range children {
		snapshot := categories.Snapshot(child)
		child.ParentID = to
		if err := child.place(t); err != nil {
			return err
		}
		if err := categories.Store(ctx, tx, by, snapshot, &child, categoryUpdated); err != nil {
			return err
		}
	}
	return nil
}
