package web

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
)

// visit is an operation with a field of each kind.
func visit(method string) httpapi.Operation {
	text := httpapi.Shape{Type: "string"}
	return httpapi.Operation{Op: httpapi.Op{Method: method}, Body: &httpapi.Shape{Type: "object", Fields: []httpapi.Shape{
		{Name: "name", Type: "string", Required: true},
		{Name: "note", Type: "string", Nullable: true},
		{Name: "startAt", Type: "string", Format: "date-time"},
		{Name: "seats", Type: "integer"},
		{Name: "open", Type: "boolean"},
		{Name: "state", Type: "string", Enum: []string{"in_work", "done"}},
		{Name: "tags", Type: "array", Item: &text},
		{Name: "lines", Type: "array", Item: &httpapi.Shape{Type: "object"}},
		{Name: "address", Type: "object", Fields: []httpapi.Shape{{Name: "city", Type: "string"}}},
	}}}
}

func asker(t *testing.T) *Request {
	t.Helper()
	all, err := readTexts()
	require.NoError(t, err)
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	return &Request{app: &App{texts: all}, lang: english, Zone: berlin}
}

const visited = `{"name":"Cut","note":"soon","startAt":"2026-07-01T08:30:00.000Z","seats":2,"open":true,"state":"in_work","tags":["a","b"],"lines":[{"qty":1}],"address":{"city":"Rome"}}`

// What a form shows of a record is what it sends back, if nobody types anything.
func TestFormsSendBackWhatTheyShow(t *testing.T) {
	t.Parallel()
	q := asker(t)
	f := Fields{Op: visit(http.MethodPatch), Value: json.RawMessage(visited)}
	form := url.Values{}
	types := map[string]string{}
	for _, field := range q.FieldsOf(f) {
		form.Set(field.Name, field.Value)
		types[field.Name] = field.Type
	}
	require.Equal(t, "2026-07-01T10:30", form.Get("startAt"), "in the zone of the company")
	require.Equal(t, map[string]string{
		"name": "", "note": "", "startAt": "datetime-local", "seats": "number", "open": "select", "state": "select", "tags": "textarea", "lines": "json", "address.city": "",
	}, types)
	raw, err := json.Marshal(q.BodyOf(f, form))
	require.NoError(t, err)
	var want, got map[string]any
	require.NoError(t, json.Unmarshal([]byte(visited), &want))
	require.NoError(t, json.Unmarshal(raw, &got))
	require.Equal(t, "2026-07-01T08:30:00Z", got["startAt"])
	delete(want, "startAt")
	delete(got, "startAt")
	require.Equal(t, want, got)
}

// A form that changes a record sends what was changed. If the record has changed meanwhile, it shows what it is now, and both where both
// have changed something.
func TestFormsSendWhatWasChanged(t *testing.T) {
	t.Parallel()
	q := asker(t)
	q.Company.Currency = "EUR"
	amount := float64(money.MaxAmount)
	op := visit(http.MethodPatch)
	op.Body.Fields = append(op.Body.Fields, httpapi.Shape{Name: "price", Type: "integer", Maximum: &amount})
	f := Fields{Op: op, Value: json.RawMessage(`{"name":"Cut","note":"soon","seats":2,"tags":["a","b"],"price":1249}`)}
	form := url.Values{}
	for _, field := range q.FieldsOf(f) {
		form.Set(field.Name, field.Value)
		form.Set("was."+field.Name, *field.Was)
	}
	require.Equal(t, "12.49", form.Get("price"))
	form.Set("tags", "a\r\nb") // as a browser sends it
	require.Empty(t, q.BodyOf(f, form))
	form.Set("note", "late")
	form.Set("seats", "3")
	form.Set("price", "12.50")
	require.Equal(t, map[string]any{"note": "late", "seats": json.Number("3"), "price": int64(1250)}, q.BodyOf(f, form))

	f.Typed, f.Err = form, apierr.New(http.StatusPreconditionFailed, "PRECONDITION_FAILED", "")
	f.Value = json.RawMessage(`{"name":"Shave","note":"never","seats":2,"tags":["a","b"],"price":1250}`)
	faults := map[string]string{}
	for _, field := range q.FieldsOf(f) {
		form.Set(field.Name, field.Value)
		form.Set("was."+field.Name, *field.Was)
		if field.Fault != "" {
			faults[field.Name] = field.Fault
		}
	}
	require.Equal(t, map[string]string{"note": "Somebody has changed it to “never” meanwhile. Save again to keep yours."}, faults)
	require.Equal(t, "Shave", form.Get("name"), "theirs, where only they have changed something")
	require.Equal(t, map[string]any{"note": "late", "seats": json.Number("3")}, q.BodyOf(f, form))
}

