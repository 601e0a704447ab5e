package roles_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/schemas"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

const (
	committedSchemas = "../../schemas"
	writeExamples    = "TRADEGRID_WRITE_EXAMPLES" // set by make examples
	maxExample       = 6 << 10                    // bytes of an answer, without white space
)

// exampleRecorder keeps an example of each operation and status from the requests of a walk. It takes the first one, and a later one
// that says more: an answer that is no empty list, a request that has a body.
type exampleRecorder struct {
	*promises

	folder  string // of the examples of the API
	kept    map[string]map[int]recorded
	events  map[string][]byte // envelopes by the name of the event
	another func(path string) []byte
}

type recorded struct {
	path, body, media string
	answer            []byte
}

func newExampleRecorder(p *promises, folder string, another func(path string) []byte) *exampleRecorder {
	return &exampleRecorder{promises: p, folder: folder, kept: map[string]map[int]recorded{}, events: map[string][]byte{}, another: another}
}

// record takes the answer to a request; path has its query.
func (r *exampleRecorder) record(op, path, body string, status int, media string, answer []byte) {
	if status >= 300 && status != http.StatusConflict {
		return
	}
	id, _ := r.ops[op]["operationId"].(string)
	e := recorded{path: path, body: body, media: media, answer: answer}
	before, ok := r.kept[id][status]
	if ok && before.says() >= e.says() {
		return
	}
	if short := r.shortPage(op, path); short != "" && status == http.StatusOK && entries(answer) > 2 {
		e.path, e.answer = short, r.another(short)
	}
	if r.kept[id] == nil {
		r.kept[id] = map[int]recorded{}
	}
	r.kept[id][status] = e
}

func (e recorded) says() (n int) {
	if e.body != "" {
		n++
	}
	if entries(e.answer) != 0 {
		n++
	}
	return n
}

// entries counts the items of a list; it is negative for anything else.
func entries(answer []byte) int {
	var list []json.RawMessage
	var page struct{ Items, Resources []json.RawMessage }
	if json.Unmarshal(answer, &list) == nil {
		return len(list)
	}
	if json.Unmarshal(answer, &page) == nil && page.Items != nil {
		return len(page.Items)
	}
	return -1
}

// shortPage is the address of a page with two records; "" if the operation has no pages.
func (r *exampleRecorder) shortPage(op, path string) string {
	params, _ := r.ops[op]["parameters"].([]any)
	plain, query, _ := strings.Cut(path, "?")
	q, err := url.ParseQuery(query)
	if err != nil || !slices.ContainsFunc(params, func(p any) bool { return p.(map[string]any)["name"] == "pageSize" }) {
		return ""
	}
	q.Del("limit") // its other name
	q.Set("pageSize", "2")
	return plain + "?" + q.Encode()
}

// event takes an envelope.
func (r *exampleRecorder) event(name string, raw []byte) {
	if r.events[name] == nil {
		r.events[name] = raw
	}
}

// settle holds what was recorded against the committed examples, or writes it in their place.
func (r *exampleRecorder) settle(t *testing.T) {
	t.Helper()
	want := map[string][]byte{}
	for tag, ids := range r.byTag(t) {
		var all object
		for _, id := range slices.Sorted(slices.Values(ids)) {
			all = append(all, member{id, r.examplesOf(t, id)})
		}
		want[filepath.Join(r.folder, strings.ReplaceAll(strings.ToLower(tag), " ", "-")+".json")] = indent(t, all)
	}
	for name, raw := range r.events {
		s := newStabilizer()
		v, err := readOrdered(raw)
		require.NoError(t, err)
		want[filepath.Join(schemas.EventExamples, name+".example.json")] = indent(t, s.value("", shorten(v)))
	}
	if os.Getenv(writeExamples) != "" {
		r.write(t, want)
		return
	}
	for name, content := range want {
		committed, err := os.ReadFile(filepath.Join(committedSchemas, name))
		require.NoError(t, err, "there is no example: run make examples")
		require.Equal(t, shapeIn(t, content), shapeIn(t, committed), "%s is no longer what a request gets: run make examples and review the change", name)
	}
	for _, path := range r.committed(t) {
		require.Contains(t, want, path, "the example is of no operation: run make examples")
	}
}

// byTag lists the operations of each tag.
func (r *exampleRecorder) byTag(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for op, described := range r.ops {
		id, _ := described["operationId"].(string)
		require.NotEmpty(t, r.kept[id], "%s: no request of the walk succeeds", op)
		tag, _ := described["tags"].([]any)[0].(string)
		all[tag] = append(all[tag], id)
	}
	return all
}

