package roles

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFlagsOfTheProvider(t *testing.T) {
	t.Parallel()
	const console = "https://console.example.com"
	file := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(file, []byte("secret\n"), 0o600))
	good := ProviderFlags{OIDCIssuer: "https://login.example.com/realms/shop", OIDCClientID: "tradegrid", OIDCClientSecretFile: file, OIDCEmailDomains: []string{"example.com", "@shop.example"}}
	require.NoError(t, good.checkProvider(console))
	require.Equal(t, "login.example.com", good.provider(console).Host())
	require.NoError(t, ProviderFlags{}.checkProvider(""))
	require.Nil(t, ProviderFlags{}.provider(""))
	for want, edit := range map[string]func(*ProviderFlags){
		"--oidc-client-id is required":  func(f *ProviderFlags) { f.OIDCClientID = "" },
		"without --oidc-issuer":         func(f *ProviderFlags) { f.OIDCIssuer = "" },
		"must be https://":              func(f *ProviderFlags) { f.OIDCIssuer = "http://login.example.com" },
		"must be an address":            func(f *ProviderFlags) { f.OIDCIssuer = "login.example.com" },
		"exactly as the provider names": func(f *ProviderFlags) { f.OIDCIssuer += "?tenant=1" },
		"must be a domain":              func(f *ProviderFlags) { f.OIDCEmailDomains = []string{"kim@example.com"} },
		"must be a file":                func(f *ProviderFlags) { f.OIDCClientSecretFile += "x" },
	} {
		f := good
		edit(&f)
		require.ErrorContains(t, f.checkProvider(console), want)
	}
	require.ErrorContains(t, good.checkProvider(""), "without --console-url")
	local := good
	local.OIDCIssuer = "http://localhost:5556/dex"
	require.NoError(t, local.checkProvider("http://localhost:8084"))
}

func TestConsoleTraceURL(t *testing.T) {
	t.Parallel()
	for address, ok := range map[string]bool{
		"": true, "https://traces.example.com/trace/{traceId}": true, "http://127.0.0.1:16686/trace/{traceId}?x=1": true,
		"https://traces.example.com/": false, "javascript:alert('{traceId}')": false, "/trace/{traceId}": false,
	} {
		c := ConsoleFlags{ConsoleTraceURL: address}
		require.Equal(t, ok, c.checkTraceURL() == nil, address)
	}
}
