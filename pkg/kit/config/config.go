// Package config reads the settings of a command from flags, environment and a file, records the origin of each, reports
// all invalid ones at once, and watches the file for changes.
//
// The settings are the fields of a struct with kong's tags. Flags take precedence over the environment, the environment
// over the file, and the file over the default. In addition to kong's tags, a field may have:
//
//	reload:"true"   changes in the file take effect without a restart
//	secret:"true"   the value is never printed
//	secret:"url"    the password in the URL is never printed
//	same:"platform" all processes that have the setting must have the same value of it
//
// A struct can validate its settings with a method Check() error, which joins errors that each begin with a flag. The settings of a
// package are a struct of its own with these tags, embedded in the configuration of the package and in the commands that have them:
// a default stands in one tag, and nowhere else.
// The flag config names the file; the flag print-config prints the settings.
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

// Checker validates settings after they were parsed. It returns joined errors, each beginning with a flag.
type Checker interface{ Check() error }

// Options describe the program in help and messages.
type Options struct {
	Name        string // of the program; in upper case, the prefix of environment variables
	Description string
	Release     string // printed by --version
	Vars        Vars
	Stdout      io.Writer
	Stderr      io.Writer
}

// Loaded is the result of Load.
type Loaded struct {
	Context *kong.Context // nil if help or the version was requested
	File    string        // path given by --config; empty if none
	Values  []Value       // settings of the command, in the order of its flags
}

// Origin is the source of a value.
type Origin struct {
	Kind  Kind
	Place string // name of the variable, or file and line
}

// Kind is a kind of source; later ones take precedence over earlier ones.
type Kind int

// The kinds of sources.
const (
	Default Kind = iota
	File
	Environment
	Flag
)

// String returns a human-readable description of the source.
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
	Name   string // name of the flag, without dashes
	Origin Origin
	Reload bool // takes effect without a restart
	Same   bool // must be the same in all processes that have it

	texts  []string // as on the command line, not masked
	list   bool
	text   bool // a string in YAML, whatever it looks like
	secret string
}

// Load reads the settings of the command named in args into target, a pointer to a struct of flags and commands.
// Its error is a [*Fault] with all invalid settings; the valid ones are returned nevertheless.
func Load(target any, args []string, opts Options) (*Loaded, error) {
	l := &loader{opts: opts, args: slices.Clone(args), target: target}
	for range 20 { // each unknown flag ends a pass
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

// Vars are values that tags name as ${name}.
type Vars = kong.Vars

// Defaults returns settings that all have their defaults, for a process that takes none from outside.
func Defaults[T any](vars ...Vars) (settings T) {
	Complete(&settings, vars...)
	return settings
}

// Complete gives settings that are zero their defaults. It is for settings of which none may be zero.
func Complete[T any](settings *T, vars ...Vars) {
	opts := make([]kong.Option, len(vars))
	for i, v := range vars {
		opts[i] = v
	}
	if err := kong.ApplyDefaults(settings, opts...); err != nil {
		panic(err) // the type is invalid
	}
}

// Positive is an error that begins with the flag, unless its value is above 0.
func Positive[T ~int | ~int64](flag string, value T) error {
	if value > 0 {
		return nil
	}
	return fmt.Errorf("%s %v: must be above 0", flag, value)
}

// NotNegative is an error that begins with the flag if its value is below 0. zero is what 0 means.
func NotNegative[T ~int | ~int64](flag string, value T, zero string) error {
	if value >= 0 {
		return nil
	}
	return fmt.Errorf("%s %v: must not be below 0; 0 = %s", flag, value, zero)
}

// Shared returns the settings that must be the same in all processes that have them, each as name=value.
func (l *Loaded) Shared() (settings []string) {
	for _, v := range l.Values {
		if v.Same {
			settings = append(settings, v.Name+"="+masked(v.secret, strings.Join(v.texts, ",")))
		}
	}
	return settings
}

// loader is the state of one call of Load.
type loader struct {
	opts    Options
	args    []string
	target  any
	unknown []string // flags that do not exist

	parser *kong.Kong
	phase  Kind // what is being read: Flag first, then Environment and Default, then File
	ended  bool // help or the version was requested
	bound  bool // the values were stored in the target
	file   *file
	found  []found             // invalid values
	given  map[*kong.Flag]bool // flags given on the command line
	others []string            // faults that do not belong to a single value
}

// found is an invalid value.
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
		kong.Name(l.opts.Name), kong.Description(l.opts.Description), kong.Vars{"version": l.opts.Release}, l.opts.Vars,
		kong.DefaultEnvars(strings.ToUpper(l.opts.Name)), kong.Writers(l.opts.Stdout, l.opts.Stderr),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}), kong.Exit(func(int) { l.ended = true }),
		kong.WithBeforeReset(func() error { l.phase = Environment; return nil }),
		kong.WithBeforeResolve(l.openFile), kong.WithBeforeApply(l.noteMissing),
	)
	if err != nil {
		panic(err) // the target type is invalid
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

// visit calls do for each flag of a node and its descendants.
func visit(n *kong.Node, do func(*kong.Flag)) {
	for _, f := range n.Flags {
		do(f)
	}
	for _, child := range n.Children {
		visit(child, do)
	}
}

var unknownFlag = regexp.MustCompile(`^unknown flag (-[^ ,]+)`)

// dropUnknown records an unknown flag and removes it, so that the next pass finds further faults.
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
	l.unknown = append(l.unknown, text+": unknown flag"+didYouMean(strings.TrimLeft(m[1], "-"), "--", l.names()))
	return true
}

func (l *loader) isCommand(word string) bool {
	return slices.ContainsFunc(l.parser.Model.Leaves(false), func(n *kong.Node) bool {
		return slices.Contains(strings.Fields(n.Path()), word)
	})
}

// names returns the names of all flags of all commands.
func (l *loader) names() (names []string) {
	visit(l.parser.Model.Node, func(f *kong.Flag) { names = append(names, f.Name) })
	slices.Sort(names)
	return slices.Compact(names)
}

// openFile reads the file of --config, after the command line and the environment.
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

// resolve returns the value from the file unless the environment has one.
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

// noteMissing reports required flags without a value, because kong reports them only if there are no other faults.
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

// origin returns the source of a flag's value.
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

// check calls Check of a struct and of the structs embedded in it, by Go or by kong.
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
		f := v.Type().Field(i)
		if _, embedded := f.Tag.Lookup("embed"); f.IsExported() && (f.Anonymous || embedded) {
			errs = append(errs, check(v.Field(i)))
		}
	}
	return errors.Join(errs...)
}
