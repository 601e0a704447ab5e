package transport

import (
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// deadlines notes the deadlines of a connection.
type deadlines struct {
	net.Conn
	last time.Time
}

func (d *deadlines) SetWriteDeadline(at time.Time) error {
	d.last = at
	return nil
}

// Each piece of a file has its time, and so has the file.
func TestDeadlinesOfFiles(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		conn := &deadlines{}
		body := &fileBody{io.NopCloser(strings.NewReader("abcd")), nil, conn, sendUntil(100 * slowestRead)}
		began := time.Now()
		read := func() time.Duration {
			_, err := body.Read(make([]byte, 1))
			require.NoError(t, err)
			return conn.last.Sub(began)
		}
		require.Equal(t, writeTimeout, read())
		time.Sleep(50 * time.Second)
		require.Equal(t, writeTimeout+50*time.Second, read())
		time.Sleep(100 * time.Second)
		require.Equal(t, writeTimeout+100*time.Second, read())
		require.NoError(t, body.Close())
	})
}
