package webhooks_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/services/delivery/dispatchtest"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
)

func signer(t *testing.T, key crypto.Signer, err error) crypto.Signer {
	t.Helper()
	require.NoError(t, err)
	return key
}

func edKey(t *testing.T) crypto.Signer {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	return signer(t, key, err)
}

// stored are the columns of the certificate.
func (r *kit) stored(id string) (chain, key string) {
	r.t.Helper()
	var sealed webhook.StoredKey
	require.NoError(r.t, r.db.QueryRow(r.t.Context(), `SELECT client_certificate, client_key FROM webhook_subscriptions WHERE company_id = $1 AND id = $2`, r.company(), id).Scan(&chain, &sealed))
	require.NotContains(r.t, string(sealed), "PRIVATE KEY")
	key, err := sealed.Open(apitest.Keys(r.t), r.company(), uuid.MustParse(id))
	require.NoError(r.t, err)
	return chain, key
}

// A client certificate is described, its key is stored encrypted and never shown, and both change together.
func TestClientCertificate(t *testing.T) {
	t.Parallel()
	r := setup(t)
	until := time.Now().UTC().Add(time.Hour).Truncate(time.Second)
	chain, key := dispatchtest.Certificate(t, edKey(t), "ann", until)
	other, otherKey := dispatchtest.Certificate(t, edKey(t), "bob", until)
	made := r.Do(t, "POST", subscriptions, map[string]any{"url": hook, "events": []string{"*"}, "clientCertificate": "subject=ann\n" + chain + other, "clientKey": key})
	block, _ := pem.Decode([]byte(chain))
	sum := sha256.Sum256(block.Bytes)
	want := map[string]any{"subject": "CN=ann", "notAfter": until.Format("2006-01-02T15:04:05.000Z"), "fingerprint": hex.EncodeToString(sum[:])}
	require.Equal(t, want, made.OK(201)["clientCertificate"])
	id := made.OK(201)["id"].(string)
	path := subscriptions + "/" + id
	gotChain, gotKey := r.stored(id)
	require.Equal(t, []string{strings.TrimSpace(chain + other), strings.TrimSpace(key)}, []string{gotChain, gotKey})
	for _, got := range []*apitest.Response{made, r.Do(t, "GET", path, nil), r.Do(t, "GET", subscriptions, nil), r.Do(t, "PATCH", path, `{"name":"x"}`)} {
		require.Contains(t, string(got.Body), hex.EncodeToString(sum[:]))
		require.NotContains(t, string(got.Body), "PRIVATE KEY")
		require.NotContains(t, string(got.Body), "clientKey")
	}
	same := r.Do(t, "PATCH", path, map[string]any{"clientCertificate": chain + other, "clientKey": key}).OK(200)
	require.InDelta(t, 2, same["version"], 0, "the same values are no change")

	changed := r.Do(t, "PATCH", path, map[string]any{"clientCertificate": other, "clientKey": otherKey}).OK(200)
	require.Equal(t, "CN=bob", changed["clientCertificate"].(map[string]any)["subject"])
	require.Nil(t, r.Do(t, "PATCH", path, `{"clientCertificate":null}`).OK(200)["clientCertificate"])
	gotChain, gotKey = r.stored(id)
	require.Empty(t, gotChain+gotKey)
}

func TestClientCertificateFaults(t *testing.T) {
	t.Parallel()
	r := setup(t, func(c *webhooks.Config) { c.AllowInsecure = true })
	id := r.subscribe()
	until := time.Now().Add(time.Hour)
	pair := func(key crypto.Signer, until time.Time) [2]any {
		chain, private := dispatchtest.Certificate(t, key, "ann", until)
		return [2]any{chain, private}
	}
	rsaKey := func(bits int) crypto.Signer {
		key, err := rsa.GenerateKey(rand.Reader, bits)
		return signer(t, key, err)
	}
	ecKey := func(curve elliptic.Curve) crypto.Signer {
		key, err := ecdsa.GenerateKey(curve, rand.Reader)
		return signer(t, key, err)
	}
	good := pair(edKey(t), until)
	chain, key := good[0].(string), good[1].(string)
	secret, _ := pem.Decode([]byte(key))
	locked := string(pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: secret.Bytes}))
	certificate, private := "clientCertificate", "clientKey"
	for name, row := range map[string]struct {
		pair [2]any
		want map[string]string
	}{
		"RSA":               {pair(rsaKey(2048), until), nil},
		"ECDSA":             {pair(ecKey(elliptic.P256()), until), nil},
		"weak RSA":          {pair(rsaKey(1024), until), map[string]string{certificate: "FORMAT"}},
		"weak ECDSA":        {pair(ecKey(elliptic.P224()), until), map[string]string{certificate: "FORMAT"}},
		"expired":           {pair(edKey(t), time.Now().Add(-time.Minute)), map[string]string{certificate: "FORMAT"}},
		"key of another":    {[2]any{chain, pair(edKey(t), until)[1]}, map[string]string{private: "FORMAT"}},
		"locked key":        {[2]any{chain, locked}, map[string]string{private: "FORMAT"}},
		"no key":            {[2]any{chain, "hello"}, map[string]string{private: "FORMAT"}},
		"no certificate":    {[2]any{"hello", key}, map[string]string{certificate: "FORMAT"}},
		"key with it":       {[2]any{chain + key, key}, map[string]string{certificate: "FORMAT"}},
		"broken":            {[2]any{strings.Replace(chain, "M", "N", 1), key}, map[string]string{certificate: "FORMAT"}},
		"long chain":        {[2]any{strings.Repeat(chain, 6), key}, map[string]string{certificate: "FORMAT"}},
		"large":             {[2]any{strings.Repeat("x", 16385), key}, map[string]string{certificate: "LENGTH"}},
		"large key":         {[2]any{chain, strings.Repeat("x", 8193)}, map[string]string{private: "LENGTH"}},
		"certificate alone": {[2]any{chain, nil}, map[string]string{private: "REQUIRED"}},
		"key alone":         {[2]any{nil, key}, map[string]string{certificate: "REQUIRED"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := map[string]any{certificate: row.pair[0], private: row.pair[1]}
			changed := r.Do(t, "PATCH", subscriptions+"/"+id, body)
			body["url"], body["events"] = hook+"/"+uuid.NewString(), []string{"*"}
			made := r.Do(t, "POST", subscriptions, body)
			if row.want == nil {
				changed.OK(200)
				made.OK(201)
				return
			}
			require.Equal(t, row.want, changed.Fields())
			require.Equal(t, row.want, made.Fields())
			require.NotContains(t, string(made.Body), "-----BEGIN PRIVATE KEY-----\\n")
		})
	}
	plain := map[string]any{"url": "http://127.0.0.1:8080/hook", "events": []string{"*"}, certificate: chain, private: key}
	require.Equal(t, map[string]string{certificate: "CONFLICT"}, r.Do(t, "POST", subscriptions, plain).Fields())
	plain["url"] = hook + "/tls"
	tls := r.Do(t, "POST", subscriptions, plain).OK(201)["id"].(string)
	require.Equal(t, map[string]string{certificate: "CONFLICT"}, r.Do(t, "PATCH", subscriptions+"/"+tls, `{"url":"http://127.0.0.1:8080/hook"}`).Fields())
}
