package catalog_test

import (
	"context"
	"fmt"
	"net/url"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/catalog"
)

// console makes what the external API only reads, as the console of a company does.
type console struct {
	t *testing.T
	d *db.DB
	*catalog.Service
	by access.Caller
}

func setupConsole(t *testing.T) (*apitest.Client, console) {
	t.Helper()
	d := dbtest.Open(t)
	s := catalog.New(config(d))
	c := apitest.New(t, d, s.Register).Company()
	return c, console{t, d, s, access.Caller{Principal: c.Principal}}
}

func (a console) attribute(in catalog.AttributeFields) catalog.AttributeDefinition {
	a.t.Helper()
	d, err := write(a.t, a.d, func(ctx context.Context, tx *db.Tx) (catalog.AttributeDefinition, error) {
		return a.CreateAttribute(ctx, tx, a.by, in)
	})
	require.NoError(a.t, err)
	return d
}

func (a console) option(attribute uuid.UUID, label string, order int32) uuid.UUID {
	a.t.Helper()
	o, err := write(a.t, a.d, func(ctx context.Context, tx *db.Tx) (catalog.AttributeOption, error) {
		return a.CreateAttributeOption(ctx, tx, a.by, attribute, catalog.AttributeOptionFields{Label: label, SortOrder: order})
	})
	require.NoError(a.t, err)
	return o.ID
}

// traits are attributes of all types.
type traits struct {
	text, number, boolean, one, many, other uuid.UUID
	red, green, blue                        uuid.UUID // options of one
	a, b, c                                 uuid.UUID // options of many
}

func (a console) traits() (x traits) {
	a.t.Helper()
	kg, code := "kg", "weight"
	x.text = a.attribute(catalog.AttributeFields{Name: "Material", Type: "text", SortOrder: 5}).ID
	x.number = a.attribute(catalog.AttributeFields{Name: "Weight", Code: &code, Type: "number", Unit: &kg, SortOrder: 4}).ID
	x.boolean = a.attribute(catalog.AttributeFields{Name: "Washable", Type: "boolean", SortOrder: 3}).ID
	x.one = a.attribute(catalog.AttributeFields{Name: "Colour", Type: "select", SortOrder: 2}).ID
	x.many = a.attribute(catalog.AttributeFields{Name: "Uses", Type: "multiselect", SortOrder: 1}).ID
	x.other = a.attribute(catalog.AttributeFields{Name: "Other", Type: "select"}).ID
	x.red, x.green, x.blue = a.option(x.one, "Red", 3), a.option(x.one, "Green", 2), a.option(x.one, "Blue", 1)
	x.a, x.b, x.c = a.option(x.many, "A", 2), a.option(x.many, "B", 1), a.option(x.many, "C", 3)
	return x
}

