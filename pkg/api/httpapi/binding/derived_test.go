package binding

import (
	"reflect"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
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

func TestRestrict(t *testing.T) {
	t.Parallel()
	reg, fields := jsontype.NewRegistry("#/components/schemas/"), reflect.TypeFor[GadgetFields]()
	input, patch := reg.SchemaFromRef(InputSchema(reg, fields).Ref), reg.SchemaFromRef(PatchSchema(reg, fields).Ref)
	Restrict(reg, fields, "icon", []string{"folder", "file"})
	Restrict(reg, fields, "tags", []string{"new", "used"})
	for _, s := range []*huma.Schema{input, patch} {
		require.Equal(t, []any{"folder", "file"}, s.Properties["icon"].Enum)
		require.Equal(t, []any{"new", "used"}, s.Properties["tags"].Items.Enum)
		c := &checker{reg: reg}
		c.value("", s, map[string]any{"name": "x", "icon": "fold", "tags": []any{"used", "old"}})
		require.Equal(t, []string{"icon", "tags[1]"}, []string{c.faults[0].Field, c.faults[1].Field})
	}
	require.Panics(t, func() { Restrict(reg, reflect.TypeFor[gadget](), "total", nil) }, "no operation takes it")
}

func TestQueryParametersAreNotBlank(t *testing.T) {
	t.Parallel()
	type caller struct{}
	type query struct {
		caller                   //nolint:unused // embedded as by the inputs of operations
		Brand  string            `query:"brand"`
		Sort   string            `query:"sort" enum:"name"`
		IDs    []uuid.UUID       `query:"ids" format:"uuid"`
		Fields []string          `query:"fields"`
		From   *list.From        `query:"from"`
		Parent jsontype.IDOrNull `query:"parent"`
		Only   *bool             `query:"only"`
	}
	b := New(jsontype.NewRegistry("#/components/schemas/"), "/gadgets", reflect.TypeFor[query](), reflect.TypeFor[caller]())
	schemas := map[string]*huma.Schema{}
	for _, p := range b.params {
		schemas[p.name] = p.schema
	}
	for name, values := range map[string]map[string]bool{
		"brand":  {"x": true, " x ": true, "": false, "  ": false},
		"parent": {"null": true, "0192d3a5-6f0e-7c1a-9b1e-2f6d8a4c1e55": true, "none": false, "": false, "0192d3a56f0e7c1a9b1e2f6d8a4c1e55": false},
	} {
		for value, ok := range values {
			require.Equal(t, ok, pattern(schemas[name].Pattern).MatchString(value), "%s=%q", name, value)
		}
	}
	for _, name := range []string{"sort", "from", "only"} {
		require.Empty(t, schemas[name].Pattern, name)
	}
	require.Equal(t, "date", schemas["from"].OneOf[0].Format)
	require.Equal(t, "date-time", schemas["from"].OneOf[1].Format)
	require.Equal(t, 1, *schemas["ids"].MinItems)
	require.Empty(t, schemas["ids"].Items.Pattern, "the format excludes blank ones")
	for value, ok := range map[string]bool{"id": true, " id ": true, "": false, " ": false, "id,name": false} {
		require.Equal(t, ok, pattern(schemas["fields"].Items.Pattern).MatchString(value), value)
	}
}

func TestKeysOfMaps(t *testing.T) {
	t.Parallel()
	least, most := 1, 3
	text := &huma.Schema{Type: huma.TypeString}
	lower := jsontype.KeysOf(&huma.Schema{Type: huma.TypeObject, AdditionalProperties: text}, &huma.Schema{Pattern: "^[a-z]+$", MaxLength: &most, PatternDescription: "small"})
	short := jsontype.KeysOf(&huma.Schema{Type: huma.TypeObject, AdditionalProperties: text}, &huma.Schema{MinLength: &least, MaxLength: &most})
	c := &checker{}
	c.value("a", lower, map[string]any{"x": "", "X": "", "wxyz": ""})
	c.value("b", short, map[string]any{"": "", "X": "", "wxyz": ""})
	var got [][]string
	for _, f := range c.faults {
		got = append(got, []string{f.Field, f.Code, f.Message})
	}
	require.Equal(t, [][]string{
		{"a.X", apierr.Format, "a.X: the key must be small"},
		{"a.wxyz", apierr.Format, "a.wxyz: the key must be small"},
		{"b.", apierr.Length, "b.: the key must have at least 1 characters"},
		{"b.wxyz", apierr.Length, "b.wxyz: the key must have at most 3 characters, has 4"},
	}, got)
}
