package binding

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestInstantsStayWithinWhatAnswersCanShow(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{
		"2026-11-20T09:30:00Z": true, "9999-12-31T23:59:59Z": true, "0001-01-01T00:00:00Z": true, "2026-11-20T09:30:00.123456789+05:45": true,
		"9999-12-31T23:59:59-12:00": false, "0001-01-01T00:00:00+01:00": false, "0000-01-01T00:00:00Z": false, "2026-02-30T00:00:00Z": false, "2026-11-20": false,
	} {
		require.Equal(t, ok, BrokenRule("date-time", text) == "", text)
	}
}
