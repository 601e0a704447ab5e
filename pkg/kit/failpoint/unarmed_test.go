//go:build linux && !failpoint

package failpoint

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Only what the linker made obedient looks at the environment.
func TestOrdinaryBinaryIgnoresTheEnvironment(t *testing.T) {
	t.Setenv("TRADEGRID_FAILPOINT", "tx.begin")
	require.Empty(t, fromEnvironment().name)
}
