package translation_test

import (
	"reflect"
	"regexp"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/translation"
)

func TestSchemas(t *testing.T) {
	t.Parallel()
	reg := jsontype.NewRegistry("#/components/schemas/")
	for most, of := range map[int]reflect.Type{translation.MaxName: reflect.TypeFor[translation.Names](), translation.MaxText: reflect.TypeFor[translation.Texts]()} {
		s := reg.Schema(of, true, "")
		require.Equal(t, huma.TypeObject, s.Type)
		text := s.AdditionalProperties.(*huma.Schema)
		require.Equal(t, 1, *text.MinLength)
		require.Equal(t, most, *text.MaxLength)
		keys := s.Extensions[jsontype.PropertyNames].(*huma.Schema)
		require.Equal(t, 16, *keys.MaxLength)
		for key, ok := range map[string]bool{"de": true, "pt-BR": true, "zh-Hant-TW": true, "d": false, "": false, "de_AT": false, "de-": false, "abcdefghi": false} {
			require.Equal(t, ok, regexp.MustCompile(keys.Pattern).MatchString(key), key)
		}
	}
}
