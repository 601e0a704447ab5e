package roles

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi/idempotency"
	"github.com/tradegrid/tradegrid/pkg/api/loadshed"
	"github.com/tradegrid/tradegrid/pkg/api/ratelimit"
	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/config"
	"github.com/tradegrid/tradegrid/pkg/kit/telemetry/export"
	"github.com/tradegrid/tradegrid/pkg/store/cleanup"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/groupcommit"
	"github.com/tradegrid/tradegrid/pkg/store/job"
	"github.com/tradegrid/tradegrid/pkg/store/ownermail"
	"github.com/tradegrid/tradegrid/pkg/store/processes"
	"github.com/tradegrid/tradegrid/pkg/store/quota"
	"github.com/tradegrid/tradegrid/services/business/scheduling"
	"github.com/tradegrid/tradegrid/services/business/warehouse"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/delivery/dispatch"
	"github.com/tradegrid/tradegrid/services/delivery/egress"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
	"github.com/tradegrid/tradegrid/services/platform/accounts"
	"github.com/tradegrid/tradegrid/services/platform/requests"
)

// Release is set by the build: -ldflags "-X github.com/tradegrid/tradegrid/services/roles.Release=1.2.3".
var Release = "dev"

// commit is set by the build: -ldflags "-X github.com/tradegrid/tradegrid/services/roles.commit=…". Builds within the repository read it from the build info.
var commit = ""

var buildInfo = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Name: "tradegrid_build_info", Help: "Always 1; the labels are release, commit and Go version of the build.",
}, []string{"release", "commit", "go_version"})

// build is the collector of tradegrid_build_info.
func build() []prometheus.Collector {
	from := commit
	if info, ok := debug.ReadBuildInfo(); ok && from == "" {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				from = s.Value
			}
		}
	}
	if from == "" {
		from = "unknown"
	}
	buildInfo.WithLabelValues(Release, from, runtime.Version()).Set(1)
	return []prometheus.Collector{buildInfo}
}

// commonMetrics are the collectors of every role.
func commonMetrics() []prometheus.Collector {
	return slices.Concat(build(), quota.Metrics(idempotency.QuotaKind, outbox.QuotaKind, requests.QuotaKind), config.Metrics(), db.Metrics(), kafka.Metrics(), export.Metrics(), outbox.EpochMetrics(), processes.Metrics())
}

// roleMetrics returns the collectors of a role, besides the common ones.
func roleMetrics(role string) []prometheus.Collector {
	switch role {
	case "api":
		return slices.Concat(httpapi.Metrics(), ratelimit.Metrics(), groupcommit.Metrics(), loadshed.Metrics(), webhooks.Metrics(), requests.Metrics(), scheduling.Metrics(), job.Metrics(jobTypes()...))
	case "console":
		return slices.Concat(httpapi.Metrics(), ratelimit.Metrics(), web.Metrics(), accounts.Metrics())
	case "relay":
		return slices.Concat(outbox.Metrics(), kafka.TopicMetrics(), cleanup.Metrics(CleanupJobs()), warehouse.Metrics(), ownermail.Metrics())
	case "dispatcher":
		return slices.Concat(dispatch.Metrics(), egress.Metrics(), kafka.ConsumerMetrics(), kafka.TopicMetrics(), kafka.GroupMetrics())
	}
	panic("no role " + role)
}

var rolesWithMetrics = []string{"api", "console", "relay", "dispatcher"}

// AllMetrics returns the collectors of a process with all roles.
func AllMetrics() []prometheus.Collector { return metricsOf(rolesWithMetrics...) }

// metricsOf returns the collectors of a process with the roles.
func metricsOf(roles ...string) []prometheus.Collector {
	all := commonMetrics()
	for _, role := range roles {
		for _, c := range roleMetrics(role) {
			if !slices.Contains(all, c) { // console and api share some
				all = append(all, c)
			}
		}
	}
	return all
}

// MetricsCmd lists the metrics of all roles, from the code.
type MetricsCmd struct {
	Write string `help:"Page to write the list to, instead of JSON to standard output." type:"path" xor:"do"`
	Check string `help:"Page to compare with; fails on any difference." type:"path" xor:"do"`
}

// Run lists, writes or compares. It needs no database.
func (c *MetricsCmd) Run(stdout io.Writer) error {
	families, err := listMetrics()
	if err != nil {
		return err
	}
	page := metricsPage(families)
	switch {
	case c.Write != "":
		if err := os.WriteFile(c.Write, page, 0o644); err != nil { //nolint:gosec // source files are for everybody
			return fmt.Errorf("--write: %w", err)
		}
		return nil
	case c.Check != "":
		there, err := os.ReadFile(c.Check)
		if err != nil {
			return fmt.Errorf("--check: %w", err)
		}
		if !bytes.Equal(there, page) {
			return errors.New(c.Check + " differs from the code: run make metrics")
		}
		return nil
	}
	enc := json.NewEncoder(stdout)
	enc.SetIndent("", "  ")
	if err := enc.Encode(families); err != nil {
		return fmt.Errorf("list metrics: %w", err)
	}
	return nil
}

