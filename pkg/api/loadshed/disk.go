//go:build unix

package loadshed

import (
	"fmt"
	"syscall"
)

// DiskUse is the used share, 0…1, of the disk that holds the folder. Space reserved for root counts as used.
func DiskUse(folder string) (float64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil {
		return 0, fmt.Errorf("measure the disk of %s: %w", folder, err)
	}
	used := s.Blocks - s.Bfree
	return float64(used) / float64(used+uint64(s.Bavail)), nil //nolint:unconvert // the type differs between systems
}
