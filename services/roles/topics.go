package roles

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/topics"
)

// TopicsCmd compares the topics of a cluster with their declaration, or applies it.
type TopicsCmd struct {
	Apply TopicsApplyCmd `cmd:"" help:"Create missing topics, add partitions, and set what differs. Deletes nothing."`
	Diff  TopicsDiffCmd  `cmd:"" help:"Show what apply would do; fails if anything differs."`
	ACLs  TopicsACLsCmd  `cmd:"" name:"acls" help:"Print or grant the minimum rights of each role, for brokers with access control lists."`
}

// TopicsFlags select the cluster and the size of its topics.
type TopicsFlags struct {
	Local       bool  `help:"Use few partitions, and one replica unless --replication is given. For development."`
	Replication int16 `help:"Replicas per partition; with 3 or more, two must acknowledge. Default: 3, or 1 with --local."`
	JSON        bool  `name:"json" help:"Write the differences as JSON."`
	KafkaFlags
}

// TopicsApplyCmd applies the declaration to a cluster.
type TopicsApplyCmd struct{ TopicsFlags }

// TopicsDiffCmd only compares.
type TopicsDiffCmd struct {
	MorePartitions bool `help:"Accept topics that have more partitions than declared: somebody has added them, and partitions are never removed."`
	TopicsFlags
}

// errTopicsDiffer makes `topics diff` usable as a check in pipelines.
var errTopicsDiffer = errors.New("the cluster differs from the declaration; `tradegrid topics apply` applies the changes that are possible without data loss")

// topicsTimeout limits one comparison or application.
const topicsTimeout = 2 * time.Minute

// Run applies the declaration and writes the changes.
func (c *TopicsApplyCmd) Run(ctx context.Context, log *slog.Logger, out io.Writer) error {
	changes, err := c.with(ctx, log, kafka.Apply)
	return errors.Join(c.write(out, changes), err)
}

// Run writes the differences and fails if there are any.
func (c *TopicsDiffCmd) Run(ctx context.Context, log *slog.Logger, out io.Writer) error {
	changes, err := c.with(ctx, log, kafka.Diff)
	if c.MorePartitions {
		changes = slices.DeleteFunc(changes, func(c kafka.Change) bool { return c.Kind == kafka.Differs && c.Key == "partitions" })
	}
	if err == nil && len(changes) > 0 {
		err = errTopicsDiffer
	}
	return errors.Join(c.write(out, changes), err)
}

type topicsAction func(context.Context, *kadm.Client, []topics.Topic, int16) ([]kafka.Change, error)

func (f TopicsFlags) with(ctx context.Context, log *slog.Logger, act topicsAction) ([]kafka.Change, error) {
	if f.Replication < 0 {
		return nil, fmt.Errorf("--replication %d must be at least 1", f.Replication)
	}
	want, replication := declaredTopics(f.Local, f.Replication)
	cfg, err := f.KafkaConfig("topics", log)
	if err != nil {
		return nil, err
	}
	client, err := kafka.NewClient(cfg)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, topicsTimeout)
	defer cancel()
	changes, err := act(ctx, kadm.NewClient(client), want, replication)
	return changes, kafka.Explain(err)
}

// declaredTopics are the topics and the replicas of their partitions; replicas is 0 for the default.
func declaredTopics(local bool, replicas int16) ([]topics.Topic, int16) {
	if local {
		return topics.Local(), cmp.Or(replicas, 1)
	}
	return topics.All(), cmp.Or(replicas, 3)
}

func (f TopicsFlags) write(out io.Writer, changes []kafka.Change) error {
	if f.JSON {
		if changes == nil {
			changes = []kafka.Change{}
		}
		return json.NewEncoder(out).Encode(changes)
	}
	for _, c := range changes {
		if _, err := fmt.Fprintln(out, c); err != nil {
			return err
		}
	}
	return nil
}
