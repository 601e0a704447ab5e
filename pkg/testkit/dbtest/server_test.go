package dbtest

import (
	"crypto/rand"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// The schema is migrated once for all processes that share a server.
func TestProcessesCopyTheTemplateOfTheirServer(t *testing.T) {
	t.Parallel()
	address := NewDatabase(t)
	template := "tradegrid_template_" + strings.ToLower(rand.Text())
	owner := &server{}
	require.NoError(t, owner.connect(t.Context(), address))
	defer owner.admin.Close()
	if owner.dialect != db.PostgreSQL {
		return // each database is migrated
	}
	require.NoError(t, owner.createMigrated(t.Context(), template))
	defer func() { require.NoError(t, owner.drop(t.Context(), template)) }()
	for range 2 {
		s := &server{prefix: "tradegrid_test_" + strings.ToLower(rand.Text())}
		require.NoError(t, s.connect(t.Context(), address))
		require.NoError(t, s.prepareTemplate(t.Context(), template))
		require.Equal(t, template, s.template)
		name, err := s.create(t.Context())
		require.NoError(t, err)
		s.shared = name
		require.NoError(t, s.stop(t.Context()), "it leaves the template")
	}
	own := &server{prefix: "tradegrid_test_" + strings.ToLower(rand.Text())}
	require.NoError(t, own.connect(t.Context(), address))
	require.NoError(t, own.prepareTemplate(t.Context(), template+"_of_another_schema"))
	require.NotEqual(t, template, own.template)
	require.NoError(t, own.stop(t.Context()))
}
