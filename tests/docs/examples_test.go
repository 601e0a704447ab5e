package docs

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What examples call an address and a token; docs/quick-start.md sets them.
var exampleNames = []struct {
	what  string
	form  *regexp.Regexp
	names []string
}{
	{"a variable that begins an address", regexp.MustCompile(`(?m)(?:^|[\s"'=` + "`" + `])\$\{?(\w+)\}?/`), []string{"BASE", "RECEIVER", "PWD"}},
	{"a variable with an address of the API", regexp.MustCompile(`\b(\w+)=\S*/api/external/v1\b`), []string{"BASE"}},
	{"a variable with a token", regexp.MustCompile(`Bearer \$\{?([A-Z_]+)`), []string{"TOKEN"}},
	{"a variable that a program reads", regexp.MustCompile(`(?:os\.Getenv\("|os\.environ\["|process\.env\.)(\w+)`), []string{"BASE", "TOKEN"}},
}

// strangers are the variables in the examples of a page that have another name than everywhere else.
func strangers(page string) (all []string) {
	for _, rule := range exampleNames {
		for _, m := range rule.form.FindAllStringSubmatch(page, -1) {
			if !slices.Contains(rule.names, m[1]) {
				all = append(all, fmt.Sprintf("%s is %s: its name is %s", m[1], rule.what, strings.Join(rule.names, " or ")))
			}
		}
	}
	return all
}

// Whoever has set $BASE and $TOKEN can run every example.
func TestExamplesNameAddressAndTokenAlike(t *testing.T) {
	t.Parallel()
	for name, content := range pages(t) {
		if name != "README.md" && !strings.HasPrefix(name, "docs/") {
			continue
		}
		for _, stranger := range strangers(content) {
			t.Errorf("%s: %s", name, stranger)
		}
	}
}

func TestStrangersAreFound(t *testing.T) {
	t.Parallel()
	require.Empty(t, strangers("curl \"$BASE/orders/$ID/lines\" -H \"Authorization: Bearer $TOKEN\"\nexport BASE=https://api.example.com/api/external/v1\n`Bearer ${process.env.TOKEN}`\n"))
	for _, line := range []string{
		`curl "$BASE_URL/orders"`, "curl -sS ${API}/orders", "curl --url=$HOST/orders", "`curl $URL/orders`", "export URL=https://api.example.com/api/external/v1",
		`-H "Authorization: Bearer $API_TOKEN"`, `os.Getenv("API_URL")`, `os.environ["BASE_URL"]`, "process.env.URL",
	} {
		require.Len(t, strangers(line), 1, line)
	}
}
