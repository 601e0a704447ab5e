// Package config turns flags, environment and a file into the settings of a command, says where each came from, names
// all wrong ones at once, and watches the file for changes.
//
// The settings are the fields of a struct as kong reads it. A flag goes before the environment, the environment before
// the file, the file before the default. Beside kong's own tags a field may have:
//
//	reload:"true"   a change of the file is followed without a restart
//	secret:"true"   the value is never shown
//	secret:"url"    the password in the URL is never shown
//
// A struct with a method Check() error says what settings mean together: each error it joins begins with the flag at
// fault. Flags named config and print-config have the meaning that their names say.
package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Checker says what is wrong with settings that could be read: errors joined, each beginning with a flag.
type Checker interface{ Check() error }

// Options are what the program is, for help and messages.
type Options struct {
	Name        string // of the program; in capitals it begins the names of environment variables
	Description string
	Release     string // what --version prints
	Stdout      io.Writer
	Stderr      io.Writer
}

// Loaded is what Load found.
type Loaded struct {
	Context *kong.Context // nil when help or the release was asked for
	File    string        // of the flag --config; empty for none
	Values  []Value       // of the command, in the order of its flags
}

// Origin says where a value came from.
type Origin struct {
	Kind  Kind
	Place string // variable, or file and line
}

// Kind is one of the places that a value can come from; a later one goes before an earlier one.
type Kind int

// The places.
const (
	Default Kind = iota
	File
	Environment
	Flag
)

// String names the place for people.
func (o Origin) String() string {
	switch o.Kind {
	case File:
		return o.Place
	case Environment:
		return "environment " + o.Place
	case Flag:
		return "flag"
	case Default:
	}
	return "default"
}

// Value is one setting.
type Value struct {
	Name   string // of the flag, without dashes
	Origin Origin
	Reload bool // may change without a restart

	texts  []string // as a flag would take it, not masked
	list   bool
	text   bool // a string in YAML, whatever it looks like
	secret string
}

// Load reads the settings of the command that args name into target, a pointer to a struct of flags and commands.
// Its error is a [*Fault] that names everything that is wrong; what could be read is returned all the same.
func Load(target any, args []string, opts Options) (*Loaded, error) {
	l := &loader{opts: opts, args: slices.Clone(args), target: target}
	for range 20 { // unknown flags, each of which ends a pass
		l.start()
		ctx, err := l.pass()
		if l.ended {
			return &Loaded{}, nil
		}
		if err != nil && l.dropUnknown(err) {
			continue
		}
		return l.finish(ctx, err)
	}
	return &Loaded{}, &Fault{Program: opts.Name, Faults: l.unknown}
}

// loader is one reading of the settings.
type loader struct {
	opts    Options
	args    []string
	target  any
	unknown []string // flags that do not exist

	parser *kong.Kong
	phase  Kind // what is being read: Flag first, then Environment and Default, then File
	ended  bool // help or the release was asked for
	bound  bool // the values are in the target
	file   *file
	found  []found             // values that cannot be used
	given  map[*kong.Flag]bool // on the command line
	others []string            // faults of no single value
}

// found is a value that cannot be used.
type found struct {
	flag *kong.Flag
	kind Kind
	text string
}

func (l *loader) start() {
	l.phase, l.bound, l.file, l.found, l.others, l.given = Flag, false, nil, nil, nil, map[*kong.Flag]bool{}
}

func (l *loader) pass() (*kong.Context, error) {
	parser, err := kong.New(l.target,
		kong.Name(l.opts.Name), kong.Description(l.opts.Description), kong.Vars{"version": l.opts.Release},
		kong.DefaultEnvars(strings.ToUpper(l.opts.Name)), kong.Writers(l.opts.Stdout, l.opts.Stderr),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}), kong.Exit(func(int) { l.ended = true }),
		kong.WithBeforeReset(func() error { l.phase = Environment; return nil }),
		kong.WithBeforeResolve(l.openFile), kong.WithBeforeApply(l.noteMissing),
	)
	if err != nil {
		panic(err) // the target is wrong
	}
	l.parser = parser
	visit(parser.Model.Node, func(f *kong.Flag) {
		if f.Name != "help" && f.Name != "version" {
			f.Mapper = &lenient{l, f, f.Mapper}
		}
	})
	ctx, err := parser.Parse(l.args)
	var wrong *kong.ParseError
	if errors.As(err, &wrong) {
		ctx = wrong.Context
	}
	return ctx, err
}

// visit calls do for each flag of a node and of all below.
func visit(n *kong.Node, do func(*kong.Flag)) {
	for _, f := range n.Flags {
		do(f)
	}
	for _, child := range n.Children {
		visit(child, do)
	}
}

var unknownFlag = regexp.MustCompile(`^unknown flag (-[^ ,]+)`)

