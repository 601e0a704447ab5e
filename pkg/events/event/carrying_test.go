package event

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCarrying(t *testing.T) {
	t.Parallel()
	type parcel struct{}
	type note struct {
		Text string `json:"text"`
	}
	sent := With[parcel, note]("parcel.sent", "A parcel was sent.", nil)
	require.Equal(t, note{"fragile"}, sent.Carrying(note{"fragile"}).Extra(nil, &parcel{}, nil))
	require.PanicsWithValue(t, "event parcel.sent carries event.note, not string", func() { sent.Carrying("fragile") })
}
