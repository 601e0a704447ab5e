package jsontype_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
)

func TestObjectKeepsItsText(t *testing.T) {
	t.Parallel()
	var v struct {
		A jsontype.Object `json:"a"`
		B jsontype.Object `json:"b"`
	}
	require.NoError(t, json.Unmarshal([]byte(`{"a":{"z":1.50,"y":[1,2]}}`), &v))
	require.Equal(t, jsontype.Object(`{"z":1.50,"y":[1,2]}`), v.A)
	out, err := json.Marshal(v)
	require.NoError(t, err)
	require.Equal(t, `{"a":{"z":1.50,"y":[1,2]},"b":null}`, string(out))
}

func TestCanonicalObjects(t *testing.T) {
	t.Parallel()
	for in, want := range map[jsontype.Object]jsontype.Object{
		`{ "b" : 1, "a" : { "d": null, "c": [ 2, 1 ] } }`: `{"a":{"c":[2,1],"d":null},"b":1}`,
		`{"n":1.50,"m":12345678901234567890}`:             `{"m":12345678901234567890,"n":1.50}`,
		`{"html":"<a & b>"}`:                              `{"html":"<a & b>"}`,
		`{"u":"\u00e9"}`:                                  `{"u":"é"}`,
		`not JSON`:                                        `not JSON`,
	} {
		require.Equal(t, want, in.Canonical())
		require.Equal(t, want, in.Canonical().Canonical())
		var scanned jsontype.Object
		require.NoError(t, scanned.ScanText(pgtype.Text{String: string(in), Valid: true}))
		require.Equal(t, want, scanned)
	}
}

type named struct{}

func (named) SchemaName() string { return "Clear" }

type embeds struct{ named }

type page[T any] struct{ Items []T }

// A type may name its schema; one that embeds it is another type.
func TestSchemaNameOfNamedTypes(t *testing.T) {
	t.Parallel()
	require.Equal(t, "Clear", jsontype.SchemaName(reflect.TypeFor[*named](), ""))
	require.Equal(t, "Embeds", jsontype.SchemaName(reflect.TypeFor[embeds](), ""))
	require.Equal(t, "Clearpage", jsontype.SchemaName(reflect.TypeFor[page[named]](), ""))
}

func TestAllowMore(t *testing.T) {
	t.Parallel()
	text := &huma.Schema{Type: huma.TypeString}
	schemas := map[string]*huma.Schema{
		"closed": {AdditionalProperties: false},
		"map":    {AdditionalProperties: text},
		"open":   {},
	}
	jsontype.AllowMore(schemas)
	require.Nil(t, schemas["closed"].AdditionalProperties)
	require.Same(t, text, schemas["map"].AdditionalProperties)
	require.Nil(t, schemas["open"].AdditionalProperties)
}
