package topics

// Right lets a role do something with topics, groups or the cluster, as Kafka's access control lists say it.
type Right struct {
	Kind       string // topic, group or cluster
	Name       string // of the resource; the cluster's is kafka-cluster
	Prefix     bool   // Name is the beginning of names
	Operations []string
}

// Roles that have rights. RoleTopics is that of `tradegrid topics`.
const (
	RoleAPI        = "api"
	RoleRelay      = "relay"
	RoleDispatcher = "dispatcher"
	RoleTopics     = "topics"
)

// Groups is the beginning of the names of all consumer groups.
const Groups = "tradegrid-"

const (
	cluster  = "kafka-cluster"
	describe = "DESCRIBE"
	read     = "READ"
	write    = "WRITE"
)

// Rights are the least rights with which the roles work. Reading and writing include describing.
func Rights() map[string][]Right {
	lines := make([]Right, 0, len(Lines()))
	for _, line := range Lines() {
		lines = append(lines, on(line.Topic, read, write))
	}
	declare := make([]Right, 0, len(All()))
	for _, t := range All() {
		declare = append(declare, on(t.Name, "CREATE", describe, "DESCRIBE_CONFIGS", "ALTER", "ALTER_CONFIGS"))
	}
	return map[string][]Right{
		RoleAPI: {
			on(AuthInvalidations, read),
			// The sizes of the brokers' disks, for the limits that protect them.
			{Kind: "cluster", Name: cluster, Operations: []string{describe}},
		},
		RoleRelay: {on(Events, write), on(Deliveries, write), on(Subscriptions, write), on(AuthInvalidations, write)},
		RoleDispatcher: append([]Right{
			on(Events, read), on(Subscriptions, read), on(Deliveries, read, write), on(DeliveriesDead, write), on(EventsDead, write),
			{Kind: "group", Name: Groups, Prefix: true, Operations: []string{read}},
		}, lines...),
		RoleTopics: declare,
	}
}

func on(topic string, operations ...string) Right {
	return Right{Kind: "topic", Name: topic, Operations: operations}
}
