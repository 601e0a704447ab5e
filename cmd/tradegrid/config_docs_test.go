package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/roles"
)

var updateDocs = flag.Bool("update-docs", false, "write the tables of docs/configuration.md anew") //nolint:gochecknoglobals // a flag

// The tables of the page come from the flags.
func TestConfigurationPageIsUpToDate(t *testing.T) {
	t.Parallel()
	const path, begin, end = "../../docs/configuration.md", "<!-- begin of the tables -->\n", "<!-- end of the tables -->\n"
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(raw), begin)
	require.True(t, ok, "the page lacks %q", begin)
	_, after, ok := strings.Cut(rest, end)
	require.True(t, ok, "the page lacks %q", end)
	commands := []string{"run", "api", "console", "relay", "dispatcher", "migrate", "topics", "receiver", "dev"}
	want := before + begin + "\n" + settingsOf(t, commands) + "\n" + end + after
	if *updateDocs {
		require.NoError(t, os.WriteFile(path, []byte(want), 0o644))
	}
	require.True(t, want == string(raw) || *updateDocs, "docs/configuration.md differs from the flags: go test ./cmd/tradegrid -run ConfigurationPage -update-docs")
}

// shared is a flag and the commands that have it.
type shared struct {
	flag     *kong.Flag
	commands []string
}

// settingsOf documents the settings of the commands: a table of those of all commands, one of those shared by some, and
// one per command.
func settingsOf(t *testing.T, commands []string) string {
	t.Helper()
	parser, err := kong.New(&CLI{}, roles.Vars())
	require.NoError(t, err)
	var all []*shared
	for _, leaf := range parser.Model.Leaves(true) {
		command := strings.Fields(leaf.Path())[0]
		if !slices.Contains(commands, command) {
			continue
		}
		for node := leaf; node != nil && node != parser.Model.Node; node = node.Parent {
			for _, f := range node.Flags {
				all = note(all, f, command)
			}
		}
	}
	var b strings.Builder
	b.WriteString("### All commands\n\n")
	table(&b, parser.Model.Flags, nil)
	var some []*kong.Flag
	by := map[*kong.Flag][]string{}
	own := map[string][]*kong.Flag{}
	for _, s := range all {
		if len(s.commands) > 1 {
			some = append(some, s.flag)
			by[s.flag] = s.commands
			continue
		}
		own[s.commands[0]] = append(own[s.commands[0]], s.flag)
	}
	b.WriteString("\n### Shared by several commands\n\n")
	table(&b, some, by)
	for _, c := range commands {
		fmt.Fprintf(&b, "\n### tradegrid %s\n\n", c)
		table(&b, own[c], nil)
	}
	return b.String()
}

// note adds a command to a flag. Flags with the same name but different meanings count as different flags.
func note(all []*shared, f *kong.Flag, command string) []*shared {
	for _, s := range all {
		if s.flag.Name == f.Name && s.flag.Help == f.Help && s.flag.Default == f.Default {
			if !slices.Contains(s.commands, command) {
				s.commands = append(s.commands, command)
			}
			return all
		}
	}
	return append(all, &shared{f, []string{command}})
}

func table(b *strings.Builder, flags []*kong.Flag, commands map[*kong.Flag][]string) {
	b.WriteString("| setting | default | changes | meaning |")
	if commands != nil {
		b.WriteString(" commands |")
	}
	b.WriteString("\n|---|---|---|---|")
	if commands != nil {
		b.WriteString("---|")
	}
	b.WriteString("\n")
	for _, f := range flags {
		if f.Name == "help" || f.Name == "version" || f.Name == "print-config" || f.Hidden {
			continue
		}
		standard, changes := "", "restart"
		if f.Default != "" {
			standard = "`" + f.Default + "`"
		} else if f.IsBool() {
			standard = "`false`"
		}
		if f.Tag.Get("reload") == "true" {
			changes = "at once"
		}
		if f.Tag.Get("same") == "platform" {
			changes += ", everywhere"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |", f.Name, standard, changes, strings.ReplaceAll(f.Help, "|", `\|`))
		if commands != nil {
			fmt.Fprintf(b, " %s |", strings.Join(commands[f], ", "))
		}
		b.WriteString("\n")
	}
}
