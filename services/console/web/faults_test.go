package web

import (
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

// What people break while typing is said in their language, without the path of the field in the API.
func TestFaultsAreSaidInTheLanguageOfThePerson(t *testing.T) {
	t.Parallel()
	q := asker(t)
	q.lang = "de"
	var faults apierr.Fields
	faults.Add("items[0].qty", apierr.Type, "must be %s, not %s", "a number", "a string")
	faults.Add("name", apierr.Length, "must have at most %d characters, has %d", 5, 9)
	faults.Add("email", apierr.Format, "%s", "must be an e-mail address such as name@example.com")
	faults.Add("startAt", apierr.Conflict, "must be before %s", "endAt")
	err := faults.Err()
	for field, text := range map[string]string{
		"items[0].qty": "Bitte eine Zahl wie 1234,5.", "name": "Höchstens 5 Zeichen; es sind 9.", "email": "Eine E-Mail-Adresse wie name@example.com.", "startAt": "Das passt nicht zu den anderen Angaben.", "note": "",
	} {
		require.Equal(t, text, q.FaultOf(err, field))
	}
	require.Equal(t, "Eine andere Einheit hat diesen Code. Wählen Sie einen anderen.", q.FaultOf(apierr.New(http.StatusConflict, "UNIT_CODE_TAKEN", "code: another unit has this code"), "code"))
}

// Each rule about a value that somebody types has a text, and each text is of a rule that the API has.
func TestRulesOfValuesHaveTexts(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	source := filepath.Join("..", "..", "..", "pkg", "api", "httpapi", "binding", "validate.go")
	file, err := parser.ParseFile(token.NewFileSet(), source, nil, 0)
	require.NoError(t, err)
	for n := range ast.Preorder(file) {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			continue
		}
		text, err := strconv.Unquote(lit.Value)
		require.NoError(t, err)
		rule := strings.HasPrefix(text, "must ") || strings.HasPrefix(text, "is ") || strings.HasPrefix(text, "%smust")
		if !rule || text == wrongType || slices.Contains(elsewhere, text) {
			continue
		}
		require.Contains(t, faultTexts, text)
		used[text] = true
	}
	all, err := readTexts()
	require.NoError(t, err)
	for rule, key := range faultTexts {
		require.True(t, used[rule], "no value breaks the rule %q", rule)
		require.True(t, all.has(key), key)
	}
	for _, code := range []string{apierr.Required, apierr.Type, apierr.Format, apierr.Min, apierr.Max, apierr.Step, apierr.Length, apierr.Enum, apierr.Unknown, apierr.Conflict} {
		require.True(t, all.has("fault.code."+code), code)
	}
}

// elsewhere are rules that nobody breaks by typing into a form: of JSON and of parameters.
var elsewhere = []string{"is unknown; correct the name or omit it"}

// Each rule of a domain that has a text is one that a domain has.
func TestRulesOfDomainsAreThose(t *testing.T) {
	t.Parallel()
	all, err := readTexts()
	require.NoError(t, err)
	var source strings.Builder
	for _, pattern := range []string{"../../business/*/*.go", "../../platform/*/*.go", "../../delivery/*/*.go", "../shifts/*.go"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, file := range files {
			raw, err := os.ReadFile(file)
			require.NoError(t, err)
			source.Write(raw)
		}
	}
	for rule, key := range ruleTexts {
		require.True(t, strings.Contains(source.String(), strconv.Quote(rule)), "no domain has the rule %q", rule)
		require.True(t, all.has(key), key)
	}
}
