package binding

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

// Body is the JSON body of a request.
type Body struct {
	Raw   []byte
	Items bool // see [Binder.Items]

	parsed bool
	tree   any
	err    error
}

// Parsed reports whether Tree is known already.
func (b *Body) Parsed() bool { return b.parsed }

// Tree returns the parsed body. The first call parses it.
func (b *Body) Tree() (any, error) {
	if !b.parsed {
		b.tree, b.err = (&parser{raw: b.Raw, items: b.Items}).parse()
		b.parsed = true
	}
	return b.tree, b.err
}

// Handling is what becomes of unknown names; see docs/reference/conventions.md#unknown-fields.
type Handling int

// Ways to handle unknown names.
const (
	Usual   Handling = iota // query parameters are faults, fields of the body are ignored
	Strict                  // both are faults
	Lenient                 // both are ignored
)

// Bind validates and fills an input and reports all faults at once. It returns the names that it ignored.
func (b *Binder) Bind(from Source, body *Body, unknown Handling, in reflect.Value) (ignored []string, err error) {
	c := &checker{reg: b.reg}
	b.bindParams(from, c, in)
	if unknown != Lenient {
		b.rejectParams(c)
	}
	if b.body == nil {
		c.noBody("", body)
	} else if err := b.bindBody(body, c, in); err != nil {
		return nil, err
	}
	if unknown == Strict {
		c.rejectUnknown()
	}
	return append(c.ignored, c.unknown...), c.faults.Err()
}

func (b *Binder) bindBody(body *Body, c *checker, in reflect.Value) error {
	target := in.FieldByIndex(b.body)
	if len(body.Raw) == 0 {
		switch {
		case !b.bodyOpt:
			c.faults.Add(bodyField, apierr.Required, "is required: send a JSON object")
			return nil
		case target.Kind() == reflect.Pointer:
			return nil
		}
		*body = Body{Raw: []byte("{}")} // with its defaults
	}
	tree, err := body.Tree()
	if f, invalid := apierr.As(err); invalid {
		c.faults = append(c.faults, f.Fields...)
		return nil
	}
	tree = c.value("", b.schema, tree)
	for i, f := range c.faults {
		if f.Field == "" {
			c.faults[i].Field, c.faults[i].Message = bodyField, bodyField+f.Message
		}
	}
	if len(c.faults) > 0 {
		return nil
	}
	if target.Kind() == reflect.Pointer {
		target.Set(reflect.New(target.Type().Elem()))
		target = target.Elem()
	}
	into := target.Addr().Interface()
	if of, ok := into.(Items); ok {
		bodies := takeBodies(tree)
		defer func() { of.SetBodies(bodies) }()
	}
	return c.decode("", tree, into)
}

// noBody ignores the fields of a body that nothing takes, and one that is no object as a whole. Null and {} say nothing.
func (c *checker) noBody(path string, body *Body) {
	if len(bytes.TrimSpace(body.Raw)) == 0 {
		return
	}
	tree, err := body.Tree()
	fields, isObject := tree.(map[string]any)
	switch {
	case err == nil && tree == nil:
	case err != nil || !isObject:
		c.ignore(cmp.Or(path, bodyField))
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		c.ignore(join(path, name))
	}
}

// BindNone is [BindPart] for a part that must not be there.
func BindNone(path string, raw []byte, strict bool) (ignored []string, err error) {
	c := &checker{}
	c.noBody(path, &Body{Raw: raw})
	ignored = c.ignored
	if strict {
		c.rejectUnknown()
	}
	return ignored, c.faults.Err()
}

// BindPart validates a part of a body that has a schema of its own, such as an item of a batch, and decodes it. Its fields are named
// below path; faults are those that the caller has found in it. It returns the unknown fields, also those of a strict request.
func BindPart(reg huma.Registry, path string, s *huma.Schema, tree any, faults apierr.Fields, strict bool, into any) (ignored []string, err error) {
	c := &checker{reg: reg, faults: faults}
	tree = c.value(path, s, tree)
	ignored = c.ignored
	if strict {
		c.rejectUnknown()
	}
	if err := c.faults.Err(); err != nil {
		return ignored, err
	}
	if err := c.decode(path, tree, into); err != nil {
		return ignored, err
	}
	return ignored, c.faults.Err()
}

// decode decodes what was validated, and not what was sent: the decoder matches names case-insensitively.
func (c *checker) decode(path string, tree, into any) error {
	raw, err := json.Marshal(tree)
	if err != nil {
		return fmt.Errorf("encode normalized body: %w", err)
	}
	var wrong *json.UnmarshalTypeError
	switch err := json.Unmarshal(raw, into); {
	case errors.As(err, &wrong):
		c.faults.Add(join(path, wrong.Field), apierr.Type, "has the wrong type")
	case err != nil:
		c.faults.Add(cmp.Or(path, bodyField), apierr.Format, "%s", err.Error())
	}
	return nil
}