// dropUnknown notes a flag that does not exist and takes it away, so that the next pass finds what else is wrong.
func (l *loader) dropUnknown(err error) bool {
	m := unknownFlag.FindStringSubmatch(err.Error())
	if m == nil {
		return false
	}
	at := slices.IndexFunc(l.args, func(arg string) bool { return arg == m[1] || strings.HasPrefix(arg, m[1]+"=") })
	if at < 0 {
		return false
	}
	end := at + 1
	if l.args[at] == m[1] && end < len(l.args) && !strings.HasPrefix(l.args[end], "-") && !l.isCommand(l.args[end]) {
		end++ // its value
	}
	l.args = slices.Delete(l.args, at, end)
	text, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "unknown flag "), ",")
	l.unknown = append(l.unknown, text+": there is no such flag"+suggest(strings.TrimLeft(m[1], "-"), "--", l.names()))
	return true
}

func (l *loader) isCommand(word string) bool {
	return slices.ContainsFunc(l.parser.Model.Leaves(false), func(n *kong.Node) bool {
		return slices.Contains(strings.Fields(n.Path()), word)
	})
}

// names are those of all flags of all commands.
func (l *loader) names() (names []string) {
	visit(l.parser.Model.Node, func(f *kong.Flag) { names = append(names, f.Name) })
	slices.Sort(names)
	return slices.Compact(names)
}

// openFile reads the file of --config, when the command line and the environment are known.
func (l *loader) openFile(ctx *kong.Context) error {
	if l.phase == File {
		return nil
	}
	l.phase = File
	for _, f := range ctx.Flags() {
		if f.Name != "config" {
			continue
		}
		path, ok := ctx.FlagValue(f).(string)
		if !ok || path == "" {
			return nil
		}
		l.file = &file{path: path, entries: map[string]entry{}}
		l.others = append(l.others, l.file.read(l.names())...)
		ctx.AddResolver(kong.ResolverFunc(l.resolve))
	}
	return nil
}

// resolve gives what the file says, where the environment says nothing.
func (l *loader) resolve(_ *kong.Context, _ *kong.Path, f *kong.Flag) (any, error) {
	if _, set := l.variable(f); set {
		return nil, nil
	}
	e, ok := l.file.entries[f.Name]
	if !ok || (e.empty() && !f.HasDefault) {
		return nil, nil
	}
	return e.text(f.Tag.Sep), nil
}

func (l *loader) variable(f *kong.Flag) (string, bool) {
	for _, name := range f.Tag.Envs {
		if _, set := os.LookupEnv(name); set {
			return name, true
		}
	}
	return "", false
}

// noteMissing names required flags without a value itself: kong would name them only when nothing else is wrong.
func (l *loader) noteMissing(ctx *kong.Context) error {
	for _, f := range ctx.Flags() {
		if f.Required && !f.Set && len(f.Xor) == 0 && len(f.And) == 0 {
			l.others = append(l.others, fmt.Sprintf("--%s is required: %s", f.Name, f.Help))
		}
		if len(f.Xor) == 0 && len(f.And) == 0 {
			f.Required = false
		}
	}
	l.bound = true
	return nil
}

// origin is where the value of a flag came from.
func (l *loader) origin(f *kong.Flag) Origin {
	if l.given[f] {
		return Origin{Kind: Flag}
	}
	if name, set := l.variable(f); set {
		return Origin{Environment, name}
	}
	if l.file != nil {
		if e, ok := l.file.entries[f.Name]; ok && (!e.empty() || f.HasDefault) {
			return Origin{File, fmt.Sprintf("%s line %d", l.file.path, e.line)}
		}
	}
	return Origin{Kind: Default}
}

func (l *loader) finish(ctx *kong.Context, err error) (*Loaded, error) {
	out := &Loaded{Context: ctx}
	fault := &Fault{Program: l.opts.Name, Faults: append(slices.Clone(l.unknown), l.others...)}
	if ctx == nil {
		fault.add(err)
		return out, fault
	}
	if command := ctx.Command(); command != "" {
		fault.Program += " " + command
	}
	origins := map[string]Origin{}
	for _, f := range ctx.Flags() {
		origins[f.Name] = l.origin(f)
		if f.Name != "help" && f.Name != "version" && f.Name != "config" && f.Name != "print-config" {
			out.Values = append(out.Values, value(f, origins[f.Name]))
		}
	}
	if l.file != nil {
		out.File = l.file.path
	}
	for _, bad := range l.found {
		if slices.Contains(ctx.Flags(), bad.flag) && bad.kind == origins[bad.flag.Name].Kind {
			fault.Faults = append(fault.Faults, bad.text)
		}
	}
	if err != nil {
		fault.add(err)
	}
	if l.bound {
		for _, p := range ctx.Path {
			if node := p.Node(); node != nil && node.Target.IsValid() {
				fault.add(check(node.Target))
			}
		}
	}
	if len(fault.Faults) == 0 {
		return out, nil
	}
	slices.Sort(fault.Faults)
	fault.place(origins)
	return out, fault
}

// check asks a struct and those embedded in it what is wrong.
func check(v reflect.Value) error {
	var errs []error
	if v.Kind() != reflect.Struct {
		return nil
	}
	if v.CanAddr() {
		if c, ok := v.Addr().Interface().(Checker); ok {
			errs = append(errs, c.Check())
		}
	}
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.Anonymous && f.IsExported() {
			errs = append(errs, check(v.Field(i)))
		}
	}
	return errors.Join(errs...)
}