func TestAttributeValues(t *testing.T) {
	t.Parallel()
	c, a := setupConsole(t)
	x := a.traits()
	p := create(t, c, object{"name": "Shirt", "price": 1, "attributes": []object{
		{"attributeId": x.text, "valueText": " Cotton "},
		{"attributeId": x.number, "valueNumber": 1.250},
		{"attributeId": x.boolean, "valueBool": false},
		{"attributeId": x.one, "optionIds": []any{x.red}, "valueText": nil},
		{"attributeId": x.many, "optionIds": []any{x.a, x.b}},
	}}).OK(201)
	path := "/catalog/products/" + p["id"].(string)
	want := fmt.Sprint([]object{
		{
			"attributeId": x.many, "attributeName": "Uses", "attributeCode": nil, "type": "multiselect", "valueText": nil, "valueNumber": nil, "valueBool": nil, "unit": nil, "displayValue": "B, A",
			"options": []object{{"optionId": x.b, "label": "B"}, {"optionId": x.a, "label": "A"}},
		},
		{
			"attributeId": x.one, "attributeName": "Colour", "attributeCode": nil, "type": "select", "valueText": nil, "valueNumber": nil, "valueBool": nil, "unit": nil, "displayValue": "Red",
			"options": []object{{"optionId": x.red, "label": "Red"}},
		},
		{"attributeId": x.boolean, "attributeName": "Washable", "attributeCode": nil, "type": "boolean", "valueText": nil, "valueNumber": nil, "valueBool": false, "unit": nil, "displayValue": "no", "options": []object{}},
		{"attributeId": x.number, "attributeName": "Weight", "attributeCode": "weight", "type": "number", "valueText": nil, "valueNumber": 1.25, "valueBool": nil, "unit": "kg", "displayValue": "1.25 kg", "options": []object{}},
		{"attributeId": x.text, "attributeName": "Material", "attributeCode": nil, "type": "text", "valueText": "Cotton", "valueNumber": nil, "valueBool": nil, "unit": nil, "displayValue": "Cotton", "options": []object{}},
	})
	require.Equal(t, want, fmt.Sprint(p["attributeValues"]))
	require.Equal(t, want, fmt.Sprint(c.Do(t, "GET", path, nil).OK(200)["attributeValues"]))
	require.Equal(t, want, fmt.Sprint(c.Do(t, "GET", "/catalog/products", nil).OK(200)["items"].([]any)[0].(object)["attributeValues"]))
	raised := events(t, c)
	require.Equal(t, want, fmt.Sprint(raised[0].Data["attributeValues"]))

	same := c.Do(t, "PATCH", path, object{"attributes": []object{
		{"attributeId": x.many, "optionIds": []any{x.b, x.a}},
		{"attributeId": x.text, "valueText": "Cotton"},
		{"attributeId": x.number, "valueNumber": 1.25},
		{"attributeId": x.boolean, "valueBool": false},
		{"attributeId": x.one, "optionId": x.red},
	}}).OK(200)
	require.Equal(t, want, fmt.Sprint(same["attributeValues"]))
	require.Len(t, events(t, c), 1, "the same values in another order are no change")
	renamed := c.Do(t, "PATCH", path, `{"price":2}`).OK(200)
	require.Equal(t, want, fmt.Sprint(renamed["attributeValues"]), "what was not sent stays")
	raised = events(t, c)
	require.Equal(t, want, fmt.Sprint(raised[1].Data["attributeValues"]))
	require.Equal(t, []any{"price"}, raised[1].Data["changedFields"])

	fewer := c.Do(t, "PATCH", path, object{"attributes": []object{{"attributeId": x.one, "optionId": x.blue}}}).OK(200)
	require.Len(t, fewer["attributeValues"], 1)
	require.Equal(t, []any{"attributeValues"}, events(t, c)[2].Data["changedFields"])
	for _, option := range []uuid.UUID{x.red, x.blue} {
		n := len(c.Do(t, "GET", "/catalog/products?attr["+x.one.String()+"]="+option.String(), nil).OK(200)["items"].([]any))
		require.Equal(t, option == x.blue, n == 1, "the filter follows the change")
	}
	hidden := c.Do(t, "DELETE", path, nil).OK(200)
	require.Len(t, hidden["attributeValues"], 1)
	require.Len(t, events(t, c)[3].Data["attributeValues"], 1)
	require.Equal(t, []any{}, c.Do(t, "PATCH", path, `{"attributes":[]}`).OK(200)["attributeValues"])
}

