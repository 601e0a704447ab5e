package access

import (
	"fmt"
	"net/http"

	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// Caller is who changes a record, and on which condition.
type Caller struct {
	*Principal
	IfVersion *int64 // from If-Match: the version that the caller has seen; nil = any
}

// Expect is the 412 of a caller who has seen another version than the current one.
func (c Caller) Expect(current int64) error {
	if c.IfVersion == nil || *c.IfVersion == current {
		return nil
	}
	return fault.New(http.StatusPreconditionFailed, "PRECONDITION_FAILED",
		fmt.Sprintf("the record has version %d, If-Match names %d: read it again and repeat the change", current, *c.IfVersion)).
		With("currentVersion", current)
}

// System is the caller of what the platform changes in a company by itself: events name it as system.
func System(company tenant.ID) Caller { return Caller{Principal: &Principal{Company: company}} }
