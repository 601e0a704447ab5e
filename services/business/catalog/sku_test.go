package catalog_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
)

func create(t *testing.T, c *apitest.Client, p object) *apitest.Response {
	t.Helper()
	return c.Do(t, "POST", "/catalog/products", p)
}

func TestSKUTaken(t *testing.T) {
	t.Parallel()
	c := setup(t)
	first := create(t, c, object{"name": "a", "price": 1, "sku": " Abc "}).OK(201)
	require.Equal(t, "Abc", first["sku"])
	taken := create(t, c, object{"name": "b", "price": 1, "sku": "aBC"}).Fault(409, "SKU_TAKEN")
	require.Equal(t, object{"sku": "Abc", "entity": "product", "id": first["id"], "status": "active"}, taken["meta"])

	path := "/catalog/products/" + first["id"].(string)
	c.Do(t, "DELETE", path, nil).OK(200)
	taken = create(t, c, object{"name": "b", "price": 1, "sku": "ABC"}).Fault(409, "SKU_TAKEN")
	require.Equal(t, "hidden", taken["meta"].(object)["status"], "a hidden product keeps its SKU")

	second := create(t, c, object{"name": "b", "price": 1, "sku": "x"}).OK(201)
	c.Do(t, "PATCH", "/catalog/products/"+second["id"].(string), `{"sku":"abc"}`).Fault(409, "SKU_TAKEN")
	require.Equal(t, "ABC", c.Do(t, "PATCH", path, `{"sku":"ABC"}`).OK(200)["sku"], "the case of one's own SKU may change")
	c.Do(t, "PATCH", path, `{"status":"active"}`).OK(200)
	taken = create(t, c, object{"name": "b", "price": 1, "sku": "ABC"}).Fault(409, "SKU_TAKEN")
	require.Equal(t, "active", taken["meta"].(object)["status"], "and is named as it is after a restore")
	require.Equal(t, "y", c.Do(t, "PATCH", path, `{"sku":"y"}`).OK(200)["sku"])
	create(t, c, object{"name": "c", "price": 1, "sku": "abc"}).OK(201)
}

func TestBarcodeTaken(t *testing.T) {
	t.Parallel()
	c := setup(t)
	first := create(t, c, object{"name": "a", "price": 1, "barcode": "400"}).OK(201)
	path := "/catalog/products/" + first["id"].(string)
	taken := create(t, c, object{"name": "b", "price": 1, "barcode": "400"}).Fault(409, "BARCODE_TAKEN")
	require.Equal(t, object{"barcode": "400", "entity": "product", "id": first["id"]}, taken["meta"])
	create(t, c, object{"name": "hidden", "price": 1, "barcode": "400", "status": "hidden"}).OK(201)

	c.Do(t, "DELETE", path, nil).OK(200)
	second := create(t, c, object{"name": "b", "price": 1, "barcode": "400"}).OK(201)
	c.Do(t, "PATCH", path, `{"status":"active"}`).Fault(409, "BARCODE_TAKEN")
	c.Do(t, "PATCH", path, `{"status":"active","barcode":null}`).OK(200)
	c.Do(t, "PATCH", path, `{"barcode":"400"}`).Fault(409, "BARCODE_TAKEN")
	c.Do(t, "PATCH", "/catalog/products/"+second["id"].(string), `{"barcode":"401"}`).OK(200)
	c.Do(t, "PATCH", path, `{"barcode":"400"}`).OK(200)
}

func TestGeneratedSKU(t *testing.T) {
	t.Parallel()
	c := setup(t)
	parent := c.Do(t, "POST", "/catalog/categories", object{"name": "Tools", "prefix": "TL"}).OK(201)["id"]
	twin := c.Do(t, "POST", "/catalog/categories", object{"name": "Tools 2", "prefix": "TL"}).OK(201)["id"]
	plain := c.Do(t, "POST", "/catalog/categories", object{"name": "Child", "parentId": parent}).OK(201)["id"]
	create(t, c, object{"name": "by hand", "price": 1, "sku": "tl-0002"}).OK(201)
	sku := func(category any) any {
		return create(t, c, object{"name": "a", "price": 1, "categoryId": category}).OK(201)["sku"]
	}
	require.Equal(t, "TL-0001", sku(parent))
	require.Equal(t, "TL-0003", sku(twin), "one counter for both, and the number given by hand is skipped")
	require.Equal(t, "P-0001", sku(plain), "the prefix of a parent does not count")
	require.Equal(t, "TL-0004", sku(parent))
	for n := 5; n < 50; n++ {
		create(t, c, object{"name": "by hand", "price": 1, "sku": fmt.Sprintf("TL-%04d", n)}).OK(201)
	}
	moved := create(t, c, object{"name": "a", "price": 1, "categoryId": parent}).OK(201)
	require.Equal(t, "TL-0050", moved["sku"])
	require.Equal(t, "TL-0050", c.Do(t, "PATCH", "/catalog/products/"+moved["id"].(string), object{"categoryId": plain}).OK(200)["sku"])
}

// together runs n calls at once.
func together(n int, call func(i int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			call(i)
		})
	}
	close(start)
	wg.Wait()
}

const racers = 16

func TestSKURaces(t *testing.T) {
	t.Parallel()
	c := setup(t)
	status := make([]int, racers)
	together(racers, func(i int) {
		status[i] = create(t, c, object{"name": "a", "price": 1, "sku": []string{"Same", "same"}[i%2]}).Status
	})
	slices.Sort(status)
	require.Equal(t, append([]int{201}, slices.Repeat([]int{409}, racers-1)...), status)

	together(racers, func(i int) {
		status[i] = create(t, c, object{"name": "a", "price": 1, "barcode": "400"}).Status
	})
	slices.Sort(status)
	require.Equal(t, append([]int{201}, slices.Repeat([]int{409}, racers-1)...), status)

	skus := make([]string, racers)
	together(racers, func(i int) {
		skus[i] = create(t, c, object{"name": "a", "price": 1}).OK(201)["sku"].(string)
	})
	slices.Sort(skus)
	require.Len(t, slices.Compact(slices.Clone(skus)), racers, "%v", skus)
	require.Len(t, events(t, c), racers+2)
}

func TestSKUChangesRace(t *testing.T) {
	t.Parallel()
	c := setup(t)
	paths := make([]string, racers)
	for i := range paths {
		paths[i] = "/catalog/products/" + create(t, c, object{"name": "a", "price": 1}).OK(201)["id"].(string)
	}
	status := make([]int, racers)
	together(racers, func(i int) { status[i] = c.Do(t, "PATCH", paths[i], `{"sku":"One","barcode":"1"}`).Status })
	slices.Sort(status)
	require.Equal(t, append([]int{200}, slices.Repeat([]int{409}, racers-1)...), status)
}
