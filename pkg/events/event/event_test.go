package event_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"testing/fstest"

	"github.com/google/uuid"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
)

type thing struct {
	ID     uuid.UUID         `json:"id" format:"uuid"`
	Name   string            `json:"name" maxLength:"80"`
	Status string            `json:"status" enum:"new,done"`
	Due    jsontype.Date     `json:"due"`
	Seen   jsontype.Time     `json:"seen"`
	Parts  []part            `json:"parts"`
	Titles map[string]string `json:"titles"`
	Note   *string           `json:"note" nullable:"true"`
	Extra  string            `json:"extra,omitempty"`
}

type part struct {
	Count int64 `json:"count" minimum:"3"`
	Done  bool  `json:"done"`
}

var (
	created = event.New[thing]("thing.created", "A thing was made.").Type("things", "things")
	updated = event.WithChanges[thing]("thing.updated", "A thing was changed.").Type("things", "things")
)

func TestRegistryListsAllByName(t *testing.T) {
	t.Parallel()
	other := event.New[part]("part.created", "A part was made.").Type("parts", "parts")
	r := event.NewRegistry([]event.Type{updated, created}, nil, []event.Type{other})
	require.Equal(t, []event.Type{other, created, updated}, r.All())
	found, ok := r.Lookup("thing.updated")
	require.True(t, ok)
	require.Equal(t, updated, found)
	for _, name := range []string{"", "thing", "thing.*", "Thing.updated"} {
		_, ok = r.Lookup(name)
		require.False(t, ok, name)
	}
}

func TestRegistryRefusesTwins(t *testing.T) {
	t.Parallel()
	require.PanicsWithValue(t, "event thing.created is declared twice", func() {
		event.NewRegistry([]event.Type{created}, []event.Type{updated, created})
	})
}

func compiled(t *testing.T, typ event.Type) *jsonschema.Schema {
	t.Helper()
	raw, err := typ.Schema()
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	require.NoError(t, c.AddResource("event.json", doc))
	s, err := c.Compile("event.json")
	require.NoError(t, err)
	return s
}

// example gives the envelope of the golden example and its data, to be changed.
func example(t *testing.T, typ event.Type) (envelope, data map[string]any) {
	t.Helper()
	raw, err := typ.Example()
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &envelope))
	return envelope, envelope["data"].(map[string]any)
}

// A recorded envelope is the example of its event; others get one that is made up.
func TestRecordedExamples(t *testing.T) {
	t.Parallel()
	r := event.NewRegistry([]event.Type{created, updated})
	r.Recorded = fstest.MapFS{created.Name + ".example.json": {Data: []byte(`{"event":"recorded"}`)}}
	got, err := r.Example(created)
	require.NoError(t, err)
	require.JSONEq(t, `{"event":"recorded"}`, string(got))
	got, err = r.Example(updated)
	require.NoError(t, err)
	want, err := updated.Example()
	require.NoError(t, err)
	require.Equal(t, want, got)
	doc, err := r.AsyncAPI()
	require.NoError(t, err)
	require.Contains(t, string(doc), `"recorded"`)
}

func TestExamplesSatisfyTheirSchemas(t *testing.T) {
	t.Parallel()
	for _, typ := range []event.Type{created, updated} {
		envelope, data := example(t, typ)
		require.NoError(t, compiled(t, typ).Validate(envelope), typ.Name)
		require.Equal(t, typ.Name, envelope["event"])
		require.NotContains(t, data, "extra", "an example has what is always there")
		require.Equal(t, typ.Extra != nil, data["changedFields"] != nil)

		again, err := typ.Example()
		require.NoError(t, err)
		first, err := typ.Example()
		require.NoError(t, err)
		require.Equal(t, string(first), string(again))
	}
}

func TestSchemasRefuseWhatIsNotTheEvent(t *testing.T) {
	t.Parallel()
	schema := compiled(t, updated)
	for name, spoil := range map[string]func(envelope, data map[string]any){
		"another event":          func(e, _ map[string]any) { e["event"] = "thing.created" },
		"no company":             func(e, _ map[string]any) { delete(e, "companyId") },
		"a company that is none": func(e, _ map[string]any) { e["companyId"] = "acme" },
		"no data":                func(e, _ map[string]any) { delete(e, "data") },
		"no event id":            func(e, _ map[string]any) { delete(e, "eventId") },
		"no changed fields":      func(_, d map[string]any) { delete(d, "changedFields") },
		"a field is missing":     func(_, d map[string]any) { delete(d, "name") },
		"not of the enum":        func(_, d map[string]any) { d["status"] = "old" },
		"a day that is none":     func(_, d map[string]any) { d["due"] = "2026-02-30" },
		"below the minimum":      func(_, d map[string]any) { d["parts"].([]any)[0].(map[string]any)["count"] = 2 },
		"a number for a text":    func(_, d map[string]any) { d["name"] = 5 },
	} {
		envelope, data := example(t, updated)
		spoil(envelope, data)
		require.Error(t, schema.Validate(envelope), name)
	}
	for name, allow := range map[string]func(envelope, data map[string]any){
		"null where it may be":         func(_, d map[string]any) { d["note"] = nil },
		"a text where null may be":     func(_, d map[string]any) { d["note"] = "fragile" },
		"a new field of the record":    func(_, d map[string]any) { d["colour"] = "red" },
		"a new field of a part":        func(_, d map[string]any) { d["parts"].([]any)[0].(map[string]any)["colour"] = "red" },
		"a new field of the envelope":  func(e, _ map[string]any) { e["cell"] = "eu-1" },
		"the word system as the actor": func(e, _ map[string]any) { e["actorId"] = "system" },
	} {
		envelope, data := example(t, updated)
		allow(envelope, data)
		require.NoError(t, schema.Validate(envelope), name)
	}
}
