package sender

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/delivery/dispatchtest"
	"github.com/tradegrid/tradegrid/services/delivery/egress"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// strict is a receiver that answers only clients with a certificate that it knows.
type strict struct {
	*httptest.Server
	known *x509.CertPool

	mu    sync.Mutex
	names map[string][]string // of the certificates, by subscription
}

func newStrict(t *testing.T, http2 bool) *strict {
	s := &strict{known: x509.NewCertPool(), names: map[string][]string{}}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		of := r.Header.Get(webhook.HeaderWebhookID)
		s.names[of] = append(s.names[of], r.TLS.PeerCertificates[0].Subject.CommonName)
	}))
	s.EnableHTTP2 = http2
	s.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: s.known}
	t.Cleanup(s.Close)
	return s
}

func (s *strict) of(sub uuid.UUID) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.names[sub.String()])
}

// Each subscription shows its own certificate, also when they share the receiver's address, and none without one is let in.
func TestSenderShowsTheCertificateOfASubscription(t *testing.T) {
	t.Parallel()
	for name, http2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newStrict(t, http2)
			chains, private := map[string]string{}, map[string]string{}
			for _, name := range []string{"ann", "bob", "eve"} {
				_, key, err := ed25519.GenerateKey(rand.Reader)
				require.NoError(t, err)
				chains[name], private[name] = dispatchtest.Certificate(t, key, name, time.Now().Add(time.Hour))
				h.known.AppendCertsFromPEM([]byte(chains[name]))
			}
			h.StartTLS()
			k := newKit(t, dbtest.Open(t), func(c *Config) {
				c.Egress.RootCAs = x509.NewCertPool()
				c.Egress.RootCAs.AddCert(h.Certificate())
			})
			subscribe := func(name string) uuid.UUID {
				sub, _ := k.Subscribe(h.URL)
				if name != "" {
					sealed, err := webhook.SealKey(k.Keys, k.Company, sub, private[name])
					require.NoError(t, err)
					k.Set(sub, `client_certificate = $3, client_key = $4`, chains[name], sealed)
				}
				return sub
			}
			ann, bob, none := subscribe("ann"), subscribe("bob"), subscribe("")
			for range 3 {
				k.Send(append(k.Messages(ann, 4), k.Messages(bob, 4)...)...)
			}
			refused := k.Messages(none, 1)[0]
			k.Send(refused)
			k.Eventually(func() bool {
				return k.InState(ann, webhook.StateSuccess) == 12 && k.InState(bob, webhook.StateSuccess) == 12
			}, "all arrive")
			k.Eventually(func() bool { return k.Row(refused.DeliveryID).Err != nil }, "no certificate, no answer")
			require.Empty(t, h.of(none))
			require.Equal(t, []string{"ann"}, slices.Compact(h.of(ann)))
			require.Equal(t, []string{"bob"}, slices.Compact(h.of(bob)))

			sealed, err := webhook.SealKey(k.Keys, k.Company, ann, private["eve"])
			require.NoError(t, err)
			k.Set(ann, `client_certificate = $3, client_key = $4`, chains["eve"], sealed)
			k.cache.invalidate(webhook.SubscriptionKey{Company: k.Company, ID: ann})
			k.Send(k.Messages(ann, 1)...)
			k.Eventually(func() bool { return k.InState(ann, webhook.StateSuccess) == 13 }, "arrives")
			require.Equal(t, "eve", h.of(ann)[12], "no connection of the old certificate is used")

			k.sender.sched.mu.Lock()
			q := k.sender.sched.queues[webhook.SubscriptionKey{Company: k.Company, ID: ann}]
			k.sender.sched.mu.Unlock()
			k.stop()
			k.Eventually(func() bool {
				q.client.mu.Lock()
				defer q.client.mu.Unlock()
				return q.client.own == nil
			}, "it ends with the queue")
		})
	}
}

// A receiver queue keeps its client until the certificate changes.
func TestClientOfAReceiverQueue(t *testing.T) {
	t.Parallel()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	of := func(name string) *receiver {
		chain, private := dispatchtest.Certificate(t, key, name, time.Now().Add(time.Hour))
		return &receiver{chain: chain, clientKey: private}
	}
	shared, none, ann, bob := egress.New(egress.Config{}), &receiver{}, of("ann"), of("bob")
	var c client
	get := func(r *receiver) *egress.Client {
		got, err := c.get(r, shared)
		require.NoError(t, err)
		return got
	}
	require.Same(t, shared, get(none))
	first := get(ann)
	require.NotSame(t, shared, first)
	require.Same(t, first, get(ann))
	require.NotSame(t, first, get(bob))
	require.Same(t, shared, get(none))
	for range 2 {
		_, err = c.get(&receiver{chain: ann.chain, clientKey: "broken"}, shared)
		require.ErrorContains(t, err, "clientKey", "never without the certificate")
	}
	get(ann)
	c.close()
	require.Nil(t, c.own)
}
