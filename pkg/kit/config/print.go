package config

import (
	"encoding"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"reflect"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"
)

// mask replaces a secret.
const mask = "xxxxx"

// masked replaces the secret parts of a value.
func masked(secret, text string) string {
	switch {
	case secret == "" || text == "":
		return text
	case secret != "url":
		return mask
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return mask
	}
	if query := u.Query(); query.Has("password") {
		query.Set("password", mask)
		u.RawQuery = query.Encode()
	}
	return u.Redacted()
}

// texts returns a value as it would be given to a flag: one text per element of a list, none for a nil pointer.
func texts(v reflect.Value) (out []string) {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	switch x := v.Interface().(type) {
	case time.Duration:
		return []string{duration(x)}
	case slog.Level:
		return []string{strings.ToLower(x.String())}
	case encoding.TextMarshaler:
		raw, err := x.MarshalText()
		if err != nil || v.IsZero() && v.Kind() == reflect.Array { // an id that is not set
			return []string{""}
		}
		return []string{string(raw)}
	}
	if v.Kind() == reflect.Slice {
		for i := range v.Len() {
			out = append(out, texts(v.Index(i))...)
		}
		return out
	}
	return []string{fmt.Sprint(v.Interface())}
}

// duration formats a duration without trailing zero units: 5m instead of 5m0s.
func duration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func value(f *kong.Flag, origin Origin) Value {
	return Value{
		Name: f.Name, Origin: origin, Reload: f.Tag.Get("reload") == "true", Same: f.Tag.Get("same") == "platform",
		texts: texts(f.Target), list: f.IsSlice(), text: f.Target.Kind() == reflect.String, secret: f.Tag.Get("secret"),
	}
}

// Print writes the effective settings as YAML, each with its origin and secrets masked. The output is valid input for
// --config, except for masked secrets, which are rejected.
func (l *Loaded) Print(w io.Writer) error {
	root := &yaml.Node{Kind: yaml.MappingNode}
	for _, v := range l.Values {
		root.Content = append(root.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: v.Name}, v.node())
	}
	enc := yaml.NewEncoder(w)
	enc.SetIndent(2)
	if err := enc.Encode(root); err != nil {
		return fmt.Errorf("print settings: %w", err)
	}
	return enc.Close()
}

func (v Value) node() *yaml.Node {
	scalar := func(text string) *yaml.Node {
		n := &yaml.Node{Kind: yaml.ScalarNode, Value: masked(v.secret, text)}
		if v.text || text == "" {
			n.Tag = "!!str"
		}
		return n
	}
	comment := v.Origin.String()
	if !v.list {
		text := ""
		if len(v.texts) > 0 {
			text = v.texts[0]
		}
		n := scalar(text)
		n.LineComment = comment
		return n
	}
	n := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle, LineComment: comment}
	for _, text := range v.texts {
		n.Content = append(n.Content, scalar(text))
	}
	return n
}
