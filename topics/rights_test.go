package topics

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whoever reads a topic needs somebody who writes it, and no right is about a topic that nobody declares.
func TestRightsFitTheTopics(t *testing.T) {
	t.Parallel()
	declared := map[string]bool{}
	for _, topic := range All() {
		declared[topic.Name] = true
	}
	may := map[string]map[string]bool{"READ": {}, "WRITE": {}}
	for role, rights := range Rights() {
		for _, right := range rights {
			require.NotEmpty(t, right.Operations, role)
			if right.Kind != "topic" {
				continue
			}
			require.True(t, declared[right.Name], "%s: %s", role, right.Name)
			for op, topics := range may {
				topics[right.Name] = topics[right.Name] || slices.Contains(right.Operations, op)
			}
		}
	}
	for name := range declared {
		require.True(t, may["WRITE"][name], "somebody writes %s", name)
		if name != DeliveriesDead && name != EventsDead { // they are for people
			require.True(t, may["READ"][name], "somebody reads %s", name)
		}
	}
}
