package main

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/httpapi"
	"github.com/tradegrid/tradegrid/pkg/ratelimit"
)

// Summaries are titles of pages and names of methods in the clients that are generated.
func TestSummariesAreVerbsWithObjects(t *testing.T) {
	t.Parallel()
	verb := regexp.MustCompile(`^(Activate|Add|Anonymize|Archive|Assign|Block|Cancel|Close|Complete|Confirm|Convert|Create|Create and update|Create, update and (delete|hide)|Delete|Download|` +
		`Enable or disable|Explain|Export|Hide|Invite|Issue|List|Mark|Move|Open|Pause|Preview|Read|Record|Refund|Remove|Restore|Resume|Revoke|Rotate|Send|Set|Update) [a-z]`)
	all := newDomains(nil, domainConfig{})
	for _, api := range []*httpapi.API{all.newAPI(httpapi.Config{Limiter: ratelimit.New(ratelimit.Config{})}), all.newAdminAPI(httpapi.Config{Limiter: ratelimit.New(ratelimit.Config{})})} {
		for _, op := range api.Ops() {
			require.Regexp(t, verb, op.Summary, "%s: a summary begins with a verb of the list and an object", op.ID)
		}
	}
}
