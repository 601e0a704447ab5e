package chart

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// testJobs are the Jobs that `helm test` runs.
func testJobs(t *testing.T, r *Rendered) (schema, topics Object) {
	t.Helper()
	for _, o := range r.Objects {
		if At(o.Doc, "metadata", "annotations", "helm.sh/hook") == "test" {
			require.Equal(t, "Job", o.Kind(), o.Name())
		}
	}
	return find(t, r, "Job", "tg-tradegrid-test-migrate"), find(t, r, "Job", "tg-tradegrid-test-topics")
}

// `helm test` asks the database and Kafka whether they are as the release needs them, with the rights of the roles.
func TestHelmTest(t *testing.T) {
	t.Parallel()
	schema, topics := testJobs(t, render(t, "certificates"))
	require.Equal(t, []any{"migrate", "--check", "--log-format=json"}, containers(schema)[0]["args"], "--plan ends with 0 when steps are pending")
	require.Equal(t, []any{"topics", "diff", "--log-format=json", "--replication=3"}, containers(topics)[0]["args"])
	_, topics2 := testJobs(t, render(t, "certificates", "jobs.topics.morePartitions=true"))
	require.Equal(t, []any{"topics", "diff", "--log-format=json", "--replication=3", "--more-partitions"}, containers(topics2)[0]["args"])
	for _, o := range []Object{schema, topics} {
		require.Equal(t, "test", At(o.Doc, "metadata", "annotations", "helm.sh/hook"))
		require.Equal(t, "tg-tradegrid", At(pod(o), "spec", "serviceAccountName"))
		require.NotContains(t, o.Raw, "tradegrid_owner")
		require.NotContains(t, o.Raw, "tradegrid-admin")
	}
}

// A pod that starts before its policies are in force connects in vain: the test tries again, and ends before Helm stops
// waiting for it. An answer is final: trying again does not change it.
func TestHelmTestTriesAgain(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"certificates", "evaluation", "bare"} {
		schema, topics := testJobs(t, render(t, name))
		for o, final := range map[*Object][]any{&schema: {2.0, 3.0}, &topics: {2.0}} {
			require.InDelta(t, 3, At(o.Doc, "spec", "backoffLimit"), 0, "10, 20 and 40 s later")
			require.Less(t, At(o.Doc, "spec", "activeDeadlineSeconds"), 300.0, "what `helm test` waits unless told otherwise")
			rule := At(o.Doc, "spec", "podFailurePolicy", "rules").([]any)[0]
			require.Equal(t, "FailJob", At(rule, "action"))
			require.Equal(t, containers(*o)[0]["name"], At(rule, "onExitCodes", "containerName"))
			require.Equal(t, final, At(rule, "onExitCodes", "values"), "1 is what a connection that failed gives")
			require.Equal(t, "Never", At(pod(*o), "spec", "restartPolicy"), "Kubernetes asks for it beside podFailurePolicy")
		}
	}
}

// What Helm leaves behind is made by hooks. Jobs go by themselves once they succeed; the command in the documentation
// takes the rest: it names every kind and a label that all of them have.
func TestUninstallLeavesNothing(t *testing.T) {
	t.Parallel()
	docs := documentation(t)
	command := regexp.MustCompile(`kubectl -n grid delete ([a-z,]+) --selector ([a-z./-]+)=grid`).FindStringSubmatch(docs)
	require.NotNil(t, command, "the page has no command that removes what hooks made")
	kinds := strings.Split(command[1], ",")
	for _, name := range matrix(t) {
		r := render(t, name)
		for _, o := range r.Objects {
			if !o.Hook {
				continue
			}
			require.Contains(t, kinds, strings.ToLower(o.Kind()), "%s: the command leaves %s %s", name, o.Kind(), o.Name())
			require.Equal(t, Release, At(o.Doc, "metadata", "labels", command[2]), "%s: the command leaves %s %s", name, o.Kind(), o.Name())
			if o.Kind() == "Job" {
				require.Equal(t, "before-hook-creation,hook-succeeded", At(o.Doc, "metadata", "annotations", "helm.sh/hook-delete-policy"), "%s: %s", name, o.Name())
			}
		}
	}
}

