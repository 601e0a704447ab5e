// Package trigger makes real events happen, by the requests that an integration would send: those of the event, and before them
// those that make what it needs. Events declare their requests; who calls this package sends them, over HTTP or in the same process.
package trigger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/event"
)

// Test is the event of test messages. It goes to one subscription and is not in the event log.
const Test = "webhook.test"

// Sender sends a request of the external API. A request that is refused is an error with the status of the refusal.
type Sender func(ctx context.Context, method, path string, body []byte) (status int, answer json.RawMessage, err error)

// Requests are the requests of an event as method and path, with what stands for ids in braces; what those need comes before them.
// None = it cannot be triggered.
func Requests(t event.Type) (all []string) {
	for _, r := range t.Requests {
		if name, alone := strings.CutPrefix(r, "$"); alone {
			r = things[name].request
			if otherwise := things[name].otherwise; otherwise != "" {
				r = otherwise
			}
		}
		method, rest, _ := strings.Cut(r, " ")
		path, _, _ := strings.Cut(rest, " ")
		all = append(all, method+" "+placeholder.ReplaceAllStringFunc(path, func(name string) string { return "{" + name[1:] + "}" }))
	}
	return all
}

// Made is a change that a run has made.
type Made struct {
	Method, Path string
	ID           string // of the record; "" if the answer has none
}

// Run makes one event happen.
type Run struct {
	Each func(Made) // called after each change; nil = nobody listens

	send  Sender
	text  string            // of this run alone, in what it makes
	names map[string]string // what stands for each
	made  []Made
}

// New returns a run, which [Run.Cause] carries out.
func New(send Sender, now time.Time) *Run {
	day, text := now.UTC().AddDate(1, 0, 0).Format(time.DateOnly), uuid.NewString()[:8]
	return &Run{send: send, text: text, names: map[string]string{"run": text, "start": day + "T10:00:00Z", "later": day + "T11:00:00Z"}}
}

// Made are the changes that the run has made so far, in order.
func (r *Run) Made() []Made { return r.made }

// Concerns reports whether an event, as JSON, names something that was made here.
func (r *Run) Concerns(event []byte) bool {
	names := []string{r.text}
	for _, m := range r.made {
		if m.ID != "" {
			names = append(names, m.ID)
		}
	}
	return slices.ContainsFunc(names, func(name string) bool { return strings.Contains(string(event), name) })
}

// Check refuses an event that cannot be triggered.
func Check(t event.Type) error {
	if len(t.Requests) == 0 {
		return fmt.Errorf("%s cannot be triggered: %s", t.Name, t.Raiser)
	}
	return nil
}

// Cause makes the event happen, and whatever it needs first. What was made before a request fails stays.
func (r *Run) Cause(ctx context.Context, t event.Type) error {
	if err := Check(t); err != nil {
		return err
	}
	for _, text := range t.Requests {
		if _, _, err := r.request(ctx, text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}

var placeholder = regexp.MustCompile(`\$[a-zA-Z]+`)

// request sends a request that is written as method, path and body; a name alone is only made. What its names stand for is made
// first.
func (r *Run) request(ctx context.Context, text string) (status int, answer json.RawMessage, err error) {
	for _, name := range placeholder.FindAllString(text, -1) {
		if err := r.make(ctx, name[1:]); err != nil {
			return 0, nil, err
		}
	}
	method, rest, ok := strings.Cut(placeholder.ReplaceAllStringFunc(text, func(name string) string { return r.names[name[1:]] }), " ")
	if !ok {
		return 0, nil, nil
	}
	path, body, _ := strings.Cut(rest, " ")
	status, answer, err = r.send(ctx, method, path, []byte(body))
	if err != nil || method == http.MethodGet {
		return status, answer, err
	}
	var made struct{ ID string }
	_ = json.Unmarshal(answer, &made) // some answers have no id
	r.made = append(r.made, Made{method, path, made.ID})
	if r.Each != nil {
		r.Each(r.made[len(r.made)-1])
	}
	return status, answer, nil
}

// make makes what a name stands for, once.
func (r *Run) make(ctx context.Context, name string) error {
	if r.names[name] != "" {
		return nil
	}
	thing, ok := things[name]
	if !ok {
		return errors.New("nothing is known of $" + name)
	}
	status, answer, err := r.request(ctx, thing.request)
	if err != nil && status == http.StatusNotFound && thing.otherwise != "" {
		_, answer, err = r.request(ctx, thing.otherwise)
	}
	if err != nil {
		return err
	}
	if thing.pick == nil {
		thing.pick = func(answer any) any { return valueAt(answer, "id") }
	}
	var v any
	if err := json.Unmarshal(answer, &v); err != nil {
		return fmt.Errorf("read the answer of the API: %w", err)
	}
	if r.names[name], ok = thing.pick(v).(string); !ok {
		return &LackError{thing.what}
	}
	return nil
}

// LackError is the error of a company that lacks something which the event needs and no request makes.
type LackError struct{ What string }

// Error implements error.
func (e *LackError) Error() string {
	return fmt.Sprintf("the company has no %s, which the event needs", e.What)
}
