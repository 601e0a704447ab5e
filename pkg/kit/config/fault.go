package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

// Fault is the error with all invalid settings.
type Fault struct {
	Program string // name of program and command
	Faults  []string
}

// Error returns a text for terminals: one line per fault, and how to get help.
func (f *Fault) Error() string {
	what := "a setting is invalid"
	if n := len(f.Faults); n > 1 {
		what = fmt.Sprintf("%d settings are invalid", n)
	}
	return fmt.Sprintf("%s: %s:\n  %s\n%s --help lists the flags", f.Program, what, strings.Join(f.Faults, "\n  "), f.Program)
}

// add unwraps joined errors and adds those that are new.
func (f *Fault) add(err error) {
	switch e := err.(type) { //nolint:errorlint // unwrapped here, one by one
	case nil:
	case interface{ Unwrap() []error }:
		for _, part := range e.Unwrap() {
			f.add(part)
		}
	default:
		for text := range strings.SplitSeq(err.Error(), "\n") {
			if text = strings.TrimSpace(text); text != "" && !slices.Contains(f.Faults, text) {
				f.Faults = append(f.Faults, text)
			}
		}
	}
}

var flagName = regexp.MustCompile(`--([a-z0-9]+(?:-[a-z0-9]+)*)`)

// place adds the source of the invalid value, unless it is the command line.
func (f *Fault) place(origins map[string]Origin) {
	for i, text := range f.Faults {
		m := flagName.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		if o := origins[m[1]]; o.Kind == Environment || o.Kind == File {
			f.Faults[i] = fmt.Sprintf("%s (set by %s)", text, o.Place)
		}
	}
}

// didYouMean suggests the most similar name, if there is a similar one.
func didYouMean(name, before string, names []string) string {
	nearest := apierr.Nearest(name, names)
	if nearest == "" {
		return ""
	}
	return "; did you mean " + before + nearest + "?"
}
