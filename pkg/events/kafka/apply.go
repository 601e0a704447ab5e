package kafka

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/tradegrid/tradegrid/topics"
)

// ChangeKind is the kind of a [Change].
type ChangeKind string

// The kinds of changes.
const (
	CreateTopic   ChangeKind = "create"     // the topic does not exist
	AddPartitions ChangeKind = "partitions" // it has too few partitions
	SetConfig     ChangeKind = "config"     // a setting differs
	Differs       ChangeKind = "differs"    // reported only, because changing it would move or lose data
)

// Change is one difference between a cluster and the declared topics.
type Change struct {
	Topic string     `json:"topic"`
	Kind  ChangeKind `json:"kind"`
	Key   string     `json:"key"`  // name of the setting, "partitions" or "replication"
	From  string     `json:"from"` // value in the cluster; empty if the topic does not exist
	To    string     `json:"to"`   // declared value
}

// String describes the change in one human-readable line.
func (c Change) String() string {
	switch c.Kind {
	case CreateTopic:
		return fmt.Sprintf("+ %s: create with %s", c.Topic, c.To)
	case Differs:
		return fmt.Sprintf("! %s: %s is %s, declared %s; left as it is", c.Topic, c.Key, c.From, c.To)
	case AddPartitions, SetConfig:
	}
	return fmt.Sprintf("~ %s: %s %s -> %s", c.Topic, c.Key, cmp.Or(c.From, "(unset)"), c.To)
}

// maxMessageBytes is just above the largest batch that a client of [NewClient] produces.
const maxMessageBytes = 1<<20 + 1<<12

// topicConfigs returns the configuration that the declaration sets; all other settings are left to the cluster.
func topicConfigs(t topics.Topic, replication int16) map[string]string {
	configs := map[string]string{
		"cleanup.policy":                 "delete",
		"retention.ms":                   strconv.FormatInt(t.Retention.Milliseconds(), 10),
		"min.insync.replicas":            "1",
		"message.timestamp.type":         "CreateTime",
		"max.message.bytes":              strconv.Itoa(maxMessageBytes),
		"unclean.leader.election.enable": "false",
	}
	if t.Compact {
		configs["cleanup.policy"] = "compact"
		delete(configs, "retention.ms")
	}
	if replication >= 3 {
		configs["min.insync.replicas"] = "2" // acknowledged records are on at least two brokers, so one may fail
	}
	return configs
}

// Diff reports how the cluster differs from the declared topics, in the order of the topics. It changes nothing.
func Diff(ctx context.Context, adm *kadm.Client, want []topics.Topic, replication int16) ([]Change, error) {
	names := make([]string, len(want))
	for i, t := range want {
		names[i] = t.Name
	}
	// A request for authorized operations bypasses the client's metadata cache, which may be stale after a change.
	have, err := adm.ListTopics(kadm.WithAuthorizedOps(ctx), names...)
	if err != nil {
		return nil, fmt.Errorf("list topics: %w", err)
	}
	var changes []Change
	for _, t := range want {
		detail := have[t.Name]
		switch {
		case errors.Is(detail.Err, kerr.UnknownTopicOrPartition) || detail.Topic == "":
			changes = append(changes, Change{Topic: t.Name, Kind: CreateTopic, To: fmt.Sprintf("%d partitions, %d replicas", t.Partitions, replication)})
		case detail.Err != nil:
			return nil, fmt.Errorf("get metadata of topic %s: %w", t.Name, detail.Err)
		default:
			differ, err := diffTopic(ctx, adm, t, detail, replication)
			if err != nil {
				return nil, err
			}
			changes = append(changes, differ...)
		}
	}
	return changes, nil
}

func diffTopic(ctx context.Context, adm *kadm.Client, t topics.Topic, detail kadm.TopicDetail, replication int16) ([]Change, error) {
	var changes []Change
	if n := int32(len(detail.Partitions)); n != t.Partitions {
		kind := AddPartitions
		if n > t.Partitions {
			kind = Differs // partitions are never removed
		}
		changes = append(changes, Change{t.Name, kind, "partitions", strconv.Itoa(int(n)), strconv.Itoa(int(t.Partitions))})
	}
	if n := detail.Partitions.NumReplicas(); n != int(replication) {
		changes = append(changes, Change{t.Name, Differs, "replication", strconv.Itoa(n), strconv.Itoa(int(replication))})
	}
	described, err := adm.DescribeTopicConfigs(ctx, t.Name)
	if err != nil {
		return nil, fmt.Errorf("describe topic %s: %w", t.Name, err)
	}
	resource, err := described.On(t.Name, nil)
	if err = errors.Join(err, resource.Err); err != nil {
		return nil, fmt.Errorf("describe topic %s: %w", t.Name, err)
	}
	has := make(map[string]string)
	for _, c := range resource.Configs {
		has[c.Key] = c.MaybeValue()
	}
	declared := topicConfigs(t, replication)
	for _, key := range slices.Sorted(maps.Keys(declared)) {
		if has[key] != declared[key] {
			changes = append(changes, Change{t.Name, SetConfig, key, has[key], declared[key]})
		}
	}
	return changes, nil
}

