package chart

import (
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"
)

// documentation is docs/kubernetes.md.
func documentation(t *testing.T) string {
	t.Helper()
	return read(t, "../../docs/kubernetes.md")
}

// section is what stands between two texts of the page.
func section(t *testing.T, begin, end string) string {
	t.Helper()
	_, rest, ok := strings.Cut(documentation(t), begin)
	require.True(t, ok, "the page lacks %q", begin)
	text, _, ok := strings.Cut(rest, end)
	require.True(t, ok, "the page lacks %q after %q", end, begin)
	return text
}

// documentedValues are those of step 3, with a digest in place of the dots.
func documentedValues(t *testing.T) map[string]any {
	t.Helper()
	var block []string
	for line := range strings.Lines(section(t, "**3. Values.**\n", "**4.")) {
		if text, ok := strings.CutPrefix(line, "    "); ok {
			block = append(block, text)
		}
	}
	text := strings.ReplaceAll(strings.Join(block, ""), "sha256:…", "sha256:"+strings.Repeat("0", 64))
	var values map[string]any
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), &values))
	return values
}

// Whoever follows the page installs objects that Kubernetes takes, and is told before which of them need an operator.
func TestDocumentedValues(t *testing.T) {
	t.Parallel()
	r, err := RenderAs(load(t), documentedValues(t), newest, "grid")
	require.NoError(t, err)
	bring := section(t, "You bring:\n", "**1.")
	operators := map[string]string{"monitoring.coreos.com": "Prometheus operator", "keda.sh": "KEDA", "gateway.networking.k8s.io": "Gateway API"}
	v, met := conformance(t, newest), 0
	for _, o := range r.Objects {
		conforms(t, v, o)
		group, _, _ := strings.Cut(o.text("apiVersion"), "/")
		if operator, ok := operators[group]; ok {
			met++
			require.Contains(t, bring, operator, "%s %s of step 3 needs it", o.Kind(), o.Name())
		}
	}
	require.NotZero(t, met, "step 3 no longer needs an operator: this test is of no use")
	for _, operator := range operators {
		require.Contains(t, bring, operator)
	}
}

// The port is named, for PostgreSQL listens on another one, and policies follow it.
func TestDocumentedPort(t *testing.T) {
	t.Parallel()
	require.Regexp(t, `(?m)^      port: 26257 # PostgreSQL: 5432$`, section(t, "**3. Values.**\n", "**4."))
	values := documentedValues(t)
	values["database"].(map[string]any)["port"] = 5432
	r, err := RenderAs(load(t), values, newest, "grid")
	require.NoError(t, err)
	require.Contains(t, env(containers(find(t, r, "Deployment", "grid-tradegrid-api"))[0])["TRADEGRID_DATABASE_URL"], "cockroachdb-public.database:5432/")
	rules := egress(r, labelsOf(find(t, r, "Job", "grid-tradegrid-migrate")))
	require.True(t, reaches(rules, "10.0.0.1", 5432))
	require.False(t, reaches(rules, "10.0.0.1", 26257))
}

// The commands of the page show what is in force in the containers: they have the same arguments, and with them the
// program says where it listens.
func TestDocumentedPrintConfig(t *testing.T) {
	t.Parallel()
	r, err := RenderAs(load(t), documentedValues(t), newest, "grid")
	require.NoError(t, err)
	commands := regexp.MustCompile(`kubectl -n grid exec ([a-z]+)/(\S+) -- /tradegrid (.*) --print-config`).FindAllStringSubmatch(documentation(t), -1)
	require.Len(t, commands, 3, "one per role")
	for _, command := range commands {
		o := find(t, r, map[string]string{"deployment": "Deployment", "statefulset": "StatefulSet"}[command[1]], command[2])
		c := containers(o)[0]
		require.Equal(t, fmt.Sprint(c["args"]), "["+command[3]+"]", o.Name())

		c["args"] = []any{}
		for _, a := range strings.Fields(command[3]) {
			c["args"] = append(c["args"].([]any), a)
		}
		inForce := printConfig(t, mounted(t, r, o, c), c)
		for _, p := range c["ports"].([]any) {
			listener := map[string]string{"http": "listen", "ops": "ops-listen"}[At(p, "name").(string)]
			require.Equal(t, fmt.Sprintf(":%v", At(p, "containerPort")), inForce[listener], "%s: %s", o.Name(), listener)
		}
	}
}

// requests are the sums of what pods ask for: at rest, and with one more pod of each Deployment, as an upgrade makes it.
type requests struct {
	pods         int
	rest, rolled map[string]*resource.Quantity
}

