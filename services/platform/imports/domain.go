package imports

import (
	"github.com/tradegrid/tradegrid/pkg/api/domain"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
)

// An import needs the scope and the component of the records, which the request names.
var group = httpapi.Group{Tag: "Imports"}

// Domain declares the domain.
func Domain() domain.Domain { return domain.Domain{Name: "imports"} }