// Apply creates missing topics, adds missing partitions and sets configuration that differs. It never deletes topics
// or partitions and does not change undeclared settings. It returns the differences that it found, like [Diff];
// those of kind [Differs] remain. It is idempotent and may run in several processes at once.
func Apply(ctx context.Context, adm *kadm.Client, want []topics.Topic, replication int16) ([]Change, error) {
	changes, err := Diff(ctx, adm, want, replication)
	if err != nil {
		return nil, err
	}
	byTopic := make(map[string][]Change)
	for _, c := range changes {
		byTopic[c.Topic] = append(byTopic[c.Topic], c)
	}
	var errs []error
	for _, t := range want {
		if err := applyTopic(ctx, adm, t, replication, byTopic[t.Name]); err != nil {
			errs = append(errs, err)
		}
	}
	if first := firstApplicable(changes); len(errs) == 0 && first != "" {
		errs = append(errs, awaitApplied(ctx, adm, want, replication, first))
	}
	return changes, errors.Join(errs...)
}

// firstApplicable describes the first change that can be applied; it is empty if there is none.
func firstApplicable(changes []Change) string {
	for _, c := range changes {
		if c.Kind != Differs {
			return c.String()
		}
	}
	return ""
}

const (
	settleEvery   = 100 * time.Millisecond
	settleTimeout = 30 * time.Second
)

// awaitApplied waits until the brokers report the changes. They learn of them from the controller with a delay, and
// processes that start after this one must find the topics. The first change is named if they report nothing at all.
func awaitApplied(ctx context.Context, adm *kadm.Client, want []topics.Topic, replication int16, first string) error {
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	for {
		left, err := Diff(ctx, adm, want, replication)
		if err == nil {
			first = firstApplicable(left)
			if first == "" {
				return nil
			}
		}
		if ctx.Err() != nil {
			return fmt.Errorf("the brokers do not report all changes yet; the first missing one is %q: %w", first, errors.Join(ctx.Err(), err))
		}
		sleep(ctx, settleEvery)
	}
}

func applyTopic(ctx context.Context, adm *kadm.Client, t topics.Topic, replication int16, changes []Change) error {
	var alter []kadm.AlterConfig
	for _, c := range changes {
		switch c.Kind {
		case CreateTopic:
			return create(ctx, adm, t, replication)
		case AddPartitions:
			resps, err := adm.UpdatePartitions(ctx, int(t.Partitions), t.Name)
			if err == nil {
				_, err = resps.On(t.Name, func(r *kadm.CreatePartitionsResponse) error { return r.Err })
			}
			// A concurrent process may have added them already.
			if err != nil && !errors.Is(err, kerr.InvalidPartitions) {
				return fmt.Errorf("add partitions to topic %s: %w", t.Name, err)
			}
		case SetConfig:
			alter = append(alter, kadm.AlterConfig{Op: kadm.SetConfig, Name: c.Key, Value: &c.To})
		case Differs:
		}
	}
	if len(alter) == 0 {
		return nil
	}
	resps, err := adm.AlterTopicConfigs(ctx, alter, t.Name)
	if err == nil {
		_, err = resps.On(t.Name, func(r *kadm.AlterConfigsResponse) error { return r.Err })
	}
	if err != nil {
		return fmt.Errorf("set configuration of topic %s: %w", t.Name, err)
	}
	return nil
}

func create(ctx context.Context, adm *kadm.Client, t topics.Topic, replication int16) error {
	configs := make(map[string]*string)
	for key, value := range topicConfigs(t, replication) {
		configs[key] = &value
	}
	_, err := adm.CreateTopic(ctx, t.Partitions, replication, configs, t.Name)
	if err != nil && !errors.Is(err, kerr.TopicAlreadyExists) {
		return fmt.Errorf("create topic %s with %d partitions and %d replicas: %w", t.Name, t.Partitions, replication, err)
	}
	return nil
}
