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

// The role and `tradegrid dev` have the quotas, the log and the jobs that their flags ask for.
func TestNodeHasWhatItsFlagsAskFor(t *testing.T) {
	t.Parallel()
	broker := kafka.Config{Brokers: []string{"127.0.0.1:1"}, ClientID: "test"} // nothing is sent
	client, err := kafka.NewClient(broker)
	require.NoError(t, err)
	t.Cleanup(client.Close)
	made := func(f APIFlags) *Node {
		n, err := NewNode(dbtest.Open(t), broker, client, f, DomainConfig{Policy: config.Defaults[webhook.Policy](), Log: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		require.NotNil(t, n.Config.KeyQuota)
		require.NotNil(t, n.Config.Gate)
		require.NotNil(t, n.Config.Bodies)
		require.NotNil(t, n.Config.Responses)
		return n
	}
	flags := config.Defaults[APIFlags]()
	usual := made(flags)
	require.NotNil(t, usual.Config.Requests)
	require.Equal(t, flags.Settings, usual.Config.Settings)
	require.Equal(t, flags.Edge, usual.Config.Edge)
	flags.RequestQuota, flags.JobWorkers = 0, 0
	bare := made(flags)
	require.Nil(t, bare.Config.Requests, "no request log")
	require.Len(t, bare.Parts, len(usual.Parts)-1, "no jobs")
	flags.TrustedProxies = []string{"here"}
	_, err = NewNode(nil, broker, client, flags, DomainConfig{})
	require.ErrorContains(t, err, `--trusted-proxies "here": must be an address or a network`)
}
