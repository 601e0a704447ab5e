package translation_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/apierr"
	"github.com/tradegrid/tradegrid/pkg/translation"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	var faults apierr.Fields
	translation.Check(&faults, "names", map[string]string{"de": "ä", "pt-BR": "ab", "zh-Hant-TW": "x"}, 2)
	require.NoError(t, faults.Err())
	translation.Check(&faults, "names", map[string]string{"d": "x", "de": "", "en": "äöü", "a-" + strings.Repeat("b", 8): "x", "abcdefgh-12345678": "x"}, 2)
	got := map[string]string{}
	for _, f := range faults {
		got[f.Field] = f.Code
	}
	require.Equal(t, map[string]string{
		"names.d": apierr.Format, "names.de": apierr.Length, "names.en": apierr.Length, "names.a-bbbbbbbb": apierr.Format, "names.abcdefgh-12345678": apierr.Format,
	}, got)
}
