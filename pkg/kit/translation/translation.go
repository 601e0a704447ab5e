// Package translation holds texts in several languages.
package translation

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
)

// Limits of translations, in characters.
const (
	MaxName   = 255
	MaxText   = 20000
	maxLocale = 16
)

const locale = `^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$`

// Names are short texts by locale, a BCP 47 tag.
type Names map[string]string

// TransformSchema implements [huma.SchemaTransformer].
func (Names) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return byLocale(s, MaxName)
}

// Texts are long texts by locale.
type Texts map[string]string

// TransformSchema implements [huma.SchemaTransformer].
func (Texts) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return byLocale(s, MaxText)
}

func byLocale(s *huma.Schema, most int) *huma.Schema {
	least, keys := 1, maxLocale
	s.AdditionalProperties = &huma.Schema{Type: huma.TypeString, MinLength: &least, MaxLength: &most}
	return jsontype.KeysOf(s, &huma.Schema{
		Type: huma.TypeString, MaxLength: &keys, Pattern: locale, PatternDescription: "a BCP 47 locale of at most 16 characters, such as de or pt-BR",
	})
}
