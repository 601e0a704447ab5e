package dispatch

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/dbtest"
	"github.com/tradegrid/tradegrid/pkg/secret"
	"github.com/tradegrid/tradegrid/pkg/webhook"
)

// A secret whose key is missing is a mistake of the operators: nothing is lost by it, and nothing is sent unsigned.
func TestSenderWaitsForTheKeyOfASecret(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys")
	one, two := secret.NewKey("one"), secret.NewKey("two")
	require.NoError(t, os.WriteFile(path, []byte(two), 0o600))
	keys, err := secret.ReadKeys("--secret-keys-file", path, nil)
	require.NoError(t, err)
	rig := newSenderRig(t, dbtest.Open(t), func(c *SenderConfig) { c.Retry.MaxParks = 1_000_000 }) // no sweeper here
	said := &lines{}
	rig.cache.UseKeys(keys, slog.New(slog.NewTextHandler(said, nil)))
	rig.forward()
	h := newHook(t, status(200))
	sub, text := rig.subscribe(h.URL)
	of, err := secret.ParseKeys(one)
	require.NoError(t, err)
	sealed, err := webhook.SealSecret(of, rig.company, sub, text)
	require.NoError(t, err)
	rig.exec(`UPDATE webhook_subscriptions SET secret = $3 WHERE company_id = $1 AND id = $2`, rig.company, sub, string(sealed))
	m := rig.messages(sub, 1)[0]
	delayed := rig.collect("webhook.delay.5s")
	rig.produce(m)
	rig.eventually(func() bool { return len(delayed()) > 0 }, "parked")
	require.Equal(t, []any{statePending, int16(0)}, []any{rig.row(m).State, rig.row(m).Attempt}, "no attempt is used")
	require.Empty(t, h.all())
	require.Contains(t, said.String(), `\"one\"`, "the log names the key")
	require.Contains(t, said.String(), sub.String())
	require.NotContains(t, said.String(), text)

	require.NoError(t, os.WriteFile(path, []byte(two+"\n"+one), 0o600))
	rig.eventuallyState(m, stateSuccess)
	got := h.all()[0]
	require.NoError(t, webhook.Verify(text, got.header, got.body, time.Now(), time.Minute))
}

// lines is a log that can be read while it is written.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
