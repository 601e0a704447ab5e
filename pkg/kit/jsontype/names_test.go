package jsontype_test

import (
	"regexp"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
)

func TestIDOrNull(t *testing.T) {
	t.Parallel()
	id := uuid.New()
	require.False(t, jsontype.IDOrNull("").Sent())
	require.True(t, jsontype.IDOrNull("null").Sent())
	require.Nil(t, jsontype.IDOrNull("null").ID())
	require.Equal(t, id, *jsontype.IDOrNull(id.String()).ID())
	form := regexp.MustCompile(jsontype.IDOrNull("").Schema(nil).Pattern)
	for text, ok := range map[string]bool{"null": true, id.String(): true, "NULL": false, "": false, "{" + id.String() + "}": false} {
		require.Equal(t, ok, form.MatchString(text), text)
	}
}
