package chart

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What all roles have to agree about is one value, which every pod has, so that also `admin` in a pod shows it.
func TestAllRolesHaveThePolicy(t *testing.T) {
	t.Parallel()
	r := render(t, "full", "policy.deliveryTtl=30h")
	for _, o := range roles(r) {
		c := containers(o)[len(containers(o))-1]
		printed := printConfig(t, mounted(t, r, o, c), c)
		require.EqualValues(t, 9, printed["max-attempts"], o.Name())
		require.Equal(t, "30h", printed["delivery-ttl"], o.Name())
		require.Equal(t, "1440h", printed["event-retention"], o.Name())
		if o.Name() == "tg-grid-console" {
			require.Equal(t, "e1", printed["cell"])
		}
	}
	for _, o := range roles(render(t, "minimal")) {
		require.NotContains(t, env(firstContainer(o)), "TRADEGRID_MAX_ATTEMPTS", "%s: the default is that of the program", o.Name())
	}
}
