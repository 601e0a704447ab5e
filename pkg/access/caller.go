package access

import (
	"fmt"
	"net/http"

	"github.com/tradegrid/tradegrid/pkg/apierr"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// Caller identifies who makes a change, and its precondition.
type Caller struct {
	*Principal
	IfVersion *int64 // from If-Match: the expected version; nil = any
}

// Expect returns a 412 if the caller expects another version than the current one.
func (c Caller) Expect(current int64) error {
	if c.IfVersion == nil || *c.IfVersion == current {
		return nil
	}
	return apierr.New(http.StatusPreconditionFailed, "PRECONDITION_FAILED",
		fmt.Sprintf("the record has version %d but If-Match expects %d; read it again and retry the change", current, *c.IfVersion)).
		With("currentVersion", current)
}

// System is the caller of what the platform changes in a company by itself: events name it as system.
func System(company tenant.ID) Caller { return Caller{Principal: &Principal{Company: company}} }