func TestAttributeValueFaults(t *testing.T) {
	t.Parallel()
	c, a := setupConsole(t)
	x := a.traits()
	foreign := func() uuid.UUID { _, a := setupConsole(t); return a.traits().text }()
	fifty := make([]any, 51)
	for i := range fifty {
		fifty[i] = uuid.New()
	}
	for what, row := range map[string]struct {
		value object
		want  map[string]string
	}{
		"text without a value":     {object{"attributeId": x.text}, map[string]string{"valueText": "REQUIRED"}},
		"an empty text":            {object{"attributeId": x.text, "valueText": " "}, map[string]string{"valueText": "REQUIRED"}},
		"text with a number":       {object{"attributeId": x.text, "valueNumber": 1}, map[string]string{"valueText": "REQUIRED", "valueNumber": "CONFLICT"}},
		"text and more":            {object{"attributeId": x.text, "valueText": "a", "valueBool": true, "optionId": x.red}, map[string]string{"valueBool": "CONFLICT", "optionId": "CONFLICT"}},
		"number as text":           {object{"attributeId": x.number, "valueText": "1"}, map[string]string{"valueNumber": "REQUIRED", "valueText": "CONFLICT"}},
		"too many decimals":        {object{"attributeId": x.number, "valueNumber": 1.0001}, map[string]string{"valueNumber": "STEP"}},
		"boolean as text":          {object{"attributeId": x.boolean, "valueText": "true"}, map[string]string{"valueBool": "REQUIRED", "valueText": "CONFLICT"}},
		"a null boolean":           {object{"attributeId": x.boolean, "valueBool": nil}, map[string]string{"valueBool": "REQUIRED"}},
		"select without an option": {object{"attributeId": x.one}, map[string]string{"optionIds": "REQUIRED"}},
		"select with none":         {object{"attributeId": x.one, "optionIds": []any{}}, map[string]string{"optionIds": "MIN"}},
		"select with two":          {object{"attributeId": x.one, "optionIds": []any{x.red, x.blue}}, map[string]string{"optionIds": "MAX"}},
		"select in both ways":      {object{"attributeId": x.one, "optionIds": []any{x.red}, "optionId": x.red}, map[string]string{"optionId": "CONFLICT"}},
		"an option twice":          {object{"attributeId": x.many, "optionIds": []any{x.a, x.b, x.a}}, map[string]string{"optionIds[2]": "CONFLICT"}},
		"more than 50 options":     {object{"attributeId": x.many, "optionIds": fifty}, map[string]string{"optionIds": "MAX"}},
		"no attribute":             {object{"valueText": "x"}, map[string]string{"attributeId": "REQUIRED"}},
	} {
		got := create(t, c, object{"name": "n", "price": 1, "attributes": []object{row.value}}).Fault(400, "VALIDATION_ERROR")
		faults := map[string]string{}
		for _, e := range got["errors"].([]any) {
			e := e.(object)
			faults[e["field"].(string)] = e["code"].(string)
		}
		want := map[string]string{}
		for field, code := range row.want {
			want["attributes[0]."+field] = code
		}
		require.Equal(t, want, faults, what)
	}
	twice := create(t, c, object{"name": "n", "price": 1, "attributes": []object{{"attributeId": x.text, "valueText": "a"}, {"attributeId": x.text, "valueText": "b"}}}).Fault(400, "VALIDATION_ERROR")
	require.Equal(t, "attributes[1].attributeId", twice["errors"].([]any)[0].(object)["field"])

	for _, id := range []uuid.UUID{uuid.New(), foreign} {
		missing := create(t, c, object{"name": "n", "price": 1, "attributes": []object{{"attributeId": x.text, "valueText": "a"}, {"attributeId": id, "valueText": "a"}}}).Fault(404, "ATTRIBUTE_NOT_FOUND")
		require.Equal(t, object{"field": "attributes[1].attributeId", "id": id.String()}, missing["meta"])
	}
	for field, value := range map[string]object{
		"attributes[0].optionIds[1]": {"attributeId": x.many, "optionIds": []any{x.a, x.red}},
		"attributes[0].optionId":     {"attributeId": x.one, "optionId": x.a},
	} {
		missing := create(t, c, object{"name": "n", "price": 1, "attributes": []object{value}}).Fault(404, "ATTRIBUTE_OPTION_NOT_FOUND")
		require.Equal(t, field, missing["meta"].(object)["field"], "an option of another attribute is none of this one")
	}
	require.Empty(t, events(t, c))
}

func TestRequiredAttributes(t *testing.T) {
	t.Parallel()
	c, a := setupConsole(t)
	root := newCategory(t, c, "root", nil)
	child := newCategory(t, c, "child", root)
	other := newCategory(t, c, "other", nil)
	everywhere := a.attribute(catalog.AttributeFields{Name: "Origin", Type: "text", IsRequired: true}).ID
	below := a.attribute(catalog.AttributeFields{Name: "Size", Type: "number", IsRequired: true, CategoryIDs: []uuid.UUID{uuid.MustParse(root)}}).ID
	a.attribute(catalog.AttributeFields{Name: "Axis", Type: "text", IsRequired: true, IsVariant: true})
	origin, size := object{"attributeId": everywhere, "valueText": "x"}, object{"attributeId": below, "valueNumber": 1}
	for _, row := range []struct {
		category any
		sent     []object
		missing  int
	}{
		{nil, nil, 1},
		{nil, []object{origin}, 0},
		{other, []object{origin}, 0},
		{other, []object{size}, 1},
		{root, []object{origin}, 1},
		{child, []object{origin}, 1},
		{child, nil, 2},
		{child, []object{size, origin}, 0},
	} {
		got := create(t, c, object{"name": "n", "price": 1, "categoryId": row.category, "attributes": row.sent})
		if row.sent == nil {
			got = create(t, c, object{"name": "n", "price": 1, "categoryId": row.category})
		}
		if row.missing == 0 {
			p := got.OK(201)
			c.Do(t, "PATCH", "/catalog/products/"+p["id"].(string), `{"attributes":[]}`).OK(200)
			continue
		}
		faults := got.Fault(400, "VALIDATION_ERROR")["errors"].([]any)
		require.Len(t, faults, row.missing)
		require.Equal(t, "attributes REQUIRED", fmt.Sprint(faults[0].(object)["field"], " ", faults[0].(object)["code"]))
	}
}

