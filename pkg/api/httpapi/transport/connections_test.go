package transport

import (
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// flood is a connection whose client sends without an end.
type flood struct {
	net.Conn
	bytes int
}

func (f *flood) Read(p []byte) (int, error) {
	f.bytes += len(p)
	return len(p), nil
}

func (*flood) SetReadDeadline(time.Time) error { return nil }
func (*flood) CloseWrite() error               { return nil }
func (*flood) Close() error                    { return nil }

// However fast refused clients send, what is read of them is bounded by time and by bytes a second.
func TestFloodsAreDiscardedSlowly(t *testing.T) {
	t.Parallel()
	for _, most := range []time.Duration{lingerIdle, lingerTime} {
		synctest.Test(t, func(t *testing.T) {
			f, began := &flood{}, time.Now()
			require.NoError(t, closeLater(f, most))
			require.InDelta(t, most.Seconds(), time.Since(began).Seconds(), 0.1)
			require.InEpsilon(t, discardRate*most.Seconds(), f.bytes, 0.1)
		})
	}
}
