package roles_test

import (
	"cmp"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

// api is one of the two APIs as a walk over its operations calls it.
type api struct {
	*promises

	schemas map[string]any
	ops     []httpapi.Op
	do      func(t *testing.T, method, path, body string, headers ...string) *rolestest.Reply
	at      func(op httpapi.Op) string
	of      func(op httpapi.Op) string // a body
}

// apis are both APIs with a record of each kind.
func apis(t *testing.T) []api {
	t.Helper()
	n := rolestest.NewNode(dbtest.OpenNew(t), rolestest.Alone())
	rolestest.StartRelay(t, n.DB, dbtest.Broker(t))
	r := fill(t, n)
	r.awaitEvent(t)
	r.id["{source}"], r.id["{externalId}"], r.id["{companyId}"] = "shop", "1", r.company.String()
	known := ofRecord(n)
	me := n.Operator(rolestest.WriterToken).In(r.company)
	bodies := &costs{t: t, r: r}
	sample := func(op httpapi.Op) string {
		_, body, _ := sampleOf(op)
		op.Path = strings.TrimPrefix(op.Path, inCompany)
		return bodies.body(op, body, 1)
	}
	return []api{
		{readPromises(t, descriptionFile), schemasOf(t, descriptionFile), n.API.Ops(), r.owner.Do, func(op httpapi.Op) string { return r.at(op, r.id[known[op.ID][0]]) }, sample},
		{readPromises(t, adminFile), schemasOf(t, adminFile), n.Admin.Ops(), me.Operator.Do, func(op httpapi.Op) string {
			s, _, _ := sampleOf(op)
			return r.at(op, r.id[cmp.Or(s.Entity, adminOfRecord[op.ID])])
		}, sample},
	}
}

// schemasOf are the schemas that a description names.
func schemasOf(t *testing.T, file string) map[string]any {
	t.Helper()
	components, _ := description(t, file)["components"].(map[string]any)
	schemas, _ := components["schemas"].(map[string]any)
	return schemas
}

const nul = "a\x00b"

// U+0000, which the database cannot store, is refused in values and in keys, wherever it is sent.
func TestNoOperationFailsForTheCharacterZero(t *testing.T) {
	t.Parallel()
	for _, a := range apis(t) {
		asked := 0
		for _, op := range a.ops {
			at := a.at(op)
			for _, query := range a.queries(op) {
				asked++
				got := a.do(t, op.Method, at+joined(at)+query, "")
				require.GreaterOrEqual(t, got.Status, 400, "%s?%s: %s", rolestest.Name(op), query, got.Raw)
				require.Less(t, got.Status, 500, "%s?%s: %s", rolestest.Name(op), query, got.Raw)
			}
			for _, body := range a.poisoned(t, op) {
				asked++
				got := a.do(t, op.Method, at, body)
				require.Less(t, got.Status, 500, "%s %s: %s", rolestest.Name(op), body, got.Raw)
				if strings.HasSuffix(op.Path, "/batch") {
					require.NotRegexp(t, `"status":(2|5)`, got.Raw, "%s %s", rolestest.Name(op), body)
					continue
				}
				require.GreaterOrEqual(t, got.Status, 400, "%s %s: %s", rolestest.Name(op), body, got.Raw)
			}
		}
		require.Greater(t, asked, len(a.ops))
	}
}

// A parameter that is sent twice is never cut to its first value: lists join, others are refused with their name.
func TestNoOperationDropsARepeatedParameter(t *testing.T) {
	t.Parallel()
	for _, a := range apis(t) {
		for _, op := range a.ops {
			at := a.at(op)
			for _, p := range a.parameters(op) {
				name := p["name"].(string)
				once, twice := at+joined(at)+name+"=x,y", at+joined(at)+name+"=x&"+name+"=y"
				if p["style"] == "deepObject" {
					once, twice = "", at+joined(at)+name+"[x]=1&"+name+"[x]=2"
				}
				body := ""
				if op.Mutating() {
					body = rolestest.AnyBody(op)
				}
				got := a.do(t, op.Method, twice, body)
				if schema := p["schema"].(map[string]any); schema["type"] == "array" {
					require.Equal(t, saysOf(a.do(t, op.Method, once, body)), saysOf(got), "%s?%s", op.ID, name)
					continue
				}
				require.Equal(t, 400, got.Status, "%s?%s: %s", op.ID, name, got.Raw)
				require.Contains(t, got.Raw, `"code":"CONFLICT"`, "%s?%s", op.ID, name)
				require.Contains(t, got.Raw, "send it once", "%s?%s", op.ID, name)
			}
		}
	}
}

// saysOf is what an answer says of its request.
func saysOf(r *rolestest.Reply) []any { return []any{r.Status, r.Body["errors"], r.Body["total"]} }

func joined(path string) string {
	if strings.Contains(path, "?") {
		return "&"
	}
	return "?"
}

// queries have the character in one parameter each.
func (a api) queries(op httpapi.Op) (all []string) {
	for _, p := range a.parameters(op) {
		name, value := p["name"].(string), url.QueryEscape(nul)
		all = append(all, name+"="+value)
		if p["style"] == "deepObject" {
			all = append(all, name+"["+value+"]=x", name+"[x]="+value, name+"[%ff]=x")
		}
	}
	return all
}

// parameters are those of the query.
func (a api) parameters(op httpapi.Op) (all []map[string]any) {
	list, _ := a.described(op)["parameters"].([]any)
	for _, p := range list {
		if p := p.(map[string]any); p["in"] == "query" {
			all = append(all, p)
		}
	}
	return all
}

func (a api) described(op httpapi.Op) map[string]any { return a.promises.ops[rolestest.Name(op)] }

// poisoned are the sample body of an operation with the character in one place each.
func (a api) poisoned(t *testing.T, op httpapi.Op) (all []string) {
	t.Helper()
	content, _ := a.described(op)["requestBody"].(map[string]any)
	if content == nil || op.Uploads != nil {
		return nil
	}
	media, _ := content["content"].(map[string]any)["application/json"].(map[string]any)
	var valid map[string]any
	if json.Unmarshal([]byte(a.of(op)), &valid) != nil || valid == nil {
		valid = map[string]any{}
	}
	p := poison{schemas: a.schemas, body: valid, take: func(raw []byte) { all = append(all, string(raw)) }, t: t}
	p.object(media["schema"].(map[string]any), valid, 0)
	return all
}

// poison puts the character into a body, in one place after the other, by its schema.
type poison struct {
	schemas map[string]any
	body    map[string]any
	take    func(raw []byte)
	t       *testing.T
}

// in sets a field of an object that belongs to the body, and hands the body over.
func (p poison) in(object map[string]any, name string, v any) {
	before, had := object[name]
	object[name] = v
	raw, err := json.Marshal(p.body)
	require.NoError(p.t, err)
	p.take(raw)
	if delete(object, name); had {
		object[name] = before
	}
}

func (p poison) resolve(s map[string]any) map[string]any {
	for s["$ref"] != nil {
		s = p.schemas[strings.TrimPrefix(s["$ref"].(string), "#/components/schemas/")].(map[string]any)
	}
	return s
}

// deepest is how many levels of a body are looked at.
const deepest = 4

func (p poison) object(s, object map[string]any, depth int) {
	s = p.resolve(s)
	if depth > deepest {
		return
	}
	for _, kind := range []string{"anyOf", "oneOf"} {
		some, _ := s[kind].([]any)
		for _, one := range some {
			p.object(one.(map[string]any), object, depth)
		}
	}
	properties, _ := s["properties"].(map[string]any)
	for name, of := range properties {
		p.property(p.resolve(of.(map[string]any)), object, name, depth)
	}
}

func (p poison) property(s, object map[string]any, name string, depth int) {
	kinds, _ := json.Marshal(s["type"])
	below := func(kind string) bool { return strings.Contains(string(kinds), `"`+kind+`"`) }
	switch {
	case below("string"):
		p.in(object, name, nul)
	case below("array"):
		item := map[string]any{}
		if list, ok := object[name].([]any); ok && len(list) > 0 {
			item, _ = list[0].(map[string]any)
		}
		items, _ := s["items"].(map[string]any)
		p.below(object, name, []any{item}, func() { p.object(items, item, depth+1) })
	case s["properties"] != nil || s["anyOf"] != nil:
		inner, _ := object[name].(map[string]any)
		if inner == nil {
			inner = map[string]any{}
		}
		p.below(object, name, inner, func() { p.object(s, inner, depth+1) })
	case below("object"), s["type"] == nil:
		values, _ := s["additionalProperties"].(map[string]any)
		value := any("x")
		if values = p.resolve(values); values["type"] == "object" {
			value = map[string]any{}
		}
		p.in(object, name, map[string]any{nul: value})
		p.in(object, name, map[string]any{"x": nul})
		p.in(object, name, map[string]any{"de": map[string]any{nul: "x"}})
	}
}

// below works within a part of the body.
func (p poison) below(object map[string]any, name string, part any, work func()) {
	before, had := object[name]
	object[name] = part
	work()
	if delete(object, name); had {
		object[name] = before
	}
}
