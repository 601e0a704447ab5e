package record

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// The type is made at run time, since go vet would find the mistake in source.
func TestPlanRefusesAJSONNameTwice(t *testing.T) {
	t.Parallel()
	text := reflect.TypeFor[string]()
	twice := reflect.StructOf([]reflect.StructField{
		{Name: "A", Type: text, Tag: `json:"a"`},
		{Name: "B", Type: text, Tag: `json:"a" db:"b"`},
	})
	require.PanicsWithValue(t, twice.String()+" has the JSON name a twice: encoding/json would drop both", func() { planOf(twice) })
}
