package config

import (
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// lenient wraps another mapper. It records values that cannot be decoded and uses the default instead, so that
// the faults of all values are reported.
type lenient struct {
	loader *loader
	flag   *kong.Flag
	inner  kong.Mapper
}

// IsBoolFromValue reports whether the flag may be given without a value.
func (m *lenient) IsBoolFromValue(target reflect.Value) bool {
	switch b := m.inner.(type) {
	case kong.BoolMapperExt:
		return b.IsBoolFromValue(target)
	case kong.BoolMapper:
		return b.IsBool()
	}
	return false
}

// Decode implements kong.Mapper; it never fails.
func (m *lenient) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
	l, kind := m.loader, m.loader.phase
	switch kind {
	case Flag:
		l.given[m.flag] = true
	case Environment:
		if _, set := l.variable(m.flag); !set {
			kind = Default
		}
	case Default, File:
	}
	token := ctx.Scan.Peek()
	var err error
	if !m.IsBoolFromValue(target) && !token.IsValue() {
		err = errors.New("requires a value")
	} else if err = m.inner.Decode(ctx, target); err == nil && !m.allowed(target) {
		err = errors.New("is not an allowed value")
	}
	if err == nil {
		err = m.unmasked(target)
	}
	if err == nil {
		return nil
	}
	l.found = append(l.found, found{m.flag, kind, m.fault(token, err)})
	target.SetZero()
	if m.flag.HasDefault {
		return m.inner.Decode(&kong.DecodeContext{Value: ctx.Value, Scan: kong.ScanFromTokens(kong.Token{Type: kong.FlagValueToken, Value: m.flag.Default})}, target)
	}
	return nil
}

// allowed checks a value against the tag enum.
func (m *lenient) allowed(target reflect.Value) bool {
	if m.flag.Enum == "" {
		return true
	}
	for _, text := range texts(target) {
		if !slices.Contains(m.flag.EnumSlice(), text) {
			return false
		}
	}
	return true
}

var errMasked = errors.New("contains a secret masked by --print-config: set the secret itself, or use a file for it")

// unmasked rejects the mask that --print-config writes in place of a secret.
func (m *lenient) unmasked(target reflect.Value) error {
	secret := m.flag.Tag.Get("secret")
	for _, text := range texts(target) {
		if secret != "" && strings.Contains(text, mask) && masked(secret, text) == text {
			return errMasked
		}
	}
	return nil
}

func (m *lenient) fault(token kong.Token, err error) string {
	name := "--" + m.flag.Name
	switch {
	case !token.IsValue():
		return fmt.Sprintf("%s: requires a value: %s", name, m.flag.Help)
	case errors.Is(err, errMasked):
		return fmt.Sprintf("%s %s", name, err)
	case m.flag.Tag.Get("secret") != "":
		return fmt.Sprintf("%s: %s", name, m.rule(err))
	}
	return fmt.Sprintf("%s %q: %s", name, token.String(), m.rule(err))
}

// rule describes the valid values.
func (m *lenient) rule(err error) string {
	if m.flag.Enum != "" {
		return "must be " + oneOf(m.flag.EnumSlice())
	}
	t := m.flag.Target.Type()
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t {
	case reflect.TypeFor[time.Duration]():
		return "must be a duration such as 500ms, 30s or 5m"
	case reflect.TypeFor[[]time.Duration]():
		return "must be durations such as 5s,20s,80s"
	case reflect.TypeFor[slog.Level]():
		return "must be debug, info, warn or error"
	}
	if t.PkgPath() != "" {
		return err.Error() // custom types return a descriptive error
	}
	switch t.Kind() { //nolint:exhaustive // errors of other kinds are descriptive
	case reflect.Bool:
		return "must be true or false"
	case reflect.Int, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return fmt.Sprintf("must be an integer that fits in %d bits", t.Bits())
	case reflect.Float64:
		return "must be a number"
	}
	return err.Error()
}

func oneOf(values []string) string {
	if values = slices.Clone(values); values[0] == "" {
		values = append(values[1:], "empty")
	}
	return "one of " + strings.Join(values, ", ")
}
