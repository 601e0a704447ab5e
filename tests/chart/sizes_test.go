package chart

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/api/resource"
)

// perOrder is the processor time in milliseconds that an order with four reads and a webhook takes in each role, as
// docs/load.md has measured it.
func perOrder(t *testing.T) map[string]float64 {
	t.Helper()
	page, all := read(t, "../../docs/load.md"), map[string]float64{}
	for role, pattern := range map[string]string{"api": `API ([0-9.]+) ms, relay`, "relay": `relay ([0-9.]+) ms, dispatcher`, "dispatcher": `dispatcher ([0-9.]+) ms, database`, "read": `/s × ([0-9.]+) ms = [0-9.]+ cores for reads`} {
		found := regexp.MustCompile(pattern).FindStringSubmatch(page)
		require.NotNil(t, found, pattern)
		ms, err := strconv.ParseFloat(found[1], 64)
		require.NoError(t, err)
		all[role] = ms
	}
	all["api"] += 4 * all["read"]
	return all
}

// Each size requests twice the processor time of its orders, as the worked example of docs/load.md does, and the page has its sums.
func TestSizes(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(Folder + "/sizes/*.yaml")
	require.NoError(t, err)
	require.Len(t, files, 3)
	page, costs := section(t, "### Sizes\n", "### Requests in all\n"), perOrder(t)
	for _, file := range files {
		size, err := chartutil.ReadValuesFile(file)
		require.NoError(t, err)
		values, err := Values("minimal")
		require.NoError(t, err)
		r, err := Render(load(t), chartutil.CoalesceTables(values, size), newest)
		require.NoError(t, err)
		orders := regexp.MustCompile(`Up to ([0-9 ]+) orders a second`).FindStringSubmatch(read(t, file))
		require.NotNil(t, orders, file)
		rate, err := strconv.ParseFloat(strings.ReplaceAll(orders[1], " ", ""), 64)
		require.NoError(t, err)
		for _, o := range roles(r) {
			role := At(pod(o), "metadata", "labels", "app.kubernetes.io/component").(string)
			cores := resource.MustParse(At(containers(o)[0], "resources", "requests", "cpu").(string))
			all := cores.AsApproximateFloat64() * At(o.Doc, "spec", "replicas").(float64)
			require.GreaterOrEqual(t, all*1000+1, 2*rate*costs[role], "%s: %s", file, role)
		}
		sum := sums(t, r)
		require.Contains(t, page, fmt.Sprintf("| `sizes/%s` | %s | %d | %s | %s |", filepath.Base(file), orders[1], sum.pods, amount(sum.rest), amount(sum.rolled)))
	}
}
