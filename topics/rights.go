package topics

// Right allows a role operations on topics, groups or the cluster, in the terms of Kafka's access control lists.
type Right struct {
	Kind       string // topic, group or cluster
	Name       string // name of the resource; kafka-cluster for the cluster
	Prefix     bool   // Name is a prefix
	Operations []string
}

// Roles with rights. RoleTopics is the role of `tradegrid topics`.
const (
	RoleAPI        = "api"
	RoleRelay      = "relay"
	RoleDispatcher = "dispatcher"
	RoleConsole    = "console"
	RoleTopics     = "topics"
)

const (
	cluster  = "kafka-cluster"
	describe = "DESCRIBE"
	read     = "READ"
	write    = "WRITE"
)

// Rights returns the minimum rights of each role. READ and WRITE imply DESCRIBE.
func Rights() map[string][]Right {
	lines := make([]Right, 0, len(DelayTiers()))
	for _, tier := range DelayTiers() {
		lines = append(lines, on(tier.Topic, read, write))
	}
	declare, look := make([]Right, 0, len(All())), make([]Right, 0, len(All()))
	for _, t := range All() {
		look = append(look, on(t.Name, describe, "DESCRIBE_CONFIGS"))
		declare = append(declare, on(t.Name, "CREATE", describe, "DESCRIBE_CONFIGS", "ALTER", "ALTER_CONFIGS"))
	}
	return map[string][]Right{
		RoleAPI: {
			on(AuthInvalidations, read), on(OutboxWakeups, write),
			// The disk usage of the brokers, for the load shedder.
			{Kind: "cluster", Name: cluster, Operations: []string{describe}},
		},
		// It reads the ends of the events to find that the database was restored.
		RoleRelay: {
			on(Events, read, write), on(Deliveries, write), on(Subscriptions, write), on(AuthInvalidations, write), on(OutboxWakeups, read),
			// What the routers have committed, when partitions are added to the events.
			{Kind: "group", Name: Groups, Prefix: true, Operations: []string{describe}},
		},
		RoleDispatcher: append([]Right{
			on(Events, read), on(Subscriptions, read), on(Deliveries, read, write), on(DeliveriesDead, write), on(EventsDead, write),
			{Kind: "group", Name: Groups, Prefix: true, Operations: []string{read}},
		}, lines...),
		// Operators look at groups and topics, and send dead letters again or delete them.
		RoleConsole: append([]Right{
			on(DeliveriesDead, read, "DELETE"), on(EventsDead, read, "DELETE"),
			{Kind: "group", Name: Groups, Prefix: true, Operations: []string{describe}},
		}, look...),
		RoleTopics: declare,
	}
}

func on(topic string, operations ...string) Right {
	return Right{Kind: "topic", Name: topic, Operations: operations}
}
