package brokers

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Names of the listeners. Brokers talk to each other without encryption on one of their own; it is for
// administrators too, who need no rights there.
const (
	controllers = "CONTROLLER"
	internal    = "INTERNAL"
	clients     = "CLIENT" // SASL SCRAM over TLS, or plain text
	mutual      = "MUTUAL" // TLS with certificates of the clients
)

// TLS names PEM files for the listeners of clients.
type TLS struct {
	KeyStore   string // key and certificate of the brokers, valid for 127.0.0.1
	TrustStore string // certificates that sign those of the clients
}

// ports are where a broker listens.
type ports struct{ controller, internal, client, mutual int }

// The range lies below the ports that systems pick for outgoing connections, which come and go.
const (
	lowestPort  = 20000
	highestPort = 32000
)

// freePort finds a port on the loopback address that nobody listens on and that is not taken.
func freePort(taken map[int]bool) (int, error) {
	for range 1000 {
		port := lowestPort + rand.IntN(highestPort-lowestPort)
		if taken[port] {
			continue
		}
		ln, err := net.Listen("tcp", address(port)) //nolint:noctx // returns at once
		if err != nil {
			continue
		}
		taken[port] = true
		return port, ln.Close()
	}
	return 0, fmt.Errorf("no free port from %d to %d", lowestPort, highestPort)
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// properties are the settings of node i, which counts from 0.
func (c *Cluster) properties(i int) map[string]string {
	n := c.nodes[i]
	replicas := strconv.Itoa(min(3, len(c.nodes)))
	voters := make([]string, len(c.nodes))
	for i, n := range c.nodes {
		voters[i] = fmt.Sprintf("%d@%s", i+1, address(n.ports.controller))
	}
	p := map[string]string{
		"process.roles":            "broker,controller",
		"node.id":                  strconv.Itoa(i + 1),
		"controller.quorum.voters": strings.Join(voters, ","),
		"log.dirs":                 n.data(),

		"listeners":                        fmt.Sprintf("%s://%s,%s://%s,%s://%s", controllers, address(n.ports.controller), internal, address(n.ports.internal), clients, address(n.ports.client)),
		"listener.security.protocol.map":   fmt.Sprintf("%s:PLAINTEXT,%s:PLAINTEXT,%s:PLAINTEXT", controllers, internal, clients),
		"controller.listener.names":        controllers,
		"inter.broker.listener.name":       internal,
		"auto.create.topics.enable":        "false",
		"default.replication.factor":       replicas,
		"min.insync.replicas":              strconv.Itoa(max(1, min(3, len(c.nodes))-1)),
		"unclean.leader.election.enable":   "false",
		"offsets.topic.num.partitions":     "3",
		"offsets.topic.replication.factor": replicas,

		// Tests wait for these.
		"group.initial.rebalance.delay.ms":      "0",
		"group.min.session.timeout.ms":          "1000",
		"broker.heartbeat.interval.ms":          "500",
		"broker.session.timeout.ms":             "3000",
		"controller.quorum.election.timeout.ms": "500",
		"controller.quorum.fetch.timeout.ms":    "2000",
		"log.retention.check.interval.ms":       "1000",
		"log.initial.task.delay.ms":             "500",
		"log.segment.delete.delay.ms":           "500",

		// Three brokers share a small machine.
		"num.network.threads":               "2",
		"num.io.threads":                    "2",
		"background.threads":                "2",
		"num.recovery.threads.per.data.dir": "1",
		"log.cleaner.dedupe.buffer.size":    "2097152",
	}
	if c.cfg.TLS != nil {
		maps.Copy(p, c.secure(n))
	}
	maps.Copy(p, c.cfg.Options)
	return p
}

// secure are the settings of a cluster that knows its clients and their rights.
func (c *Cluster) secure(n *node) map[string]string {
	return map[string]string{
		"listeners": fmt.Sprintf("%s://%s,%s://%s,%s://%s,%s://%s", controllers, address(n.ports.controller), internal, address(n.ports.internal),
			clients, address(n.ports.client), mutual, address(n.ports.mutual)),
		"listener.security.protocol.map": fmt.Sprintf("%s:PLAINTEXT,%s:PLAINTEXT,%s:SASL_SSL,%s:SSL", controllers, internal, clients, mutual),
		"sasl.enabled.mechanisms":        "SCRAM-SHA-256,SCRAM-SHA-512",
		// Users are in the cluster's metadata; the mechanisms want to be named all the same.
		"listener.name.client.scram-sha-256.sasl.jaas.config": "org.apache.kafka.common.security.scram.ScramLoginModule required;",
		"listener.name.client.scram-sha-512.sasl.jaas.config": "org.apache.kafka.common.security.scram.ScramLoginModule required;",
		"ssl.keystore.type":       "PEM",
		"ssl.keystore.location":   c.cfg.TLS.KeyStore,
		"ssl.truststore.type":     "PEM",
		"ssl.truststore.location": c.cfg.TLS.TrustStore,

		"listener.name.mutual.ssl.client.auth":             "required",
		"listener.name.mutual.ssl.principal.mapping.rules": "RULE:^CN=([^,]*).*$/$1/,DEFAULT",

		"authorizer.class.name":          "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
		"super.users":                    "User:ANONYMOUS", // the brokers themselves, on listeners of their own
		"allow.everyone.if.no.acl.found": "false",
	}
}

func writeProperties(path string, p map[string]string) error {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(p)) {
		fmt.Fprintf(&b, "%s=%s\n", key, p[key])
	}
	return os.WriteFile(path, []byte(b.String()), 0o600)
}

func (n *node) data() string { return filepath.Join(n.dir, "data") }

func (n *node) file() string { return filepath.Join(n.dir, "server.properties") }
