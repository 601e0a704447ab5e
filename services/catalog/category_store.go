package catalog

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/record"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

const categoryColumns = `c.company_id, c.id, c.parent_id, c.name, c.icon, c.color, c.bg, c.sort_order, c.prefix,
(SELECT count(*) FROM products p WHERE p.company_id = c.company_id AND p.category_id = c.id AND p.status = 'active'),
c.version, c.ev_pos, c.created_at, c.updated_at`

func categoryTargets(c *Category) []any {
	return append([]any{&c.CompanyID, &c.ID, &c.ParentID, &c.Name, &c.Icon, &c.Color, &c.Bg, &c.SortOrder, &c.Prefix, &c.ProductsCount}, c.Targets()...)
}

const sqlSelectCategories = `SELECT ` + categoryColumns + ` FROM categories c WHERE c.company_id = $1`

// selectCategories reads the whole tree of a company: it is small, and every path needs its parents.
func selectCategories(ctx context.Context, q db.Querier, company tenant.ID) ([]Category, error) {
	rows, err := q.Query(ctx, sqlSelectCategories, company)
	if err != nil {
		return nil, fmt.Errorf("select categories: %w", err)
	}
	all, err := pgx.CollectRows(rows, db.RowTo(categoryTargets))
	if err != nil {
		return nil, fmt.Errorf("read categories: %w", err)
	}
	t := tree{}
	for _, c := range all {
		t[c.ID] = c.ParentID
	}
	for i := range all {
		all[i].Path, _ = t.path(all[i].ID)
		all[i].Depth = len(all[i].Path)
	}
	slices.SortFunc(all, func(a, b Category) int {
		return cmp.Or(cmp.Compare(a.Depth, b.Depth), cmp.Compare(a.SortOrder, b.SortOrder), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID.String(), b.ID.String()))
	})
	return all, nil
}

const sqlSelectCategory = sqlSelectCategories + ` AND c.id = $2`

func selectCategory(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID) (Category, error) {
	c, err := record.One(q.QueryRow(ctx, sqlSelectCategory, company, id), categoryTargets, "CATEGORY", id)
	if err != nil {
		return c, err
	}
	t, err := selectTree(ctx, q, company)
	if err != nil {
		return c, err
	}
	c.Path, _ = t.path(id)
	c.Depth = len(c.Path)
	return c, nil
}

const sqlSelectChildren = sqlSelectCategories + ` AND c.parent_id = $2 ORDER BY c.id`

func selectChildren(ctx context.Context, q db.Querier, company tenant.ID, parent uuid.UUID) ([]Category, error) {
	rows, err := q.Query(ctx, sqlSelectChildren, company, parent)
	if err != nil {
		return nil, fmt.Errorf("select child categories: %w", err)
	}
	return pgx.CollectRows(rows, db.RowTo(categoryTargets))
}

// tree maps each category to its parent.
type tree map[uuid.UUID]*uuid.UUID

const sqlSelectTree = `SELECT id, parent_id FROM categories WHERE company_id = $1`

func selectTree(ctx context.Context, q db.Querier, company tenant.ID) (tree, error) {
	t, err := db.Map[uuid.UUID, *uuid.UUID](ctx, q, sqlSelectTree, company)
	if err != nil {
		return nil, fmt.Errorf("read category tree: %w", err)
	}
	return t, nil
}

// path lists the ids from the root to id; false when there is no such category.
func (t tree) path(id uuid.UUID) ([]uuid.UUID, bool) {
	var path []uuid.UUID
	for at := &id; at != nil; at = t[*at] {
		if _, ok := t[*at]; !ok {
			return nil, false
		}
		path = append(path, *at)
		if len(path) > len(t) {
			return nil, false // a cycle in the data must not hang a request
		}
	}
	slices.Reverse(path)
	return path, true
}

// below lists id and everything under it.
func (t tree) below(id uuid.UUID) []uuid.UUID {
	ids := []uuid.UUID{id}
	for other := range t {
		if path, ok := t.path(other); ok && other != id && slices.Contains(path, id) {
			ids = append(ids, other)
		}
	}
	return ids
}

// height is the number of levels of the subtree of id, itself included.
func (t tree) height(id uuid.UUID) int {
	above, ok := t.path(id)
	if !ok {
		return 1 // a new category
	}
	height := 1
	for _, other := range t.below(id) {
		if path, ok := t.path(other); ok {
			height = max(height, len(path)-len(above)+1)
		}
	}
	return height
}

const sqlLockTree = `INSERT INTO category_trees (company_id, changes) VALUES ($1, 1)
ON CONFLICT (company_id) DO UPDATE SET changes = category_trees.changes + 1`

func lockTree(ctx context.Context, tx *db.Tx, company tenant.ID) error {
	if _, err := tx.Exec(ctx, sqlLockTree, company); err != nil {
		return fmt.Errorf("lock category tree: %w", err)
	}
	return nil
}

const sqlInsertCategory = `INSERT INTO categories (company_id, id, parent_id, name, icon, color, bg, sort_order, prefix, version, ev_pos, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`

func insertCategory(tx *db.Tx, c Category) {
	tx.Queue(sqlInsertCategory, c.CompanyID, c.ID, c.ParentID, c.Name, c.Icon, c.Color, c.Bg, c.SortOrder, c.Prefix, c.Version, c.EvPos, c.CreatedAt, c.UpdatedAt)
}

const sqlUpdateCategory = `UPDATE categories SET parent_id = $3, name = $4, icon = $5, color = $6, bg = $7, sort_order = $8, prefix = $9,
version = $10, ev_pos = $11, updated_at = $12 WHERE company_id = $1 AND id = $2 AND version = $10 - 1`

func updateCategory(tx *db.Tx, c Category) {
	tx.Queue(sqlUpdateCategory, c.CompanyID, c.ID, c.ParentID, c.Name, c.Icon, c.Color, c.Bg, c.SortOrder, c.Prefix, c.Version, c.EvPos, c.UpdatedAt).
		Expect(1, db.ErrStale)
}

const sqlDeleteCategory = `DELETE FROM categories WHERE company_id = $1 AND id = $2 AND version = $3`

func deleteCategory(tx *db.Tx, c Category) {
	tx.Queue(sqlDeleteCategory, c.CompanyID, c.ID, c.Version).Expect(1, db.ErrStale)
}

// categoryUse counts what keeps a category from being deleted.
type categoryUse struct{ Children, Products, Services int64 }

const sqlSelectCategoryUse = `SELECT
(SELECT count(*) FROM categories c WHERE c.company_id = $1 AND c.parent_id = $2),
(SELECT count(*) FROM products p WHERE p.company_id = $1 AND p.category_id = $2 AND p.status = 'active')`

func selectCategoryUse(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID) (u categoryUse, err error) {
	err = q.QueryRow(ctx, sqlSelectCategoryUse, company, id).Scan(&u.Children, &u.Products)
	if err != nil {
		return u, fmt.Errorf("count contents of category: %w", err)
	}
	return u, nil
}
