package chart

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// egress lists the rules of all policies that select a pod with these labels: policies add up.
func egress(r *Rendered, labels map[string]string) []any {
	var rules []any
	for _, p := range r.Kind("NetworkPolicy") {
		if subset(texts(At(p.Doc, "spec", "podSelector", "matchLabels")), labels) {
			more, _ := At(p.Doc, "spec", "egress").([]any)
			rules = append(rules, more...)
		}
	}
	return rules
}

// reaches says whether rules let a pod reach an address and port, where no peer of a rule means everybody.
func reaches(rules []any, address string, port float64) bool {
	return slices.ContainsFunc(rules, func(rule any) bool {
		return portOpen(rule, port) && addressOpen(rule, netip.MustParseAddr(address))
	})
}

func portOpen(rule any, port float64) bool {
	ports, _ := At(rule, "ports").([]any)
	return len(ports) == 0 || slices.ContainsFunc(ports, func(p any) bool { return At(p, "port") == port })
}

func addressOpen(rule any, address netip.Addr) bool {
	peers, _ := At(rule, "to").([]any)
	return len(peers) == 0 || slices.ContainsFunc(peers, func(peer any) bool {
		cidr, _ := At(peer, "ipBlock", "cidr").(string)
		if cidr == "" || !netip.MustParsePrefix(cidr).Contains(address) {
			return false
		}
		except, _ := At(peer, "ipBlock", "except").([]any)
		return !slices.ContainsFunc(except, func(e any) bool { return netip.MustParsePrefix(e.(string)).Contains(address) })
	})
}

func labelsOf(o Object) map[string]string { return texts(At(pod(o), "metadata", "labels")) }

// Only senders reach the internet, on any port, and nobody reaches private networks beside what is configured.
func TestOnlySendersReachReceivers(t *testing.T) {
	t.Parallel()
	r := render(t, "full", "networkPolicy.receivers.ports=null")
	for _, o := range roles(r) {
		rules, sender := egress(r, labelsOf(o)), o.Name() == "tg-grid-dispatcher-sender"
		for _, address := range []string{"93.184.215.14", "2606:2800:21f::1"} {
			require.Equal(t, sender, reaches(rules, address, 8443), "%s to %s", o.Name(), address)
		}
		for _, address := range []string{"10.9.9.9", "172.20.0.1", "192.168.1.1", "169.254.169.254", "100.100.100.200", "127.0.0.1", "fd00::1", "fe80::1", "::1", "224.0.0.1"} {
			require.False(t, reaches(rules, address, 443) && sender && !everybody(rules, 443), "%s to %s", o.Name(), address)
			require.False(t, reaches(rules, address, 8443), "%s to %s", o.Name(), address)
		}
		require.True(t, reaches(rules, "10.1.2.3", 5432), "%s: database", o.Name())
		require.False(t, reaches(rules, "10.2.2.3", 5432), "%s: the database is elsewhere", o.Name())
		require.Equal(t, o.Name() != "tg-grid-console", reaches(rules, "10.2.2.3", 9092), "%s: Kafka", o.Name())
		require.True(t, reaches(rules, "10.96.0.10", 53), "%s: DNS", o.Name())
		require.True(t, reaches(rules, "10.9.9.9", 443), "%s: OTLP at the port of its URL", o.Name())
		require.False(t, reaches(rules, "10.2.2.3", 22), o.Name())
	}
}

// everybody says whether a rule opens a port to all, as OTLP without a peer does.
func everybody(rules []any, port float64) bool {
	return slices.ContainsFunc(rules, func(rule any) bool { return At(rule, "to") == nil && portOpen(rule, port) })
}

// receivers returns the ipBlocks that senders may reach: the network and its exceptions.
func receivers(t *testing.T, settings ...string) map[string][]string {
	t.Helper()
	policy := find(t, render(t, "minimal", settings...), "NetworkPolicy", "tg-tradegrid-sender")
	blocks := map[string][]string{}
	for _, peer := range At(At(policy.Doc, "spec", "egress").([]any)[0], "to").([]any) {
		cidr := At(peer, "ipBlock", "cidr").(string)
		blocks[cidr] = []string{}
		except, _ := At(peer, "ipBlock", "except").([]any)
		for _, e := range except {
			blocks[cidr] = append(blocks[cidr], e.(string))
		}
	}
	return blocks
}

