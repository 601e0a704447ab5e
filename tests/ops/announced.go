package ops

// announced are metrics that queries may name before a process shows them. A test refuses entries that exist.
var announced []Metric
