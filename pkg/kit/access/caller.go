package access

import (
	"fmt"
	"net/http"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

// Caller identifies who makes a change, and its precondition: the version that the changed record is expected to have.
type Caller struct {
	*Principal
	expected *int64 // nil = any
}

// Expecting returns the caller with a precondition, from If-Match.
func (c Caller) Expecting(version int64) Caller {
	c.expected = &version
	return c
}

// Unconditional returns the caller without its precondition, for changes of records other than the one that the request names.
func (c Caller) Unconditional() Caller {
	c.expected = nil
	return c
}

// Conditional reports whether the caller has a precondition.
func (c Caller) Conditional() bool { return c.expected != nil }

// Expect returns a 412 if the caller expects another version than the current one.
func (c Caller) Expect(current int64) error {
	if c.expected == nil || *c.expected == current {
		return nil
	}
	return apierr.New(http.StatusPreconditionFailed, "PRECONDITION_FAILED",
		fmt.Sprintf("the record has version %d but If-Match expects %d; read it again and retry the change", current, *c.expected)).
		With("currentVersion", current)
}

// System is the caller of what the platform changes in a company by itself: events name it as system.
func System(company tenant.ID) Caller { return Caller{Principal: &Principal{Company: company}} }
