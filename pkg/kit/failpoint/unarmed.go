//go:build !linux

package failpoint

// strike does nothing on this system.
func strike(Point, string) {}
