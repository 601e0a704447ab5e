//go:build !unix

package loadshed

import "errors"

// DiskUse fails on this system.
func DiskUse(string) (float64, error) {
	return 0, errors.New("disks are measured on Linux and macOS only: leave out --shed-database-path")
}
