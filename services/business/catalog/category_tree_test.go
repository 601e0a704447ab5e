package catalog_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
)

func newCategory(t *testing.T, c *apitest.Client, name string, parent any) string {
	t.Helper()
	return c.Do(t, "POST", "/catalog/categories", object{"name": name, "parentId": parent}).OK(201)["id"].(string)
}

type node struct {
	ID            string
	ParentID      *string
	Path          []string
	Depth         int
	ProductsCount int
}

func readTree(t *testing.T, c *apitest.Client) map[string]node {
	t.Helper()
	var all []node
	c.Do(t, "GET", "/catalog/categories", nil).Decode(&all)
	tree := map[string]node{}
	for _, n := range all {
		tree[n.ID] = n
	}
	return tree
}

// checkTree requires that every category reaches a root, and that path and depth tell how.
func checkTree(t *testing.T, tree map[string]node) {
	t.Helper()
	for _, n := range tree {
		path := []string{n.ID}
		for at := n; at.ParentID != nil; at = tree[*at.ParentID] {
			require.Contains(t, tree, *at.ParentID)
			require.LessOrEqual(t, len(path), len(tree), "the categories form a cycle")
			path = append(path, *at.ParentID)
		}
		slices.Reverse(path)
		require.Equal(t, path, n.Path)
		require.Equal(t, len(path), n.Depth)
		require.LessOrEqual(t, n.Depth, 10)
	}
}

// TestParallelMovesFormNoCycle moves categories below each other at once: a move that is right alone
// may not be right after another one.
func TestParallelMovesFormNoCycle(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		c := setup(t)
		ids := make([]string, rapid.IntRange(2, 6).Draw(rt, "categories"))
		for i := range ids {
			ids[i] = newCategory(t, c, "c", nil)
		}
		type move struct {
			id     string
			parent any
		}
		moves := make([]move, rapid.IntRange(2, 8).Draw(rt, "moves"))
		for i := range moves {
			moves[i].id = rapid.SampledFrom(ids).Draw(rt, "id")
			if to := rapid.SampledFrom(slices.Concat(ids, []string{""})).Draw(rt, "parent"); to != "" {
				moves[i].parent = to
			}
		}
		status := make([]int, len(moves))
		together(len(moves), func(i int) {
			status[i] = c.Do(t, "PATCH", "/catalog/categories/"+moves[i].id, object{"parentId": moves[i].parent}).Status
		})
		for i, s := range status {
			require.Contains(rt, []int{200, 409}, s, "move %d", i)
		}
		checkTree(t, readTree(t, c))
	})
}

func TestOppositeMoves(t *testing.T) {
	t.Parallel()
	c := setup(t)
	a, b := newCategory(t, c, "a", nil), newCategory(t, c, "b", nil)
	status := make([]int, 2)
	together(2, func(i int) {
		status[i] = c.Do(t, "PATCH", "/catalog/categories/"+[]string{a, b}[i], object{"parentId": []string{b, a}[i]}).Status
	})
	require.ElementsMatch(t, []int{200, 409}, status)
}

func TestCategoryDepth(t *testing.T) {
	t.Parallel()
	c := setup(t)
	top := newCategory(t, c, "1", nil)
	var at any = top
	for range 9 {
		at = newCategory(t, c, "deeper", at)
	}
	c.Do(t, "POST", "/catalog/categories", object{"name": "11", "parentId": at}).Fault(409, "CATEGORY_DEPTH_EXCEEDED")
	other := newCategory(t, c, "other", nil)
	c.Do(t, "PATCH", "/catalog/categories/"+top, object{"parentId": other}).Fault(409, "CATEGORY_DEPTH_EXCEEDED")
	c.Do(t, "PATCH", "/catalog/categories/"+top, object{"parentId": noID}).Fault(404, "CATEGORY_NOT_FOUND")
	checkTree(t, readTree(t, c))
}

