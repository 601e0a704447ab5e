package main

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/secret"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

var consolePages = regexp.MustCompile(`msg="console listening" .*pages=(\S+)`)

// startConsole runs the role with its pages and returns what an operator sees at an address of it.
func startConsole(t *testing.T, args ...string) (see func(path string) string) {
	t.Helper()
	token := secret.NewOperatorToken()
	tokens := filepath.Join(t.TempDir(), "tokens")
	require.NoError(t, os.WriteFile(tokens, []byte(secret.OperatorLine("ann", secret.RoleRead, token)), 0o600))
	args = append([]string{
		"--admin-listen=127.0.0.1:0", "--console-listen=127.0.0.1:0", "--console-url=http://localhost:8084", "--admin-tokens-file=" + tokens, "--secret-keys-file=" + keysFile(t, rolestest.Key()),
	}, args...)
	out := startRole(t, "console", yamlFile(t, "database-url: "+dbtest.NewDatabase(t)), args...)
	base := consolePages.FindStringSubmatch(out.String())[1]
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	browser := &http.Client{Jar: jar}
	ask := func(method, path string, form url.Values) string {
		req, err := http.NewRequestWithContext(t.Context(), method, base+path, strings.NewReader(form.Encode()))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Sec-Fetch-Site", "same-origin")
		res, err := browser.Do(req)
		require.NoError(t, err)
		defer func() { _ = res.Body.Close() }()
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, res.StatusCode, "%s: %s", path, body)
		return string(body)
	}
	ask(http.MethodPost, "/sign-in/operator", url.Values{"token": {token}})
	return func(path string) string { return ask(http.MethodGet, path, nil) }
}

// The console starts without brokers, with brokers, and with brokers that do not answer; its pages say which it is.
func TestConsoleStartsWithAndWithoutBrokers(t *testing.T) {
	t.Parallel()
	const none, failed = "This console has no Kafka brokers", "The brokers did not answer"
	for name, row := range map[string]struct {
		args       []string
		says, lack []string
	}{
		"without": {nil, []string{none, "--kafka-brokers"}, []string{failed}},
		"with":    {[]string{"--kafka-brokers=" + strings.Join(dbtest.Broker(t), ","), "--topics-local"}, []string{"~ events: "}, []string{none, failed}},
		"away":    {[]string{"--kafka-brokers=127.0.0.1:1"}, []string{failed}, []string{none}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			see := startConsole(t, row.args...)
			topics, path := see("/platform/topics"), see("/platform/pipeline")
			for _, text := range row.says {
				require.Contains(t, topics, text)
			}
			for _, text := range row.lack {
				require.NotContains(t, topics, text)
				require.NotContains(t, path, text)
			}
			require.Contains(t, path, `data-live="/platform/live/pipeline`, "what the database knows is there all the same")
		})
	}
}

// Companies that operators make by the admin API or the console are in the cell of the process, as those of `tradegrid admin` are.
func TestConsoleMakesCompaniesInItsCell(t *testing.T) {
	t.Parallel()
	token := secret.NewOperatorToken()
	tokens := filepath.Join(t.TempDir(), "tokens")
	require.NoError(t, os.WriteFile(tokens, []byte(secret.OperatorLine("ann", secret.RoleWrite, token)), 0o600))
	out := startRole(t, "console", yamlFile(t, "database-url: "+dbtest.NewDatabase(t), "cell: z9"), "--admin-listen=127.0.0.1:0", "--admin-tokens-file="+tokens, "--secret-keys-file="+keysFile(t, rolestest.Key()))
	base := regexp.MustCompile(`msg="console listening" url=(\S+)`).FindStringSubmatch(out.String())[1]
	status, made := over(t, token, "POST", base+"/companies", `{"name":"Northern Bikes"}`)
	require.Equal(t, http.StatusCreated, status, "%v", made)
	require.Equal(t, "z9", made["cell"])
}
