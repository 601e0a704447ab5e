package exports

import (
	"github.com/tradegrid/tradegrid/pkg/api/domain"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

var group = httpapi.Group{Tag: "Exports", About: "Whole lists as files.", Scope: "exports", Component: "core"}

// Domain declares the domain.
func Domain() domain.Domain {
	return domain.Domain{
		Name:   "exports",
		Scopes: []access.Resource{{Name: "exports"}},
		Errors: []apierr.Doc{
			{Status: 409, Code: "EXPORT_TOO_LARGE", Advice: "The result of an export may have 1 GiB. Narrow the filters, and export in parts."},
		},
	}
}