func sums(t *testing.T, r *Rendered) requests {
	t.Helper()
	sum := requests{rest: map[string]*resource.Quantity{}, rolled: map[string]*resource.Quantity{}}
	for _, name := range []string{"cpu", "memory"} {
		sum.rest[name], sum.rolled[name] = new(resource.Quantity), new(resource.Quantity)
	}
	for _, o := range r.Objects {
		if o.Kind() != "Deployment" && o.Kind() != "StatefulSet" {
			continue
		}
		replicas := int(At(o.Doc, "spec", "replicas").(float64))
		sum.pods += replicas
		for name := range sum.rest {
			one := podRequest(t, o, name)
			for range replicas {
				sum.rest[name].Add(one)
				sum.rolled[name].Add(one)
			}
			if o.Kind() == "Deployment" {
				sum.rolled[name].Add(one)
			}
		}
	}
	return sum
}

// podRequest is what a pod asks for: its containers together, or one init container that asks for more.
func podRequest(t *testing.T, o Object, name string) resource.Quantity {
	t.Helper()
	var all, most resource.Quantity
	for _, key := range []string{"initContainers", "containers"} {
		list, _ := At(pod(o), "spec", key).([]any)
		for _, c := range list {
			text, ok := At(c, "resources", "requests", name).(string)
			require.True(t, ok, "%s %s: container %v requests no %s", o.Kind(), o.Name(), At(c, "name"), name)
			q := resource.MustParse(text)
			if key == "containers" {
				all.Add(q)
			} else if q.Cmp(most) > 0 {
				most = q
			}
		}
	}
	if most.Cmp(all) > 0 {
		return most
	}
	return all
}

// amount writes sums as the page does: 770m, 2240Mi.
func amount(q map[string]*resource.Quantity) string {
	return fmt.Sprintf("%dm, %dMi", q["cpu"].MilliValue(), q["memory"].Value()>>20)
}

// The page's sums are those of the objects; an evaluation fits into one core, also while it is tested and upgraded.
func TestRequestsInAll(t *testing.T) {
	t.Parallel()
	page := section(t, "### Requests in all\n", "### More pods\n")
	for file, row := range map[string]string{"minimal": "production, defaults", "evaluation": "`evaluation.enabled=true`"} {
		sum := sums(t, render(t, file))
		require.Contains(t, page, fmt.Sprintf("| %s | %d | %s | %s |\n", row, sum.pods, amount(sum.rest), amount(sum.rolled)))
	}
	r := render(t, "evaluation")
	sum := sums(t, r)
	require.LessOrEqual(t, sum.rolled["cpu"].MilliValue(), int64(1000))
	for _, job := range r.Kind("Job") {
		one := podRequest(t, job, "cpu")
		require.LessOrEqual(t, sum.rest["cpu"].MilliValue()+one.MilliValue(), int64(1000), job.Name())
	}
	for _, job := range hookJobs(render(t, "minimal")) {
		cpu, memory := podRequest(t, job, "cpu"), podRequest(t, job, "memory")
		if strings.HasSuffix(job.Name(), "-check") {
			require.Contains(t, page, fmt.Sprintf("that of the check %s and %s", cpu.String(), memory.String()))
			continue
		}
		require.Contains(t, page, fmt.Sprintf("request %s and %s (`jobs.resources`)", cpu.String(), memory.String()))
	}
	full := sums(t, render(t, "minimal"))
	require.Contains(t, documentation(t), fmt.Sprintf("room for %g cores of requests, and %g during an upgrade", full.rest["cpu"].AsApproximateFloat64(), full.rolled["cpu"].AsApproximateFloat64()))
}

// A pod for which no node has room is no error that anything reports: the table of symptoms has it.
func TestPendingIsExplained(t *testing.T) {
	t.Parallel()
	table := section(t, "## When something is wrong\n", "\n\nSettings in force")
	require.Regexp(t, `(?m)^\| [^|]*\x60Pending\x60[^|]*migrate Job[^|]*\|[^|]*CPU[^|]*\|[^|]*kubectl describe pod[^|]*\|$`, table)
}

// The page names the exit code that the program's help names and that the test of the release takes for an answer.
func TestDocumentedCheck(t *testing.T) {
	t.Parallel()
	require.Contains(t, documentation(t), "`tradegrid migrate --check` exits with 3")
	path, err := binary()
	require.NoError(t, err)
	out, err := exec.Command(path, "migrate", "--help").CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, strings.Join(strings.Fields(string(out)), " "), "exit with code 3")
	schema, _ := testJobs(t, render(t, "minimal"))
	rule := At(schema.Doc, "spec", "podFailurePolicy", "rules").([]any)[0]
	require.Contains(t, At(rule, "onExitCodes", "values"), 3.0)
}
