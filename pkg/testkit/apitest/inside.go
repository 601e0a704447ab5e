package apitest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
)

// Inside calls the operation that a request would reach as somebody whom this process has let in, and returns its answer. target is the
// path and the query below the root of the API.
func Inside(ctx context.Context, api *httpapi.API, by httpapi.InternalCaller, method, target string, body any) (answer json.RawMessage, err error) {
	u, err := url.Parse(target)
	if err != nil {
		return nil, fmt.Errorf("parse target: %w", err)
	}
	for _, op := range api.Ops() {
		if path, ok := parameters(op.Path, u.Path); ok && op.Method == method {
			err := api.Call(ctx, by, op.ID, httpapi.Input{Path: path, Query: u.Query(), Body: body}, &answer)
			return answer, err
		}
	}
	return nil, fmt.Errorf("no operation for %s %s", method, target)
}

// parameters are those of a path that a pattern such as /things/{id} matches. Of several patterns, APIs register the one without
// parameters first.
func parameters(pattern, path string) (map[string]string, bool) {
	names, values := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(names) != len(values) {
		return nil, false
	}
	found := map[string]string{}
	for i, name := range names {
		if strings.HasPrefix(name, "{") {
			found[strings.Trim(name, "{}")] = values[i]
		} else if name != values[i] {
			return nil, false
		}
	}
	return found, true
}
