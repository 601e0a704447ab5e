package sender

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/delivery/dispatchtest"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// received is a request as the programs of tests/standardwebhooks read it.
type received struct {
	Secret  string            `json:"secret"`
	Headers map[string]string `json:"headers"`
	Body    []byte            `json:"body"`
	valid   bool
}

func newReceived(secret string, header http.Header, body []byte, valid bool) received {
	r := received{secret, map[string]string{}, body, valid}
	for name := range header {
		r.Headers[strings.ToLower(name)] = header.Get(name)
	}
	return r
}

// The official libraries of Standard Webhooks verify what receivers get, with either secret of a rotation, and nothing else.
// Those of Python and JavaScript are skipped by name unless tests/standardwebhooks/run has installed them.
func TestStandardWebhooksLibrariesVerifyDeliveries(t *testing.T) {
	t.Parallel()
	k := newKit(t, dbtest.Open(t), nil)
	h := dispatchtest.NewReceiver(t, dispatchtest.Status(200))
	rotating, current := k.Subscribe(h.URL)
	old := webhook.NewSecret()
	k.Set(rotating, `previous_secret = $3, previous_until = $4`, k.Seal(rotating, old), time.Now().Add(time.Hour))
	plain, other := k.Subscribe(h.URL)
	first, second := k.Messages(rotating, 1)[0], k.Messages(plain, 1)[0]
	for i, m := range []*webhook.Message{first, second} {
		m.Body = []byte(`{"event":"order.created","data":{"name":"Žofie ☕","n":` + strconv.Itoa(i) + `}}`)
	}
	k.Send(first, second)
	k.AwaitState(first.DeliveryID, webhook.StateSuccess)
	k.AwaitState(second.DeliveryID, webhook.StateSuccess)

	var all []received
	for _, got := range h.Requests() {
		if got.ID == second.DeliveryID.String() {
			all = append(all, newReceived(other, got.Header, got.Body, true), newReceived(current, got.Header, got.Body, false))
			continue
		}
		late, unsigned := got.Header.Clone(), got.Header.Clone()
		late.Set(webhook.HeaderStandardTimestamp, strconv.FormatInt(time.Now().Add(-time.Hour).Unix(), 10))
		unsigned.Del(webhook.HeaderStandardSignature)
		all = append(all, newReceived(current, got.Header, got.Body, true), newReceived(old, got.Header, got.Body, true),
			newReceived(other, got.Header, got.Body, false), newReceived(current, got.Header, append(bytes.Clone(got.Body), ' '), false),
			newReceived(current, late, got.Body, false), newReceived(current, unsigned, got.Body, false))
	}
	require.Len(t, all, 8)

	// Parallel subtests would wait for their turn behind tests that wait for the real brokers of this one.
	t.Run("Go", func(t *testing.T) {
		for _, r := range all {
			library, err := standardwebhooks.NewWebhook(r.Secret)
			require.NoError(t, err)
			header := http.Header{}
			for name, value := range r.Headers {
				header.Set(name, value)
			}
			require.Equal(t, r.valid, library.Verify(r.Body, header) == nil, "%+v", r)
		}
	})
	const tools, programs = "../../../bin/tools/standardwebhooks", "../../../tests/standardwebhooks"
	for language, v := range map[string]struct{ interpreter, program string }{
		"Python":     {"bin/python", "verify.py"},
		"JavaScript": {"node", "verify.cjs"},
	} {
		t.Run(language, func(t *testing.T) {
			installed, err := filepath.Abs(filepath.Join(tools, language))
			require.NoError(t, err)
			if _, err := os.Stat(installed); err != nil {
				t.Skipf("the library for %s is not tried: make standardwebhooks installs it", language)
			}
			interpreter := v.interpreter
			if strings.Contains(interpreter, "/") {
				interpreter = filepath.Join(installed, interpreter)
			}
			cmd := exec.CommandContext(t.Context(), interpreter, filepath.Join(programs, v.program))
			cmd.Env = append(os.Environ(), "NODE_PATH="+filepath.Join(installed, "node_modules"))
			var input, want bytes.Buffer
			for _, r := range all {
				require.NoError(t, json.NewEncoder(&input).Encode(r))
				want.WriteString(strconv.FormatBool(r.valid) + "\n")
			}
			cmd.Stdin = &input
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.Equal(t, want.String(), strings.ReplaceAll(string(out), "\r", ""))
		})
	}
}
