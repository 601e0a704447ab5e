package explorer

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/platform/requests"
)

// Offers reports whether the explorer has a page for an operation.
func Offers(q *web.Request, operation string) bool {
	_, ok := find(q, operation)
	return ok
}

// Sent is the body of a request in the log, if it was kept.
func Sent(d requests.RequestDetail) string {
	raw, ok := d.Body.(json.RawMessage)
	if !ok {
		return ""
	}
	return web.Pretty(raw)
}

// fromLog takes the body of a request in the log that the address names, and says so. What was never kept leaves the example.
func fromLog(ctx context.Context, q *web.Request, op httpapi.Operation, in *typed) (*web.Note, error) {
	id, err := q.FormID("request")
	if err != nil || id == nil || !q.Sees(web.Requests) {
		return nil, err
	}
	d, err := web.Call[requests.RequestDetail](ctx, q, "getRequest", web.ByID(*id))
	if web.Refused(err) || err == nil && d.Operation != op.ID {
		return nil, web.NoPage()
	}
	if err != nil {
		return nil, err
	}
	body := Sent(d)
	if op.Body != nil && body == "" {
		return &web.Note{Kind: web.Info, Text: q.T("explorer.logged.none")}, nil
	}
	in.body = body
	return &web.Note{Kind: web.Info, Text: q.T("explorer.logged", q.At(d.CreatedAt.Std()).Short(), strconv.Itoa(int(d.Status)))}, nil
}
