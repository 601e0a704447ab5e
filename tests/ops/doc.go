// Package ops checks what operators are given: every query of the dashboards and rules names metrics and labels that
// exist, every alert has a unit test and a runbook, every runbook an alert, and every link leads somewhere.
package ops

const (
	root         = "../.."
	binary       = root + "/bin/tradegrid"
	chart        = root + "/charts/tradegrid"
	dashboardDir = chart + "/dashboards"
	ruleDir      = chart + "/rules"
	ruleTestDir  = "rules"
	runbookDir   = root + "/docs/runbooks"
)
