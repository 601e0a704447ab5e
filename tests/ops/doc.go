// Package ops checks what operators are given: every query of the dashboards and rules names metrics and labels that
// exist, every alert has a unit test and a runbook, and every runbook an alert.
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
