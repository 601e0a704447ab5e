package roles

import (
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/config"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
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
	proxy, err := egressProxy(f.EgressProxy)
	require.NoError(t, err)
	require.Equal(t, f.EgressProxy, proxy.String())
	f.EgressProxy = ""
	proxy, err = egressProxy(f.EgressProxy)
	require.NoError(t, err)
	require.Nil(t, proxy)
}

// What the flags say of attempts reaches the sender.
func TestSenderHasWhatItsFlagsSay(t *testing.T) {
	t.Parallel()
	f := config.Defaults[DispatcherFlags](Vars())
	f.Egress.Timeout, f.Egress.AllowInsecure, f.Sweeper.Grace, f.LogSuccess, f.PropagateTrace = 3*time.Second, true, time.Hour, 5, true
	f.Queues.PerHost, f.Breaker.Failures, f.RetryDelays[0] = 7, 4, time.Second
	d := Dispatcher{DispatcherFlags: f, Domains: NewDomains(nil, DomainConfig{Policy: config.Defaults[webhook.Policy]()})}
	proxy := &url.URL{Host: "proxy.example:3128"}
	c := d.senderConfig(proxy)
	require.Equal(t, f.Egress, c.Egress.Settings)
	require.True(t, c.Egress.AllowPrivate)
	require.Equal(t, proxy, c.Egress.Proxy)
	require.Equal(t, f.Queues, c.Queues)
	require.Equal(t, f.Breaker, c.Breaker)
	require.Equal(t, f.RetryDelays[0], c.Retry.Tiers[0].Delay)
	require.Equal(t, d.Policy.MaxAttempts, c.Retry.MaxAttempts)
	require.Equal(t, 80*time.Minute, c.Retry.LastChance, "longer than the grace of the sweeper")
	require.Equal(t, 5, c.LogSuccess)
	require.True(t, c.PropagateTrace)
}
