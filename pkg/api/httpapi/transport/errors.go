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
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// errorResponse is the body of every error; see docs/reference/errors.md#error-body. M is the type of its message: an array for 400, and
// a text for all others.
type errorResponse[M string | []string] struct {
	StatusCode int            `json:"statusCode" doc:"HTTP status"`
	Code       string         `json:"code" doc:"stable machine code" example:"ORDER_NOT_FOUND"`
	Message    M              `json:"message" doc:"for developers"`
	Error      string         `json:"error" doc:"reason phrase of the status"`
	Meta       map[string]any `json:"meta" doc:"details; the keys depend on code"`
	Errors     []apierr.Field `json:"errors,omitempty" doc:"only for 400: the first 100 errors, in the order of message; meta.unlistedErrors is at least 1 if there are more"`
	RequestID  string         `json:"requestId"`
	Timestamp  jsontype.Time  `json:"timestamp"`
	Path       string         `json:"path"`
	DocURL     string         `json:"docUrl" doc:"documentation of the code"`
}

// SchemaName implements [jsontype.Named].
func (r errorResponse[M]) SchemaName() string {
	if _, many := any(r.Message).([]string); many {
		return "ValidationErrorResponse"
	}
	return "ErrorResponse"
}

// ErrorType is the type of the body of errors with this status.
func ErrorType(status int) reflect.Type {
	if status == http.StatusBadRequest {
		return reflect.TypeFor[errorResponse[[]string]]()
	}
	return reflect.TypeFor[errorResponse[string]]()
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
	var body any
	accept := fc.Get(fiber.HeaderAccept)
	if asProblem := weight(accept, "application/problem+json"); asProblem > 0 && asProblem >= weight(accept, fiber.MIMEApplicationJSON) {
		fc.Set(fiber.HeaderContentType, "application/problem+json")
		listed, unlisted := ListedFaults(f.Fields)
		body = problem{s.docURL(f.Code), http.StatusText(f.Status), f.Status, f.Message, RequestID(fc), f.Code, metaOf(f, unlisted), listed}
	} else {
		fc.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
		body = s.errorBody(f, RequestID(fc), fc.Path())
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
	raw, err := jsontype.Marshal(s.errorBody(f, id, ""))
	if err != nil {
		return nil
	}
	res := http.Response{
		StatusCode: f.Status, ProtoMajor: 1, ProtoMinor: 1, Close: true, ContentLength: int64(len(raw)), Body: io.NopCloser(bytes.NewReader(raw)),
		Header: http.Header{
			fiber.HeaderContentType: {fiber.MIMEApplicationJSON}, fiber.HeaderRetryAfter: {strconv.Itoa(f.RetryAfter)}, HeaderRequestID: {id},
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

// errorBody is the body of an error.
func (s *Server) errorBody(f *apierr.Error, id, path string) any {
	if f.Status != http.StatusBadRequest {
		return errorOf(s, f, f.Message, id, path)
	}
	listed, unlisted := ListedFaults(f.Fields)
	body := errorOf(s, f, messagesOf(f, listed, unlisted), id, path)
	body.Errors, body.Meta = listed, metaOf(f, unlisted)
	return body
}

func errorOf[M string | []string](s *Server, f *apierr.Error, message M, id, path string) errorResponse[M] {
	return errorResponse[M]{
		StatusCode: f.Status, Code: f.Code, Message: message, Error: http.StatusText(f.Status), Meta: metaOf(f, 0),
		RequestID: id, Timestamp: jsontype.At(time.Now()), Path: path, DocURL: s.docURL(f.Code),
	}
}

func messagesOf(f *apierr.Error, listed []apierr.Field, unlisted int) []string {
	if len(listed) == 0 {
		return []string{f.Message}
	}
	all := make([]string, len(listed))
	for i, field := range listed {
		all[i] = field.Message
	}
	if unlisted > 0 {
		all = append(all, "there are more errors; correct the listed ones first")
	}
	return all
}
