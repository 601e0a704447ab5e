//go:build !failpoint || !linux

// Package failpoint marks the places where a test may kill or freeze a process. In ordinary builds it does
// nothing; only a binary built with the tag "failpoint" obeys the environment.
package failpoint

// Hit does nothing in this build.
func Hit(...string) {}
