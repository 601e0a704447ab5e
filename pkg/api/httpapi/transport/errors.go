package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// ErrorResponse is the body of every error; see docs/reference/errors.md#error-body.
type ErrorResponse struct {
	StatusCode int            `json:"statusCode" doc:"HTTP status"`
	Code       string         `json:"code" doc:"stable machine code" example:"ORDER_NOT_FOUND"`
	Message    errorMessage   `json:"message" doc:"for developers: an array of strings for 400, a string otherwise"`
	Error      string         `json:"error" doc:"reason phrase of the status"`
	Meta       map[string]any `json:"meta" doc:"details; the keys depend on code"`
	Errors     []apierr.Field `json:"errors,omitempty" doc:"only for 400: the first 100 errors, in the order of message; meta.unlistedErrors is at least 1 if there are more"`
	RequestID  string         `json:"requestId"`
	Timestamp  jsontype.Time  `json:"timestamp"`
	Path       string         `json:"path"`
	DocURL     string         `json:"docUrl" doc:"documentation of the code"`
}

// problem is the same error in the format of RFC 9457.
type problem struct {
	Type     string         `json:"type"`
	Title    string         `json:"title"`
	Status   int            `json:"status"`
	Detail   string         `json:"detail"`
	Instance string         `json:"instance"`
	Code     string         `json:"code"`
	Meta     map[string]any `json:"meta"`
	Errors   []apierr.Field `json:"errors,omitempty"`
}

// Fail writes the error body. Errors that are not meant for clients are logged here, once.
func (s *Server) Fail(fc *fiber.Ctx, err error) {
	s.writeFault(fc, s.Fault(fc.UserContext(), err, "method", fc.Method(), "route", fc.Route().Path, "request_id", RequestID(fc)))
}

// Fault returns the error that clients see in place of err; where are attributes for the log.
func (s *Server) Fault(ctx context.Context, err error, where ...any) *apierr.Error {
	log := s.cfg.Log.With(where...)
	if f, ok := apierr.As(err); ok {
		if f.Status == http.StatusServiceUnavailable {
			logUnavailable(ctx, log, f, err)
		} else if f.Status >= http.StatusInternalServerError && err != error(f) { //nolint:errorlint // a bare fault adds nothing to its counter
			log.WarnContext(ctx, "request refused", "error", err, "code", f.Code)
		}
		return f
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return apierr.New(http.StatusGatewayTimeout, "REQUEST_TIMEOUT",
			fmt.Sprintf("the request took longer than %s; retry it with the same X-Idempotency-Key", s.cfg.Timeout))
	}
	if reason, ok := db.Unavailable(err); ok {
		f := apierr.Unavailable(reason, 2, "the database is unavailable; retry after the time in Retry-After, with the same X-Idempotency-Key if the request makes a change")
		logUnavailable(ctx, log, f, err)
		return f
	}
	log.ErrorContext(ctx, "request failed", "error", err)
	return apierr.New(http.StatusInternalServerError, "INTERNAL_ERROR",
		"internal error; retry later, and quote the request ID to support if it persists")
}

// logUnavailable logs why a request gets a 503.
func logUnavailable(ctx context.Context, log *slog.Logger, f *apierr.Error, err error) {
	log.WarnContext(ctx, "request refused", "reason", string(f.Reason()), "error", err)
}

func (s *Server) writeFault(fc *fiber.Ctx, f *apierr.Error) {
	if f.RetryAfter > 0 {
		fc.Set(fiber.HeaderRetryAfter, strconv.Itoa(f.RetryAfter))
	}
	fc.Status(f.Status)
	listed, unlisted := ListedFaults(f.Fields)
	doc := s.docURL(f.Code)
	meta := metaOf(f, unlisted)
	var body any
	accept := fc.Get(fiber.HeaderAccept)
	if asProblem := weight(accept, "application/problem+json"); asProblem > 0 && asProblem >= weight(accept, fiber.MIMEApplicationJSON) {
		fc.Set(fiber.HeaderContentType, "application/problem+json")
		body = problem{doc, http.StatusText(f.Status), f.Status, f.Message, RequestID(fc), f.Code, meta, listed}
	} else {
		fc.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
		body = ErrorResponse{
			StatusCode: f.Status, Code: f.Code, Message: messageOf(f, listed, unlisted), Error: http.StatusText(f.Status), Meta: meta, Errors: listed,
			RequestID: RequestID(fc), Timestamp: jsontype.At(time.Now()), Path: fc.Path(), DocURL: doc,
		}
	}
	raw, err := jsontype.Marshal(body)
	if err != nil {
		s.cfg.Log.ErrorContext(fc.UserContext(), "error body not written", "error", err)
		return
	}
	if in, ok := fc.Context().UserValue(incomingKey{}).(*incoming); ok { // it was read
		in.refusal = Refusal{f.Code, raw, f}
	}
	Send(fc, raw, nil)
}

