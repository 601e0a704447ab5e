package topics_test

import (
	"fmt"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/topics"
)

// legal is what Kafka takes as the name of a topic.
var legal = regexp.MustCompile(`^[a-z0-9.-]{1,249}$`)

func TestEachTopicIsDeclaredOnce(t *testing.T) {
	t.Parallel()
	var names []string
	for _, topic := range topics.All() {
		require.NotContains(t, names, topic.Name)
		names = append(names, topic.Name)
		require.Regexp(t, legal, topic.Name)
		require.NotEmpty(t, topic.Key, topic.Name)
		require.Positive(t, topic.Partitions, topic.Name)
		require.Equal(t, topic.Compact, topic.Retention == 0, "%s is either compacted or kept for a time", topic.Name)
	}
	for _, name := range []string{
		topics.Events, topics.Deliveries, topics.DeliveriesDead, topics.EventsDead, topics.Subscriptions, topics.AuthInvalidations,
		topics.OutboxWakeups,
	} {
		require.Contains(t, names, name)
	}
	for _, tier := range topics.DelayTiers() {
		require.Contains(t, names, tier.Topic)
	}
	require.Len(t, names, 7+len(topics.DelayTiers()))
}

// Tier n follows failed attempt n: six pauses between seven attempts, each four times the one before, and one more
// line for the longest wait that a receiver may ask for.
func TestDelayTiersAreThePausesBetweenAttempts(t *testing.T) {
	t.Parallel()
	tiers := topics.DelayTiers()
	require.Len(t, tiers, 7)
	delay := 5 * time.Second
	for _, tier := range tiers {
		require.Equal(t, delay, tier.Delay, tier.Topic)
		require.Equal(t, fmt.Sprintf("webhook.delay.%ds", delay/time.Second), tier.Topic)
		delay *= 4
	}
	// A record waits in its tier no longer than the topic keeps it.
	for _, topic := range topics.All() {
		i := slices.IndexFunc(tiers, func(tier topics.DelayTier) bool { return tier.Topic == topic.Name })
		if i >= 0 {
			require.Greater(t, topic.Retention, 2*tiers[i].Delay, topic.Name)
		}
	}
}

// What waits for a delivery is kept at least as long as a delivery may live, 22 hours.
func TestRetentionCoversTheLifeOfADelivery(t *testing.T) {
	t.Parallel()
	for _, topic := range topics.All() {
		if topic.Name == topics.AuthInvalidations || topic.Name == topics.OutboxWakeups || topic.Compact {
			continue
		}
		require.Greater(t, topic.Retention, 22*time.Hour, topic.Name)
	}
}

// One broker on a developer's machine gets the same topics in small.
func TestLocalSizes(t *testing.T) {
	t.Parallel()
	all, local := topics.All(), topics.Local()
	require.Len(t, local, len(all))
	total := int32(0)
	for i, small := range local {
		require.GreaterOrEqual(t, small.Partitions, int32(1), small.Name)
		require.LessOrEqual(t, small.Partitions, min(8, all[i].Partitions), small.Name)
		total += small.Partitions
		small.Partitions = all[i].Partitions
		require.Equal(t, all[i], small, "only the number of partitions differs")
	}
	require.LessOrEqual(t, total, int32(64))
	require.Equal(t, all, topics.All(), "Local works on a copy")
}
