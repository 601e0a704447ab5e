package webhook

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

func TestSubscriptionKey(t *testing.T) {
	t.Parallel()
	key := SubscriptionKey{Company: tenant.NewID(), ID: uuid.New()}
	got, err := ParseSubscriptionKey([]byte(key.String()))
	require.NoError(t, err)
	require.Equal(t, key, got)
	for _, bad := range []string{"", key.Company.String(), "x/" + key.ID.String(), key.Company.String() + "/x"} {
		_, err := ParseSubscriptionKey([]byte(bad))
		require.ErrorContains(t, err, "record key", bad)
	}
}