// metricFamily describes one metric.
type metricFamily struct {
	Name   string   `json:"name"`
	Type   string   `json:"type"` // counter, gauge or histogram
	Labels []string `json:"labels"`
	Unit   string   `json:"unit"` // empty for numbers of things
	Help   string   `json:"help"`
	Roles  []string `json:"roles"`
}

// listMetrics lists the metrics of all roles by name.
func listMetrics() ([]metricFamily, error) {
	byName := map[string]metricFamily{}
	add := func(role string, collectors []prometheus.Collector) error {
		for _, c := range collectors {
			found, err := describe(c)
			if err != nil {
				return err
			}
			for _, f := range found {
				f.Roles = append(byName[f.Name].Roles, role)
				byName[f.Name] = f
			}
		}
		return nil
	}
	for _, role := range rolesWithMetrics {
		if err := add(role, slices.Concat(commonMetrics(), []prometheus.Collector{new(db.DB).PoolMetrics()}, roleMetrics(role))); err != nil {
			return nil, err
		}
	}
	families := make([]metricFamily, 0, len(byName))
	for _, f := range byName {
		families = append(families, f)
	}
	slices.SortFunc(families, func(a, b metricFamily) int { return strings.Compare(a.Name, b.Name) })
	return families, nil
}

// describe lists the families of a collector.
func describe(c prometheus.Collector) ([]metricFamily, error) {
	descs := make(chan *prometheus.Desc)
	go func() {
		c.Describe(descs)
		close(descs)
	}()
	var found []metricFamily
	var errs []error
	for d := range descs {
		f, err := readDesc(d.String())
		f.Type, f.Unit = typeOf(c, f.Name), unitOf(f.Name)
		found, errs = append(found, f), append(errs, err)
	}
	return found, errors.Join(errs...)
}

// readDesc parses the string form of a description, the only one that the library exposes.
func readDesc(text string) (f metricFamily, err error) {
	const form = `Desc{fqName: %q, help: %q, unit: "", constLabels: {}, variableLabels: {`
	if _, err := fmt.Sscanf(text, form, &f.Name, &f.Help); err != nil {
		return f, fmt.Errorf("cannot parse the description of a metric: %s: %w", text, err)
	}
	_, rest, _ := strings.Cut(text, "variableLabels: {")
	f.Labels = []string{}
	if labels, _, _ := strings.Cut(rest, "}"); labels != "" {
		f.Labels = strings.Split(labels, ",")
	}
	return f, nil
}

// typeOf returns the type of a collector's metrics. For collectors that read their values elsewhere, the name decides.
func typeOf(c prometheus.Collector, name string) string {
	switch c.(type) {
	case *prometheus.HistogramVec, prometheus.Histogram:
		return "histogram"
	case *prometheus.CounterVec:
		return "counter"
	}
	if strings.HasSuffix(name, "_total") {
		return "counter"
	}
	return "gauge"
}

func unitOf(name string) string {
	name = strings.TrimSuffix(name, "_total")
	for _, unit := range []string{"seconds", "bytes", "ratio"} {
		if strings.HasSuffix(name, "_"+unit) {
			return unit
		}
	}
	return ""
}

const metricsHead = `# Metrics

Every process serves them at ` + "`/metrics`" + ` on its ` + "`--ops-listen`" + ` address. Counters start at 0, so they exist from the first scrape.
No label contains the id of a company, a subscription or a record. ` + "`tradegrid run` and `tradegrid dev`" + ` serve the metrics of all roles.
The [runtime of Go and the process](https://pkg.go.dev/github.com/prometheus/client_golang/prometheus/collectors) have the names that they have everywhere, ` + "`go_…` and `process_…`" + `.
Names without ` + "`tradegrid_`" + ` follow OpenTelemetry's semantic conventions in Prometheus' form.

This page is generated from the code by ` + "`make metrics`" + `.

| Name | Type | Labels | Unit | Roles | Meaning |
|---|---|---|---|---|---|
`

// metricsPage renders docs/metrics.md.
func metricsPage(families []metricFamily) []byte {
	page := bytes.NewBufferString(metricsHead)
	for _, f := range families {
		labels, roles := strings.Join(f.Labels, ", "), strings.Join(f.Roles, ", ")
		if len(f.Roles) == len(rolesWithMetrics) {
			roles = "all"
		}
		fmt.Fprintf(page, "| `%s` | %s | %s | %s | %s | %s |\n", f.Name, f.Type, labels, f.Unit, roles, strings.ReplaceAll(f.Help, "|", "\\|"))
	}
	return page.Bytes()
}
