package catalog

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

const (
	maxCategoryDepth = 10     // levels
	maxCategories    = 10_000 // of a company: the tree is read as a whole
)

var (
	errCycle = apierr.StateConflict("CATEGORY_CYCLE", "a category cannot be moved below itself; choose another parent")
	errDepth = apierr.StateConflict("CATEGORY_DEPTH_EXCEEDED", "categories can be nested at most %d levels deep; choose a parent closer to the root", maxCategoryDepth)
	errFull  = apierr.StateConflict("CATEGORY_LIMIT_REACHED", "a company has at most %d categories: change or delete one that is no longer used", maxCategories)
)

var (
	categoryPlan        = record.PlanOf[Category]()
	sqlSelectCategories = "SELECT " + categoryPlan.SelectList("c.") + `,
(SELECT count(*) FROM products p WHERE p.company_id = c.company_id AND p.category_id = c.id AND p.status = 'active')
FROM categories c WHERE c.company_id = $1`
	sqlSelectCategory = sqlSelectCategories + ` AND c.id = $2`
	sqlSelectChildren = sqlSelectCategories + ` AND c.parent_id = $2 ORDER BY c.id`
)

func categoryTargets(c *Category) []any { return append(categoryPlan.Targets(c), &c.ProductsCount) }

// readCategory reads a category and its tree.
func readCategory(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID) (c Category, t tree, err error) {
	err = batchloader.Load(ctx, q, func(ctx context.Context, q db.Querier) (err error) {
		c, err = record.One(q.QueryRow(ctx, sqlSelectCategory, company, id), categoryTargets, "CATEGORY", id)
		return err
	}, func(ctx context.Context, q db.Querier) (err error) {
		t, err = readTree(ctx, q, company)
		return err
	})
	c.locate(t)
	return c, t, err
}

// lockCategory reads a category for a change. The lock on the tree prevents concurrent changes of all categories.
func lockCategory(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (Category, tree, error) {
	if err := lockTree(ctx, tx, by.Company); err != nil {
		return Category{}, nil, err
	}
	c, t, err := readCategory(ctx, tx, by.Company, id)
	if err != nil {
		return c, t, err
	}
	return c, t, by.Expect(c.Version)
}

func readChildren(ctx context.Context, q db.Querier, company tenant.ID, parent uuid.UUID) ([]Category, error) {
	return db.Collect(ctx, q, "select child categories", db.RowTo(categoryTargets), sqlSelectChildren, company, parent)
}

const categoryTrees = db.Table("category_trees")

var sqlLockTree = categoryTrees.Insert(`(company_id, changes) VALUES ($1, 1)
ON CONFLICT (company_id) DO UPDATE SET changes = category_trees.changes + 1`)

func lockTree(ctx context.Context, tx *db.Tx, company tenant.ID) error {
	if err := tx.LockInProcess(ctx, "categories", company); err != nil {
		return err
	}
	if _, err := tx.Write(ctx, sqlLockTree, company); err != nil {
		return fmt.Errorf("lock category tree: %w", err)
	}
	return nil
}

// tree maps category ids to parent ids.
type tree map[uuid.UUID]*uuid.UUID

const sqlSelectTree = `SELECT id, parent_id FROM categories WHERE company_id = $1`

func readTree(ctx context.Context, q db.Querier, company tenant.ID) (tree, error) {
	return db.Map[uuid.UUID, *uuid.UUID](ctx, q, "read category tree", sqlSelectTree, company)
}

// path returns the ids from the root to id, or false if there is no such category.
func (t tree) path(id uuid.UUID) ([]uuid.UUID, bool) {
	var path []uuid.UUID
	for at := &id; at != nil; at = t[*at] {
		if _, ok := t[*at]; !ok {
			return nil, false
		}
		path = append(path, *at)
		if len(path) > len(t) {
			return nil, false // a cycle in the data must not cause an endless loop
		}
	}
	slices.Reverse(path)
	return path, true
}

// children counts the categories directly below id.
func (t tree) children(id uuid.UUID) (n int) {
	for _, parent := range t {
		if parent != nil && *parent == id {
			n++
		}
	}
	return n
}

// height is the number of levels of the subtree of id, itself included.
func (t tree) height(id uuid.UUID) int {
	height := 1
	for other := range t {
		if path, ok := t.path(other); ok {
			if at := slices.Index(path, id); at >= 0 {
				height = max(height, len(path)-at)
			}
		}
	}
	return height
}

// checkRoom returns an error if the category is not in the tree and the tree is full.
func (t tree) checkRoom(id uuid.UUID) error {
	if _, stored := t[id]; !stored && len(t) >= maxCategories {
		return errFull
	}
	return nil
}

// locate sets the path and depth of a stored category.
func (c *Category) locate(t tree) {
	c.Path, _ = t.path(c.ID)
	c.Depth = len(c.Path)
}

// place inserts the category below its parent. It returns an error for cycles, for trees that are too deep, and for a new category
// without room in the tree.
func (c *Category) place(t tree) error {
	if err := t.checkRoom(c.ID); err != nil {
		return err
	}
	c.Path = nil
	if c.ParentID != nil {
		above, ok := t.path(*c.ParentID)
		if !ok {
			return apierr.ReferenceNotFound("CATEGORY", "parentId", c.ParentID.String())
		}
		if slices.Contains(above, c.ID) {
			return errCycle
		}
		c.Path = above
	}
	c.Path = append(c.Path, c.ID)
	c.Depth = len(c.Path)
	if c.Depth+t.height(c.ID)-1 > maxCategoryDepth {
		return errDepth
	}
	return nil
}
