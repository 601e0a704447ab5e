package catalog_test

import (
	"fmt"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A walk by cursor returns every product that was there when it began, once, whatever is created and changed meanwhile.
func TestCursorsWhileProductsAreCreated(t *testing.T) {
	t.Parallel()
	c := setup(t)
	before := map[string]bool{}
	for i := range 40 {
		before[create(t, c, object{"name": fmt.Sprint("n", i%7), "price": i % 5}).OK(201)["id"].(string)] = true
	}
	for _, sort := range []string{"", "name", "price", "brand"} {
		stop := make(chan struct{})
		var wg sync.WaitGroup
		for w := range 2 {
			wg.Go(func() {
				for i := 0; ; i++ {
					select {
					case <-stop:
						return
					default:
						create(t, c, object{"name": fmt.Sprint("n", i%7), "price": i % 5, "brand": fmt.Sprint(w)}).OK(201)
					}
				}
			})
		}
		seen := map[string]int{}
		v := url.Values{"pageSize": {"3"}, "order": {"asc"}}
		if sort != "" {
			v.Set("sort", sort)
		}
		read := func() (more bool) {
			p := getPage(t, c, v)
			for _, item := range p.Items {
				seen[item.ID]++
			}
			if p.NextCursor != nil {
				v.Set("cursor", *p.NextCursor)
			}
			return p.NextCursor != nil
		}
		more := true
		for pages := 0; more && pages < 60; pages++ {
			more = read()
		}
		close(stop)
		wg.Wait()
		for more { // the rest, now that no more come
			more = read()
		}
		for id := range before {
			require.Equal(t, 1, seen[id], "sort %q", sort)
		}
	}
}

// Who reads changes again and again from the watermark on, as documented, misses none.
func TestUpdatedSinceMissesNothing(t *testing.T) {
	t.Parallel()
	c := setup(t)
	const writers, changes = 4, 15
	paths := make([]string, writers*2)
	for i := range paths {
		paths[i] = "/catalog/products/" + create(t, c, object{"name": "n", "price": 0}).OK(201)["id"].(string)
	}
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := 1; i <= changes; i++ {
				c.Do(t, "PATCH", paths[(w+i)%len(paths)], object{"price": i*10 + w, "model": fmt.Sprint(w)}).OK(200)
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	known := map[string]listed{}
	since := "2020-01-01T00:00:00Z"
	read := func() {
		v := url.Values{"updatedSince": {since}, "pageSize": {"3"}}
		for {
			got := c.Do(t, "GET", "/catalog/products?"+v.Encode(), nil)
			require.Equal(t, 200, got.Status, "%s", got.Body)
			var p page
			got.Decode(&p)
			last := ""
			for _, item := range p.Items {
				require.GreaterOrEqual(t, item.UpdatedAt, last)
				last = item.UpdatedAt
				known[item.ID] = item
			}
			if p.NextCursor == nil {
				since = got.Header.Get("X-Sync-Watermark")
				return
			}
			v.Set("cursor", *p.NextCursor)
		}
	}
	for running := true; running; {
		select {
		case <-done:
			running = false
		case <-time.After(10 * time.Millisecond):
		}
		read()
	}
	read()
	for _, path := range paths {
		now := c.Do(t, "GET", path, nil).OK(200)
		require.EqualValues(t, now["price"], known[now["id"].(string)].Price)
		require.Equal(t, now["updatedAt"], known[now["id"].(string)].UpdatedAt)
	}
}
