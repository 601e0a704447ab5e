package catalog_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
)

func storeTree(t *testing.T, c *apitest.Client, parent any, nodes ...object) *apitest.Response {
	t.Helper()
	body := object{"categories": nodes}
	if parent != nil {
		body["parentId"] = parent
	}
	return c.Do(t, "PUT", "/catalog/categories/tree", body)
}

// outline shows nodes as name(children).
func outline(nodes any) string {
	var parts []string
	for _, n := range nodes.([]any) {
		text := n.(object)["name"].(string)
		if below := outline(n.(object)["children"]); below != "" {
			text += "(" + below + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " ")
}

func tree(t *testing.T, c *apitest.Client, query string) object {
	t.Helper()
	return c.Do(t, "GET", "/catalog/categories/tree"+query, nil).OK(200)
}

func counts(made object) string {
	return fmt.Sprint(made["created"], " ", made["updated"], " ", made["unchanged"])
}

func TestCategoryTree(t *testing.T) {
	t.Parallel()
	c := setup(t)
	require.Equal(t, object{"total": 0.0, "categories": []any{}}, tree(t, c, ""))
	sent := []object{
		{"name": "Drinks", "externalId": "d", "source": "shop", "sortOrder": 2, "children": []object{
			{"name": "Tea", "children": []object{{"name": "Green"}}}, {"name": "Coffee", "color": "#112233", "metadata": object{"a": "1"}},
		}},
		{"name": "Food", "sortOrder": 1},
	}
	made := storeTree(t, c, nil, sent...).OK(200)
	require.Equal(t, "5 0 0", counts(made))
	require.Equal(t, "Drinks(Tea(Green) Coffee) Food", outline(made["categories"]), "as it was sent")
	require.Equal(t, "Food Drinks(Coffee Tea(Green))", outline(tree(t, c, "")["categories"]), "sorted")
	require.EqualValues(t, 5, tree(t, c, "")["total"])
	checkTree(t, readTree(t, c))
	raised := events(t, c)
	require.Equal(t, "0 0 5", counts(storeTree(t, c, nil, sent...).OK(200)))
	require.Len(t, events(t, c), len(raised), "nothing changed")

	drinks := made["categories"].([]any)[0].(object)
	coffee := drinks["children"].([]any)[1].(object)
	require.Equal(t, []any{"folder", "#112233", 2.0}, []any{coffee["icon"], coffee["color"], coffee["depth"]})
	// What is not sent stays: other fields, and other categories.
	made = storeTree(t, c, nil, object{"externalId": "d", "source": "shop", "name": "Beverages", "children": []object{{"name": "Coffee", "color": nil, "children": []object{{"name": "Beans"}}}}}).OK(200)
	require.Equal(t, "1 2 0", counts(made))
	require.Equal(t, "Food Beverages(Coffee(Beans) Tea(Green))", outline(tree(t, c, "")["categories"]))
	coffee = c.Do(t, "GET", "/catalog/categories/"+coffee["id"].(string), nil).OK(200)
	require.Equal(t, []any{nil, object{"a": "1"}}, []any{coffee["color"], coffee["metadata"]})
	require.Equal(t, "Coffee(Beans)", outline(tree(t, c, "?rootId="+coffee["id"].(string))["categories"]))
	// An external id names a category wherever it is.
	food := tree(t, c, "")["categories"].([]any)[0].(object)["id"]
	require.Equal(t, "0 1 0", counts(storeTree(t, c, food, object{"externalId": "d", "source": "shop"}).OK(200)))
	require.Equal(t, "Food(Beverages(Coffee(Beans) Tea(Green)))", outline(tree(t, c, "")["categories"]))
	checkTree(t, readTree(t, c))
	c.Do(t, "GET", "/catalog/categories/tree?rootId="+uuid.NewString(), nil).Fault(404, "CATEGORY_NOT_FOUND")
}

func TestCategoryTreeIsStoredAsAWhole(t *testing.T) {
	t.Parallel()
	c := setup(t)
	root := newCategory(t, c, "Root", nil)
	newCategory(t, c, "Twin", root)
	newCategory(t, c, "Twin", root)
	deep := object{"name": "10"}
	for level := 9; level > 0; level-- {
		deep = object{"name": fmt.Sprint(level), "children": []object{deep}}
	}
	many := make([]object, 2)
	for i := range many {
		below := make([]object, 500)
		for j := range below {
			below[j] = object{"name": fmt.Sprint(j)}
		}
		many[i] = object{"name": fmt.Sprint("many", i), "children": below}
	}
	before := readTree(t, c)
	for name, try := range map[string]struct {
		parent any
		nodes  []object
		want   map[string]string
	}{
		"no name":          {nil, []object{{"children": []object{{"name": ""}}}}, map[string]string{"categories[0].children[0].name": "LENGTH"}},
		"named by nothing": {nil, []object{{"color": "#112233"}}, map[string]string{"categories[0].name": "REQUIRED"}},
		"new without name": {nil, []object{{"name": "x"}, {"externalId": "1"}}, map[string]string{"categories[1].name": "REQUIRED"}},
		"twice by name":    {nil, []object{{"name": "x"}, {"name": "x"}}, map[string]string{"categories[1].name": "CONFLICT"}},
		"twice by id":      {nil, []object{{"name": "x", "externalId": "1", "children": []object{{"name": "y", "externalId": "1"}}}}, map[string]string{"categories[0].children[0].externalId": "CONFLICT"}},
		"too many":         {nil, many, map[string]string{"categories": "MAX"}},
	} {
		require.Equal(t, try.want, storeTree(t, c, try.parent, try.nodes...).Fields(), name)
	}
	require.Equal(t, "categories[0].children[0].name", storeTree(t, c, nil, object{"name": "Root", "children": []object{{"name": "Twin"}}}).Fault(409, "CATEGORY_NAME_AMBIGUOUS")["meta"].(object)["field"])
	storeTree(t, c, root, deep).Fault(409, "CATEGORY_DEPTH_EXCEEDED")
	storeTree(t, c, uuid.NewString(), object{"name": "x"}).Fault(404, "CATEGORY_NOT_FOUND")
	require.Equal(t, before, readTree(t, c))
	require.Equal(t, "10 0 0", counts(storeTree(t, c, nil, deep).OK(200)))

	storeTree(t, c, nil, object{"name": "A", "externalId": "a", "children": []object{{"name": "B", "externalId": "b"}}}).OK(200)
	b := c.Do(t, "GET", "/catalog/categories?externalId=b", nil)
	var found []node
	b.Decode(&found)
	storeTree(t, c, found[0].ID, object{"externalId": "a"}).Fault(409, "CATEGORY_CYCLE")
	require.Equal(t, "0 2 0", counts(storeTree(t, c, nil, object{"externalId": "b", "children": []object{{"externalId": "a"}}}).OK(200)), "turned upside down, from the top")
	checkTree(t, readTree(t, c))
}

// Trees of drawn shape come back as they were sent, whatever the tree before was.
func TestCategoryTreesComeBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		c := setup(t)
		for range rapid.IntRange(1, 3).Draw(rt, "requests") {
			ids := rapid.Permutation([]int{0, 1, 2, 3, 4, 5}).Draw(rt, "ids")
			var draw func(level int) []object
			draw = func(level int) []object {
				nodes := []object{}
				for n := rapid.IntRange(0, 2).Draw(rt, "below"); n > 0 && len(ids) > 0 && level < 5; n-- {
					id := ids[0]
					ids = ids[1:]
					nodes = append(nodes, object{"externalId": fmt.Sprint(id), "name": fmt.Sprint("c", id), "sortOrder": 6 - len(ids), "children": draw(level + 1)})
				}
				return nodes
			}
			nodes := draw(0)
			if len(nodes) == 0 {
				continue
			}
			made := storeTree(t, c, nil, nodes...)
			if made.Status == 409 {
				continue // a drawn move below itself
			}
			want := made.OK(200)["categories"]
			checkTree(t, readTree(t, c))
			for i, n := range nodes {
				got := want.([]any)[i].(object)
				below := tree(t, c, "?rootId="+got["id"].(string))["categories"].([]any)[0].(object)
				for _, name := range names(n["children"].([]object)) {
					require.True(t, slices.Contains(namesOf(below["children"]), name), "%s is below %s", name, n["name"])
				}
			}
		}
	})
}

func names(nodes []object) (all []string) {
	for _, n := range nodes {
		all = append(all, n["name"].(string))
	}
	return all
}

func namesOf(nodes any) (all []string) {
	for _, n := range nodes.([]any) {
		all = append(all, n.(object)["name"].(string))
	}
	return all
}
