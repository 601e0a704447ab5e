package roles_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

// Summaries are titles of pages and names of methods in the clients that are generated.
func TestSummariesAreVerbsWithObjects(t *testing.T) {
	t.Parallel()
	verb := regexp.MustCompile(`^(Activate|Add|Anonymize|Archive|Assign|Block|Cancel|Close|Complete|Confirm|Convert|Create|Create and update|Create, update and (delete|hide)|Delete|Download|` +
		`Enable or disable|Explain|Export|Hide|Import|Invite|Issue|List|Mark|Merge|Move|Open|Pause|Post|Preview|Read|Receive|Record|Refund|Remove|Restore|Resume|Revoke|Rotate|Send|Set|Update|Upload) [a-z]`)
	for _, api := range rolestest.BothAPIs() {
		for _, op := range api.Ops() {
			require.Regexp(t, verb, op.Summary, "%s: a summary begins with a verb of the list and an object", op.ID)
		}
	}
}

var (
	sentenceEnd = regexp.MustCompile(`[.!?](\s|$)`)
	codeInText  = regexp.MustCompile(`\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b`)
)

// Descriptions say what the summary does not, and when the operation fails, with codes that it can answer.
func TestOperationsAreDescribed(t *testing.T) {
	t.Parallel()
	for base, api := range rolestest.BothAPIs() {
		page := errorPage(t, api, base)
		for _, op := range api.Ops() {
			require.NotEmpty(t, op.Description, "%s has no description: add httpapi.Doc with a sentence on what it does and one on when it fails", op.ID)
			require.GreaterOrEqual(t, len(sentenceEnd.FindAllString(op.Description, -1)), 2, "%s: the description needs a second sentence: when it fails", op.ID)
			require.True(t, strings.HasSuffix(op.Description, "."), "%s: the description ends with a full stop", op.ID)
			require.NotContains(t, op.Description, op.Summary, "%s: the description repeats the summary", op.ID)
			for _, code := range codeInText.FindAllString(op.Description, -1) {
				require.Contains(t, page, `id="`+code+`"`, "%s: the description names %s, which is not an error code of the API", op.ID, code)
			}
		}
	}
}
