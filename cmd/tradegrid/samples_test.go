package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/domain"
	"github.com/tradegrid/tradegrid/pkg/httpapi"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/services/deals"
)

// samples are the examples that the domains declare, in an order in which each refers to earlier ones only.
func samples() []domain.Sample {
	var all []domain.Sample
	for _, d := range declared() {
		all = append(all, d.Samples...)
	}
	return all
}

// seeded are the ids of records that a company has from its creation on, by the names that samples use.
func (all *domains) seeded(t *testing.T, id tenant.ID) map[string]string {
	t.Helper()
	by := access.Caller{Principal: &access.Principal{Company: id, Components: all.access.Components()}}
	types, err := all.deals.Types(t.Context(), by, deals.Directory{})
	require.NoError(t, err)
	require.NotEmpty(t, types)
	return map[string]string{"DEAL_TYPE": types[0].ID.String()}
}

// fillIn puts ids in place of quoted entities, such as "CLIENT".
func fillIn(body string, ids map[string]string) string {
	for entity, id := range ids {
		body = strings.ReplaceAll(body, `"`+entity+`"`, `"`+id+`"`)
	}
	return body
}

// sampleOf finds the sample that an operation on one record is about, and a body that the operation takes.
func sampleOf(op httpapi.Op) (s domain.Sample, body string, ok bool) {
	for _, s := range samples() {
		if !strings.HasPrefix(op.Path, s.Path+"/{id}") {
			continue
		}
		if op.Method == http.MethodPatch && op.Path == s.Path+"/{id}" {
			return s, s.Change, true
		}
		return s, "", true
	}
	return domain.Sample{}, "", false
}