// rawResponse encodes the error as a complete HTTP response, for a connection that is closed before its request is read.
func (s *Server) rawResponse(f *apierr.Error) []byte {
	id := uuid.Must(uuid.NewV7()).String()
	raw, err := jsontype.Marshal(ErrorResponse{
		StatusCode: f.Status, Code: f.Code, Message: messageOf(f, nil, 0), Error: http.StatusText(f.Status), Meta: metaOf(f, 0),
		RequestID: id, Timestamp: jsontype.At(time.Now()), DocURL: s.docURL(f.Code),
	})
	if err != nil {
		return nil
	}
	res := http.Response{
		StatusCode: f.Status, ProtoMajor: 1, ProtoMinor: 1, Close: true, ContentLength: int64(len(raw)), Body: io.NopCloser(bytes.NewReader(raw)),
		Header: http.Header{
			fiber.HeaderContentType: {fiber.MIMEApplicationJSON}, fiber.HeaderRetryAfter: {strconv.Itoa(f.RetryAfter)}, headerRequestID: {id},
		},
	}
	var message bytes.Buffer
	_ = res.Write(&message) // writes to a buffer do not fail
	return message.Bytes()
}

// docURL ignores the Host header, which the sender of a request controls.
func (s *Server) docURL(code string) string {
	return s.cfg.Root() + s.cfg.Base + "/docs/errors#" + code
}

// Limits of a fault in an error body: each repeats the path of its field.
const (
	maxFaultField = 256  // bytes
	maxFaultText  = 1024 // bytes
)

// ListedFaults returns the faults that a response lists, and the number of those left out.
func ListedFaults(all []apierr.Field) (listed []apierr.Field, unlisted int) {
	listed = slices.Clone(all[:min(len(all), apierr.MaxListed)])
	for i := range listed {
		listed[i].Field = cutText(listed[i].Field, maxFaultField)
		listed[i].Message = cutText(listed[i].Message, maxFaultText)
	}
	return listed, len(all) - len(listed)
}

func cutText(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}

func metaOf(f *apierr.Error, unlisted int) map[string]any {
	meta := map[string]any{}
	maps.Copy(meta, f.Meta)
	if unlisted > 0 {
		meta["unlistedErrors"] = unlisted
	}
	return meta
}

// routeError responds to requests that reached no operation: no such route, wrong method, headers over the limit.
func (s *Server) routeError(fc *fiber.Ctx, err error) error {
	if RequestID(fc) == "" { // the server gave up before the request reached the middleware
		s.identify(fc)
		lingerOn(fc.Context().Conn())
	}
	var fe *fiber.Error
	if !errors.As(err, &fe) {
		s.Fail(fc, err)
		return nil
	}
	switch fe.Code {
	case http.StatusBadRequest:
		err = apierr.InvalidField("request", apierr.Format, "must be a valid HTTP/1.1 message: its lines end in CRLF, its headers are names and values with a colon, and it has exactly one Host header")
	case http.StatusRequestTimeout, http.StatusBadGateway: // the client was slow, or went away
		err = errIncomplete
	case http.StatusNotFound:
		err = s.errNoRoute(fc.Method(), fc.Path())
	case http.StatusMethodNotAllowed:
		err = errMethod(fc.Method(), fc.Path())
	case http.StatusRequestHeaderFieldsTooLarge:
		err = apierr.New(fe.Code, "HEADERS_TOO_LARGE", "the request line and headers together must be at most 8192 bytes; shorten the query, or send fewer headers")
	}
	s.Fail(fc, err)
	return nil
}

// errorMessage is an array of strings for 400, and a string for every other status.
type errorMessage struct {
	many  bool
	texts []string
}

func messageOf(f *apierr.Error, listed []apierr.Field, unlisted int) errorMessage {
	if f.Status != http.StatusBadRequest {
		return errorMessage{texts: []string{f.Message}}
	}
	m := errorMessage{many: true}
	for _, field := range listed {
		m.texts = append(m.texts, field.Message)
	}
	if unlisted > 0 {
		m.texts = append(m.texts, "there are more errors; correct the listed ones first")
	}
	if len(m.texts) == 0 {
		m.texts = []string{f.Message}
	}
	return m
}

// MarshalJSON implements [json.Marshaler].
func (m errorMessage) MarshalJSON() ([]byte, error) {
	if m.many {
		return jsontype.Marshal(m.texts)
	}
	return jsontype.Marshal(m.texts[0])
}

// Schema implements [huma.SchemaProvider].
func (errorMessage) Schema(huma.Registry) *huma.Schema {
	text := &huma.Schema{Type: huma.TypeString}
	return &huma.Schema{OneOf: []*huma.Schema{text, {Type: huma.TypeArray, Items: text}}}
}
