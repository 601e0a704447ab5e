package kafka

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/tradegrid/tradegrid/topics"
)

// Grant creates ACLs that allow a user the given rights from any host. It removes none and is idempotent. The caller needs
// ALTER on the cluster.
func Grant(ctx context.Context, adm *kadm.Client, user string, rights []topics.Right) error {
	for _, right := range rights {
		acl, err := aclOf(user, right)
		if err != nil {
			return err
		}
		results, err := adm.CreateACLs(ctx, acl)
		for _, r := range results {
			err = errors.Join(err, r.Err)
		}
		if err != nil {
			return fmt.Errorf("grant %s %v on %s %s: %w", user, right.Operations, right.Kind, right.Name, err)
		}
	}
	return nil
}

func aclOf(user string, right topics.Right) (*kadm.ACLBuilder, error) {
	acl := kadm.NewACLs().Allow("User:" + user).AllowHosts("*")
	var operations []kmsg.ACLOperation
	for _, name := range right.Operations {
		op, err := kmsg.ParseACLOperation(name)
		if err != nil {
			return nil, fmt.Errorf("right on %s %s: %w", right.Kind, right.Name, err)
		}
		operations = append(operations, op)
	}
	acl.Operations(operations...)
	pattern := kadm.ACLPatternLiteral
	if right.Prefix {
		pattern = kadm.ACLPatternPrefixed
	}
	acl.ResourcePatternType(pattern)
	switch right.Kind {
	case "topic":
		acl.Topics(right.Name)
	case "group":
		acl.Groups(right.Name)
	case "cluster":
		acl.Clusters()
	default:
		return nil, fmt.Errorf("right on %s %s: kind must be topic, group or cluster", right.Kind, right.Name)
	}
	return acl, nil
}
