// Command write puts the dashboards into the folder given.
package main

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/tradegrid/tradegrid/tests/ops/dashboards"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		slog.Error("dashboards not written", "error", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("give one folder, not %d", len(args))
	}
	files, err := dashboards.All()
	if err != nil {
		return err
	}
	for name, content := range files {
		// Everybody may read them: they hold no secrets.
		if err := os.WriteFile(filepath.Join(args[0], name), content, 0o644); err != nil { //nolint:gosec // G306: see above
			return fmt.Errorf("write dashboard: %w", err)
		}
	}
	return nil
}
