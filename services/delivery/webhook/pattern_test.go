package webhook_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

func TestEventPatterns(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pattern, event string
		want           bool
	}{
		{"*", "order.created", true},
		{"order.created", "order.created", true},
		{"order.created", "order.created.x", false},
		{"order.*", "order.created", true},
		{"order.*", "orders.created", false},
		{"order.*", "order", false},
		{"order.*", "order.", false},
		{"stock.*", "stock.movement.created", true},
		{"stock.movement.*", "stock.movement.created", true},
		{"stock.movement.*", "stock.adjusted", false},
		{"booking.no_show", "booking.no_show", true},
	} {
		p, err := webhook.ParseEventPattern(tt.pattern)
		require.NoError(t, err, tt.pattern)
		require.Equal(t, tt.want, p.Match(tt.event), "%s on %s", tt.pattern, tt.event)
	}
	for _, bad := range []string{"", "order", "order.", "*.created", "order.*.x", "Order.created", "order..x", "**", "order*", "a.b\n", strings.Repeat("a", 99) + ".b"} {
		_, err := webhook.ParseEventPattern(bad)
		require.ErrorContains(t, err, "must be an event name", bad)
	}
	require.True(t, webhook.MatchAny([]webhook.EventPattern{"a.b", "order.*"}, "order.created"))
	require.False(t, webhook.MatchAny(nil, "order.created"))
}
