package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// ContinueFrom makes a consumer group take over from other groups: a partition of which the group has committed no offset is
// consumed from the commit of the group that former names for its topic, and from its start only if that has none either. This
// holds until the first commit, so it does not matter when the members of the former group stop; until then both consume.
func ContinueFrom(client *kgo.Client, log *slog.Logger, former func(topic string) (group string)) kgo.Opt {
	admin := kadm.NewClient(client)
	return kgo.AdjustFetchOffsetsFn(func(ctx context.Context, assigned map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset, error) {
		for topic, parts := range assigned {
			var left kadm.OffsetResponses
			for id, at := range parts {
				if at.EpochOffset().Offset >= 0 {
					continue
				}
				if left == nil {
					var err error
					if left, err = committedBy(ctx, admin, former(topic)); errors.Is(err, kerr.GroupAuthorizationFailed) {
						log.WarnContext(ctx, "former consumer group not readable, its topic is consumed from its start", "group", former(topic), "topic", topic)
					} else if err != nil {
						return nil, err // the member joins again
					}
				}
				if o, ok := left.Lookup(topic, id); ok && o.Err == nil && o.At >= 0 {
					parts[id] = kgo.NewOffset().At(o.At).WithEpoch(o.LeaderEpoch)
				}
			}
		}
		return assigned, nil
	})
}

// committedBy returns the offsets that a group has committed; none if there is no such group.
func committedBy(ctx context.Context, admin *kadm.Client, group string) (kadm.OffsetResponses, error) {
	offsets, err := admin.FetchOffsets(ctx, group)
	if errors.Is(err, kerr.GroupIDNotFound) {
		err = nil
	}
	if err != nil {
		return kadm.OffsetResponses{}, fmt.Errorf("read the offsets of group %s: %w", group, err)
	}
	if offsets == nil {
		offsets = kadm.OffsetResponses{}
	}
	return offsets, nil
}
