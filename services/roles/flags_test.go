package roles

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The URL of the mail server holds a password, so it may stand in a file.
func TestMailServerFromAFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "url")
	require.NoError(t, os.WriteFile(file, []byte("smtps://tradegrid:word@mail.example.com\n"), 0o600))
	f := MailFlags{SMTPURLFile: file, MailFrom: "tradegrid@example.com"}
	transport, err := f.transport()
	require.NoError(t, err)
	require.NotNil(t, transport)
	f.SMTPURL = "smtps://mail.example.com"
	require.ErrorContains(t, f.Check(), "--smtp-url and --smtp-url-file are mutually exclusive")
	require.ErrorContains(t, MailFlags{SMTPURLFile: file}.Check(), `--mail-from "": must be an address`)
	require.ErrorContains(t, MailFlags{SMTPURLFile: file + "x", MailFrom: "a@example.com"}.Check(), "--smtp-url-file")
	require.NoError(t, os.WriteFile(file, []byte("mail.example.com:hunter2"), 0o600))
	err = MailFlags{SMTPURLFile: file, MailFrom: "a@example.com"}.Check()
	require.ErrorContains(t, err, "--smtp-url-file: must be a URL")
	require.NotContains(t, err.Error(), "hunter2")
}

func TestEgressProxyIsAnOption(t *testing.T) {
	t.Parallel()
	f := DispatcherFlags{EgressProxy: "http://proxy.example:3128"}
	proxy, err := f.egressProxy()
	require.NoError(t, err)
	require.Equal(t, f.EgressProxy, proxy.String())
	f.EgressProxy = ""
	proxy, err = f.egressProxy()
	require.NoError(t, err)
	require.Nil(t, proxy)
}
