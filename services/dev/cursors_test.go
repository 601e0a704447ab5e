package dev

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/dev/demodata"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

// Every list with cursors shows each record once, in every order, however small its pages are.
func TestEveryListIsWalkedByCursor(t *testing.T) {
	t.Parallel()
	n := rolestest.NewNode(dbtest.Open(t), rolestest.Alone())
	dm, err := startDemo(t.Context(), n, t.TempDir(), demodata.Small)
	require.NoError(t, err)
	w := walkLists(t, n, dm.Token)
	for _, path := range []string{"a", "b"} { // the demo has none
		w.OK(t, "POST", "/webhooks/subscriptions", `{"url":"http://127.0.0.1:9/`+path+`","events":["*"]}`)
	}
	walked := 0
	for path, orders := range w.cursors() {
		for _, order := range orders {
			whole := w.pages(path+"?"+order, 200)
			require.Equal(t, whole, w.pages(path+"?"+order, min(max(1, len(whole)/4), 100)), "%s?%s", path, order)
			ids := slices.Clone(whole)
			slices.Sort(ids)
			require.Len(t, slices.Compact(ids), len(whole), "%s?%s shows a record twice", path, order)
			if len(whole) > 1 {
				walked++
			}
		}
	}
	require.Greater(t, walked, 120, "lists of several pages")
}

// pages walks a list by cursor and returns the ids.
func (w *walker) pages(path string, size int) (ids []string) {
	w.Helper()
	for cursor := ""; ; {
		r := w.OK(w.T, "GET", fmt.Sprintf("%s&pageSize=%d%s", path, size, cursor), "")
		records, _ := found(w.T, r)
		for _, record := range records {
			id, ok := record["id"].(string)
			require.True(w, ok, "%s: %v", path, record)
			ids = append(ids, id)
		}
		next, more := r.Body["nextCursor"].(string)
		if !more {
			return ids
		}
		require.Len(w, records, size, path)
		require.Less(w, len(ids), 10_000, "%s does not end", path)
		cursor = "&cursor=" + next
	}
}

// cursors are the lists that the API description gives a cursor, with their orders as queries.
func (w *walker) cursors() map[string][]string {
	w.Helper()
	raw, err := w.Node.API.Description()
	require.NoError(w, err)
	var doc struct {
		Paths map[string]map[string]struct {
			Parameters []struct {
				Name   string
				Schema valuesOf
			}
		}
	}
	require.NoError(w, json.Unmarshal(raw, &doc))
	lists := map[string][]string{}
	for path, methods := range doc.Paths {
		path = strings.TrimPrefix(path, httpapi.BasePath)
		if strings.Contains(path, "{") || path == "/events" {
			continue // walked by the tests of their domains
		}
		paged, orders := false, []string{""}
		for _, p := range methods["get"].Parameters {
			paged = paged || p.Name == "cursor"
			switch p.Name {
			case "order":
				orders = append(orders, "order=asc")
			case "sort":
				for _, sort := range p.Schema.values() {
					orders = append(orders, "sort="+sort, "sort="+sort+"&order=desc")
				}
			}
		}
		if paged {
			lists[path] = orders
		}
	}
	return lists
}