func TestEmptyFields(t *testing.T) {
	t.Parallel()
	q := asker(t)
	empty := url.Values{"name": {""}, "note": {""}, "seats": {""}, "open": {""}, "state": {""}, "tags": {" \r\n"}, "address.city": {""}}
	require.Empty(t, q.BodyOf(Fields{Op: visit(http.MethodPost)}, empty), "a form that creates leaves out what is empty")
	require.Equal(t, map[string]any{"name": "", "note": nil, "tags": []any{}, "address": map[string]any{"city": ""}}, q.BodyOf(Fields{Op: visit(http.MethodPatch)}, empty))
	require.Empty(t, q.BodyOf(Fields{Op: visit(http.MethodPatch)}, url.Values{}), "what the form has not is not changed")
}

// What cannot be read is left to the API, which says what is wrong.
func TestUnreadableFieldsAreSentAsTyped(t *testing.T) {
	t.Parallel()
	q := asker(t)
	typed := url.Values{"seats": {"two"}, "lines": {"[{"}, "startAt": {"tomorrow"}, "tags": {"a\r\n\r\n b "}}
	f := Fields{Op: visit(http.MethodPost), Only: []string{"startAt", "seats", "lines", "tags"}}
	require.Equal(t, map[string]any{"seats": "two", "lines": "[{", "startAt": "tomorrow", "tags": []string{"a", "b"}}, q.BodyOf(f, typed))
	f.Typed, f.Err = typed, apierr.InvalidField("seats", apierr.Type, "must be an integer")
	fields := q.FieldsOf(f)
	require.Equal(t, []string{"startAt", "seats", "lines", "tags"}, []string{fields[0].Name, fields[1].Name, fields[2].Name, fields[3].Name}, "in the order that is asked for")
	require.Equal(t, "two", fields[1].Value, "what was typed stays")
	require.Equal(t, "Must be an integer", fields[1].Fault)
	require.True(t, Faulty(fields))
}

// A text is written as it stands within a sentence. Codes are the same in every language.
func TestValuesAreWords(t *testing.T) {
	t.Parallel()
	q := asker(t)
	for value, want := range map[string][2]string{
		"in_work": {"In work", "in work"}, "no_show": {"No-show", "no-show"}, "sbp": {"SBP", "SBP"}, "GET": {"GET", "GET"}, "4xx": {"4xx", "4xx"}, "image/png": {"image/png", "image/png"},
		"orders:read": {"orders:read", "orders:read"}, "": {"", ""},
	} {
		require.Equal(t, want, [2]string{q.Word(value), q.InlineWord(value)}, value)
	}
	q.lang = "de"
	require.Equal(t, "Gewonnen", q.Word("won"))
	require.Equal(t, "gewonnen", q.InlineWord("won"))
	require.Equal(t, "Unit price", q.Label("unit_price"), "words of the name where no language has a text")
	require.Equal(t, "Preis", q.Label("unitPrice"))
}

func TestNamesAreWords(t *testing.T) {
	t.Parallel()
	require.Equal(t, "Unit price", words("unitPrice"))
	require.Equal(t, "In work", words("in_work"))
	require.Equal(t, "Address city", words("address.city"))
}

// Where a field has choices, an array is boxes to check. What is chosen and is no choice any more is kept.
func TestArraysWithChoicesAreBoxes(t *testing.T) {
	t.Parallel()
	q := asker(t)
	f := Fields{
		Op: visit(http.MethodPatch), Only: []string{"tags"}, Value: json.RawMessage(`{"tags":["b","gone"]}`), Pick: map[string][]Option{"tags": {{Value: "a", Text: "First"}, {Value: "b", Text: "Second"}}},
	}
	field := q.FieldsOf(f)[0]
	require.Equal(t, "checks", field.Type)
	require.Equal(t, []Option{{Value: "a", Text: "First"}, {Value: "b", Text: "Second", Selected: true}, {Value: "gone", Text: "gone", Selected: true}}, field.Options)
	require.Equal(t, map[string]any{"tags": []string{"a", "gone"}}, q.BodyOf(f, url.Values{"tags": {"", "a", "gone"}}))
	require.Equal(t, map[string]any{"tags": []any{}}, q.BodyOf(f, url.Values{"tags": {""}}), "no box is checked")
}

// A value that is no choice any more, or beyond those that are offered, is not lost when somebody saves the form.
func TestChoicesKeepWhatIsChosen(t *testing.T) {
	t.Parallel()
	q := asker(t)
	f := Fields{Op: visit(http.MethodPatch), Only: []string{"note"}, Value: json.RawMessage(`{"note":"far"}`), Pick: map[string][]Option{"note": {{Value: "near", Text: "Near"}}}}
	require.Equal(t, []Option{{Text: "–"}, {Value: "near", Text: "Near"}, {Value: "far", Text: "far", Selected: true}}, q.FieldsOf(f)[0].Options)
}

func TestConflictsStandBesideTheirField(t *testing.T) {
	t.Parallel()
	err := apierr.StateConflict("UNIT_CODE_TAKEN", "code: another unit has this code")
	q := asker(t)
	require.Equal(t, "Another unit has this code. Choose another code.", q.FaultOf(err, "code"))
	require.Empty(t, q.FaultOf(err, "name"))
	require.Empty(t, q.FaultOf(apierr.StateConflict("UNIT_IN_USE", "the unit is in use"), "code"))
}
