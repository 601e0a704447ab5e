package eventcatalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/delivery/trigger"
)

// trigger makes an event happen, by the requests of an integration, made as the person.
func (pages *Pages) trigger(ctx context.Context, q *web.Request) (web.Answer, error) {
	t, ok := pages.Events.Lookup(q.HTTP.PathValue("event"))
	if !ok {
		return web.Answer{}, web.NoPage()
	}
	if !q.Company.IsTest {
		return web.Answer{}, web.Refusal(http.StatusConflict, "error.not_test")
	}
	err := trigger.Check(t)
	if err == nil {
		err = trigger.New(sender(q), q.Now).Cause(ctx, t)
	}
	if err == nil {
		return web.Go(q.Path("/event-catalog/" + t.Name + "?done=triggered")), nil
	}
	known, refused := apierr.As(err)
	if lack := (*trigger.LackError)(nil); !errors.As(err, &lack) && trigger.Check(t) == nil && (!refused || known.Status >= http.StatusInternalServerError) {
		return web.Answer{}, err
	}
	a, err := pages.page(ctx, q, err)
	return a.Refuse(), err
}

// sender calls the operations of the API that requests name.
func sender(q *web.Request) trigger.Sender {
	return func(ctx context.Context, method, path string, body []byte) (int, json.RawMessage, error) {
		id, params, ok := operationAt(q, method, path)
		if !ok {
			return http.StatusNotFound, nil, fmt.Errorf("%s %s: there is no such operation", method, path)
		}
		in := web.Input{Path: params}
		if len(body) > 0 {
			in.Body = json.RawMessage(body)
		}
		raw, err := web.Call[web.JSON](ctx, q, id, in)
		if known, ok := apierr.As(err); ok {
			return known.Status, nil, err
		}
		if err != nil {
			return 0, nil, err
		}
		return q.Operation(id).Status, raw, nil
	}
}

// operationAt finds the operation at a path, with the values of its parameters. Of two that match, the one with fewer parameters is
// meant, as in the API.
func operationAt(q *web.Request, method, path string) (id string, params map[string]string, ok bool) {
	for _, op := range q.Operations() {
		if op.Method != method {
			continue
		}
		found, match := paramsOf(op.Path, path)
		if match && (!ok || len(found) < len(params)) {
			id, params, ok = op.ID, found, true
		}
	}
	return id, params, ok
}

func paramsOf(pattern, path string) (map[string]string, bool) {
	want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(want) != len(got) {
		return nil, false
	}
	params := map[string]string{}
	for i, part := range want {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			params[strings.TrimSuffix(name, "}")] = got[i]
		} else if part != got[i] {
			return nil, false
		}
	}
	return params, true
}