func attributeNames(t *testing.T, c *apitest.Client, query string) (names []string) {
	t.Helper()
	got := c.Do(t, "GET", "/catalog/attributes"+query, nil)
	require.Equal(t, 200, got.Status, "%s", got.Body)
	var all []object
	got.Decode(&all)
	for _, d := range all {
		names = append(names, d["name"].(string))
	}
	return names
}

func TestListAttributes(t *testing.T) {
	t.Parallel()
	c, a := setupConsole(t)
	require.Empty(t, attributeNames(t, c, ""))
	root := newCategory(t, c, "root", nil)
	child := newCategory(t, c, "child", root)
	grandchild := newCategory(t, c, "grandchild", child)
	other := newCategory(t, c, "other", nil)
	bound := func(name string, order int32, primary bool, categories ...string) {
		var ids []uuid.UUID
		for _, id := range categories {
			ids = append(ids, uuid.MustParse(id))
		}
		a.attribute(catalog.AttributeFields{Name: name, Type: "text", CategoryIDs: ids, SortOrder: order, IsPrimary: primary})
	}
	bound("global b", 2, true)
	bound("global a", 2, false)
	bound("child", 1, true, child)
	bound("both", 3, false, root, other)
	for query, want := range map[string][]string{
		"":                                   {"child", "global a", "global b", "both"},
		"?categoryId=null":                   {"global a", "global b"},
		"?categoryId=" + root:                {"global a", "global b", "both"},
		"?categoryId=" + grandchild:          {"child", "global a", "global b", "both"},
		"?categoryId=" + other:               {"global a", "global b", "both"},
		"?categoryId=" + noID:                {"global a", "global b"},
		"?primaryOnly=true":                  {"child", "global b"},
		"?primaryOnly=false&categoryId=null": {"global a", "global b"},
		"?primaryOnly=1&categoryId=" + root:  {"global b"},
	} {
		require.Equal(t, want, attributeNames(t, c, query), query)
	}
	for _, query := range []string{"?categoryId=x", "?categoryId=", "?primaryOnly=maybe"} {
		c.Do(t, "GET", "/catalog/attributes"+query, nil).Fault(400, "VALIDATION_ERROR")
	}
	stranger, _ := setupConsole(t)
	require.Empty(t, attributeNames(t, stranger, ""))
}

