package lines

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAQuantityIsSteppedAsItWasTyped(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		typed, then string
		by          int64
	}{{"2", "3", 1}, {"2,5", "3,5", 1}, {"2.5", "1.5", -1}, {"1", "1", -1}, {"many", "many", 1}, {"", "", 1}} {
		l := Line{Qty: c.typed}
		l.Step(c.by)
		require.Equal(t, c.then, l.Qty)
	}
}
