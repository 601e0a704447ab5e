//go:build kafka

package kafka

import (
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/tradegrid/tradegrid/tests/role"
	"github.com/tradegrid/tradegrid/topics"
)

// length is the number of records that were ever written to a topic.
func (r *kit) length(topic string) (n int64) {
	r.t.Helper()
	ends, err := r.admin.ListEndOffsets(r.t.Context(), topic)
	require.NoError(r.t, err)
	ends.Each(func(o kadm.ListedOffset) { n += o.Offset })
	return n
}

// committed is how many records of a topic a group is done with.
func (r *kit) committed(group, topic string) (n int64) {
	r.t.Helper()
	offsets, err := r.admin.FetchOffsets(r.t.Context(), group)
	if err != nil {
		return 0 // the group is about to begin
	}
	for _, o := range offsets[topic] {
		n += o.At
	}
	return n
}

// truncate removes all records of a topic.
func (r *kit) truncate(topic string) {
	r.t.Helper()
	ends, err := r.admin.ListEndOffsets(r.t.Context(), topic)
	require.NoError(r.t, err)
	deleted, err := r.admin.DeleteRecords(r.t.Context(), ends.Offsets())
	require.NoError(r.t, err)
	deleted.Each(func(d kadm.DeleteRecordsResponse) { require.NoError(r.t, d.Err) })
}

var reinjected = regexp.MustCompile(`(?m)^tradegrid_sweeper_reinjected_total\{[^}]*\} (\d+)`)

// counted sums a counter of the process.
func counted(t *testing.T, p *role.Process, sample *regexp.Regexp) (n int) {
	t.Helper()
	_, page := p.Ask("/metrics")
	for _, found := range sample.FindAllStringSubmatch(page, -1) {
		v, err := strconv.Atoi(found[1])
		require.NoError(t, err)
		n += v
	}
	return n
}

// Deliveries that Kafka loses, together with the place where the senders stopped, are put in again.
func TestTruncatedTopic(t *testing.T) {
	t.Parallel()
	r := newKit(t)
	r.role("api")
	r.role("relay")
	r.role("dispatcher", "--roles=router")
	sender := r.role("dispatcher", "--roles=sender,delay")
	r.subscribe("order.*")
	l := r.start(20)
	l.more(20)
	role.Eventually(t, func() bool { return r.committed("tradegrid-sender", topics.Deliveries) > 0 }, "senders commit")
	sender.Kill()
	l.more(20)
	l.stop()
	role.Eventually(t, func() bool { return r.length(topics.Deliveries) >= int64(2*len(l.orders)) }, "all deliveries are in Kafka")
	open := r.count(`SELECT count(*) FROM deliveries WHERE state < 2`)
	require.Positive(t, open)
	r.truncate(topics.Deliveries)

	rest := r.role("dispatcher", "--roles=sender,delay,sweeper", "--sweep-grace=1s")
	l.settled()
	again := counted(t, rest, reinjected)
	require.Positive(t, again)
	facts.add(t, "%d deliveries were open when the topic lost its records, %d were put in again", open, again)
}

// A topic that is deleted and made anew, under running roles, is used again without a restart.
func TestTopicMadeAnew(t *testing.T) {
	t.Parallel()
	for _, topic := range []string{topics.Deliveries, topics.Events} {
		t.Run(topic, func(t *testing.T) {
			t.Parallel()
			r := newKit(t)
			r.role("api")
			r.role("relay")
			r.role("dispatcher", "--sweep-grace=1s")
			r.subscribe("order.*")
			l := r.start(20)
			l.more(20)
			l.stop()
			l.settled()
			_, err := r.admin.DeleteTopic(t.Context(), topic)
			require.NoError(t, err)
			out, err := run(t, r.env, "topics", "apply", "--local", "--replication=3")
			require.NoError(t, err, out)
			require.Contains(t, out, "+ "+topic)
			after := r.start(20)
			after.more(20)
			after.stop()
			after.delivered()
		})
	}
}