func TestAttributeDefinitions(t *testing.T) {
	t.Parallel()
	c, a := setupConsole(t)
	x := a.traits()
	code := "weight"
	create := func(in catalog.AttributeFields) error {
		_, err := write(t, a.d, func(ctx context.Context, tx *db.Tx) (catalog.AttributeDefinition, error) {
			return a.CreateAttribute(ctx, tx, a.by, in)
		})
		return err
	}
	require.True(t, apierr.Is(create(catalog.AttributeFields{Name: "n", Type: "text", Code: &code}), "ATTRIBUTE_CODE_TAKEN"))
	require.True(t, apierr.Is(create(catalog.AttributeFields{Name: "n", Type: "text", CategoryIDs: []uuid.UUID{uuid.New()}}), "CATEGORY_NOT_FOUND"))
	update := func(id uuid.UUID, v catalog.AttributeFields, names ...string) (catalog.AttributeDefinition, error) {
		return write(t, a.d, func(ctx context.Context, tx *db.Tx) (catalog.AttributeDefinition, error) {
			return a.UpdateAttribute(ctx, tx, a.by, id, record.PatchOf(v, names...))
		})
	}
	_, err := update(x.text, catalog.AttributeFields{Type: "number"}, "type")
	require.True(t, apierr.Is(err, "VALIDATION_ERROR"), err)
	changed, err := update(x.one, catalog.AttributeFields{Name: "Color", IsVariant: true}, "name", "isVariant")
	require.NoError(t, err)
	require.Len(t, changed.Options, 3)
	require.EqualValues(t, 2, changed.Version)
	read, err := a.Attribute(t.Context(), a.by, x.one)
	require.NoError(t, err)
	require.Equal(t, changed, read)
	require.Equal(t, []string{"Blue", "Green", "Red"}, []string{read.Options[0].Label, read.Options[1].Label, read.Options[2].Label})

	_, err = write(t, a.d, func(ctx context.Context, tx *db.Tx) (catalog.AttributeOption, error) {
		return a.CreateAttributeOption(ctx, tx, a.by, x.text, catalog.AttributeOptionFields{Label: "x"})
	})
	require.True(t, apierr.Is(err, "VALIDATION_ERROR"), "a text has no options: %v", err)
	option, err := write(t, a.d, func(ctx context.Context, tx *db.Tx) (catalog.AttributeOption, error) {
		return a.UpdateAttributeOption(ctx, tx, a.by, x.one, x.red, record.PatchOf(catalog.AttributeOptionFields{Label: "Crimson"}, "label"))
	})
	require.NoError(t, err)
	require.Equal(t, "Crimson", option.Label)
	_, err = a.AttributeOption(t.Context(), a.by, x.many, x.red)
	require.True(t, apierr.Is(err, "ATTRIBUTE_OPTION_NOT_FOUND"), err)

	remove := func(id uuid.UUID) error {
		return a.d.RunTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error { return a.DeleteAttribute(ctx, tx, a.by, id) })
	}
	removeOption := func(attribute, id uuid.UUID) error {
		return a.d.RunTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
			return a.DeleteAttributeOption(ctx, tx, a.by, attribute, id)
		})
	}
	p := c.Do(t, "POST", "/catalog/products", object{"name": "n", "price": 1, "attributes": []object{{"attributeId": x.one, "optionId": x.red}}}).OK(201)
	require.Equal(t, "Crimson", p["attributeValues"].([]any)[0].(object)["displayValue"], "names are those of now")
	require.True(t, apierr.Is(remove(x.one), "ATTRIBUTE_IN_USE"))
	require.True(t, apierr.Is(removeOption(x.one, x.red), "ATTRIBUTE_OPTION_IN_USE"))
	require.True(t, apierr.Is(removeOption(x.many, x.blue), "ATTRIBUTE_OPTION_NOT_FOUND"))
	require.NoError(t, removeOption(x.one, x.blue))
	c.Do(t, "PATCH", "/catalog/products/"+p["id"].(string), `{"attributes":[]}`).OK(200)
	require.NoError(t, remove(x.one))
	require.True(t, apierr.Is(remove(x.one), "ATTRIBUTE_NOT_FOUND"))
	require.NotContains(t, attributeNames(t, c, ""), "Color")
}

// A product takes a value of an attribute while the attribute is deleted: one of them is refused.
func TestDeletedAttributeRace(t *testing.T) {
	t.Parallel()
	c, a := setupConsole(t)
	for range 5 {
		id := a.attribute(catalog.AttributeFields{Name: "n", Type: "text"}).ID
		var made *apitest.Response
		var removed error
		together(2, func(i int) {
			if i == 0 {
				made = create(t, c, object{"name": "n", "price": 1, "attributes": []object{{"attributeId": id, "valueText": "x"}}})
				return
			}
			removed = a.d.RunTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error { return a.DeleteAttribute(ctx, tx, a.by, id) })
		})
		if removed == nil {
			made.Fault(404, "ATTRIBUTE_NOT_FOUND")
			continue
		}
		require.True(t, apierr.Is(removed, "ATTRIBUTE_IN_USE"), removed)
		made.OK(201)
	}
}

