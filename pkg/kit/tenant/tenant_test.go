package tenant

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// The code of a region is part of stored ids: it must never change.
func TestRegionCodesStay(t *testing.T) {
	t.Parallel()
	for region, code := range map[string]string{"europe-west1": "1cfc", "us-east1": "335a", "": "1cd9"} {
		require.Equal(t, code, RegionCode(region), region)
	}
}

func TestIDsCarryTheirRegion(t *testing.T) {
	t.Parallel()
	seen := map[ID]bool{}
	for range 100 {
		id := NewIDIn("europe-west1")
		require.Equal(t, RegionCode("europe-west1"), id.String()[32:])
		require.Equal(t, uuid.Version(4), uuid.UUID(id).Version())
		require.Equal(t, uuid.RFC4122, uuid.UUID(id).Variant())
		seen[id] = true
	}
	require.Len(t, seen, 100)
	ends := map[string]bool{}
	for range 100 {
		ends[NewIDIn("").String()[32:]] = true
	}
	require.Greater(t, len(ends), 50, "without a region nothing is fixed")
}
