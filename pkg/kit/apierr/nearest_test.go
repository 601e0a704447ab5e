package apierr_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

func TestNearest(t *testing.T) {
	t.Parallel()
	names := []string{"sku", "status", "statusCode", "categoryId", "pageSize"}
	for unknown, want := range map[string]string{
		"skus": "sku", "STATUS": "status", "statsu": "status", "category_id": "categoryId", "pagesize": "pageSize",
		"brand": "", "s": "", strings.Repeat("status", 11): "",
	} {
		require.Equal(t, want, apierr.Nearest(unknown, names), unknown)
	}
	require.Empty(t, apierr.Nearest("sku", nil))
}
