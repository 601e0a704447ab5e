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
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// category is what is known of a stored category while a tree is stored.
type category struct {
	id       uuid.UUID
	parent   *uuid.UUID
	name     string
	external [2]string
	named    bool // by its external id
	order    int32
}

const sqlSelectCategoryKeys = `SELECT id, parent_id, name, sort_order, COALESCE(source, ''), external_id FROM categories WHERE company_id = $1`

var sqlLockTreePart = sqlSelectCategories + ` AND c.id = ANY($2::UUID[])`

// treeWriter stores a tree of categories.
type treeWriter struct {
	s      *Service
	tx     *db.Tx
	by     access.Caller
	tree   tree
	below  map[uuid.UUID][]uuid.UUID // children as they are after the nodes before; of uuid.Nil the roots
	keys   map[uuid.UUID]category
	named  map[[2]string]uuid.UUID
	stored map[uuid.UUID]Category // those that nodes may name
	done   map[uuid.UUID]bool     // those that a node has named
	made   TreeChange
}

// StoreCategoryTree creates and changes the categories of a tree, all or none. A node with an externalId is the category that has it,
// wherever it is: it is moved. Another one is the category of this name below the same parent. What there is none of is created.
//
// Errors: 404 for the parent, 409 CATEGORY_CYCLE, 409 CATEGORY_DEPTH_EXCEEDED, 409 CATEGORY_LIMIT_REACHED, 409 CATEGORY_NAME_AMBIGUOUS.
func (s *Service) StoreCategoryTree(ctx context.Context, tx *db.Tx, by access.Caller, in TreeInput) (TreeChange, error) {
	if err := in.check(); err != nil {
		return TreeChange{}, err
	}
	if err := lockTree(ctx, tx, by.Company); err != nil {
		return TreeChange{}, err
	}
	w := &treeWriter{s: s, tx: tx, by: by.Unconditional(), below: map[uuid.UUID][]uuid.UUID{}, tree: tree{}, keys: map[uuid.UUID]category{}, named: map[[2]string]uuid.UUID{}, done: map[uuid.UUID]bool{}}
	if err := w.read(ctx, by.Company, in); err != nil {
		return TreeChange{}, err
	}
	if in.ParentID != nil {
		if _, ok := w.tree.path(*in.ParentID); !ok {
			return TreeChange{}, apierr.ReferenceNotFound("CATEGORY", "parentId", in.ParentID.String())
		}
	}
	var err error
	w.made.Categories, err = w.store(ctx, "categories", in.ParentID, in.Categories)
	return w.made, err
}

// read reads the keys of all categories, and those that the nodes may name.
func (w *treeWriter) read(ctx context.Context, company tenant.ID, in TreeInput) error {
	rows, err := w.tx.Query(ctx, sqlSelectCategoryKeys, company)
	if err != nil {
		return fmt.Errorf("select keys of categories: %w", err)
	}
	var c category
	var external *string
	_, err = pgx.ForEachRow(rows, []any{&c.id, &c.parent, &c.name, &c.order, &c.external[0], &external}, func() error {
		if c.named = external != nil; c.named {
			c.external[1] = *external
			w.named[c.external] = c.id
		}
		w.keys[c.id], w.tree[c.id] = c, c.parent
		at := record.OrZero(c.parent)
		w.below[at] = append(w.below[at], c.id)
		return nil
	})
	if err != nil {
		return fmt.Errorf("read keys of categories: %w", err)
	}
	names, ids := map[string]bool{}, []uuid.UUID{}
	eachNode(in.Categories, func(n CategoryNodeInput) {
		if key, named := n.key(); !named {
			names[n.Name] = true
		} else if id, ok := w.named[key]; ok {
			ids = append(ids, id)
		}
	})
	for id, c := range w.keys {
		if names[c.name] {
			ids = append(ids, id)
		}
	}
	rows, err = w.tx.Query(ctx, sqlLockTreePart, company, ids)
	if err != nil {
		return fmt.Errorf("select categories of a tree: %w", err)
	}
	all, err := pgx.CollectRows(rows, db.RowTo(categoryTargets))
	if err != nil {
		return fmt.Errorf("read categories of a tree: %w", err)
	}
	w.stored = make(map[uuid.UUID]Category, len(all))
	for _, c := range all {
		w.stored[c.ID] = c
	}
	return nil
}

func eachNode(nodes []CategoryNodeInput, fn func(CategoryNodeInput)) {
	for _, n := range nodes {
		fn(n)
		eachNode(n.Children, fn)
	}
}

