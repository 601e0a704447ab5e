package roles

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/topics"
)

// TopicsACLsCmd prints or grants the minimum rights of the roles.
type TopicsACLsCmd struct {
	User  map[string]string `help:"Kafka users by role, as ROLE=USER;…; roles are api, console, relay, dispatcher and topics." default:"api=tradegrid-api;console=tradegrid-console;relay=tradegrid-relay;dispatcher=tradegrid-dispatcher;topics=tradegrid-topics" placeholder:"ROLE=USER"`
	Grant bool              `help:"Grant the rights, instead of printing Kafka's commands for it. Needs ALTER on the cluster. Revokes nothing."`
	KafkaFlags
}

// Run prints or grants the rights of the roles that have a user.
func (c *TopicsACLsCmd) Run(ctx context.Context, log *slog.Logger, out io.Writer) error {
	rights := topics.Rights()
	for _, role := range slices.Sorted(maps.Keys(c.User)) {
		if _, ok := rights[role]; !ok || c.User[role] == "" {
			return fmt.Errorf("--user %s=%s: must be ROLE=USER with one of the roles %s", role, c.User[role], strings.Join(slices.Sorted(maps.Keys(rights)), ", "))
		}
	}
	if !c.Grant {
		return c.write(out, rights)
	}
	cfg, err := c.KafkaConfig("topics", log)
	if err != nil {
		return err
	}
	client, err := kafka.NewClient(cfg)
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, topicsTimeout)
	defer cancel()
	for _, role := range slices.Sorted(maps.Keys(c.User)) {
		if err := kafka.Grant(ctx, kadm.NewClient(client), c.User[role], rights[role]); err != nil {
			return kafka.Explain(err)
		}
		if _, err := fmt.Fprintf(out, "%s: %d rights of the role %s\n", c.User[role], len(rights[role]), role); err != nil {
			return err
		}
	}
	return nil
}

// write prints one command of Kafka's tools for each right.
func (c *TopicsACLsCmd) write(out io.Writer, rights map[string][]topics.Right) error {
	for _, role := range slices.Sorted(maps.Keys(c.User)) {
		for _, right := range rights[role] {
			line := "kafka-acls.sh --bootstrap-server " + strings.Join(c.KafkaBrokers, ",") + " --add --allow-principal User:" + c.User[role]
			for _, op := range right.Operations {
				line += " --operation " + op
			}
			switch {
			case right.Kind == "cluster":
				line += " --cluster"
			case right.Prefix:
				line += " --resource-pattern-type prefixed --" + right.Kind + " " + right.Name
			default:
				line += " --" + right.Kind + " " + right.Name
			}
			if _, err := fmt.Fprintln(out, line); err != nil {
				return err
			}
		}
	}
	return nil
}
