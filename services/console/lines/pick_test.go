package lines

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A whole SKU or barcode stands before its siblings, whose order stays.
func TestExactMatchesComeFirst(t *testing.T) {
	t.Parallel()
	thing := func(sku, barcode string) Thing { return Thing{Line: Line{SKU: sku}, Barcode: barcode} }
	for text, want := range map[string][]string{
		"cl-2": {"CL-2", "CL-1", "CL-3"},
		"4003": {"CL-3", "CL-1", "CL-2"},
		"CL":   {"CL-1", "CL-2", "CL-3"},
	} {
		all := []Thing{thing("CL-1", ""), thing("CL-2", "4002"), thing("CL-3", "4003")}
		exactFirst(all, text)
		var got []string
		for _, one := range all {
			got = append(got, one.SKU)
		}
		require.Equal(t, want, got, text)
	}
}