// store stores nodes below a parent.
func (w *treeWriter) store(ctx context.Context, path string, parent *uuid.UUID, nodes []CategoryNodeInput) ([]CategoryNode, error) {
	out := make([]CategoryNode, len(nodes))
	for i, n := range nodes {
		at := fmt.Sprintf("%s[%d]", path, i)
		id, err := w.find(at, parent, n)
		if err != nil {
			return nil, err
		}
		if id != nil && w.done[*id] {
			return nil, apierr.InvalidField(at, apierr.Conflict, "names the category %s, as another one does; name each category once", *id)
		}
		c, err := w.put(ctx, at, id, parent, n)
		if err != nil {
			return nil, err
		}
		out[i].Category, w.done[c.ID] = c, true
		if out[i].Children, err = w.store(ctx, at+".children", &c.ID, n.Children); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// find returns the id of the category that a node names; nil if there is none.
func (w *treeWriter) find(path string, parent *uuid.UUID, n CategoryNodeInput) (*uuid.UUID, error) {
	if key, named := n.key(); named {
		if id, ok := w.named[key]; ok {
			return &id, nil
		}
		if n.Name == "" {
			return nil, apierr.InvalidField(path+".name", apierr.Required, "is required, because no category has this externalId")
		}
		return nil, nil //nolint:nilnil // there is no such category
	}
	var found []uuid.UUID
	for _, id := range w.below[record.OrZero(parent)] {
		if w.keys[id].name == n.Name {
			found = append(found, id)
		}
	}
	switch len(found) {
	case 0:
		return nil, nil //nolint:nilnil // there is no such category
	case 1:
		return &found[0], nil
	}
	return nil, apierr.StateConflict("CATEGORY_NAME_AMBIGUOUS", "%s: %d categories of one parent have the name %s; name the category by externalId", path, len(found), n.Name).
		With("field", path+".name").With("ids", found)
}

// put creates the category of a node, or changes it.
func (w *treeWriter) put(ctx context.Context, path string, id, parent *uuid.UUID, n CategoryNodeInput) (c Category, err error) {
	if id == nil {
		c = Category{Key: record.Key{ID: w.tx.NewID()}, CategoryFields: CategoryFields{ParentID: parent}}
		n.card.Apply(&c.CategoryCard)
		c.Icon = cmp.Or(c.Icon, defaultIcon)
		if err := w.place(&c); err != nil {
			return c, inTree(path, err)
		}
		w.made.Created++
		w.keys[c.ID] = category{id: c.ID, name: c.Name}
		return categories.Create(ctx, w.tx, w.by, c, categoryCreated)
	}
	c = w.stored[*id]
	snapshot, version := categories.Snapshot(c), c.Version
	c.ParentID = parent
	n.card.Apply(&c.CategoryCard)
	if err := w.place(&c); err != nil {
		return c, inTree(path, err)
	}
	if err := categories.Store(ctx, w.tx, w.by, snapshot, &c, categoryUpdated); err != nil {
		return c, err
	}
	if w.made.Unchanged++; c.Version != version {
		w.made.Unchanged--
		w.made.Updated++
	}
	key := w.keys[c.ID]
	key.name = c.Name
	w.keys[c.ID] = key
	return c, nil
}

// place puts a category below its parent, in the tree of this change too.
func (w *treeWriter) place(c *Category) error {
	if err := w.tree.checkRoom(c.ID); err != nil {
		return err
	}
	var above []uuid.UUID
	if c.ParentID != nil {
		above, _ = w.tree.path(*c.ParentID)
	}
	if slices.Contains(above, c.ID) {
		return errCycle
	}
	c.Path = append(slices.Clone(above), c.ID)
	if c.Depth = len(c.Path); c.Depth+w.height(c.ID)-1 > maxCategoryDepth {
		return errDepth
	}
	if before, stored := w.tree[c.ID]; stored {
		at := record.OrZero(before)
		w.below[at] = slices.DeleteFunc(w.below[at], func(id uuid.UUID) bool { return id == c.ID })
	}
	w.tree[c.ID] = c.ParentID
	at := record.OrZero(c.ParentID)
	w.below[at] = append(w.below[at], c.ID)
	return nil
}

// height is the number of levels of the subtree of id, itself included.
func (w *treeWriter) height(id uuid.UUID) int {
	most := 0
	for _, child := range w.below[id] {
		most = max(most, w.height(child))
	}
	return most + 1
}

// inTree names the node that a rule forbids.
func inTree(path string, err error) error {
	f, ok := apierr.As(err)
	if !ok {
		return err
	}
	named := *f
	named.Message = path + ": " + f.Message
	return named.With("field", path)
}
