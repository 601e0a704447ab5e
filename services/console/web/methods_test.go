package web

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMethodsOfPaymentFollowTheCurrency(t *testing.T) {
	t.Parallel()
	require.True(t, PaidBy("sbp", "RUB"))
	require.False(t, PaidBy("sbp", "EUR"))
	require.True(t, PaidBy("cash", "EUR"))
}