func TestDeleteCategoryMovesItsContents(t *testing.T) {
	t.Parallel()
	c := setup(t)
	old, target := newCategory(t, c, "old", nil), newCategory(t, c, "target", nil)
	child := newCategory(t, c, "child", old)
	active := create(t, c, object{"name": "active", "price": 1, "categoryId": old}).OK(201)["id"].(string)
	hidden := create(t, c, object{"name": "hidden", "price": 1, "categoryId": old, "status": "hidden"}).OK(201)["id"].(string)
	path := "/catalog/categories/" + old
	require.Equal(t, object{"children": 1.0, "products": 1.0, "services": 0.0}, c.Do(t, "DELETE", path, nil).Fault(409, "CATEGORY_IN_USE")["meta"])
	c.Do(t, "DELETE", path+"?reassignTo="+child, nil).Fault(409, "CATEGORY_CYCLE")
	c.Do(t, "DELETE", path+"?reassignTo="+old, nil).Fault(409, "CATEGORY_CYCLE")
	c.Do(t, "DELETE", path+"?reassignTo="+noID, nil).Fault(404, "CATEGORY_NOT_FOUND")
	require.Equal(t, map[string]string{"reassignTo": "FORMAT"}, c.Do(t, "DELETE", path+"?reassignTo=x", nil).Fields())
	before := len(events(t, c))

	c.Do(t, "DELETE", path+"?reassignTo="+target, nil).OK(204)
	c.Do(t, "GET", path, nil).Fault(404, "CATEGORY_NOT_FOUND")
	moved := c.Do(t, "GET", "/catalog/products/"+active, nil).OK(200)
	require.Equal(t, []any{target, 2.0}, []any{moved["categoryId"], moved["version"]})
	detached := c.Do(t, "GET", "/catalog/products/"+hidden, nil).OK(200)
	require.Equal(t, []any{nil, 2.0}, []any{detached["categoryId"], detached["version"]})
	tree := readTree(t, c)
	require.Equal(t, target, *tree[child].ParentID)
	require.Equal(t, 1, tree[target].ProductsCount)
	checkTree(t, tree)

	raisedNow := events(t, c)[before:]
	require.ElementsMatch(t, []string{"category.updated", "product.updated", "category.deleted"}, raisedNow.Names())
	for _, e := range raisedNow {
		if e.Name == "product.updated" {
			require.Equal(t, []any{"categoryId"}, e.Data["changedFields"])
			require.Equal(t, target, e.Data["categoryId"])
		}
	}
	c.Do(t, "DELETE", "/catalog/categories/"+target+"?reassignTo=null", nil).OK(204)
	require.Nil(t, c.Do(t, "GET", "/catalog/products/"+active, nil).OK(200)["categoryId"])
	require.Nil(t, readTree(t, c)[child].ParentID)
}

// TestDeleteCategoryRace puts products into a category while it is deleted: none may end in a category that is gone.
func TestDeleteCategoryRace(t *testing.T) {
	t.Parallel()
	c := setup(t)
	for range 5 {
		category := newCategory(t, c, "c", nil)
		together(4, func(i int) {
			if i == 0 {
				require.Contains(t, []int{204, 409}, c.Do(t, "DELETE", "/catalog/categories/"+category, nil).Status)
				return
			}
			require.Contains(t, []int{201, 404}, create(t, c, object{"name": "a", "price": 1, "categoryId": category}).Status)
		})
	}
	tree := readTree(t, c)
	for _, item := range c.Do(t, "GET", "/catalog/products", nil).OK(200)["items"].([]any) {
		require.Contains(t, tree, item.(object)["categoryId"])
	}
}

// Changes of one tree wait for each other; none is refused.
func TestParallelChangesOfOneCategory(t *testing.T) {
	t.Parallel()
	c := setup(t)
	id := newCategory(t, c, "c", nil)
	status := make([]int, 400)
	together(len(status), func(i int) {
		status[i] = c.Do(t, "PATCH", "/catalog/categories/"+id, object{"sortOrder": i + 1}).Status
	})
	for i, s := range status {
		require.Equal(t, 200, s, "change %d", i)
	}
	require.Equal(t, 401.0, c.Do(t, "GET", "/catalog/categories/"+id, nil).OK(200)["version"])
}
