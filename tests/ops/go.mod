// Module ops makes the dashboards and checks what operators are given: dashboards, alert rules, runbooks and the
// links of the documentation. It is a module of its own because only these checks need Prometheus' parser.
module github.com/tradegrid/tradegrid/tests/ops

go 1.26.0
