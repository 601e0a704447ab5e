package httpapi

import (
	"reflect"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/jsontype"
	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/record"
)

type gadget struct {
	record.Key
	GadgetFields
	Total money.Amount `json:"total"`
	record.Meta
}

// GadgetFields are what clients set.
type GadgetFields struct {
	Name  string     `json:"name" required:"true" minLength:"1" maxLength:"9"`
	Icon  string     `json:"icon" default:"folder"`
	Owner *uuid.UUID `json:"owner" format:"uuid"`
	Limit int64      `json:"limit" null:"zero" minimum:"0"`
	Tags  []string   `json:"tags" maxItems:"3" maxLength:"4"`
}

func TestBodiesAreDerivedFromFields(t *testing.T) {
	t.Parallel()
	reg := jsontype.NewRegistry("#/components/schemas/")
	require.Equal(t, "#/components/schemas/GadgetInput", derivedBody(reg, reflect.TypeFor[GadgetFields](), inputSuffix).Ref)
	require.Equal(t, "#/components/schemas/GadgetPatch", derivedBody(reg, patchFields(reflect.TypeFor[record.Patch[GadgetFields]]()), patchSuffix).Ref)
	require.Nil(t, patchFields(reflect.TypeFor[GadgetFields]()))
	input, patch := reg.Map()["GadgetInput"], reg.Map()["GadgetPatch"]
	require.Equal(t, []string{"name"}, input.Required)
	require.Empty(t, patch.Required)
	require.Equal(t, "folder", input.Properties["icon"].Default)
	require.Nil(t, patch.Properties["icon"].Default)
	for _, s := range []*huma.Schema{input, patch} {
		require.Equal(t, 9, *s.Properties["name"].MaxLength)
		require.False(t, s.Properties["name"].Nullable)
		require.True(t, s.Properties["owner"].Nullable, "a pointer may be null")
		require.True(t, s.Properties["limit"].Nullable, "null stands for zero")
		require.NotContains(t, s.Properties, "total", "what the platform keeps cannot be sent")
	}
}

func TestResponsesHaveNoBoundsOfInputs(t *testing.T) {
	t.Parallel()
	reg := jsontype.NewRegistry("#/components/schemas/")
	s := reg.SchemaFromRef(reg.Schema(reflect.TypeFor[gadget](), true, "").Ref)
	require.ElementsMatch(t, []string{"id", "companyId", "name", "icon", "owner", "limit", "tags", "total", "version", "createdAt", "updatedAt"}, s.Required)
	require.Nil(t, s.Properties["name"].MaxLength)
	require.Nil(t, s.Properties["icon"].Default)
	require.Nil(t, s.Properties["tags"].MaxItems)
	require.Nil(t, s.Properties["tags"].Items.MaxLength)
	require.Nil(t, s.Properties["limit"].Minimum)
	require.NotNil(t, s.Properties["total"].Minimum, "of the type itself")
	require.True(t, s.Properties["owner"].Nullable)
	require.Equal(t, "uuid", s.Properties["owner"].Format)
}
