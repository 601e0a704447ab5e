package roles

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/kit/config"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// The role and `tradegrid run` have the quotas, the log and the jobs that their flags ask for.
func TestNodeHasWhatItsFlagsAskFor(t *testing.T) {
	t.Parallel()
	broker := kafka.Config{Brokers: []string{"127.0.0.1:1"}, ClientID: "test"} // nothing is sent
	client, err := kafka.NewClient(broker)
	require.NoError(t, err)
	t.Cleanup(client.Close)
	made := func(f APIFlags) *node {
		n, err := newNode(dbtest.Open(t), broker, client, f, DomainConfig{Policy: config.Defaults[webhook.Policy](), Log: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		require.NotNil(t, n.config.KeyQuota)
		require.NotNil(t, n.config.Gate)
		require.NotNil(t, n.config.Bodies)
		require.NotNil(t, n.config.Responses)
		return n
	}
	flags := config.Defaults[APIFlags]()
	usual := made(flags)
	require.NotNil(t, usual.config.Requests)
	require.Equal(t, flags.Settings, usual.config.Settings)
	require.Equal(t, flags.Edge, usual.config.Edge)
	flags.RequestQuota, flags.JobWorkers = 0, 0
	bare := made(flags)
	require.Nil(t, bare.config.Requests, "no request log")
	require.Len(t, bare.parts, len(usual.parts)-1, "no jobs")
	flags.TrustedProxies = []string{"here"}
	_, err = newNode(nil, broker, client, flags, DomainConfig{})
	require.ErrorContains(t, err, `--trusted-proxies "here": must be an address or a network`)
}