// Kubernetes refuses an exception that does not lie inside its network, so each network takes those that do: an egress
// gateway in a private network is reached although that network as a whole is an exception.
func TestExceptionsLieInside(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ cidrs, except string }{
		{"0.0.0.0/0,::/0", ""},
		{"10.9.0.5/32", ""},
		{"10.0.0.0/8", ""},
		{"172.0.0.0/8,192.168.0.0/15,2001:db8::/32,fc00::/6,::/64", ""},
		{"FD00::5/128,64:FF9B::/32", ""},
		{"0.0.0.0/0,10.9.0.5/32,fd00:0:0:9::/64", ""},
		{"203.0.113.0/24", "203.0.113.0/25,203.0.113.128/32,203.0.112.0/25,203.0.113.0/24,203.0.0.0/16"},
		{"2001:db8::/33", "2001:db8:7fff:ffff::/64,2001:db8:8000::/34,2001:db8::1/128,2001:0DB8:0:0:1:2:3:4/127,2001:db8::/33,::/1,0.0.0.0/8"},
		{"1:2:3:4:5:6:7:8/127", "1:2:3:4:5:6:7:8/128,1:2:3:4:5:6:7:9/128,1:2:3:4:5:6:7:a/128"},
		{"128.0.0.0/1,8000::/1", "128.0.0.0/2,127.0.0.0/8,192.0.0.0/2,8000::/2,7fff::/16"},
	} {
		settings := []string{"networkPolicy.receivers.cidrs={" + c.cidrs + "}"}
		except := exceptions(t)
		if c.except != "" {
			except = strings.Split(c.except, ",")
			settings = append(settings, "networkPolicy.receivers.except={"+c.except+"}")
		}
		want := map[string][]string{}
		for _, cidr := range strings.Split(c.cidrs, ",") {
			want[cidr] = slices.DeleteFunc(slices.Clone(except), func(e string) bool { return !strictlyInside(e, cidr) })
		}
		require.Equal(t, want, receivers(t, settings...), c.cidrs)
	}
	require.Empty(t, receivers(t, "networkPolicy.receivers.cidrs={10.9.0.5/32}")["10.9.0.5/32"], "the gateway of the documentation")
	require.Len(t, receivers(t)["0.0.0.0/0"], 14)
	require.Len(t, receivers(t)["::/0"], 5)
}

// exceptions are the networks that the chart excludes unless told otherwise.
func exceptions(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, e := range At(load(t).Values, "networkPolicy", "receivers", "except").([]any) {
		all = append(all, e.(string))
	}
	return all
}

// strictlyInside is what the API server asks for.
func strictlyInside(inner, outer string) bool {
	i, o := netip.MustParsePrefix(inner), netip.MustParsePrefix(outer)
	return o.Contains(i.Addr()) && i.Bits() > o.Bits()
}

