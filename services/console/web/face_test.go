package web

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFacesHaveInitials(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Anna Ashdene": "AA", "city tours on wheels": "CT", "Moss & Sons": "MS", "Élise": "É", "\"O'Neill\"": "ON", "+49 30 23125 142": "43",
		"": "", " — ": "", "<script>": "S",
	} {
		require.Equal(t, want, Face(name).Letter, name)
	}
	require.Equal(t, Face("Anna").Tint, Face("Anna").Tint)
}
