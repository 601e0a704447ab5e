package config

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// shared is a flag and the commands that have it.
type shared struct {
	flag     *kong.Flag
	commands []string
}

// Markdown documents the settings of the commands: a table of those of all commands, one of those shared by some, and
// one per command.
func Markdown(target any, commands []string, opts Options) string {
	l := &loader{opts: opts, target: target, args: []string{"--help"}}
	l.opts.Stdout, l.opts.Stderr = io.Discard, io.Discard
	l.start()
	_, _ = l.pass() // only to build the model
	var all []*shared
	for _, leaf := range l.parser.Model.Leaves(true) {
		command := strings.Fields(leaf.Path())[0]
		if !slices.Contains(commands, command) {
			continue
		}
		for node := leaf; node != nil && node != l.parser.Model.Node; node = node.Parent {
			for _, f := range node.Flags {
				all = note(all, f, command)
			}
		}
	}
	var b strings.Builder
	b.WriteString("### All commands\n\n")
	table(&b, l.parser.Model.Flags, nil)
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
		fmt.Fprintf(&b, "\n### %s %s\n\n", opts.Name, c)
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
