package webhooks

import (
	"net/http"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

// readScopes are what the caller may read, as scopes.
func readScopes(by access.Caller) []string {
	if by.Allows("*", false) {
		return []string{"*:read"}
	}
	scopes := []string{}
	for _, resource := range by.Scopes.Readable() {
		scopes = append(scopes, resource+":read")
	}
	return scopes
}

// mayRead keeps a token from what would let it see, or forge, what the subscription carries but the token may not read.
func mayRead(by access.Caller, sub Subscription, action string) error {
	return refuseWithout(by, "the subscription sends what this token may not read: "+action, sub.ReadScopes)
}

// refuseWithout refuses a caller who lacks one of the scopes.
func refuseWithout(by access.Caller, what string, scopes []string) error {
	var missing []string
	for _, scope := range scopes {
		resource, _, _ := strings.Cut(scope, ":")
		if !by.Allows(resource, false) {
			missing = append(missing, scope)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return apierr.New(http.StatusForbidden, "AUTH_API_SCOPE_INSUFFICIENT", what+" with a token that has "+strings.Join(missing, ", ")).
		With("scopes", missing)
}
