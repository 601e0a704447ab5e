package dbtest

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"golang.org/x/sys/unix"

	"github.com/tradegrid/tradegrid/pkg/kit/embedded"
	"github.com/tradegrid/tradegrid/topics"
)

// Broker returns the addresses of a broker with all topics of package topics, empty. The broker is in memory and used by
// this test only, unless TRADEGRID_TEST_KAFKA_BROKERS names a cluster. The test then has exclusive use of the cluster until
// its end, other tests wait, and everything on the cluster is deleted. Call it once per test, in one without parallel subtests:
// they would wait for those that wait for it.
func Broker(t testing.TB) []string {
	t.Helper()
	brokers := RealBrokers(t)
	replicas := int16(-1) // the cluster's default
	if brokers == nil {
		k, err := embedded.StartKafka(embedded.KafkaConfig{})
		require.NoError(t, err)
		t.Cleanup(k.Close)
		brokers, replicas = k.Brokers(), 1
	}
	ctx, cancel := context.WithTimeout(context.Background(), setUpTimeout)
	defer cancel()
	require.NoError(t, makeTopics(ctx, brokers, replicas))
	return brokers
}

// OnRealBrokers tells whether tests use the cluster named by TRADEGRID_TEST_KAFKA_BROKERS.
func OnRealBrokers() bool { return os.Getenv(envKafka) != "" }

// RealBrokers returns the cluster named by TRADEGRID_TEST_KAFKA_BROKERS like [Broker], but without topics; nil if unset.
func RealBrokers(t testing.TB) []string {
	t.Helper()
	list := os.Getenv(envKafka)
	if list == "" {
		return nil
	}
	brokers := strings.Split(list, ",")
	for _, b := range brokers {
		host, _, err := net.SplitHostPort(b)
		require.NoError(t, err, "%s must be a list of host:port", envKafka)
		require.True(t, net.ParseIP(host).IsLoopback(), "%s: %s must be on this machine, because tests delete everything on the cluster", envKafka, b)
	}
	// Roles have fixed groups and topics, so concurrent tests would consume each other's records.
	unlock, err := LockFile(filepath.Join(os.TempDir(), fmt.Sprintf("%skafka-%d-%08x.lock", folderPrefix, os.Getuid(), crc32.ChecksumIEEE([]byte(list)))))
	require.NoError(t, err)
	t.Cleanup(unlock)
	ctx, cancel := context.WithTimeout(context.Background(), setUpTimeout)
	defer cancel()
	require.NoError(t, empty(ctx, brokers))
	return brokers
}

// LockFile creates the file if necessary and waits for an exclusive lock on it. The end of the process releases the lock.
func LockFile(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return func() { _ = f.Close() }, nil
}

// empty deletes all groups and topics of a cluster.
func empty(ctx context.Context, brokers []string) error {
	cl, err := kgo.NewClient(kgo.SeedBrokers(brokers...))
	if err != nil {
		return err
	}
	defer cl.Close()
	admin := kadm.NewClient(cl)
	if err := deleteGroups(ctx, cl, admin); err != nil {
		return fmt.Errorf("delete the groups of an earlier test: %w", err)
	}
	have, err := admin.ListTopics(ctx) // without internal topics
	if err != nil {
		return fmt.Errorf("list the topics of an earlier test: %w", err)
	}
	deleted, err := admin.DeleteTopics(ctx, have.Names()...)
	if err == nil {
		err = deleted.Error()
	}
	if err != nil {
		return fmt.Errorf("delete the topics of an earlier test: %w", err)
	}
	return nil
}

