package httpapi

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/wire"
)

// ErrorResponse is the body of every error; see docs/reference/errors.md#error-body.
type ErrorResponse struct {
	StatusCode int            `json:"statusCode" doc:"HTTP status"`
	Code       string         `json:"code" doc:"stable machine code" example:"ORDER_NOT_FOUND"`
	Message    errorMessage   `json:"message" doc:"for developers: an array of strings for 400, a string for every other status"`
	Error      string         `json:"error" doc:"reason phrase of the status"`
	Meta       map[string]any `json:"meta" doc:"details by code"`
	Errors     []fault.Field  `json:"errors,omitempty" doc:"only for 400: one entry per fault, in the order of message"`
	RequestID  string         `json:"requestId"`
	Timestamp  wire.Time      `json:"timestamp"`
	Path       string         `json:"path"`
	DocURL     string         `json:"docUrl" doc:"where the code is explained"`
}

// problem is the same error as RFC 9457 has it.
type problem struct {
	Type     string         `json:"type"`
	Title    string         `json:"title"`
	Status   int            `json:"status"`
	Detail   string         `json:"detail"`
	Instance string         `json:"instance"`
	Code     string         `json:"code"`
	Meta     map[string]any `json:"meta"`
	Errors   []fault.Field  `json:"errors,omitempty"`
}

func (a *API) writeFault(fc *fiber.Ctx, f *fault.Error) {
	if f.RetryAfter > 0 {
		fc.Set(fiber.HeaderRetryAfter, strconv.Itoa(f.RetryAfter))
	}
	fc.Status(f.Status)
	doc := docURL(fc, f.Code)
	meta := f.Meta
	if meta == nil {
		meta = map[string]any{}
	}
	var body any
	accept := fc.Get(fiber.HeaderAccept)
	if asProblem := weight(accept, "application/problem+json"); asProblem > 0 && asProblem >= weight(accept, fiber.MIMEApplicationJSON) {
		fc.Set(fiber.HeaderContentType, "application/problem+json")
		body = problem{doc, http.StatusText(f.Status), f.Status, f.Message, requestID(fc), f.Code, meta, f.Fields}
	} else {
		fc.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
		body = ErrorResponse{
			StatusCode: f.Status, Code: f.Code, Message: messageOf(f), Error: http.StatusText(f.Status), Meta: meta, Errors: f.Fields,
			RequestID: requestID(fc), Timestamp: wire.At(time.Now()), Path: fc.Path(), DocURL: doc,
		}
	}
	raw, err := marshal(body)
	if err != nil {
		a.log.ErrorContext(fc.UserContext(), "error body not written", "error", err)
		return
	}
	send(fc, raw)
}

func docURL(fc *fiber.Ctx, code string) string {
	return fc.BaseURL() + BasePath + "/docs/errors#" + code
}

// routeError answers what never reached an operation: no such route, wrong method, a body or header block over the limit.
func (a *API) routeError(fc *fiber.Ctx, err error) error {
	if requestID(fc) == "" { // the server gave up before the request reached around
		a.identify(fc)
	}
	var fe *fiber.Error
	if !errors.As(err, &fe) {
		a.fail(fc, err)
		return nil
	}
	switch fe.Code {
	case http.StatusBadRequest:
		err = fault.Invalid(fault.Field{Field: "request", Code: fault.Format, Message: "request: is not a valid HTTP/1.1 message"})
	case http.StatusNotImplemented:
		err = fault.Invalid(fault.Field{Field: "method", Code: fault.Enum, Message: "method: must be one of those that the API description names"})
	case http.StatusRequestTimeout, http.StatusBadGateway: // the client was slow, or went away
		err = fault.New(http.StatusRequestTimeout, "REQUEST_INCOMPLETE", "the request did not arrive in full; send it again")
	case http.StatusNotFound:
		err = fault.New(http.StatusNotFound, "ROUTE_NOT_FOUND", "there is no "+fc.Method()+" "+fc.Path()+"; see the API description at "+BasePath+"/openapi.json")
	case http.StatusMethodNotAllowed:
		err = fault.New(http.StatusMethodNotAllowed, "METHOD_NOT_ALLOWED", fc.Path()+" does not take "+fc.Method()+"; the header Allow names what it takes")
	case http.StatusRequestEntityTooLarge:
		err = tooLarge(BatchMaxBody)
	case http.StatusRequestHeaderFieldsTooLarge:
		err = fault.New(fe.Code, "HEADERS_TOO_LARGE", "request line and headers together may have at most 8192 bytes")
	}
	a.fail(fc, err)
	return nil
}

// errorMessage is an array of strings for 400, a string for every other status.
type errorMessage struct {
	many  bool
	texts []string
}

func messageOf(f *fault.Error) errorMessage {
	if f.Status != http.StatusBadRequest {
		return errorMessage{texts: []string{f.Message}}
	}
	m := errorMessage{many: true}
	for _, field := range f.Fields {
		m.texts = append(m.texts, field.Message)
	}
	if len(m.texts) == 0 {
		m.texts = []string{f.Message}
	}
	return m
}

// MarshalJSON implements [json.Marshaler].
func (m errorMessage) MarshalJSON() ([]byte, error) {
	if m.many {
		return marshal(m.texts)
	}
	return marshal(m.texts[0])
}

// Schema implements [huma.SchemaProvider].
func (errorMessage) Schema(huma.Registry) *huma.Schema {
	text := &huma.Schema{Type: huma.TypeString}
	return &huma.Schema{OneOf: []*huma.Schema{text, {Type: huma.TypeArray, Items: text}}}
}