func TestAttributeFilters(t *testing.T) {
	t.Parallel()
	c, a := setupConsole(t)
	x := a.traits()
	long := func(end string) string { return fmt.Sprintf("%0300d%s", 1, end) }
	product := func(name string, values ...object) {
		create(t, c, object{"name": name, "price": 1, "attributes": append([]object{}, values...)}).OK(201)
	}
	product("1", object{"attributeId": x.text, "valueText": "Oak"}, object{"attributeId": x.number, "valueNumber": 10}, object{"attributeId": x.boolean, "valueBool": true})
	product("2", object{"attributeId": x.text, "valueText": "Oak, red"}, object{"attributeId": x.number, "valueNumber": -2.5}, object{"attributeId": x.one, "optionId": x.red})
	product("3", object{"attributeId": x.text, "valueText": long("a")}, object{"attributeId": x.number, "valueNumber": 10.001}, object{"attributeId": x.many, "optionIds": []any{x.a, x.b}})
	product("4", object{"attributeId": x.boolean, "valueBool": false}, object{"attributeId": x.one, "optionId": x.green}, object{"attributeId": x.many, "optionIds": []any{x.b, x.c}})
	product("5")
	names := func(filters ...any) (names string) {
		v := url.Values{"sort": {"name"}}
		for i := 0; i < len(filters); i += 2 {
			v.Set(fmt.Sprintf("attr[%s]", filters[i]), fmt.Sprint(filters[i+1]))
		}
		got := c.Do(t, "GET", "/catalog/products?"+v.Encode(), nil)
		body := got.OK(200)
		for _, p := range body["items"].([]any) {
			names += p.(object)["name"].(string)
		}
		require.EqualValues(t, len(names), body["total"])
		require.Empty(t, got.Header.Get("X-Ignored-Fields"))
		return names
	}
	for _, row := range []struct {
		filters []any
		want    string
	}{
		{[]any{x.text, "Oak"}, "1"},
		{[]any{x.text, " oAK "}, "1"},
		{[]any{x.text, "Oak, red"}, "2"},
		{[]any{x.text, "Oa"}, ""},
		{[]any{x.text, long("a")}, "3"},
		{[]any{x.text, long("b")}, ""},
		{[]any{x.text, "%"}, ""},
		{[]any{x.number, "10"}, "1"},
		{[]any{x.number, "10.0"}, "1"},
		{[]any{x.number, "10:10.001"}, "13"},
		{[]any{x.number, ":10"}, "12"},
		{[]any{x.number, "10.001:"}, "3"},
		{[]any{x.number, "-2.5:-2.5"}, "2"},
		{[]any{x.number, "-100:100"}, "123"},
		{[]any{x.number, "11:20"}, ""},
		{[]any{x.boolean, "true"}, "1"},
		{[]any{x.boolean, "0"}, "4"},
		{[]any{x.one, x.red}, "2"},
		{[]any{x.one, fmt.Sprint(x.red, ",", x.green)}, "24"},
		{[]any{x.one, x.blue}, ""},
		{[]any{x.many, x.b}, "34"},
		{[]any{x.many, fmt.Sprint(x.a, ", ", x.b)}, "34"},
		{[]any{x.other, a.option(x.other, "o", 1)}, ""},
		{[]any{x.text, "Oak", x.boolean, "true"}, "1"},
		{[]any{x.text, "Oak", x.boolean, "false"}, ""},
		{[]any{x.many, x.b, x.one, x.green, x.boolean, "false"}, "4"},
	} {
		require.Equal(t, row.want, names(row.filters...), "%v", row.filters)
	}

	for query, field := range map[string]string{
		"attr[" + uuid.NewString() + "]=x":  "",
		"attr[x]=1":                         "attr[x]",
		"attr[]=1":                          "attr[]",
		"attr=1":                            "attr",
		"attr=":                             "attr",
		"attr[" + x.text.String() + "=1":    "",
		"attr[" + x.text.String() + "]=":    "",
		"attr[" + x.text.String() + "]=%20": "",
		"attr[" + x.text.String() + "]=%00": "",
		"attr[" + x.text.String() + "]=a&attr[" + x.text.String() + "]=b": "",
		"attr[" + x.number.String() + "]=abc":                             "",
		"attr[" + x.number.String() + "]=1:2:3":                           "",
		"attr[" + x.number.String() + "]=2:1":                             "",
		"attr[" + x.number.String() + "]=:":                               "",
		"attr[" + x.number.String() + "]=1.0001":                          "",
		"attr[" + x.boolean.String() + "]=yes":                            "",
		"attr[" + x.one.String() + "]=red":                                "",
		"attr[" + x.one.String() + "]=" + uuid.NewString():                "",
		"attr[" + x.one.String() + "]=" + x.a.String():                    "",
		"attr[" + x.many.String() + "]=" + x.a.String() + ",":             "",
	} {
		fault := c.Do(t, "GET", "/catalog/products?"+query, nil).Fault(400, "VALIDATION_ERROR")
		if field != "" {
			require.Equal(t, field, fault["errors"].([]any)[0].(object)["field"], query)
		}
	}
}
