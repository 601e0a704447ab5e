package event_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/job"
)

func TestSchemaNameOfOtherPackages(t *testing.T) {
	t.Parallel()
	type local struct{}
	for want, v := range map[string]any{"EventChanged": event.Changed{}, "Local": local{}} {
		got := jsontype.SchemaName(reflect.TypeOf(v), "")
		require.Contains(t, []string{want, "Changed"}, got)
		require.Equal(t, got, jsontype.SchemaName(reflect.PointerTo(reflect.TypeOf(v)), ""), "a pointer has the name of what it points to")
	}
	require.Equal(t, "Job", jsontype.SchemaName(reflect.TypeFor[job.Record](), ""))
}
