package roles_test

import (
	"net/http"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/api/domain"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

// inCompany is how paths of the admin API start that are about one company.
const inCompany = "/companies/{companyId}"

// pathOf is the path of a sample in the description of its API.
func pathOf(s domain.Sample) string {
	if s.Admin {
		return inCompany + s.Path
	}
	return s.Path
}

// partBodies are bodies of operations on what belongs to a record.
var partBodies = map[string]string{ //nolint:gochecknoglobals // a constant table
	"setPrice": aPrice, "setPrices": `{"items":[` + aPrice + `]}`, "adjustClientPoints": `{"delta":5}`, "mergeClient": `{"intoId":"0192d3a5-6f0e-7c1a-9b1e-2f6d8a4c1e55"}`, "createAttributeOption": anOption, "updateAttributeOption": `{"label":"Pale"}`, "updateProductVariant": `{"sortOrder":2}`,
	"createVariantMatrix": `{"axes":[{"attributeId":"0192d3a5-6f0e-7c1a-9b1e-2f6d8a4c1e55","optionIds":["0192d3a5-6f0e-7c1a-9b1e-2f6d8a4c1e55"]}]}`,
}

// sampleOf finds the sample that an operation on one record is about, and a body that the operation takes.
func sampleOf(op httpapi.Op) (s domain.Sample, body string, ok bool) {
	at, admin := strings.CutPrefix(op.Path, inCompany)
	for _, s := range rolestest.Samples() {
		if s.Admin && !admin || !strings.HasPrefix(at, s.Path+"/{id}") {
			continue // the admin API also has operations on what integrations make
		}
		if op.Method == http.MethodPatch && at == s.Path+"/{id}" {
			return s, s.Change, true
		}
		return s, partBodies[op.ID], true
	}
	return domain.Sample{}, "", false
}
