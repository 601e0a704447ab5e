package sender

import (
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/secret"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/delivery/dispatchtest"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// A secret whose key is missing is a mistake of the operators: nothing is lost by it, and nothing is sent unsigned.
func TestSenderWaitsForTheKeyOfASecret(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys")
	one, two := secret.NewKey("one"), secret.NewKey("two")
	require.NoError(t, os.WriteFile(path, []byte(two), 0o600))
	keys, err := secret.ReadKeys("--secret-keys-file", path, nil)
	require.NoError(t, err)
	k := newKit(t, dbtest.Open(t), func(c *Config) { c.Retry.maxPostponements = 1_000_000 }) // no sweeper here
	k.Keys, err = secret.ParseKeys(one)
	require.NoError(t, err)
	said := &lines{}
	k.cache.keys, k.cache.log = keys, slog.New(slog.NewTextHandler(said, nil))
	k.ForwardDelayed()
	h := dispatchtest.NewReceiver(t, dispatchtest.Status(200))
	sub, text := k.Subscribe(h.URL)
	m := k.Messages(sub, 1)[0]
	delayed := k.Collect("webhook.delay.5s")
	k.Send(m)
	k.Eventually(func() bool { return len(delayed()) > 0 }, "postponed")
	require.Equal(t, []any{webhook.StatePending, int16(0)}, []any{k.Row(m.DeliveryID).State, k.Row(m.DeliveryID).Attempt}, "no attempt is used")
	require.Empty(t, h.Requests())
	require.Contains(t, said.String(), `\"one\"`, "the log names the key")
	require.Contains(t, said.String(), sub.String())
	require.NotContains(t, said.String(), text)

	require.NoError(t, os.WriteFile(path, []byte(two+"\n"+one), 0o600))
	k.AwaitState(m.DeliveryID, webhook.StateSuccess)
	got := h.Requests()[0]
	require.NoError(t, webhook.Verify(text, got.Header, got.Body, time.Now(), time.Minute))
}

// The headers of a subscription are on every request to it, and on no other; what the platform sets they cannot change.
func TestSenderAddsHeaders(t *testing.T) {
	t.Parallel()
	k := newKit(t, dbtest.Open(t), func(c *Config) { c.Retry.maxPostponements = 1_000_000 }) // no sweeper here
	said := &lines{}
	k.cache.log = slog.New(slog.NewTextHandler(said, nil))
	k.ForwardDelayed()
	h := dispatchtest.NewReceiver(t, func(w http.ResponseWriter, r *http.Request) {
		if n := r.Header.Get(webhook.HeaderAttempt); n == "1" || n == "2" {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	sub, text := k.Subscribe(h.URL)
	plain, _ := k.Subscribe(h.URL)
	sealed, err := webhook.SealHeaders(k.Keys, k.Company, sub, map[string]string{"Authorization": "Bearer s3cr3t", "X-Svc-Attempt": "9"})
	require.NoError(t, err)
	k.Set(sub, `headers = $3`, sealed)
	m, test, other := k.Messages(sub, 1)[0], k.Messages(sub, 1)[0], k.Messages(plain, 1)[0]
	test.IsTest = true
	k.Send(m, test, other)
	for _, sent := range []*webhook.Message{m, test, other} { // one that is open would wait for the key below, too
		k.AwaitState(sent.DeliveryID, webhook.StateSuccess)
	}
	attempts := map[string]int{}
	for _, got := range h.Requests() {
		if got.ID == other.DeliveryID.String() {
			require.NotContains(t, got.Header, "Authorization")
			continue
		}
		attempts[got.ID]++
		require.Equal(t, []string{"Bearer s3cr3t"}, got.Header["Authorization"])
		require.Equal(t, attempts[got.ID], got.Attempt)
		require.NoError(t, webhook.Verify(text, got.Header, got.Body, time.Now(), time.Minute))
	}
	require.Greater(t, attempts[m.DeliveryID.String()], 2)
	require.Greater(t, attempts[test.DeliveryID.String()], 2)

	// Like the secret, they wait for a key that is missing.
	lost, err := secret.ParseKeys(secret.NewKey("lost"))
	require.NoError(t, err)
	sealed, err = webhook.SealHeaders(lost, k.Company, sub, map[string]string{"Authorization": "Bearer s3cr3t"})
	require.NoError(t, err)
	k.Set(sub, `headers = $3`, sealed)
	k.cache.invalidate(webhook.SubscriptionKey{Company: k.Company, ID: sub})
	late := k.Messages(sub, 1)[0]
	k.Send(late)
	k.Eventually(func() bool { return k.Deliveries(`waiting_for = 'secret_unavailable'`) == 1 }, "waits for its key")
	require.Contains(t, said.String(), `\"lost\"`)
	require.NotContains(t, said.String(), "s3cr3t")
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