// deleteGroups removes the members of the groups first, because those of killed processes would keep their
// partitions until their session times out.
func deleteGroups(ctx context.Context, cl *kgo.Client, admin *kadm.Client) error {
	groups, err := admin.DescribeGroups(ctx)
	if err != nil || len(groups) == 0 {
		return err
	}
	for _, g := range groups {
		req := kmsg.NewPtrLeaveGroupRequest()
		req.Group = g.Group
		for _, m := range g.Members {
			member := kmsg.NewLeaveGroupRequestMember()
			member.MemberID, member.InstanceID = m.MemberID, m.InstanceID
			req.Members = append(req.Members, member)
		}
		if _, err := req.RequestWith(ctx, cl); len(req.Members) > 0 && err != nil {
			return err
		}
	}
	deleted, err := admin.DeleteGroups(ctx, groups.Names()...)
	if err != nil {
		return err
	}
	var errs []error
	for _, g := range deleted {
		if !errors.Is(g.Err, kerr.GroupIDNotFound) {
			errs = append(errs, g.Err)
		}
	}
	return errors.Join(errs...)
}

func makeTopics(ctx context.Context, brokers []string, replicas int16) error {
	cl, err := kgo.NewClient(kgo.SeedBrokers(brokers...))
	if err != nil {
		return err
	}
	defer cl.Close()
	req := kmsg.NewPtrCreateTopicsRequest()
	for _, topic := range topics.Local() {
		policy := "delete"
		if topic.Compact {
			policy = "compact"
		}
		config := kmsg.NewCreateTopicsRequestTopicConfig()
		config.Name, config.Value = "cleanup.policy", &policy
		t := kmsg.NewCreateTopicsRequestTopic()
		t.Topic, t.NumPartitions, t.ReplicationFactor = topic.Name, topic.Partitions, replicas
		t.Configs = append(t.Configs, config)
		req.Topics = append(req.Topics, t)
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for len(req.Topics) > 0 {
		resp, err := req.RequestWith(ctx, cl)
		if err != nil {
			return err
		}
		deleting := map[string]bool{} // those of the test before, which a busy controller still has
		for _, t := range resp.Topics {
			switch err := kerr.ErrorForCode(t.ErrorCode); {
			case errors.Is(err, kerr.TopicAlreadyExists):
				deleting[t.Topic] = true
			case err != nil:
				return fmt.Errorf("create topic %s: %w", t.Topic, err)
			}
		}
		req.Topics = slices.DeleteFunc(req.Topics, func(t kmsg.CreateTopicsRequestTopic) bool { return !deleting[t.Topic] })
		if len(deleting) > 0 {
			<-tick.C
		}
	}
	return awaitTopics(ctx, cl)
}

// awaitTopics waits until every broker knows the topics and their leaders are elected; brokers learn of new topics from the
// controller at different times.
func awaitTopics(ctx context.Context, cl *kgo.Client) error {
	admin := kadm.NewClient(cl)
	brokers, err := admin.ListBrokers(ctx)
	if err != nil {
		return err
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for _, id := range brokers.NodeIDs() {
		for !knowsTopics(ctx, cl.Broker(int(id))) {
			select {
			case <-ctx.Done():
				return fmt.Errorf("broker %d does not know the new topics: %w", id, ctx.Err())
			case <-tick.C:
			}
		}
	}
	for {
		ends, err := admin.ListEndOffsets(ctx, names()...) // only leaders respond
		if err = errors.Join(err, ends.Error()); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the new topics have no leaders yet: %w", errors.Join(ctx.Err(), err))
		case <-tick.C:
		}
	}
}

func names() (all []string) {
	for _, topic := range topics.All() {
		all = append(all, topic.Name)
	}
	return all
}

func knowsTopics(ctx context.Context, broker *kgo.Broker) bool {
	req := kmsg.NewPtrMetadataRequest()
	for _, name := range names() {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = kmsg.StringPtr(name)
		req.Topics = append(req.Topics, t)
	}
	resp, err := broker.Request(ctx, req)
	meta, ok := resp.(*kmsg.MetadataResponse)
	if err != nil || !ok {
		return false
	}
	for _, t := range meta.Topics {
		for _, p := range t.Partitions {
			if p.ErrorCode != 0 || p.Leader < 0 {
				return false
			}
		}
		if t.ErrorCode != 0 || len(t.Partitions) == 0 {
			return false
		}
	}
	return len(meta.Topics) == len(topics.All())
}
