// Package fault holds the errors that a caller of the platform is meant to see: a status, a stable
// code, a sentence that says what to do, and for bad input one entry per field.
// Everything that is not a [*Error] is an internal error and never shown.
package fault

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Codes of single faults in a 400 answer; see docs/reference/errors.md#validation-errors.
const (
	Required = "REQUIRED"
	Type     = "TYPE"
	Format   = "FORMAT"
	Min      = "MIN"
	Max      = "MAX"
	Step     = "STEP"
	Length   = "LENGTH"
	Enum     = "ENUM"
	Unknown  = "UNKNOWN"
	Conflict = "CONFLICT"
)

// Error is a fault with everything that the error body of the API needs.
type Error struct {
	Status     int            // HTTP status
	Code       string         // stable machine code, such as ORDER_NOT_FOUND
	Message    string         // English, for developers
	Fields     []Field        // only for 400, in the order of the input
	Meta       map[string]any // details by code, such as {"allowed": [...]}
	RetryAfter int            // seconds; 0 = no Retry-After header
}

// Field is one fault of the input.
type Field struct {
	Field   string `json:"field"`   // JSON path such as items[2].qty
	Code    string `json:"code"`    // one of the codes above
	Message string `json:"message"` // the rule and what to do
}

// Error implements error.
func (e *Error) Error() string {
	if len(e.Fields) == 0 {
		return e.Code + ": " + e.Message
	}
	texts := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		texts[i] = f.Message
	}
	return e.Code + ": " + strings.Join(texts, "; ")
}

// With returns a copy of the fault that carries one more entry in Meta.
func (e *Error) With(key string, value any) *Error {
	c := *e
	c.Meta = make(map[string]any, len(e.Meta)+1)
	for k, v := range e.Meta {
		c.Meta[k] = v
	}
	c.Meta[key] = value
	return &c
}

// New makes a fault of any status.
func New(status int, code, message string) *Error {
	return &Error{Status: status, Code: code, Message: message}
}

// StateConflict is a 409: the request is right, the state of the record is not.
func StateConflict(code, format string, args ...any) *Error {
	return New(http.StatusConflict, code, fmt.Sprintf(format, args...))
}

// NotFound is a 404 for a record of the company; entity is upper case, such as ORDER.
func NotFound(entity, id string) *Error {
	name := strings.ToLower(strings.ReplaceAll(entity, "_", " "))
	return New(http.StatusNotFound, entity+"_NOT_FOUND", fmt.Sprintf("no %s with id %s in this company", name, id))
}

// ReferenceNotFound is a 404 for a record that a field of the body refers to; field and id go to Meta.
func ReferenceNotFound(entity, field, id string) *Error {
	e := NotFound(entity, id)
	e.Message = field + ": " + e.Message
	e.Meta = map[string]any{"field": field, "id": id}
	return e
}

// Invalid is a 400 that names every fault of the input.
func Invalid(fields ...Field) *Error {
	return &Error{Status: http.StatusBadRequest, Code: "VALIDATION_ERROR", Message: "the request is not valid", Fields: fields}
}

// Fields collects the faults of one input so that all are reported at once.
type Fields []Field

// Add records a fault; the message is prefixed with the field so that it stands alone.
func (f *Fields) Add(field, code, format string, args ...any) {
	*f = append(*f, Field{Field: field, Code: code, Message: field + ": " + fmt.Sprintf(format, args...)})
}

// Err is nil when nothing was recorded, else the 400 with all faults.
func (f Fields) Err() error {
	if len(f) == 0 {
		return nil
	}
	return Invalid(f...)
}

// As returns the fault inside err, if there is one.
func As(err error) (*Error, bool) {
	var e *Error
	ok := errors.As(err, &e)
	return e, ok
}

// Is reports whether err carries a fault with the code.
func Is(err error, code string) bool {
	e, ok := As(err)
	return ok && e.Code == code
}

// Doc explains a code to the people who meet it.
type Doc struct {
	Status int
	Code   string
	Advice string // what the code means and what to do
}
