//go:build kafka

package kafka

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/topics"
)

// change is a difference as `topics diff --json` tells it.
type change struct{ Topic, Kind, Key, From, To string }

// `topics apply` makes what is missing and mends what differs, with three replicas of which two must acknowledge; `topics diff`
// tells the same beforehand, and neither removes anything.
func TestTopicsApplyAndDiff(t *testing.T) {
	t.Parallel()
	r := newRigAt(t, dbtest.RealBrokers(t), three.Internal())
	diff := func() (all []change, err error) {
		t.Helper()
		out, err := run(t, r.env, "topics", "diff", "--local", "--replication=3", "--json")
		line, _, _ := strings.Cut(out, "\n") // then the fault
		require.NoError(t, json.Unmarshal([]byte(line), &all), out)
		return all, err
	}
	apply := func() string {
		t.Helper()
		out, err := run(t, r.env, "topics", "apply", "--local", "--replication=3")
		require.NoError(t, err, out)
		return out
	}
	missing, err := diff()
	require.Error(t, err, "a difference fails a pipeline")
	require.Len(t, missing, len(topics.All()))
	apply()
	left, err := diff()
	require.NoError(t, err)
	require.Empty(t, left)
	have, err := r.admin.ListTopics(kadm.WithAuthorizedOps(t.Context()))
	require.NoError(t, err)
	for _, topic := range topics.Local() {
		require.Len(t, have[topic.Name].Partitions, int(topic.Partitions), topic.Name)
		for _, p := range have[topic.Name].Partitions {
			require.Len(t, p.Replicas, 3, topic.Name)
		}
	}

	// Someone changes a setting and makes a topic smaller and another one larger than declared.
	day := "86400000"
	one := "1"
	_, err = r.admin.AlterTopicConfigs(t.Context(), []kadm.AlterConfig{
		{Op: kadm.SetConfig, Name: "retention.ms", Value: &day}, {Op: kadm.SetConfig, Name: "min.insync.replicas", Value: &one},
	}, topics.Events)
	require.NoError(t, err)
	_, err = r.admin.DeleteTopic(t.Context(), topics.EventsDead)
	require.NoError(t, err)
	_, err = r.admin.CreateTopic(t.Context(), 1, 3, nil, topics.EventsDead)
	require.NoError(t, err)
	_, err = r.admin.UpdatePartitions(t.Context(), 9, topics.DeliveriesDead)
	require.NoError(t, err)
	found, err := diff()
	require.Error(t, err)
	require.Contains(t, found, change{topics.Events, "config", "retention.ms", day, "259200000"})
	require.Contains(t, found, change{topics.Events, "config", "min.insync.replicas", "1", "2"})
	require.Contains(t, found, change{topics.EventsDead, "partitions", "partitions", "1", "2"})
	require.Contains(t, found, change{topics.DeliveriesDead, "differs", "partitions", "9", "2"})
	require.Contains(t, apply(), "! "+topics.DeliveriesDead+": partitions is 9, declared 2; left as it is")
	left, err = diff()
	require.Error(t, err, "what cannot be mended remains")
	require.Equal(t, []change{{topics.DeliveriesDead, "differs", "partitions", "9", "2"}}, left)
	facts.add(t, "%d topics made with 3 replicas, %d differences found, all but 1 mended", len(missing), len(found))
}
