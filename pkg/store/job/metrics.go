package job

import "github.com/prometheus/client_golang/prometheus"

var (
	started = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_jobs_started_total", Help: "Jobs that requests asked for, by type; those of rolled-back requests count, too.",
	}, []string{"type"})
	ended = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_jobs_ended_total", Help: "Jobs that ended, by type and status; canceled ones of rolled-back requests count, too.",
	}, []string{"type", "status"})
	stepDuration = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "tradegrid_job_step_duration_seconds", Help: "Duration of the steps of jobs, by type.",
		Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
	}, []string{"type"})
	stepFailures = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_job_step_failures_total", Help: "Steps of jobs that failed and are tried again, by type.",
	}, []string{"type"})
	takeovers = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "tradegrid_job_takeovers_total", Help: "Jobs taken over from a worker whose lease expired.",
	})
	openJobs = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "tradegrid_jobs_open", Help: "Unfinished jobs that this worker saw at its last look, at most 1000.",
	})
	oldestWait = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "tradegrid_jobs_oldest_wait_seconds", Help: "How long the job has waited that waits longest for a worker, as this worker saw at its last look.",
	})
)

// Metrics returns the collectors of this package, to be registered once per process. The series of the types start at 0.
func Metrics(types ...string) []prometheus.Collector {
	for _, t := range types {
		started.WithLabelValues(t)
		stepFailures.WithLabelValues(t)
		stepDuration.WithLabelValues(t)
		for _, status := range []string{Done, Failed, Canceled} {
			ended.WithLabelValues(t, status)
		}
	}
	return []prometheus.Collector{started, ended, stepDuration, stepFailures, takeovers, openJobs, oldestWait}
}
