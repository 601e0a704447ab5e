package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/tests/role"
)

// failpoint arms a failpoint in the process to be started.
func failpoint(name string) []string { return []string{"TRADEGRID_FAILPOINT=" + name} }

// spawn starts the binary under test.
func spawn(t *testing.T, env []string, args ...string) *role.Process {
	t.Helper()
	return spawnFrom(t, binary, env, args...)
}

// spawnFrom starts another binary in the same way.
func spawnFrom(t *testing.T, binary string, env []string, args ...string) *role.Process {
	t.Helper()
	require.NoError(t, lookAtSources())
	return role.Start(t, binary, env, args...)
}
