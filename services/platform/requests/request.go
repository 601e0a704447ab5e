package requests

import (
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/list"
)

// Request is a request of one of the company's tokens; see docs/reference/requests.md.
type Request struct {
	ID         uuid.UUID     `json:"id" format:"uuid"`
	RequestID  string        `json:"requestId" doc:"X-Request-Id of the answer; the id, unless the client sent one of its own"`
	CreatedAt  jsontype.Time `json:"createdAt" doc:"when it arrived"`
	Method     string        `json:"method"`
	Route      string        `json:"route" doc:"path of the operation" example:"/orders/{id}"`
	Operation  string        `json:"operation" doc:"operationId"`
	Path       *string       `json:"path" doc:"as sent, with its query; null to tokens that may not read the resource"`
	Status     int32         `json:"status" doc:"HTTP status of the answer"`
	Code       *string       `json:"code" doc:"error code; null if there was no error"`
	DurationMs int32         `json:"durationMs" doc:"from the request line to the answer, rounded up"`
	TokenID    uuid.UUID     `json:"tokenId" format:"uuid"`
	TokenName  string        `json:"tokenName" doc:"name of the token then"`
	Address    string        `json:"address" doc:"IP address of the client"`
	EntityID   *uuid.UUID    `json:"entityId" format:"uuid" doc:"record that was created, or that the path names"`
	Represents int64         `json:"represents" doc:"1, or more if many came at once: this one and those like it before, of which only this was kept"`

	scope string
}

// RequestDetail is a request with what is only shown of a single one.
type RequestDetail struct {
	Request
	Error     *jsontype.Object `json:"error" doc:"error body of a refused request; null above 32 KiB, and to tokens that may not read the resource"`
	Body      any              `json:"body" doc:"JSON body of a refused request, without the values of secret fields; null if it was no JSON or above 32 KiB, and to tokens that may not read the resource"`
	BodyBytes int32            `json:"bodyBytes" doc:"length of the body; 0 if none was read"`
	EventIDs  []uuid.UUID      `json:"eventIds" doc:"events that the request caused, at most 200; see GET /events/{eventId}"`
}

// Page is a part of the request log, newest first.
type Page struct {
	Items      []Request `json:"items"`
	NextCursor *string   `json:"nextCursor" doc:"where to go on; null at the end"`
	HasMore    bool      `json:"hasMore" doc:"also with few items, or none: a page ends after it has looked at 5000 requests"`
}

// Query selects requests.
type Query struct {
	Cursor string `query:"cursor" maxLength:"100" doc:"nextCursor of the page before"`
	list.PageLimit
	Answer    string     `query:"answer" enum:"2xx,3xx,4xx,5xx,error" doc:"class of the status; error = 4xx and 5xx"`
	Status    *int32     `query:"status" minimum:"200" maximum:"599"`
	Code      string     `query:"code" maxLength:"100" doc:"error code"`
	Method    string     `query:"method" enum:"GET,POST,PUT,PATCH,DELETE"`
	Operation string     `query:"operation" maxLength:"100" doc:"operationId"`
	TokenID   *uuid.UUID `query:"tokenId" format:"uuid"`
	Address   string     `query:"address" maxLength:"45" doc:"IP address of the client"`
	RequestID string     `query:"requestId" maxLength:"128" doc:"X-Request-Id"`
	EntityID  *uuid.UUID `query:"entityId" format:"uuid" doc:"requests that changed this record, as far as its last 200 events tell, and refused ones"`
	DateFrom  *list.From `query:"dateFrom" doc:"earliest createdAt"`
	DateTo    *list.To   `query:"dateTo" doc:"latest createdAt"`
}

// selects reports whether the filters other than requestId, entityId and the dates let a request pass.
func (q Query) selects(r Request) bool {
	return (q.Answer == "" || q.Answer == class(r.Status) || q.Answer == "error" && r.Status >= 400) &&
		(q.Status == nil || *q.Status == r.Status) &&
		(q.Code == "" || r.Code != nil && q.Code == *r.Code) &&
		(q.Method == "" || q.Method == r.Method) &&
		(q.Operation == "" || q.Operation == r.Operation) &&
		(q.TokenID == nil || *q.TokenID == r.TokenID) &&
		(q.Address == "" || q.Address == r.Address)
}

// refusedOnly reports whether the filters let only refused requests pass.
func (q Query) refusedOnly() bool {
	return q.Answer == "error" || q.Answer == "4xx" || q.Answer == "5xx" || q.Code != "" || q.Status != nil && *q.Status >= 400
}

func class(status int32) string { return string('0'+status/100) + "xx" }

// visible hides what the caller may not know: what was sent about a resource that its token cannot read.
func (r *RequestDetail) visible(by access.Caller) {
	if !r.Request.visible(by) {
		r.Error, r.Body = nil, nil
	}
}

func (r *Request) visible(by access.Caller) bool {
	if r.scope == "" || r.TokenID == by.TokenID || by.Allows(r.scope, false) {
		return true
	}
	r.Path = nil
	return false
}
