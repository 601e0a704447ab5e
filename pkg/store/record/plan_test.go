package record_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

type inner struct {
	A int `json:"a"`
}

type thing struct {
	record.Key
	Fields
	Balance  int64    `json:"balance" db:",insert"`
	Computed string   `json:"computed" db:"-"`
	PartIDs  []string `json:"-"`
	record.Meta
}

// Fields are what clients set.
type Fields struct {
	Name     string            `json:"name" required:"true" minLength:"1" search:"text"`
	Phone    *string           `json:"phone" search:"phone"`
	Position *string           `json:"position"`
	Tags     []string          `json:"tags"`
	Names    map[string]string `json:"names"`
	Parts    []inner           `json:"parts"`
	Due      *jsontype.Time    `json:"due"`
	Limit    int64             `json:"limitValue" null:"zero"`
}

func ptr[T any](v T) *T { return &v }

func TestColumnsComeFromFields(t *testing.T) {
	t.Parallel()
	p := record.PlanOf[thing]()
	require.Equal(t,
		`t.id, t.company_id, t.name, t.phone, t."position", t.tags, t.names, t.parts, t.due, t.limit_value, t.balance, t.part_ids, t.version, t.created_at, t.updated_at, t.ev_pos`,
		p.SelectList("t."))
	require.Len(t, p.Targets(&thing{}), 16)
	own := p.Own()
	require.Len(t, own, 10)
	require.True(t, own[8].InsertOnly, "balance")
	texts, phones := p.SearchFields(&thing{Fields: Fields{Name: "n", Phone: ptr("1")}})
	require.Equal(t, []string{"n"}, texts)
	require.Equal(t, []string{"1"}, phones)
}

func TestPlansRefuseMistakes(t *testing.T) {
	t.Parallel()
	type column struct {
		A string `json:"a"`
		B string `json:"b" db:"a"`
	}
	type hidden struct {
		a string `db:"a"` //nolint:unused // the mistake
	}
	type misspelt struct {
		A string `json:"a" maxLenght:"3"`
	}
	type pointer struct {
		*inner
	}
	require.PanicsWithValue(t, "record_test.column has the column a twice", func() { record.PlanOf[column]() })
	require.PanicsWithValue(t, "record_test.hidden.a has a column but is not exported", func() { record.PlanOf[hidden]() })
	require.Panics(t, func() { record.PlanOf[misspelt]() })
	require.Panics(t, func() { record.PlanOf[pointer]() })
	require.Panics(t, func() { record.PlanOf[int]() })
}

func TestPatchChangesOnlyWhatWasSent(t *testing.T) {
	t.Parallel()
	old := Fields{Name: "old", Phone: ptr("1"), Tags: []string{"a", "b"}, Names: map[string]string{"de": "x", "en": "y"}, Parts: []inner{{1}, {2}}, Limit: 5}
	before, err := json.Marshal(old)
	require.NoError(t, err)
	now := old
	var p record.Patch[Fields]
	require.NoError(t, json.Unmarshal([]byte(`{"phone":null,"tags":["c"],"names":{"fr":"z"},"parts":[{"a":3}],"limitValue":null}`), &p))
	p.Apply(&now)
	require.Equal(t, Fields{Name: "old", Tags: []string{"c"}, Names: map[string]string{"fr": "z"}, Parts: []inner{{3}}}, now)
	unchanged, err := json.Marshal(old)
	require.NoError(t, err)
	require.Equal(t, string(before), string(unchanged), "the state before shares nothing that was written through")
	require.True(t, p.Sent(&p.Value.Phone))
	require.False(t, p.Sent(&p.Value.Name))
	require.Panics(t, func() { p.Sent(&now.Name) })

	now = old
	record.PatchOf(Fields{Name: "new"}, "name").Apply(&now)
	require.Equal(t, "new", now.Name)
	require.Equal(t, old.Tags, now.Tags)
	require.Panics(t, func() { record.PatchOf(Fields{}, "nome") })
}

func TestNamesAndValuesOfFields(t *testing.T) {
	t.Parallel()
	var in record.Patch[Fields]
	require.NoError(t, json.Unmarshal([]byte(`{"tags":["a"],"phone":null,"unknown":1}`), &in))
	require.Equal(t, []string{"phone", "tags"}, in.Names(), "in the order of the fields, also those that are null")
	require.Empty(t, record.Patch[Fields]{}.Names())
	p, v := record.PlanOf[thing](), thing{Fields: Fields{Name: "n", Limit: 7}, Computed: "c"}
	require.Equal(t, "n", p.Value(&v, "name"))
	require.Equal(t, "c", p.Value(&v, "computed"), "also what has no column")
	require.Equal(t, int64(7), p.Value(&v, "limitValue"))
	require.Panics(t, func() { p.Value(&v, "nome") })
}

func TestSnapshotsFindWhatChanged(t *testing.T) {
	t.Parallel()
	p := record.PlanOf[thing]()
	at := jsontype.At(time.Date(2026, 1, 2, 3, 4, 5, 6000, time.FixedZone("", 7200)))
	v := thing{Fields: Fields{Name: "n", Phone: ptr("1"), Tags: []string{"a"}, Names: map[string]string{}, Parts: []inner{{1}}, Due: &at}, PartIDs: []string{"p"}}
	snapshot := p.Snapshot(&v)
	same := v
	same.Due = ptr(jsontype.Time(time.Time(at).In(time.FixedZone("", -3600))))
	same.Phone = ptr("1")
	same.Computed, same.Version = "x", 7
	changed, _ := snapshot.Changes(&same)
	require.False(t, changed, "an equal instant, an equal text behind another pointer, computed fields and meta")

	same.Due = ptr(jsontype.Time(time.Time(at).Truncate(time.Millisecond)))
	changed, _ = snapshot.Changes(&same)
	require.False(t, changed, "an instant as clients read it")
	same.Due = ptr(jsontype.Time(time.Time(at).Add(time.Millisecond)))
	changed, _ = snapshot.Changes(&same)
	require.True(t, changed, "the next instant that clients can tell")

	*v.Phone, v.Tags[0], v.Names["de"], v.Parts[0].A = "2", "b", "x", 9
	changed, names := snapshot.Changes(&v)
	require.True(t, changed)
	require.Equal(t, []string{"phone", "tags", "names", "parts"}, names, "also what was written through pointers and into arrays")

	hidden := same
	hidden.PartIDs = []string{"q"}
	hidden.Due = nil
	changed, names = snapshot.Changes(&hidden)
	require.True(t, changed)
	require.Equal(t, []string{"due"}, append([]string{}, names[len(names)-1:]...))
}

func TestNormaliseTrimsAndEmpties(t *testing.T) {
	t.Parallel()
	v := thing{Fields: Fields{Name: " n ", Phone: ptr("  "), Position: ptr(" p")}}
	given := v.Position
	record.PlanOf[thing]().Normalise(&v)
	require.Equal(t, "n", v.Name)
	require.Nil(t, v.Phone)
	require.Equal(t, "p", *v.Position)
	require.Equal(t, " p", *given, "what the caller holds is left alone")
	require.Equal(t, []string{}, v.Tags)
	require.NotNil(t, v.Names)
	require.Equal(t, []inner{}, v.Parts)
}