// Ports come from the values: those of all brokers, of the database, of the OTLP backend.
func TestPortsFollowTheValues(t *testing.T) {
	t.Parallel()
	ports := func(file, policy string, settings ...string) []string {
		var all []string
		for _, rule := range At(find(t, render(t, file, settings...), "NetworkPolicy", policy).Doc, "spec", "egress").([]any) {
			for _, p := range At(rule, "ports").([]any) {
				all = append(all, fmt.Sprint(At(p, "port")))
			}
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	require.Equal(t, []string{"26257", "53", "9093", "9094"}, ports("certificates", "tg-tradegrid-api"))
	require.Equal(t, []string{"26257", "53"}, ports("certificates", "tg-tradegrid-migrate"))
	require.Equal(t, []string{"53", "9093", "9094"}, ports("certificates", "tg-tradegrid-topics"))
	require.Equal(t, []string{"4318", "53", "5432", "9093"}, ports("gateway", "orders-relay"))
	require.Equal(t, []string{"26257", "443", "53", "9092"}, ports("minimal", "tg-tradegrid-api", "telemetry.otlpEndpoint=https://otlp.example.com"))
	require.Equal(t, []string{"26257", "53", "80", "9092"}, ports("minimal", "tg-tradegrid-api", "telemetry.otlpEndpoint=http://otlp.example.com"))
}

// The way to each server that is named by a URL is open at its port, for the role that needs it alone.
func TestServersAreReached(t *testing.T) {
	t.Parallel()
	r := render(t, "full", "files.s3.endpoint=http://minio.storage:9000", "console.pages.url=https://console.example.com", "console.pages.oidc.issuer=https://login.example.com:8444/realms/a",
		"console.pages.oidc.clientId=tradegrid", "mail.urlSecret.name=mail", "mail.from=a@example.com", "dispatcher.config.egress-proxy=http://proxy.example.com:3128")
	for port, role := range map[float64]string{9000: "tg-grid-api", 8444: "tg-grid-console", 587: "tg-grid-relay", 465: "tg-grid-relay", 3128: "tg-grid-dispatcher-sender"} {
		for _, o := range roles(r) {
			rules := slices.DeleteFunc(egress(r, labelsOf(o)), func(rule any) bool { return At(rule, "to") != nil })
			require.Equal(t, o.Name() == role, reaches(rules, "10.9.9.9", port), "%s to port %v", o.Name(), port)
		}
	}
	narrow := render(t, "full", "files.s3.endpoint=https://s3.example.com:9000", "networkPolicy.s3.ports={9443}", "networkPolicy.extraEgress=null")
	api := egress(narrow, labelsOf(find(t, narrow, "Deployment", "tg-grid-api")))
	require.True(t, reaches(api, "10.9.9.9", 9443))
	require.False(t, reaches(api, "10.9.9.9", 9000), "what the values name is in place of what the URL says")
	secure := render(t, "full", "dispatcher.sets.sender.config.egress-proxy=https://proxy.example.com", "telemetry.otlpEndpoint=http://otlp:4318", "telemetry.headersSecret.name=")
	sender := find(t, secure, "StatefulSet", "tg-grid-dispatcher-sender")
	require.True(t, everybody(egress(secure, labelsOf(sender)), 443))
	flow := find(t, secure, "StatefulSet", "tg-grid-dispatcher-flow")
	require.False(t, everybody(egress(secure, labelsOf(flow)), 443))
}

// Who may come in: callers to the API's port, Prometheus to the ops port, nobody to a Job.
func TestWhoMayComeIn(t *testing.T) {
	t.Parallel()
	r := render(t, "full")
	in := At(find(t, r, "NetworkPolicy", "tg-grid-api").Doc, "spec", "ingress").([]any)
	require.Len(t, in, 2)
	for i, want := range []struct {
		port      float64
		namespace string
	}{{8080, "ingress"}, {9090, "monitoring"}} {
		require.True(t, portOpen(in[i], want.port))
		peer := At(in[i], "from").([]any)[0]
		require.Equal(t, want.namespace, At(peer, "namespaceSelector", "matchLabels", "kubernetes.io/metadata.name"))
	}
	require.Len(t, At(find(t, r, "NetworkPolicy", "tg-grid-relay").Doc, "spec", "ingress"), 1)
	require.Empty(t, At(find(t, r, "NetworkPolicy", "tg-grid-migrate").Doc, "spec", "ingress"))
	console := At(find(t, r, "NetworkPolicy", "tg-grid-console").Doc, "spec", "ingress").([]any)
	require.Len(t, console, 2)
	require.True(t, portOpen(console[0], 8081))
	require.Equal(t, "operators-proxy", At(At(console[0], "from").([]any)[0], "podSelector", "matchLabels", "app"))
	closed := At(find(t, render(t, "gateway"), "NetworkPolicy", "orders-console").Doc, "spec", "ingress").([]any)
	require.Len(t, closed, 1, "no pod may call the admin API unless named")
	require.True(t, portOpen(closed[0], 9090))
	require.Empty(t, render(t, "bare").Kind("NetworkPolicy"))
}

// The database and the broker of an evaluation are open to the release's pods alone, and these reach them.
func TestEvaluationNetwork(t *testing.T) {
	t.Parallel()
	r := render(t, "evaluation", "networkPolicy.receivers.ports[0]=443")
	for _, o := range roles(r) {
		var selected []any
		for _, rule := range egress(r, labelsOf(o)) {
			peers, _ := At(rule, "to").([]any)
			for _, p := range peers {
				if component := At(p, "podSelector", "matchLabels", "app.kubernetes.io/component"); component != nil {
					selected = append(selected, component)
				}
			}
		}
		want := []any{"cockroach", "kafka"}
		if o.Name() == "tg-tradegrid-dispatcher" {
			want = append(want, "receiver")
		}
		require.ElementsMatch(t, want, selected, o.Name())
	}
	for _, name := range []string{"cockroach", "kafka"} {
		policy := find(t, r, "NetworkPolicy", "tg-tradegrid-"+name)
		from := At(At(policy.Doc, "spec", "ingress").([]any)[0], "from").([]any)
		require.Equal(t, "tg", At(from[0], "podSelector", "matchLabels", "app.kubernetes.io/instance"))
	}
}
