package exports

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCellsOfACSV(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`"=HYPERLINK(\"http://x\")"`: `'=HYPERLINK("http://x")`, `"+49 30 12345"`: "'+49 30 12345", `"-1"`: "'-1", `"@SUM(A1)"`: "'@SUM(A1)",
		`"\t=1"`: "'\t=1", `"\r=1"`: "'\r=1", `"="`: "'=",
		`-5`: "-5", `-0.5`: "-0.5", `1.5`: "1.5", `true`: "true", `null`: "", `""`: "", ``: "",
		`"a=1"`: "a=1", `" =1"`: " =1", `"'=1"`: "'=1", `"Äpfel"`: "Äpfel", `"\n=1"`: "\n=1",
		`["=1"]`: `["=1"]`, `{"a":-1}`: `{"a":-1}`,
	} {
		require.Equal(t, want, cell(json.RawMessage(raw)), raw)
	}
}