// examplesOf are the examples of an operation, by status.
func (r *exampleRecorder) examplesOf(t *testing.T, id string) (all []any) {
	t.Helper()
	for _, status := range slices.Sorted(maps.Keys(r.kept[id])) {
		e, s := r.kept[id][status], newStabilizer()
		fields := object{{"path", s.text(e.path)}}
		switch media := rolestest.MediaOf(e.body); {
		case e.body == "":
		case media == "application/json":
			body := ordered(t, []byte(e.body))
			if len(e.body) > maxExample {
				fields, body = append(fields, member{"shortened", true}), shorten(body)
			}
			fields = append(fields, member{"body", s.value("", body)})
		case strings.HasPrefix(media, "text/"):
			fields = append(fields, member{"bodyMedia", media}, member{"body", s.text(e.body)})
		}
		fields = append(fields, member{"status", json.Number(strconv.Itoa(status))})
		switch {
		case strings.HasPrefix(e.media, "image/"):
			fields = append(fields, member{"media", e.media})
		case e.media != "" && !strings.HasPrefix(e.media, "application/json"):
			lines := strings.SplitAfterN(string(e.answer), "\n", 4)
			fields = append(fields, member{"media", strings.TrimSpace(strings.Split(e.media, ";")[0])}, member{"answer", s.text(strings.Join(lines[:min(len(lines), 3)], ""))})
		case len(e.answer) > 0:
			answer := s.value("", shorten(ordered(t, e.answer)))
			raw, err := json.Marshal(answer)
			require.NoError(t, err)
			require.LessOrEqual(t, len(raw), maxExample, "%s: the example is too large; let the walk get a smaller one", id)
			fields = append(fields, member{"answer", answer})
		}
		all = append(all, fields)
	}
	return all
}

func (r *exampleRecorder) committed(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(committedSchemas, r.folder, "*.json"))
	require.NoError(t, err)
	for i := range files {
		files[i], err = filepath.Rel(committedSchemas, files[i])
		require.NoError(t, err)
	}
	return files
}

func (r *exampleRecorder) write(t *testing.T, want map[string][]byte) {
	t.Helper()
	for name, content := range want {
		require.NoError(t, os.WriteFile(filepath.Join(committedSchemas, name), content, 0o644))
	}
	for _, path := range r.committed(t) {
		if want[path] == nil {
			require.NoError(t, os.Remove(filepath.Join(committedSchemas, path)))
		}
	}
}

// shapeIn is what has to stay in a file of examples: addresses, bodies of requests and statuses as they are, of answers and
// events the keys and types.
func shapeIn(t *testing.T, content []byte) string {
	t.Helper()
	v := ordered(t, content)
	var out strings.Builder
	for _, op := range v.(object) {
		all, ok := op.value.([]any)
		if !ok {
			return shapeOf(v) // of an event
		}
		out.WriteString(op.key + "\n")
		for _, e := range all {
			for _, m := range e.(object) {
				raw, err := json.Marshal(m.value)
				require.NoError(t, err)
				if m.key == "answer" {
					raw = []byte(shapeOf(m.value))
				}
				out.WriteString("  " + m.key + " " + string(raw) + "\n")
			}
		}
	}
	return out.String()
}

func ordered(t *testing.T, raw []byte) any {
	t.Helper()
	v, err := readOrdered(raw)
	require.NoError(t, err, "%s", raw)
	return v
}

func indent(t *testing.T, v any) []byte {
	t.Helper()
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	require.NoError(t, e.Encode(v))
	return out.Bytes()
}

// Every operation shows its recorded examples.
func TestDescriptionShowsTheExamples(t *testing.T) {
	t.Parallel()
	for base, api := range rolestest.BothAPIs() {
		file := descriptionFile
		if base == httpapi.AdminBasePath {
			file = adminFile
		}
		p := readPromises(t, file)
		for _, op := range api.Ops() {
			all, err := api.RecordedExamples(op.ID)
			require.NoError(t, err)
			require.NotEmpty(t, all, "%s has no example: run make examples", op.ID)
			for _, e := range all {
				name := strconv.Itoa(e.Status)
				if e.Answer != nil {
					shown := p.at(op.Method, op.Path, "responses", name, "content", cmp.Or(e.Media, "application/json"), "examples", name, "value")
					require.NotNil(t, shown, "%s has no example of the answer %s: run make schemas", op.ID, name)
				}
				if e.Body != nil {
					shown := p.at(op.Method, op.Path, "requestBody", "content", cmp.Or(e.BodyMedia, "application/json"), "examples", name, "value")
					require.NotNil(t, shown, "%s has no example of the request for %s: run make schemas", op.ID, name)
				}
				if e.Media == "" && e.Answer != nil {
					require.NoError(t, p.checkAnswer(op.Method+" "+op.Path, e.Status, e.Answer), op.ID)
				}
			}
		}
	}
}

// at follows names through the description of an operation.
func (p *promises) at(method, path string, names ...string) any {
	var v any = p.ops[method+" "+path]
	for _, name := range names {
		fields, _ := v.(map[string]any)
		v = fields[name]
	}
	return v
}
