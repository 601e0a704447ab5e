package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/event"
	"github.com/tradegrid/tradegrid/pkg/httpapi"
	"github.com/tradegrid/tradegrid/pkg/ratelimit"
)

// OpenapiCmd writes what the code says about the API and the events, or compares it with what is committed.
type OpenapiCmd struct {
	Write string `help:"Folder to write openapi/ and events/ into." type:"path" xor:"do" required:""`
	Check string `help:"Folder to compare with; fails on any difference." type:"path" xor:"do" required:""`
}

// Run writes or compares. It needs no database.
func (c *OpenapiCmd) Run(stdout io.Writer) error {
	files, err := generated()
	if err != nil {
		return err
	}
	if c.Check != "" {
		return compare(c.Check, files)
	}
	for name, content := range files {
		path := filepath.Join(c.Write, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // source files are for everybody
			return fmt.Errorf("--write: %w", err)
		}
		if err := os.WriteFile(path, content, 0o644); err != nil { //nolint:gosec // source files are for everybody
			return fmt.Errorf("--write: %w", err)
		}
	}
	fmt.Fprintf(stdout, "%d files written to %s\n", len(files), c.Write)
	return nil
}

// generated are the contents of all generated files by their path below schemas/.
func generated() (map[string][]byte, error) {
	all := newDomains(nil, domainConfig{})
	api := all.newAPI(httpapi.Config{Limiter: ratelimit.New(ratelimit.Config{})})
	if err := routesMatch(api); err != nil {
		return nil, err
	}
	description, err := api.Description()
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{"openapi/openapi.json": description}
	for _, t := range all.events.All() {
		if err := addEvent(files, t); err != nil {
			return nil, fmt.Errorf("event %s: %w", t.Name, err)
		}
	}
	return files, nil
}

func addEvent(files map[string][]byte, t event.Type) (err error) {
	if files["events/"+t.Name+".schema.json"], err = t.Schema(); err != nil {
		return err
	}
	files["events/"+t.Name+".example.json"], err = t.Example()
	return err
}

// routesMatch compares the routes that are served with the operations that are described, in both directions.
func routesMatch(api *httpapi.API) error {
	described := make([]string, 0, len(api.Ops()))
	for _, op := range api.Ops() {
		described = append(described, op.Method+" "+op.Path)
	}
	var errs []error
	for _, route := range api.Routes() {
		if !slices.Contains(described, route) {
			errs = append(errs, fmt.Errorf("route %s is served and not described", route))
		}
	}
	for _, op := range described {
		if !slices.Contains(api.Routes(), op) {
			errs = append(errs, fmt.Errorf("operation %s is described and not served", op))
		}
	}
	return errors.Join(errs...)
}

func compare(dir string, files map[string][]byte) error {
	var errs []error
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(dir, name))
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("%s is missing: run make schemas", name))
		case !bytes.Equal(got, want):
			errs = append(errs, fmt.Errorf("%s differs from the code: run make schemas and review the change", name))
		}
	}
	for _, pattern := range []string{"openapi/*", "events/*"} {
		there, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return fmt.Errorf("list %s: %w", dir, err)
		}
		for _, path := range there {
			if name := strings.TrimPrefix(filepath.ToSlash(strings.TrimPrefix(path, dir)), "/"); files[name] == nil {
				errs = append(errs, fmt.Errorf("%s is described by nothing in the code: remove it", name))
			}
		}
	}
	return errors.Join(errs...)
}
