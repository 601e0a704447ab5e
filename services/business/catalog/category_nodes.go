package catalog

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
)

// maxTreeRead limits trees; see docs/reference/limits.md#collections.
const maxTreeRead = 5000 // categories in an answer, which has up to [list.MaxPageBytes]

// CategoryNode is a category with those below it.
type CategoryNode struct {
	Category
	Children []CategoryNode `json:"children" doc:"sorted by sortOrder and name"`
}

// CategoryTree is a tree of categories.
type CategoryTree struct {
	Total      int            `json:"total" doc:"categories in the tree"`
	Categories []CategoryNode `json:"categories" doc:"of the first level, with those below them"`

	bytes int // about as many as the tree takes
}

// TreeFilter selects a part of the tree.
type TreeFilter struct {
	RootID *uuid.UUID `query:"rootId" format:"uuid" doc:"a category, with all below it; without it all categories"`
}

const sqlMeasureTree = `SELECT count(*), COALESCE(sum(600 + octet_length(name) + octet_length(metadata::TEXT)), 0)::INT8
FROM categories WHERE company_id = $1 AND ($2::BOOLEAN OR id = ANY($3::UUID[]))`

var sqlSelectSubtree = sqlSelectCategories + ` AND ($2::BOOLEAN OR c.id = ANY($3::UUID[]))`

// CategoryTree reads the tree of categories, or the part below one.
//
// Errors: 404 for the root, 409 CATEGORY_TREE_TOO_LARGE.
func (s *Service) CategoryTree(ctx context.Context, by access.Caller, f TreeFilter) (CategoryTree, error) {
	all, ids := f.RootID == nil, []uuid.UUID{}
	if !all {
		rows, err := s.cfg.DB.Query(ctx, sqlSelectBelow, by.Company, *f.RootID)
		if err != nil {
			return CategoryTree{}, fmt.Errorf("select categories below: %w", err)
		}
		if ids, err = pgx.CollectRows(rows, pgx.RowTo[uuid.UUID]); err != nil {
			return CategoryTree{}, fmt.Errorf("select categories below: %w", err)
		}
		if len(ids) == 0 {
			return CategoryTree{}, apierr.ReferenceNotFound("CATEGORY", "rootId", f.RootID.String())
		}
	}
	var count int
	var bytes int64
	if err := s.cfg.DB.QueryRow(ctx, sqlMeasureTree, by.Company, all, ids).Scan(&count, &bytes); err != nil {
		return CategoryTree{}, fmt.Errorf("measure category tree: %w", err)
	}
	if count > maxTreeRead || bytes > list.MaxPageBytes {
		return CategoryTree{}, apierr.StateConflict("CATEGORY_TREE_TOO_LARGE",
			"the tree has %d categories of %d bytes, more than %d categories or %d bytes; read parts of it with rootId", count, bytes, maxTreeRead, list.MaxPageBytes).
			With("categories", count).With("bytes", bytes)
	}
	var found []Category
	var t tree
	err := batchloader.Load(ctx, s.cfg.DB, func(ctx context.Context, q db.Querier) error {
		rows, err := q.Query(ctx, sqlSelectSubtree, by.Company, all, ids)
		if err == nil {
			found, err = pgx.CollectRows(rows, db.RowTo(categoryTargets))
		}
		return err
	}, func(ctx context.Context, q db.Querier) (err error) {
		t, err = readTree(ctx, q, by.Company)
		return err
	})
	if err != nil {
		return CategoryTree{}, fmt.Errorf("read category tree: %w", err)
	}
	out := nest(found, t)
	out.bytes = int(bytes)
	return out, nil
}

// Bytes implements [httpapi.Sized].
func (t CategoryTree) Bytes() int { return t.bytes }

// nest makes a tree of categories. Those whose parents are not among them are on the first level.
func nest(all []Category, t tree) CategoryTree {
	slices.SortFunc(all, func(a, b Category) int {
		return cmp.Or(cmp.Compare(a.SortOrder, b.SortOrder), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID.String(), b.ID.String()))
	})
	below := map[uuid.UUID][]Category{}
	known := map[uuid.UUID]bool{}
	for i := range all {
		all[i].locate(t)
		known[all[i].ID] = true
	}
	for _, c := range all {
		at := uuid.Nil
		if c.ParentID != nil && known[*c.ParentID] {
			at = *c.ParentID
		}
		below[at] = append(below[at], c)
	}
	var nodes func(at uuid.UUID, levels int) []CategoryNode
	nodes = func(at uuid.UUID, levels int) []CategoryNode {
		out := make([]CategoryNode, 0, len(below[at]))
		for _, c := range below[at] {
			n := CategoryNode{Category: c, Children: []CategoryNode{}}
			if levels > 1 {
				n.Children = nodes(c.ID, levels-1)
			}
			out = append(out, n)
		}
		return out
	}
	return CategoryTree{Total: len(all), Categories: nodes(uuid.Nil, maxCategoryDepth)}
}
