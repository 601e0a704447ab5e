package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/roles"
)

func TestEgressTest(t *testing.T) {
	t.Parallel()
	ask := func(code int, args ...string) (string, string) {
		t.Helper()
		var out, errs bytes.Buffer
		require.Equal(t, code, run(append([]string{"egress", "test"}, args...), &out, &errs), "%s%s", &out, &errs)
		return out.String(), errs.String()
	}
	for _, c := range []struct{ url, says string }{
		{"http://example.com/hook", "refused: must begin with https://"},
		{"https://10.1.2.3/hook", "refused: must name a public host"},
		{"https://localhost/hook", "refused: 127.0.0.0/8"},
	} {
		out, errs := ask(1, c.url)
		require.Contains(t, out, c.says)
		require.Contains(t, errs, "the dispatcher would send nothing to this URL")
	}
	out, _ := ask(0, "https://[2606:4700::1111]/hook")
	require.Regexp(t, `2606:4700::1111 +allowed`, out)
	var v roles.EgressVerdict
	out, _ = ask(0, "http://127.0.0.1/hook", "--allow-insecure", "--json")
	require.NoError(t, json.Unmarshal([]byte(out), &v))
	require.True(t, v.Allowed)
	require.Len(t, v.Addresses, 1)
}