// Before anything changes, the program itself checks what each role would start with, all side by side: what one of them
// refuses ends the release there, and the log names it. It reaches nothing.
func TestSettingsAreCheckedFirst(t *testing.T) {
	t.Parallel()
	r := render(t, "full", "api.config.idempotency-lease=soon", "dispatcher.sets.flow.config.sweep-every=0s", "console.pages.url=https://console.example.com")
	job := find(t, r, "Job", "tg-grid-check")
	path, err := binary()
	require.NoError(t, err)
	refused := map[string]string{"api": "--idempotency-lease", "relay": "", "dispatcher-sender": "", "dispatcher-flow": "--sweep-every", "console": ""}
	require.Len(t, containers(job), len(refused))
	for _, c := range containers(job) {
		name := c["name"].(string)
		cmd := exec.Command(path, command(t, c, mounted(t, r, job, c))...)
		cmd.Env = environment(t, c, mounted(t, r, job, c))
		out, err := cmd.CombinedOutput()
		if refused[name] == "" {
			require.NoError(t, err, "%s: %s", name, out)
			continue
		}
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit, name)
		require.Equal(t, 2, exit.ExitCode())
		require.Contains(t, string(out), refused[name])
	}
	require.Equal(t, containers(job)[0]["name"], At(pod(job), "metadata", "annotations", "kubectl.kubernetes.io/default-container"))
	rule := At(job.Doc, "spec", "podFailurePolicy", "rules").([]any)[0]
	require.Equal(t, []any{2.0}, At(rule, "onExitCodes", "values"), "another attempt is of no use")
	require.NotContains(t, At(rule, "onExitCodes"), "containerName", "whichever it is")
	policy := find(t, r, "NetworkPolicy", "tg-grid-check")
	require.Empty(t, At(policy.Doc, "spec", "egress"))
	require.Equal(t, []any{"Ingress", "Egress"}, At(policy.Doc, "spec", "policyTypes"))
	_, found := render(t, "full", "jobs.check.enabled=false").Find("Job", "tg-grid-check")
	require.False(t, found)
}

// contractGroup makes `helm template` render the Job for `migrate --contract`.
const contractGroup = "tradegrid.io/contract"

// The recipe for --contract is a Job with the rights and the image of migrate, which the API takes and a restricted
// namespace admits.
func TestContractJob(t *testing.T) {
	t.Parallel()
	for _, name := range matrix(t) {
		values, err := Values(name)
		require.NoError(t, err)
		r, err := RenderAs(load(t), values, newest, Release, contractGroup)
		require.NoError(t, err)
		job, ok := contractJob(r)
		require.True(t, ok, name)
		require.False(t, job.Hook, "%s: kubectl creates it", name)
		require.Empty(t, job.Name(), "%s: a second run within a day is another Job", name)
		require.InDelta(t, 0, At(job.Doc, "spec", "backoffLimit"), 0, "what it refuses, it refuses again")
		for _, version := range Kubernetes {
			conforms(t, conformance(t, version), job)
		}
		restricted(t, name, job)
		require.Equal(t, "--contract", containers(job)[0]["args"].([]any)[1])
		account := At(pod(job), "spec", "serviceAccountName").(string)
		if _, made := r.Find("ServiceAccount", account); !made {
			require.Equal(t, "bare", name, "%s: there is no ServiceAccount %s", name, account)
		}
		migrate, ok := r.Find("Job", strings.TrimSuffix(job.text("metadata", "generateName"), "contract-")+"migrate")
		if !ok {
			continue // jobs.mode is not hook
		}
		ours, its := containers(job)[0], containers(migrate)[0]
		require.Equal(t, its["args"].([]any)[0], ours["args"].([]any)[0])
		ours["args"], its["args"] = nil, nil
		require.Equal(t, its, ours, "%s: image, environment, mounts", name)
		require.Equal(t, At(pod(migrate), "spec", "volumes"), At(pod(job), "spec", "volumes"), name)
		require.Equal(t, At(pod(migrate), "metadata", "labels"), At(pod(job), "metadata", "labels"), "%s: policies select it", name)
		require.Equal(t, At(pod(migrate), "spec", "serviceAccountName"), account, name)
	}
}

func contractJob(r *Rendered) (Object, bool) {
	for _, o := range r.Kind("Job") {
		if strings.HasSuffix(o.text("metadata", "generateName"), "-contract-") {
			return o, true
		}
	}
	return Object{}, false
}

// No install or upgrade contracts: a rollback would find its columns gone. Only `helm template` has --api-versions.
func TestNoReleaseContracts(t *testing.T) {
	t.Parallel()
	for _, name := range matrix(t) {
		r := render(t, name)
		_, found := contractJob(r)
		require.False(t, found, name)
		for _, o := range r.Objects {
			require.NotContains(t, o.Raw, "--contract", "%s: %s %s", name, o.Kind(), o.Name())
		}
	}
	docs := documentation(t)
	require.Contains(t, docs, "--api-versions "+contractGroup+" --show-only templates/contract.yaml")
	require.FileExists(t, Folder+"/templates/contract.yaml")
	require.Contains(t, docs, "kubectl -n grid create -o name -f -", "its name is made by the API server")
	require.Contains(t, docs, "grep -E 'Complete|Failed'", "kubectl wait for completion hangs when it fails")
	require.NotContains(t, docs, "kubectl -n grid debug", "a restricted namespace refuses its pod")
}
